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

// blobFile returns the path of the blob with this content.
func (g *gateway) blobFile(content string) string {
	name := sha256Hex(content)
	return filepath.Join(g.dir, "blobs", name[:2], name)
}

// unindexed opens a service for a single test, without an index, because the index would find the
// damage first.
func unindexed(t *testing.T, rules repository.Config) *client {
	t.Helper()
	return gatewayOver(t, handlers.Config{}, rules, func(store *directory.Store) blobs.Folder { return store })
}

// cut downloads a file and checks that the download ends early. It returns the number of received
// bytes.
func (c *client) cut(path string, headers ...string) int {
	c.t.Helper()
	response, err := httpClient.Do(c.request("GET", path, nil, headers))
	if err != nil {
		c.t.Fatal(err)
	}
	got, err := io.ReadAll(response.Body)
	_ = response.Body.Close() // the test only checks where the body ends
	if !errors.Is(err, io.ErrUnexpectedEOF) || int64(len(got)) >= response.ContentLength {
		c.t.Errorf("%s with %q: received %d of %d bytes, and the error %v", path, headers, len(got), response.ContentLength, err)
	}
	return len(got)
}

// damaged returns the number of blobs recorded as damaged.
func (c *client) damaged() float64 {
	c.t.Helper()
	detail, _ := c.get("/status").object()["detail"].(map[string]any)
	n, _ := detail["damaged"].(float64)
	return n
}

// TestDamagedFileIsNotSent tests that a file is never sent if it is missing or has another length.
// If reads are verified, wrong bytes are detected, and the download is cut off before the last
// byte. The damage stays recorded until the same content is uploaded again.
func TestDamagedFileIsNotSent(t *testing.T) {
	t.Parallel()
	s := unindexed(t, repository.Config{}).newSpace(nil)
	verified := unindexed(t, repository.Config{VerifyReads: math.MaxInt64}).newSpace(nil)
	for i, headers := range [][]string{nil, {"Range: bytes=0-"}, {"Range: bytes=0-", `If-Range: "other"`}} {
		content := fmt.Sprint("content ", i, strings.Repeat(".", 200_000))
		wrong := []byte(content)
		wrong[len(wrong)/2] ^= 1
		damaged := func(s *space) (path string) {
			t.Helper()
			path = s.newFile("a.txt", content) + "/data"
			same(t, "sound", string(s.get(path).want(http.StatusOK).body), content)
			if err := os.WriteFile(s.blobFile(content), wrong, 0o600); err != nil {
				t.Fatal(err)
			}
			s.send("HEAD", path, nil).want(http.StatusOK)
			same(t, "a sound part", string(s.get(path, "Range: bytes=0-6").want(http.StatusPartialContent).body), "content")
			return path
		}
		unverified := s.get(damaged(s)).want(http.StatusOK)
		same(t, "not verified", string(unverified.body), string(wrong))
		same(t, "its digest header", unverified.header.Get("Repr-Digest"), "sha-256=:"+digest64(content)+":")
		same(t, "damaged", s.damaged(), 0)
		path := damaged(verified)
		same(t, "damaged", verified.damaged(), 0)
		same(t, "bytes of a damaged file", verified.cut(path, headers...) < len(content), true)
		verified.refusesDamaged(path, content)
	}
	if log := verified.log.String(); !strings.Contains(log, `"level":"error"`) || !strings.Contains(log, "recorded SHA-256") {
		t.Errorf("the log does not report the damage: %s", log)
	}

	content := strings.Repeat("length", 1000)
	elsewhere := filepath.Join(t.TempDir(), "sound")
	for _, s := range []*space{s, verified} {
		path, disk := s.newFile("a.txt", content)+"/data", s.blobFile(content)
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
			s.refusesDamaged(path, content)
		}
	}
}

// refusesDamaged tests that a damaged file is refused until the same content is uploaded again.
func (s *space) refusesDamaged(path, content string) {
	s.t.Helper()
	a := s.get(path).problem(http.StatusInternalServerError, "data_damaged", "")
	if a.header.Get("Repr-Digest") != "" || strings.Contains(string(a.body), s.dir) || strings.Contains(string(a.body), sha256Hex(content)) {
		s.t.Errorf("the refusal contains too much: %s", a.short())
	}
	s.send("HEAD", path, nil).want(http.StatusInternalServerError)
	s.get(path, "Range: bytes=0-6").problem(http.StatusInternalServerError, "data_damaged", "")
	same(s.t, "damaged", s.damaged(), 1)
	again := s.newFile("b.txt", content)
	same(s.t, "the same content again", string(s.get(again+"/data").want(http.StatusOK).body), content)
	same(s.t, "heals the first", string(s.get(path).want(http.StatusOK).body), content)
	same(s.t, "damaged", s.damaged(), 0)
}

// failing is a disk that cannot read a file beyond an offset.
type failing struct {
	*directory.Store
	behind atomic.Int64 // the offset; 0 for no failure
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
		same(t, "the received bytes", c.cut(path+"/data", ranges...) > 90_000, true)
		a := c.get(path+"/data").problem(http.StatusInternalServerError, "data_damaged", "")
		c.get("/admin/blobs/"+sha256Hex(content)).problem(http.StatusInternalServerError, "data_damaged", "")
		c.get(path).want(http.StatusOK)
		same(t, "damaged", c.damaged(), 1)
		same(t, "the refusal contains the path", strings.Contains(string(a.body), "secret"), false)
		same(t, "the log has the reason", strings.Contains(c.log.String(), "input/output error"), true)
		disk.behind.Store(0)
		c.get(path+"/data").problem(http.StatusInternalServerError, "data_damaged", "")
		same(t, "the same content again", string(c.get(s.newFile("b.txt", content)+"/data").want(http.StatusOK).body), content)
		same(t, "damaged", c.damaged(), 0)
	}
}

// TestFileTruncatedWhileSent tests a file that is truncated during a download. A client that
// disconnects does not cause a damage report.
func TestFileTruncatedWhileSent(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{}, handlers.Config{})
	s := c.newSpace(nil)
	content := strings.Repeat("x", 32<<20)
	path := s.newFile("a", content) + "/data"
	begin := func() (net.Conn, io.Reader) {
		t.Helper()
		conn, reader := c.dial("")
		// Set before any byte arrives: otherwise the kernel could buffer up to 32 MiB, which is the
		// whole file.
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
	eventually(t, "the end of the abandoned request", func() bool { return strings.Count(c.log.String(), path) == 1 })
	same(t, "damaged", c.damaged(), 0)

	_, body := begin()
	if err := os.Truncate(c.blobFile(content), 31<<20); err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, body)
	if n > 31<<20 || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("received %d bytes, and the error %v", n, err)
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
		t.Errorf("the start time is %q", started)
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
