package handlers_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"labshelf/auth/errs"
	"labshelf/blobs/directory"
	"labshelf/handlers"
	"labshelf/repository"
)

func TestTusChunks(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	set, content := s.newSet(), strings.Repeat("0123456789", 30_000)
	announced := []string{"setId", set, "filename", "dir/run 1.csv", "name", "runs/run 1.csv", "format", "", "description", "first\nrun", "sha256", sha256Hex(content)}
	at := s.begin(len(content), announced...)
	same(t, "a resource at the beginning", s.stands(at, 0, len(content)), "")
	head := s.send("HEAD", at, nil, inTus).want(http.StatusOK)
	same(t, "Upload-Metadata", "Upload-Metadata: "+head.header.Get("Upload-Metadata"), uploadMetadata(announced...))
	first := s.chunk(at, 0, content[:100_000]).want(http.StatusNoContent)
	same(t, "Upload-Offset", first.header.Get("Upload-Offset"), "100000")
	same(t, "Labshelf-Resource of a part", first.header.Get("Labshelf-Resource"), "")
	s.chunk(at, 0, content[:5]).problem(http.StatusConflict, "offset_mismatch", "Upload-Offset")
	s.chunk(at, 100_001, content[:5]).problem(http.StatusConflict, "offset_mismatch", "Upload-Offset")
	s.chunk(at, 100_000, content).problem(http.StatusBadRequest, "invalid_field", "Upload-Length")
	s.stands(at, 100_000, len(content))
	s.chunk(at, 100_000, "").want(http.StatusNoContent)
	last := s.chunk(at, 100_000, content[100_000:]).want(http.StatusNoContent)
	made := last.header.Get("Labshelf-Resource")
	o := s.get(made).object()
	same(t, "the record", fmt.Sprint(o["name"], o["filename"], o["format"], o["description"], o["sha256"], o["bytes"], o["mimetype"], o["setId"]),
		fmt.Sprint("runs/run 1.csv", "run 1.csv", "CSV", "first\nrun", sha256Hex(content), len(content), "text/csv; charset=utf-8", set))
	same(t, "the file", string(s.get(made+"/data").want(http.StatusOK).body), content)
	same(t, "the resource, after another request", s.stands(at, len(content), len(content)), made)
	same(t, "the resource, sent again", s.chunk(at, len(content), "").want(http.StatusNoContent).header.Get("Labshelf-Resource"), made)
	same(t, "number of resources", len(s.get("/sets/"+set+"/resources").data()), 1)
	shown := s.get(at, inTus).want(http.StatusOK).object()
	same(t, "the upload", fmt.Sprint(shown["url"], shown["offset"], shown["length"], shown["resourceUrl"], shown["setId"]), fmt.Sprint(at, len(content), len(content), made, set))
	s.send("DELETE", at, nil, inTus).want(http.StatusNoContent)
	s.send("HEAD", at, nil, inTus).want(http.StatusNotFound)
	s.get(made).want(http.StatusOK)
}

