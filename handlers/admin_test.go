package handlers_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/blobs/directory"
	"labshelf/bolt"
	"labshelf/handlers"
	"labshelf/metadata"
	"labshelf/repository"
	"labshelf/repository/maintenance"
)

// TestSnapshotIsComplete tests that the snapshot is a separate, complete store, and that no
// temporary file remains.
func TestSnapshotIsComplete(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{}, handlers.Config{})
	s := c.newSpace(nil)
	path := s.newFile("a.txt", "content")
	modified, _ := c.get(path).object()["modified_epoch"].(float64)

	a := c.get("/admin/snapshot", "Range: bytes=0-9").want(http.StatusOK)
	same(t, "Content-Type", a.header.Get("Content-Type"), "application/octet-stream")
	same(t, "Content-Length", a.header.Get("Content-Length"), fmt.Sprint(len(a.body)))
	same(t, "Cache-Control", a.header.Get("Cache-Control"), "no-store")
	var stamp int64
	if _, err := fmt.Sscan(a.header.Get("Labshelf-Stamp"), &stamp); err != nil || stamp/1000 < int64(modified) {
		t.Errorf("the stamp is %q, before the last change at %.0f ms (%v)", a.header.Get("Labshelf-Stamp"), modified, err)
	}
	copied := filepath.Join(t.TempDir(), "copy.db")
	if err := os.WriteFile(copied, a.body, 0o600); err != nil {
		t.Fatal(err)
	}
	store, err := bolt.Open(copied, bolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { same(t, "closing the copy", store.Close(), nil) }()
	found := c.withStore(store).dump()
	same(t, "the content of the copy", found == c.dump(), true)

	head := c.send("HEAD", "/admin/snapshot", nil).want(http.StatusOK)
	same(t, "the stamp of HEAD", head.header.Get("Labshelf-Stamp"), a.header.Get("Labshelf-Stamp"))
	same(t, "the length of HEAD", head.header.Get("Content-Length"), a.header.Get("Content-Length"))
	eventually(t, "no temporary copies remain", func() bool {
		left, err := filepath.Glob(filepath.Join(c.dir, "*snapshot*"))
		return err == nil && len(left) == 0
	})
}

// hungUp is a ResponseWriter whose client has disconnected.
type hungUp struct{ *httptest.ResponseRecorder }

func (hungUp) Write([]byte) (int, error) { return 0, &net.OpError{Op: "write", Err: syscall.EPIPE} }

// TestDisconnectIsNotLoggedAsError tests that a disconnect is logged, but not as an error.
func TestDisconnectIsNotLoggedAsError(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{}, handlers.Config{})
	gone, leave := context.WithCancel(context.Background())
	leave()
	for path, ctx := range map[string]context.Context{"/admin/snapshot": context.Background(), "/admin/blobs/" + sha256Hex("x"): gone, "/sets": gone} {
		request := c.request("GET", path, nil, nil).WithContext(ctx)
		request.RemoteAddr = "127.0.0.1:1"
		c.server.Config.Handler.ServeHTTP(hungUp{httptest.NewRecorder()}, request)
	}
	same(t, "lines in the log", strings.Count(c.log.String(), "\n"), 3)
	same(t, "an error in the log", strings.Contains(c.log.String(), `"level":"error"`), false)
}

// TestMistypedLinkIsNotLogged tests that no log contains the secret of a link's address, even if
// the rest of the address is mistyped.
func TestMistypedLinkIsNotLogged(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{}, handlers.Config{})
	token, _ := auth.NewLink()
	for _, path := range []string{"/s/" + token, "/S/" + token, "//s/" + token, "/v1/s/" + token, "/x/s/" + token + "/file", "/" + token, "/s" + token, "/s/" + token + ".", "/s" + "/" + token[:20]} {
		request := httptest.NewRequestWithContext(t.Context(), "GET", c.server.URL, nil)
		request.URL.Path = path
		request.Header.Set("Accept", "text/html")
		request.RemoteAddr = "127.0.0.1:1"
		c.server.Config.Handler.ServeHTTP(httptest.NewRecorder(), request)
		if strings.Contains(c.log.String(), token[2:18]) {
			t.Fatalf("%s: the token is in the log: %s", strings.Replace(path, token, "TOKEN", 1), c.log.String())
		}
	}
	same(t, "lines in the log", strings.Count(c.log.String(), "\n"), 9)
}

// withStore returns the client of a service with another store.
func (c *client) withStore(store metadata.Store) *client {
	other, elsewhere := *c, *c.gateway
	elsewhere.meta = store
	other.gateway = &elsewhere
	return &other
}

