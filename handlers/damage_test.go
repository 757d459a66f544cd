package handlers_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"labshelf/blobs"
	"labshelf/blobs/directory"
	"labshelf/handlers"
	"labshelf/metadata"
	"labshelf/repository"
)

// blobFile returns the path of the blob of a content.
func (g *gateway) blobFile(content string) string {
	name := sha256Hex(content)
	return filepath.Join(g.dir, "blobs", name[:2], name)
}

// cut sends a download that must end early, and returns the number of received bytes.
func (c *client) cut(path string, headers ...string) int {
	c.t.Helper()
	response, err := httpClient.Do(c.request("GET", path, nil, headers))
	if err != nil {
		c.t.Fatal(err)
	}
	got, err := io.ReadAll(response.Body)
	_ = response.Body.Close() // the test checks only where it ends
	if !errors.Is(err, io.ErrUnexpectedEOF) || int64(len(got)) >= response.ContentLength {
		c.t.Errorf("%s with %q: %d of %d bytes came, and the error %v", path, headers, len(got), response.ContentLength, err)
	}
	return len(got)
}

// damaged returns the number of known damaged blobs.
func (c *client) damaged() float64 {
	c.t.Helper()
	detail, _ := c.get("/status").object()["detail"].(map[string]any)
	n, _ := detail["damaged"].(float64)
	return n
}

// TestDamagedFileIsNotSent tests that a file that is missing or has another length is never sent.
// If reads are verified, wrong bytes are detected, and the download is cut off before the last
// byte. The damage is then known until the same content is uploaded again.
func TestDamagedFileIsNotSent(t *testing.T) {
	t.Parallel()
	s := ownGateway(t, repository.Config{}, handlers.Config{}).newSpace(nil)
	verified := s.configured(handlers.Config{VerifyReads: math.MaxInt64})
	refused := func(path, content string) {
		t.Helper()
		for _, c := range []*client{s.client, verified} {
			a := c.get(path).problem(http.StatusInternalServerError, "data_damaged", "")
			if a.header.Get("Repr-Digest") != "" || strings.Contains(string(a.body), s.dir) || strings.Contains(string(a.body), sha256Hex(content)) {
				t.Errorf("the refusal says too much: %s", a.short())
			}
			c.send("HEAD", path, nil).want(http.StatusInternalServerError)
			c.get(path, "Range: bytes=0-6").problem(http.StatusInternalServerError, "data_damaged", "")
		}
		same(t, "damaged", s.damaged(), 1)
		again := s.newFile("b.txt", content)
		same(t, "the same content again", string(s.get(again+"/data").want(http.StatusOK).body), content)
		same(t, "heals the first", string(verified.get(path).want(http.StatusOK).body), content)
		same(t, "damaged", s.damaged(), 0)
	}
	for i, headers := range [][]string{nil, {"Range: bytes=0-"}, {"Range: bytes=0-", `If-Range: "other"`}} {
		content := fmt.Sprint("content ", i, strings.Repeat(".", 200_000))
		path := s.newFile("a.txt", content) + "/data"
		same(t, "verified and sound", string(verified.get(path).want(http.StatusOK).body), content)
		wrong := []byte(content)
		wrong[len(wrong)/2] ^= 1
		if err := os.WriteFile(s.blobFile(content), wrong, 0o600); err != nil {
			t.Fatal(err)
		}
		verified.send("HEAD", path, nil).want(http.StatusOK)
		same(t, "a sound part", string(verified.get(path, "Range: bytes=0-6").want(http.StatusPartialContent).body), "content")
		unverified := s.get(path).want(http.StatusOK)
		same(t, "not verified", string(unverified.body), string(wrong))
		same(t, "its digest tells", unverified.header.Get("Repr-Digest"), "sha-256=:"+digest64(content)+":")
		same(t, "damaged", s.damaged(), 0)
		same(t, "bytes of a damaged file", verified.cut(path, headers...) < len(content), true)
		refused(path, content)
	}
	if log := verified.log.String(); !strings.Contains(log, `"level":"error"`) || !strings.Contains(log, "recorded SHA-256") {
		t.Errorf("the log does not tell of the damage: %s", log)
	}

	content := strings.Repeat("length", 1000)
	path, disk := s.newFile("a.txt", content)+"/data", s.blobFile(content)
	elsewhere := filepath.Join(t.TempDir(), "sound")
	for _, damage := range []func() error{
		func() error { return os.WriteFile(disk, []byte(content)[:100], 0o600) },
		func() error { return os.WriteFile(disk, []byte(content+"x"), 0o600) },
		func() error { return os.Remove(disk) },
		func() error {
			return errors.Join(os.Remove(disk), os.WriteFile(elsewhere, []byte(content), 0o600), os.Symlink(elsewhere, disk))
		},
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		refused(path, content)
	}
}