// TestTusCreationWithUpload tests that an upload may start with its first bytes or an empty body,
// and that another method can be used instead of PATCH.
func TestTusCreationWithUpload(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	set := s.newSet()
	body := raw{"application/offset+octet-stream", []byte("content")}
	a := s.send("POST", "/uploads", body, inTus, "Upload-Length: 7", uploadMetadata("setId", set, "filename", "a.txt")).want(http.StatusCreated)
	same(t, "Upload-Offset", a.header.Get("Upload-Offset"), "7")
	same(t, "the file", string(s.get(a.header.Get("Labshelf-Resource")+"/data").body), "content")
	a = s.send("POST", "/uploads", body, inTus, "Upload-Length: 8", uploadMetadata("setId", set, "filename", "a.txt")).want(http.StatusCreated)
	at := a.header.Get("Location")
	same(t, "Upload-Offset of a part", a.header.Get("Upload-Offset")+a.header.Get("Labshelf-Resource"), "7")
	last := s.send("POST", at, raw{"application/offset+octet-stream", []byte("s")}, inTus, "Upload-Offset: 7", "X-HTTP-Method-Override: PATCH").want(http.StatusNoContent)
	same(t, "the file", string(s.get(last.header.Get("Labshelf-Resource")+"/data").body), "contents")
	s.bad("POST", at, nil, inTus).problem(http.StatusMethodNotAllowed, "method_not_allowed", "")
	s.send("POST", "/uploads", body, inTus, "Upload-Length: 0", uploadMetadata("setId", set, "filename", "empty")).problem(http.StatusBadRequest, "invalid_field", "Upload-Length")
	a = s.send("POST", "/uploads", nil, inTus, "Upload-Length: 0", uploadMetadata("setId", set, "filename", "empty", "sha256", sha256Hex("x"))).problem(http.StatusBadRequest, "digest_mismatch", "sha256")
	s.refusedHead(a.header.Get("Location"), http.StatusBadRequest)
	a = s.send("POST", "/uploads", nil, inTus, "Upload-Length: 0", uploadMetadata("setId", set, "filename", "empty")).want(http.StatusCreated)
	same(t, "an empty file", s.get(a.header.Get("Labshelf-Resource")).object().text("sha256"), sha256Hex(""))
	none := uploadMetadata("setId", set, "filename", "a.txt", "sha256", strings.Repeat("0", 64))
	// no content has this digest; in the row of an upload it means that no digest was announced
	for _, sent := range []any{nil, body} {
		s.send("POST", "/uploads", sent, inTus, "Upload-Length: 7", none).problem(http.StatusBadRequest, "digest_mismatch", "sha256")
	}
	same(t, "is finished", s.stands(a.header.Get("Location"), 0, 0), a.header.Get("Labshelf-Resource"))
	same(t, "number of resources", len(s.get("/sets/"+set+"/resources").data()), 3)
}

func TestTusReplacesAFile(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	old := s.upload(s.newSet(), "a.txt", "old", text("description", "before"))
	path := "/resources/" + old.text("id")
	at := s.begin(3, "resourceId", old.text("id"), "filename", "b.csv")
	made := s.chunk(at, 0, "new").want(http.StatusNoContent).header.Get("Labshelf-Resource")
	o := s.get(made).object()
	same(t, "replaced", fmt.Sprint(o["id"], o["name"], o["description"], o["format"]), fmt.Sprint(old["id"], "b.csv", "", "CSV"))
	same(t, "the file", string(s.get(path+"/data").body), "new")
	tag := s.get(path).header.Get("ETag")
	s.send("PATCH", path, object{"description": "changed"}).want(http.StatusOK)
	s.send("POST", "/uploads", nil, inTus, "Upload-Length: 3", uploadMetadata("resourceId", old.text("id"), "filename", "b"), "If-Match: "+tag).problem(http.StatusPreconditionFailed, "precondition_failed", "")
	tag = s.get(path).header.Get("ETag")
	begin := func(match string) string {
		return s.send("POST", "/uploads", nil, inTus, "Upload-Length: 3", uploadMetadata("resourceId", old.text("id"), "filename", "b"), "If-Match: "+match).want(http.StatusCreated).header.Get("Location")
	}
	s.chunk(begin(`"another", `+tag), 0, "any").want(http.StatusNoContent)
	tag = s.get(path).header.Get("ETag")
	at = begin(tag)
	s.send("PATCH", path, object{"description": "changed again"}).want(http.StatusOK)
	s.chunk(at, 0, "two").problem(http.StatusPreconditionFailed, "precondition_failed", "")
	s.refusedHead(at, http.StatusPreconditionFailed)
	same(t, "the file", string(s.get(path+"/data").body), "any")
}

