package handlers_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"labshelf/repository"
)

// TestDownloadIsVerified flips one bit of files whose sizes are around the thresholds of reading.
// Up to the configured size, a whole download with wrong bytes never ends cleanly. Requests to
// resume such a download are refused.
func TestDownloadIsVerified(t *testing.T) {
	t.Parallel()
	const small, most = 32 << 10, 100_000 // bytes read in one call, and bytes verified
	s := unindexed(t, repository.Config{VerifyReads: most}).newSpace(nil)
	asks := map[string][]string{
		"alone": nil, "under a condition": {`If-None-Match: "other"`}, "as one range": {"Range: bytes=0-"},
		"instead of a range": {"Range: bytes=5-", `If-Range: "other"`},
	}
	for _, size := range []int{1, 1000, small, small + 1, most, most + 1} {
		for what, headers := range asks {
			for _, at := range []int{0, size / 2, size - 1} {
				content := fmt.Sprintf("%c%d %s %d %s", 'a'+at%7, size, what, at, strings.Repeat(".", size))[:size]
				path := s.newFile("a.txt", content) + "/data"
				what := fmt.Sprintf("%d bytes, byte %d changed, request %s", size, at, what)
				wrong := []byte(content)
				wrong[at] ^= 1
				if err := os.WriteFile(s.blobFile(content), wrong, 0o600); err != nil {
					t.Fatal(err)
				}
				s.send("HEAD", path, nil).want(http.StatusOK)
				switch {
				case size <= small:
					s.get(path, headers...).problem(http.StatusInternalServerError, "data_damaged", "")
				case size <= most:
					if n := s.cut(path, headers...); n >= size {
						t.Errorf("%s: received %d bytes", what, n)
					}
					s.get(path, fmt.Sprintf("Range: bytes=%d-", size-1)).problem(http.StatusInternalServerError, "data_damaged", "")
				default:
					same(t, what+": sent as it is", strings.HasSuffix(string(wrong), string(s.get(path, headers...).body)), true)
				}
				same(t, what+": damaged", s.damaged() > 0, size <= most)
				again := s.newFile("b.txt", content)
				same(t, what+": again", string(s.get(again+"/data").want(http.StatusOK).body), content)
				same(t, what+": healed", string(s.get(path, headers...).body), content)
				same(t, what+": damaged afterwards", s.damaged(), 0)
			}
		}
	}
	s.get(s.newFile("empty", "") + "/data").want(http.StatusOK)
}

// TestBlobIsVerified tests that a blob for a sysadmin is verified like other downloads.
func TestBlobIsVerified(t *testing.T) {
	t.Parallel()
	s := unindexed(t, repository.Config{VerifyReads: 1 << 20}).newSpace(nil)
	for _, size := range []int{100, 100_000} {
		content := strings.Repeat("x", size)
		s.newFile("a", content)
		path := "/admin/blobs/" + sha256Hex(content)
		same(t, "sound", string(s.get(path).want(http.StatusOK).body), content)
		if err := os.WriteFile(s.blobFile(content), []byte(strings.Repeat("y", size)), 0o600); err != nil {
			t.Fatal(err)
		}
		if size > 32<<10 {
			s.cut(path)
		}
		s.get(path).problem(http.StatusInternalServerError, "data_damaged", "")
	}
	same(t, "damaged", s.damaged(), 2)
}

// TestEveryReadIsVerified damages files, and reads them through the drive, as a version, through a
// link, and in archives. Each reader gets an error and no complete file. The damage is recorded.
func TestEveryReadIsVerified(t *testing.T) {
	t.Parallel()
	c := unindexed(t, repository.Config{VerifyReads: 1 << 20})
	d := c.newDrive(nil)
	link := c.newLink(object{"kind": "share", "setId": d.set})
	for what, address := range map[string]func(id, name string) string{
		"drive":           func(_, name string) string { return d.server.URL + d.folder + "/" + name },
		"version":         func(id, _ string) string { return d.base + "/resources/" + id + "/versions/1/data" },
		"link":            func(id, _ string) string { return link.address + "/files/" + id },
		"archive":         func(id, _ string) string { return d.base + "/sets/" + d.set + "/archive?resource=" + id },
		"archive by link": func(string, string) string { return link.address + "/archive" },
	} {
		for _, size := range []int{100, 32 << 10, 32<<10 + 1, 300_000} {
			content := fmt.Sprintf("%s %d%s", what, size, strings.Repeat(".", size))[:size]
			name := fmt.Sprint(strings.ReplaceAll(what, " ", "-"), size)
			id := c.upload(d.set, name, content).text("id")
			if err := os.WriteFile(c.blobFile(content), []byte(content[:size-1]+"x"), 0o600); err != nil {
				t.Fatal(err)
			}
			status, body, err := c.fetch(address(id, name))
			refused := status == http.StatusInternalServerError && strings.Contains(body, "data_damaged")
			if !refused && !errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(body, content[:size-1]+"x") {
				t.Errorf("%s of %d bytes: status %d, received %d bytes, and the error %v", what, size, status, len(body), err)
			}
			same(t, what+": damaged", c.damaged(), 1)
			c.upload(d.set, name+"-again", content)
			if status, _, err = c.fetch(address(id, name)); status != http.StatusOK || err != nil {
				t.Errorf("%s of %d bytes, sound again: status %d and the error %v", what, size, status, err)
			}
		}
	}
}

// fetch reads a URL. It accepts an answer that is cut off.
func (c *client) fetch(address string) (status int, body string, err error) {
	c.t.Helper()
	request, err := http.NewRequestWithContext(c.t.Context(), "GET", address, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	if request.Header.Set("Authorization", c.key); strings.Contains(address, "/dav/") {
		request.SetBasicAuth("user", c.key)
	}
	response, err := httpClient.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	got, err := io.ReadAll(response.Body)
	return response.StatusCode, string(got), err
}