// failing is a disk that cannot read beyond an offset of a file.
type failing struct {
	*directory.Store
	behind atomic.Int64 // the offset; 0: no failure
}

func (f *failing) Open(ctx context.Context, b blobs.Blob) (io.ReadSeekCloser, error) {
	file, err := f.Store.Open(ctx, b)
	if behind := f.behind.Load(); err == nil && behind > 0 {
		return &unreadable{file, behind}, nil
	}
	return file, err
}

type unreadable struct {
	io.ReadSeekCloser
	left int64
}

func (u *unreadable) Read(p []byte) (int, error) {
	if u.left == 0 {
		return 0, &os.PathError{Op: "read", Path: "/secret/place", Err: syscall.EIO}
	}
	n, err := u.ReadSeekCloser.Read(p[:min(int64(len(p)), u.left)])
	u.left -= int64(n)
	return n, err
}

// TestUnreadableFileIsRecorded tests that a read error cuts off the download and is recorded.
func TestUnreadableFileIsRecorded(t *testing.T) {
	t.Parallel()
	for _, ranges := range [][]string{nil, {"Range: bytes=10-"}, {"Range: bytes=0-9,20-199999"}} {
		disk := &failing{}
		c := gatewayOver(t, handlers.Config{}, repository.Config{}, func(dir *directory.Store) blobs.Folder {
			disk.Store = dir
			return disk
		})
		s := c.newSpace(nil)
		content := strings.Repeat("0123456789", 20_000)
		path := s.newFile("a.txt", content)
		disk.behind.Store(100_000)
		same(t, "what came", c.cut(path+"/data", ranges...) > 90_000, true)
		a := c.get(path+"/data").problem(http.StatusInternalServerError, "data_damaged", "")
		c.get("/admin/blobs/"+sha256Hex(content)).problem(http.StatusInternalServerError, "data_damaged", "")
		c.get(path).want(http.StatusOK)
		same(t, "damaged", c.damaged(), 1)
		same(t, "the refusal says where", strings.Contains(string(a.body), "secret"), false)
		same(t, "the log says why", strings.Contains(c.log.String(), "input/output error"), true)
		disk.behind.Store(0)
		c.get(path+"/data").problem(http.StatusInternalServerError, "data_damaged", "")
		same(t, "the same content again", string(c.get(s.newFile("b.txt", content)+"/data").want(http.StatusOK).body), content)
		same(t, "damaged", c.damaged(), 0)
	}
}

// TestFileTruncatedWhileSent tests a file that is truncated during a download. A client that
// disconnects is not damage.
func TestFileTruncatedWhileSent(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{}, handlers.Config{})
	s := c.newSpace(nil)
	content := strings.Repeat("x", 32<<20)
	path := s.newFile("a", content) + "/data"
	begin := func() (net.Conn, io.Reader) {
		t.Helper()
		conn, reader := c.dial("")
		// Before any byte arrives, since the kernel would buffer up to 32 MiB, which is the whole
		// file.
		same(t, "small buffer", conn.(*net.TCPConn).SetReadBuffer(64<<10), nil)
		_, err := fmt.Fprintf(conn, "GET /v1%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: %s\r\n\r\n", path, c.key)
		same(t, "request", err, nil)
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			t.Fatal(err)
		}
		return conn, response.Body
	}
	conn, _ := begin()
	same(t, "going away", conn.Close(), nil)
	eventually(t, "the end of the request that was given up", func() bool { return strings.Count(c.log.String(), path) == 1 })
	same(t, "damaged", c.damaged(), 0)

	_, body := begin()
	if err := os.Truncate(c.blobFile(content), 31<<20); err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, body)
	if n > 31<<20 || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%d bytes came, and the error %v", n, err)
	}
	same(t, "damaged", c.damaged(), 1)
	c.get(path).problem(http.StatusInternalServerError, "data_damaged", "")
}