// TestTusRefusedAtTheBeginning tests that uploads that could never succeed are refused at the
// start.
func TestTusRefusedAtTheBeginning(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{MaxUpload: 1000}, handlers.Config{})
	s := c.newSpace(nil)
	set, resource := s.newSet(), s.newResource()
	gone, lost := s.newSet(), s.newResource()
	s.send("DELETE", "/sets/"+gone, nil).want(http.StatusNoContent)
	s.send("DELETE", "/resources/"+lost, nil).want(http.StatusNoContent)
	member, stranger := s.newMember("member"), c.newUser(nil)
	length := "Upload-Length: 3"
	good := uploadMetadata("setId", set, "filename", "a")
	for _, tc := range []struct {
		what    string
		who     *client
		headers []string
		status  int
		code    errs.Code
		field   string
	}{
		{"no version", c, []string{length, good}, 412, "unsupported_tus_version", "Tus-Resumable"},
		{"another version", c, []string{"Tus-Resumable: 0.2.2", length, good}, 412, "unsupported_tus_version", "Tus-Resumable"},
		{"no length", c, []string{inTus, good}, 400, "missing_field", "Upload-Length"},
		{"no number", c, []string{inTus, "Upload-Length: -1", good}, 400, "invalid_field", "Upload-Length"},
		{"two lengths", c, []string{inTus, length, length, good}, 400, "invalid_field", "Upload-Length"},
		{"a number too far", c, []string{inTus, "Upload-Length: 9223372036854775808", good}, 400, "invalid_field", "Upload-Length"},
		{"no length yet", c, []string{inTus, "Upload-Defer-Length: 1", good}, 400, "invalid_field", "Upload-Defer-Length"},
		{"put together", c, []string{inTus, length, "Upload-Concat: partial", good}, 400, "invalid_field", "Upload-Concat"},
		{"too large", c, []string{inTus, "Upload-Length: 1001", good}, 413, "too_large", "Upload-Length"},
		{"no metadata", c, []string{inTus, length}, 400, "missing_field", "setId"},
		{"no set", c, []string{inTus, length, uploadMetadata("filename", "a")}, 400, "missing_field", "setId"},
		{"no such set", c, []string{inTus, length, uploadMetadata("setId", "nonsense", "filename", "a")}, 404, "set_not_found", "setId"},
		{"a deleted set", c, []string{inTus, length, uploadMetadata("setId", gone, "filename", "a")}, 409, "parent_deleted", "setId"},
		{"no such resource", c, []string{inTus, length, uploadMetadata("resourceId", "nonsense", "filename", "a")}, 404, "resource_not_found", "resourceId"},
		{"a deleted resource", c, []string{inTus, length, uploadMetadata("resourceId", lost, "filename", "a")}, 409, "deleted", "resourceId"},
		{"another set", c, []string{inTus, length, uploadMetadata("resourceId", resource, "setId", gone, "filename", "a")}, 409, "resource_cannot_move", "setId"},
		{"no name", c, []string{inTus, length, uploadMetadata("setId", set)}, 400, "missing_field", "name"},
		{"a bad name", c, []string{inTus, length, uploadMetadata("setId", set, "name", "a\nb")}, 400, "invalid_field", "name"},
		{"a bad type", c, []string{inTus, length, uploadMetadata("setId", set, "name", "a", "filetype", "nonsense")}, 400, "invalid_field", "filetype"},
		{"a bad type of Uppy", c, []string{inTus, length, uploadMetadata("setId", set, "name", "a", "type", "nonsense")}, 400, "invalid_field", "type"},
		{"a bad file name", c, []string{inTus, length, uploadMetadata("setId", set, "name", "a", "filename", "a\nb")}, 400, "invalid_field", "filename"},
		{"a bad path", c, []string{inTus, length, uploadMetadata("setId", set, "relativePath", "a\nb/c")}, 400, "invalid_field", "relativePath"},
		{"a long path that is not used", c, []string{inTus, length, uploadMetadata("setId", set, "name", "a", "relativePath", strings.Repeat("p", 4097))}, 400, "invalid_field", "relativePath"},
		{"a long type that is not used", c, []string{inTus, length, uploadMetadata("setId", set, "name", "a", "filetype", "text/plain", "type", strings.Repeat("t", 4097))}, 400, "invalid_field", "type"},
		{"a file name in a long folder", c, []string{inTus, length, uploadMetadata("setId", set, "name", "a", "filename", strings.Repeat("f", 4096)+"/")}, 400, "invalid_field", "filename"},
		{"a bad format", c, []string{inTus, length, uploadMetadata("setId", set, "name", "a", "format", "a\nb")}, 400, "invalid_field", "format"},
		{"a bad description", c, []string{inTus, length, uploadMetadata("setId", set, "name", "a", "description", "a\x00b")}, 400, "invalid_field", "description"},
		{"nothing between commas", c, []string{inTus, length, good + ",,name YQ=="}, 400, "invalid_field", "Upload-Metadata"},
		{"64 zeros", c, []string{inTus, length, uploadMetadata("setId", set, "name", "a", "sha256", strings.Repeat("0", 64))}, 400, "digest_mismatch", "sha256"},
		{"a bad digest", c, []string{inTus, length, uploadMetadata("setId", set, "name", "a", "sha256", "abc")}, 400, "invalid_field", "sha256"},
		{"an unknown key", c, []string{inTus, length, uploadMetadata("setId", set, "name", "a", "colour", "red")}, 400, "unknown_field", "colour"},
		{"a key twice", c, []string{inTus, length, uploadMetadata("setId", set, "name", "a", "name", "b")}, 400, "invalid_field", "name"},
		{"no base64", c, []string{inTus, length, "Upload-Metadata: setId ???"}, 400, "invalid_field", "setId"},
		{"far too long", c, []string{inTus, length, uploadMetadata("setId", set, "description", strings.Repeat("d", 30_000))}, 400, "invalid_field", "Upload-Metadata"},
		{"a member", member, []string{inTus, length, good}, 403, "forbidden", ""},
		{"a member who replaces", member, []string{inTus, length, uploadMetadata("resourceId", resource, "filename", "a")}, 403, "forbidden", ""},
		{"a stranger", stranger, []string{inTus, length, good}, 403, "forbidden", ""},
		{"nobody", c.withKey(""), []string{inTus, length, good}, 401, "unauthenticated", ""},
	} {
		a := tc.who.on(t).bad("POST", "/uploads", nil, tc.headers...)
		a.what = tc.what
		a.problem(tc.status, tc.code, tc.field)
		same(t, tc.what+": Tus-Resumable", a.header.Get("Tus-Resumable"), "1.0.0")
	}
	if left, err := os.ReadDir(filepath.Join(c.dir, "parts")); err != nil || len(left) > 0 {
		t.Errorf("remaining files: %v, %v", left, err)
	}
	options := c.bad("OPTIONS", "/uploads", nil).want(http.StatusNoContent)
	same(t, "OPTIONS", options.header.Get("Tus-Version")+" "+options.header.Get("Tus-Extension")+" "+options.header.Get("Tus-Max-Size")+" "+options.header.Get("Tus-Checksum-Algorithm"),
		"1.0.0 creation,creation-with-upload,expiration,termination,checksum 1000 sha1,sha256,md5")
}