// TestSnapshotIsConsistent tests that a snapshot taken during concurrent writes has a single
// consistent state.
func TestSnapshotIsConsistent(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{}, handlers.Config{})
	s := c.newSpace(nil)
	set := s.newSet()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				s.upload(set, "f", fmt.Sprint(i))
			}
		}
	}()
	for range 5 {
		copied := filepath.Join(t.TempDir(), "copy.db")
		a := c.get("/admin/snapshot").want(http.StatusOK)
		if err := os.WriteFile(copied, a.body, 0o600); err != nil {
			t.Fatal(err)
		}
		store, err := bolt.Open(copied, bolt.Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		files, err := directory.OpenReadOnly(c.dir)
		if err != nil {
			t.Fatal(err)
		}
		_, err = maintenance.NewUpkeep(store, files).Check(context.Background(), maintenance.CheckOptions{}, maintenance.CheckEvents{
			Violation: func(v metadata.Violation) { t.Error("in the copy:", v) },
		})
		same(t, "checking the copy", err, nil)
		same(t, "closing the copy", store.Close(), nil)
	}
	close(stop)
	<-stopped
}

func TestBlobByDigest(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{}, handlers.Config{})
	s := c.newSpace(nil)
	const content = "0123456789"
	file := s.newFile("a.html", content)
	path := "/admin/blobs/" + sha256Hex(content)
	tag := `"sha256-` + sha256Hex(content) + `"`
	a := c.get(path).want(http.StatusOK)
	same(t, "the bytes", string(a.body), content)
	for name, want := range map[string]string{
		"Content-Type": "application/octet-stream", "Content-Length": "10", "ETag": tag, "Last-Modified": "", "Accept-Ranges": "bytes",
		"Repr-Digest": "sha-256=:" + digest64(content) + ":", "Content-Disposition": "attachment; filename=" + sha256Hex(content),
		"Content-Security-Policy": "default-src 'none'; sandbox",
	} {
		same(t, name, a.header.Get(name), want)
	}
	for _, tc := range []struct {
		headers []string
		status  int
		body    string
	}{
		{[]string{"Range: bytes=8-"}, 206, "89"}, {[]string{"Range: bytes=8-", "If-Range: " + tag}, 206, "89"},
		{[]string{"Range: bytes=8-", `If-Range: "x"`}, 200, content}, {[]string{"If-None-Match: " + tag}, 304, ""},
	} {
		same(t, strings.Join(tc.headers, ", "), string(c.get(path, tc.headers...).want(tc.status).body), tc.body)
	}
	c.get(path, "Range: bytes=10-").problem(http.StatusRequestedRangeNotSatisfiable, "range_not_satisfiable", "")
	c.get(path, `If-Match: "x"`).problem(http.StatusPreconditionFailed, "precondition_failed", "")

	c.send("DELETE", file, nil).want(http.StatusNoContent)
	c.get(path).want(http.StatusOK)
	c.send("POST", "/admin/purge", object{"olderThan": "0s", "grace": "1h"}).want(http.StatusOK)
	same(t, "from the trash", string(c.get(path).want(http.StatusOK).body), content)
	same(t, "a part from the trash", string(c.get(path, "Range: bytes=8-").want(http.StatusPartialContent).body), "89")
	c.send("POST", "/admin/purge", object{"olderThan": "0s", "grace": "0s"}).want(http.StatusOK)
	c.get(path).problem(http.StatusNotFound, "blob_not_found", "")
}

// TestPurgeCountsInDryRun tests that a dry run has the same counts and changes nothing.
func TestPurgeCountsInDryRun(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{TrashGrace: time.Hour}, handlers.Config{})
	s := c.newSpace(nil)
	path, kept := s.newFile("a", "12345"), s.newFile("b", "123")
	s.newFile("c", "123")
	for _, deleted := range []string{path, kept} {
		c.send("DELETE", deleted, nil).want(http.StatusNoContent)
	}
	const all = `{
  "dryRun": {dry},
  "resources": {resources},
  "resourceBytes": {bytes},
  "versions": 0,
  "versionBytes": 0,
  "labelledVersions": 0,
  "labelled": [],
  "blobs": {blobs},
  "blobBytes": {blobBytes},
  "orphans": 0,
  "orphanBytes": 0,
  "trashFiles": {trash},
  "trashBytes": {trashBytes},
  "recent": 0,
  "recentBytes": 0
}
`
	purge := func(body object, dry string, resources, bytes, blobs, blobBytes, trash, trashBytes int) {
		t.Helper()
		c.send("POST", "/admin/purge", body).want(http.StatusOK).exactly(all, "{dry}", dry, "{resources}", fmt.Sprint(resources), "{bytes}", fmt.Sprint(bytes),
			"{blobs}", fmt.Sprint(blobs), "{blobBytes}", fmt.Sprint(blobBytes), "{trash}", fmt.Sprint(trash), "{trashBytes}", fmt.Sprint(trashBytes))
	}
	before, disk := c.dump(), c.disk(t)
	purge(object{"olderThan": "1d"}, "false", 0, 0, 0, 0, 0, 0)
	purge(object{"olderThan": "0d", "dryRun": true}, "true", 2, 8, 1, 5, 0, 0)
	same(t, "the records are unchanged after a dry run", c.dump() == before && fmt.Sprint(c.disk(t)) == fmt.Sprint(disk), true)
	purge(object{"olderThan": "0d", "dryRun": false}, "false", 2, 8, 1, 5, 0, 0)
	purge(object{"olderThan": "0d"}, "false", 0, 0, 0, 0, 0, 0)
	purge(object{"olderThan": "0d", "grace": "0s", "dryRun": true}, "true", 0, 0, 0, 0, 1, 5)
	purge(object{"olderThan": "0d", "grace": "0s"}, "false", 0, 0, 0, 0, 1, 5)
	same(t, "purged", c.get(path).want(http.StatusOK).object()["purged"], any(true))
	c.send("POST", path+"/restore", nil).problem(http.StatusConflict, "purged", "")
	c.send("DELETE", path, nil).want(http.StatusNoContent)
}