// TestStatusDetailIsForSysadmins tests that only sysadmins see the details of the status.
func TestStatusDetailIsForSysadmins(t *testing.T) {
	oneNode(t)
	t.Parallel()
	opening := time.Now().Add(-time.Second)
	c := ownGateway(t, repository.Config{}, handlers.Config{})
	const plain = `{
  "status": "OK",
  "hostname": "host",
  "node": "host",
  "engine": "bolt",
  "version": "1.2.3",
  "anonymous": false
}
`
	const detailed = `{
  "status": "OK",
  "hostname": "host",
  "node": "host",
  "engine": "bolt",
  "version": "1.2.3",
  "anonymous": false,
  "detail": {
    "failing": "",
    "readOnly": "",
    "clockBehind": 0,
    "damaged": 0,
    "scrub": {
      "begun": "{begun}",
      "checked": 7,
      "found": 1,
      "passes": 2
    },
    "background": {},
    "held": {
      "files": 0,
      "bytes": 0
    },
    "started": "{started}",
    "identity": "{identity}",
    "epoch": {
      "id": "{epoch}",
      "base": "",
      "began": "{epoch began}"
    },
    "unreferenced": {
      "files": 3,
      "bytes": 30
    },
    "room": {
      "bytes": -1,
      "files": -1
    },
    "nodes": []
  }
}
`
	var begun metadata.Stamp
	err := c.meta.Update(context.Background(), func(tx *metadata.Tx) error {
		begun = tx.Stamp()
		for i := range 3 {
			if err := tx.Unreferenced.Put(metadata.Unreferenced{Digest: blobs.Digest{byte(i)}, Bytes: 10, Since: begun}); err != nil {
				return err
			}
		}
		return tx.Scrub.Put(metadata.ScrubState{Begun: begun, Checked: 7, Found: 1, Passes: 2})
	})
	same(t, "putting the state of the scrub", err, nil)
	detail, _ := c.get("/status").object()["detail"].(map[string]any)
	started, _ := detail["started"].(string)
	if at, err := time.Parse(time.RFC3339, started); err != nil || at.Before(opening) || at.After(time.Now()) {
		t.Errorf("it says that it started at %q", started)
	}
	var epoch metadata.Epoch
	same(t, "reading the epoch", c.meta.View(context.Background(), func(tx *metadata.Tx) (err error) {
		epoch, err = tx.Lineage.Epoch()
		return err
	}), nil)
	const layout = "2006-01-02T15:04:05.000Z"
	c.get("/status").want(http.StatusOK).exactly(detailed, "{started}", started, "{begun}", begun.Time().Format(layout),
		"{identity}", metadata.IdentityOf(c.meta.Secret()).String(), "{epoch}", epoch.ID.String(), "{epoch began}", epoch.Began.Time().Format(layout))
	for _, key := range []string{"", "nonsense", c.newUser(nil).key} {
		c.withKey(key).get("/status").want(http.StatusOK).exactly(plain)
	}
}

// TestDownloadIsVerified flips one bit of files with sizes around the thresholds of reading. Up to
// the configured size, no whole download with wrong bytes ends cleanly, whatever the request.
// Requests to resume such a download are refused.
func TestDownloadIsVerified(t *testing.T) {
	t.Parallel()
	const small, most = 32 << 10, 100_000 // bytes read at once, and bytes verified
	s := ownGateway(t, repository.Config{}, handlers.Config{VerifyReads: most}).newSpace(nil)
	asks := map[string][]string{
		"alone": nil, "under a condition": {`If-None-Match: "other"`}, "as one range": {"Range: bytes=0-"},
		"instead of a range": {"Range: bytes=5-", `If-Range: "other"`},
	}
	for _, size := range []int{1, 1000, small, small + 1, most, most + 1} {
		for what, headers := range asks {
			for _, at := range []int{0, size / 2, size - 1} {
				content := fmt.Sprintf("%c%d %s %d %s", 'a'+at%7, size, what, at, strings.Repeat(".", size))[:size]
				path := s.newFile("a.txt", content) + "/data"
				what := fmt.Sprintf("%d bytes, the one at %d changed, asked for %s", size, at, what)
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
						t.Errorf("%s: %d bytes came", what, n)
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
	s := ownGateway(t, repository.Config{}, handlers.Config{VerifyReads: 1 << 20}).newSpace(nil)
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