// TestTusRefusedAtTheEnd tests that a complete upload that is refused is kept, is not reported as
// done, and can be retried.
func TestTusRefusedAtTheEnd(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	editor, set := s.newMember("editor"), s.newSet()
	role := editor.get("/privileges?userId=me").data()[0].text("id")

	at := editor.begin(7, "setId", set, "filename", "a")
	editor.chunk(at, 0, "con").want(http.StatusNoContent)
	s.send("DELETE", "/privileges/"+role, nil).want(http.StatusNoContent)
	editor.chunk(at, 3, "tent").problem(http.StatusForbidden, "forbidden", "")
	editor.refusedHead(at, http.StatusForbidden)
	editor.chunk(at, 7, "").problem(http.StatusForbidden, "forbidden", "")
	editor.chunk(at, 3, "tent").problem(http.StatusConflict, "offset_mismatch", "Upload-Offset")
	s.send("POST", "/privileges", object{"userId": editor.id, "dataspaceId": s.dataspace, "role": "editor"})
	editor.refusedHead(at, http.StatusForbidden)
	made := editor.chunk(at, 7, "").want(http.StatusNoContent).header.Get("Labshelf-Resource")
	same(t, "the file", string(s.get(made+"/data").want(http.StatusOK).body), "content")
	same(t, "afterwards", editor.stands(at, 7, 7), made)

	at = s.begin(7, "setId", set, "filename", "b")
	s.send("DELETE", "/sets/"+set, nil).want(http.StatusNoContent)
	s.chunk(at, 0, "content").problem(http.StatusConflict, "parent_deleted", "setId")
	s.refusedHead(at, http.StatusConflict)
	s.send("POST", "/sets/"+set+"/restore", nil).want(http.StatusOK)
	s.chunk(at, 7, "").want(http.StatusNoContent)

	at = s.begin(7, "setId", set, "filename", "c", "sha256", sha256Hex("another"))
	refused := s.chunk(at, 0, "content")
	refused.problem(http.StatusBadRequest, "digest_mismatch", "sha256")
	same(t, "the refusal says that no data are kept", strings.Contains(string(refused.body), "kept"), false) // the chunks are kept until the upload is terminated
	s.refusedHead(at, http.StatusBadRequest)
	same(t, "number of resources", len(s.get("/sets/"+set+"/resources").data()), 2)
}