// TestBadAdminRequestsAreRefused sends invalid values in requests of sysadmins. The general tests
// of JSON bodies do not cover these.
func TestBadAdminRequestsAreRefused(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{}, handlers.Config{})
	c.newFixture(nil)
	cases := []bad{
		{"no age", "POST", "/admin/purge", object{}, 400, "missing_field", "olderThan", nil},
		{"no age", "POST", "/admin/purge", object{"dryRun": true, "grace": "1d"}, 400, "missing_field", "olderThan", nil},
	}
	for _, age := range []string{"", "90", "-1d", "-1s", "1w", "d", "1h1d", "106752d", "a long time", strings.Repeat("9", 10_000) + "d"} {
		cases = append(cases,
			bad{"age " + age, "POST", "/admin/purge", object{"olderThan": age}, 400, "invalid_field", "olderThan", nil},
			bad{"grace " + age, "POST", "/admin/purge", object{"olderThan": "1d", "grace": age}, 400, "invalid_field", "grace", nil})
	}
	for _, subset := range []string{"", "1", "0/2", "3/2", "-1/2", "1/0", "1/2/3", "a/b", "1.5/2", " 1/2", strings.Repeat("9", 30) + "/" + strings.Repeat("9", 30)} {
		cases = append(cases, bad{"subset " + subset, "POST", "/admin/check", object{"subset": subset}, 400, "invalid_field", "subset", nil})
	}
	c.refuses(cases)
	age := c.bad("POST", "/admin/purge", object{"olderThan": "x"}).object().text("detail")
	same(t, "the refusal shows the forms", strings.Contains(age, "olderThan must be a length of time such as 90d"), true)

	// Callers without permission learn nothing about the fields.
	user := c.newUser(nil)
	user.bad("POST", "/admin/purge", object{"olderThan": "x", "unknown": 1}).problem(http.StatusForbidden, "forbidden", "")
	user.bad("POST", "/admin/check", object{"subset": "x"}).problem(http.StatusForbidden, "forbidden", "")
	user.bad("GET", "/admin/blobs/nonsense", nil).problem(http.StatusForbidden, "forbidden", "")
}

// blockedDisk is a disk on which removing waits for goOn.
type blockedDisk struct {
	*directory.Store
	removing, goOn chan struct{}
}

func (d *blockedDisk) Remove(digest blobs.Digest, confirm func() error) error {
	close(d.removing)
	<-d.goOn
	return d.Store.Remove(digest, confirm)
}

// TestSecondPurgeIsBusy tests that a concurrent second purge is refused.
func TestSecondPurgeIsBusy(t *testing.T) {
	t.Parallel()
	disk := &blockedDisk{removing: make(chan struct{}), goOn: make(chan struct{})}
	c := gatewayOver(t, handlers.Config{}, repository.Config{}, func(dir *directory.Store) blobs.Folder {
		disk.Store = dir
		return disk
	})
	s := c.newSpace(nil)
	c.send("DELETE", s.newFile("a", "content"), nil).want(http.StatusNoContent)
	purged := make(chan *answer)
	go func() { purged <- c.send("POST", "/admin/purge", object{"olderThan": "0s"}) }()
	<-disk.removing
	busy := c.send("POST", "/admin/purge", object{"olderThan": "0s"}).problem(http.StatusConflict, "busy", "")
	same(t, "Retry-After", busy.header.Get("Retry-After"), "1")
	close(disk.goOn)
	same(t, "blobs of the first", (<-purged).object()["blobs"], any(1.0))
}

// checked is the decoded answer to a check.
type checked struct {
	violations []object
	progress   int
	end        object
	failed     object
}

// checks decodes the lines of a check.
func (a *answer) checks() (c checked) {
	a.t.Helper()
	same(a.t, "Content-Type", a.want(http.StatusOK).header.Get("Content-Type"), "application/jsonl")
	lines := bytes.Split(bytes.TrimSuffix(a.body, []byte("\n")), []byte("\n"))
	for i, text := range lines {
		line := (&answer{t: a.t, what: a.what, body: text}).object()
		for member, value := range line {
			fields, _ := value.(map[string]any)
			last := i == len(lines)-1
			switch {
			case member == "violation" && !last:
				c.violations = append(c.violations, fields)
			case member == "progress" && !last:
				c.progress++
			case member == "end" && last:
				c.end = fields
			case member == "error" && last:
				c.failed = fields
			default:
				a.t.Errorf("%s: line %d of %d: %s", a.what, i+1, len(lines), text)
			}
		}
	}
	return c
}