// TestTusKeepsBytesOfBrokenChunk tests that all bytes received before a connection ends are kept.
func TestTusKeepsBytesOfBrokenChunk(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	set, content := s.newSet(), strings.Repeat("0123456789", 100_000)
	at := s.begin(len(content), "setId", set, "filename", "a")
	path := strings.TrimPrefix(at, s.server.URL)
	for offset := 0; offset < len(content); {
		most := min(len(content), offset+150_001)
		conn, _ := s.dial("PATCH %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: %s\r\n%s\r\nUpload-Offset: %d\r\nContent-Type: application/offset+octet-stream\r\nContent-Length: %d\r\n\r\n%s",
			path, s.key, inTus, offset, len(content)-offset, content[offset:most])
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
		// the service may not have begun to read
		for deadline := time.Now().Add(time.Minute); offset < most && time.Now().Before(deadline); {
			offset, _ = strconv.Atoi(s.head(at).header.Get("Upload-Offset"))
		}
		same(t, "the kept bytes", offset, most)
	}
	made := s.stands(at, len(content), len(content))
	same(t, "the digest", s.get(made).object().text("sha256"), sha256Hex(content))
}

// TestTusStalledRequestYields tests that a silently broken connection does not prevent its client
// from resuming, and that one of two concurrent requests succeeds.
func TestTusStalledRequestYields(t *testing.T) {
	oneNode(t) // another node takes over the lock; the client sends unacknowledged bytes again
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	set := s.newSet()
	at := s.begin(10, "setId", set, "filename", "a")
	path := strings.TrimPrefix(at, s.server.URL)
	conn, _ := s.dial("PATCH %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: %s\r\n%s\r\nUpload-Offset: 0\r\nContent-Type: application/offset+octet-stream\r\nContent-Length: 10\r\n\r\n01234", path, s.key, inTus)
	eventually(t, "the first bytes are stored", func() bool { return s.head(at).header.Get("Upload-Offset") != "0" })
	s.stands(at, 5, 10)
	s.chunk(at, 5, "56789").want(http.StatusNoContent)
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	content := strings.Repeat("x", 3<<20)
	at = s.begin(len(content), "setId", set, "filename", "b")
	var mu sync.Mutex
	statuses := map[int]int{}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			status := s.chunk(at, 0, content).status
			mu.Lock()
			defer mu.Unlock()
			statuses[status]++
		})
	}
	all.Wait()
	same(t, "the successful request", statuses[http.StatusNoContent], 1)
	same(t, "the other request", statuses[http.StatusConflict]+statuses[http.StatusLocked], 3)
	same(t, "number of resources", len(s.get("/sets/"+set+"/resources").data()), 2)
}

// TestTusUploadBelongsToItsUser tests that the user of an upload can continue it with any key.
func TestTusUploadBelongsToItsUser(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	editor, other := s.newMember("editor"), s.newMember("editor")
	at := editor.begin(7, "setId", s.newSet(), "filename", "a")
	editor.chunk(at, 0, "con").want(http.StatusNoContent)
	for _, c := range []*client{other, s.client} {
		c.chunk(at, 3, "tent").problem(http.StatusNotFound, "upload_not_found", "")
		c.send("HEAD", at, nil, inTus).want(http.StatusNotFound)
		c.send("DELETE", at, nil, inTus).problem(http.StatusNotFound, "upload_not_found", "")
	}
	made := s.send("POST", "/users/"+editor.id+"/keys", object{"label": "new"}).object()
	keys := editor.get("/users/me/keys").data()
	editor.send("DELETE", "/users/me/keys/"+keys[0].text("id"), nil).want(http.StatusNoContent)
	editor.chunk(at, 3, "tent").problem(http.StatusUnauthorized, "unauthenticated", "")
	again := editor.withKey(made.text("key"))
	again.stands(at, 3, 7)
	again.chunk(at, 3, "tent").want(http.StatusNoContent)
}

// TestTusSurvivesRestart tests that an upload survives a restart. It begins again if the folder of
// partial files is missing, as after a backup is restored.
func TestTusSurvivesRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open := func() *client {
		g, err := openGateway(dir, directory.OS{}, repository.Config{})
		if err != nil {
			t.Fatal(err)
		}
		g.serve(handlers.Config{})
		return &client{gateway: g, t: t, key: g.admin}
	}
	c := open()
	set, key := c.newSpace(nil).newSet(), c.key
	at := c.begin(9, "setId", set, "filename", "a")
	c.chunk(at, 0, "abc").want(http.StatusNoContent)
	again := func() {
		t.Helper()
		path := strings.TrimPrefix(at, c.base)
		if err := c.close(); err != nil {
			t.Fatal(err)
		}
		c = open()
		c.key, at = key, c.base+path
	}
	again()
	c.stands(at, 3, 9)
	c.chunk(at, 3, "def").want(http.StatusNoContent)
	again()
	made := c.chunk(at, 6, "ghi").want(http.StatusNoContent).header.Get("Labshelf-Resource")
	same(t, "the file", string(c.get(made+"/data").body), "abcdefghi")
	again()
	same(t, "the resource", strings.TrimPrefix(c.stands(at, 9, 9), c.base), strings.TrimPrefix(made, made[:strings.Index(made, "/resources/")]))
	at = c.begin(9, "setId", set, "filename", "b")
	c.chunk(at, 0, "abc").want(http.StatusNoContent)
	if err := os.RemoveAll(filepath.Join(dir, "parts")); err != nil {
		t.Fatal(err)
	}
	again()
	c.stands(at, 0, 9)
	c.chunk(at, 0, "abcdefghi").want(http.StatusNoContent)
	if err := c.close(); err != nil {
		t.Error(err)
	}
}

// TestTusPausedUploadExpires tests that an upload expires after a long pause.
func TestTusPausedUploadExpires(t *testing.T) {
	t.Parallel()
	c, pass := inTime(t)
	set := c.newSpace(nil).newSet()
	at := c.begin(9, "setId", set, "filename", "a")
	pass(59 * time.Minute)
	c.chunk(at, 0, "abc").want(http.StatusNoContent)
	pass(59 * time.Minute)
	c.chunk(at, 3, "def").want(http.StatusNoContent)
	pass(61 * time.Minute)
	c.chunk(at, 6, "ghi").problem(http.StatusGone, "upload_expired", "")
	c.send("HEAD", at, nil, inTus).want(http.StatusGone)
}

// TestTusLongerThanAnnounced tests that sending more bytes than announced is refused in every way,
// and that the upload can continue.
func TestTusLongerThanAnnounced(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	set := s.newSet()
	const length = 2 << 20
	at := s.begin(length, "setId", set, "filename", "a")
	content := strings.Repeat("0123456789abcdef", length/16)
	unknown := func(offset int, content string) *answer {
		return s.bad("PATCH", at, io.MultiReader(strings.NewReader(content)), inTus, "Upload-Offset: "+strconv.Itoa(offset), "Content-Type: application/offset+octet-stream")
	}
	unknown(0, content+"x").problem(http.StatusBadRequest, "invalid_field", "Upload-Length")
	kept, _ := strconv.Atoi(s.head(at).header.Get("Upload-Offset")) // offset of the last timed checkpoint
	made := unknown(kept, content[kept:]).want(http.StatusNoContent).header.Get("Labshelf-Resource")
	same(t, "the digest", s.get(made).object().text("sha256"), sha256Hex(content))
	if got := s.get(made + "/data").body; !bytes.Equal(got, []byte(content)) {
		t.Error("the file has another id")
	}
}
