package handlers_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/handlers"
	"labshelf/repository"
)

// TestUppyMetadata tests the metadata of Uppy. It sends name, type and relativePath in addition to
// filename and filetype, and null for the path of a file that was not in a folder.
func TestUppyMetadata(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	set := s.newSet()
	for _, tc := range []struct {
		metadata             []string
		name, mimetype, file string
	}{
		{[]string{"relativePath", "null", "name", "a.csv", "type", "text/x-own", "filename", "a.csv", "filetype", "text/x-own"}, "a.csv", "text/x-own", "a.csv"},
		{[]string{"relativePath", "run/1/a.csv", "name", "a.csv", "type", "text/x-own", "filename", "a.csv"}, "run/1/a.csv", "text/x-own", "a.csv"},
		{[]string{"type", "text/x-one", "filetype", "text/x-two", "relativePath", "", "name", "a.csv"}, "a.csv", "text/x-two", ""},
		{[]string{"relativePath", "run/a.csv", "name", "renamed.csv", "type", "null", "filename", "a.csv"}, "renamed.csv", "text/csv; charset=utf-8", "a.csv"},
		{[]string{"relativePath", "run/a.csv", "filetype", "null"}, "run/a.csv", "text/csv; charset=utf-8", ""},
	} {
		at := s.begin(3, append(tc.metadata, "setId", set)...)
		made := s.get(s.chunk(at, 0, "a,b").want(http.StatusNoContent).header.Get("Labshelf-Resource")).object()
		what := strings.Join(tc.metadata, " ")
		same(t, what+": name", made.text("name"), tc.name)
		same(t, what+": mimetype", made.text("mimetype"), tc.mimetype)
		same(t, what+": filename", made.text("filename"), tc.file)
	}
}

// TestLengthBeyondTheDiskIsRefused tests that an upload whose announced length exceeds the free
// space is refused before any byte arrives.
func TestLengthBeyondTheDiskIsRefused(t *testing.T) {
	t.Parallel()
	const free = 10 << 20
	var room atomic.Pointer[blobs.FreeSpace]
	room.Store(&blobs.FreeSpace{Bytes: free, Files: 1000})
	c := ownGateway(t, repository.Config{Room: func() (blobs.FreeSpace, error) {
		if r := room.Load(); r != nil {
			return *r, nil
		}
		return blobs.FreeSpace{}, errors.New("unknown")
	}}, handlers.Config{})
	s := c.newSpace(nil)
	set, resource := s.newSet(), s.newResource()
	begin := func(length int, target ...string) *answer {
		return c.bad("POST", "/uploads", nil, inTus, fmt.Sprint("Upload-Length: ", length), uploadMetadata(append(target, "filename", "a")...))
	}
	full := func(a *answer) {
		t.Helper()
		a.problem(http.StatusInsufficientStorage, errs.CodeNoSpace, "")
	}
	begin(free, "setId", set).want(http.StatusCreated)
	full(begin(free+1, "setId", set))
	full(begin(free+1, "resourceId", resource))
	s.newMember("member").bad("POST", "/uploads", nil, inTus, "Upload-Length: 1000000000000", uploadMetadata("setId", set, "filename", "a")).
		problem(http.StatusForbidden, "forbidden", "")

	// The service does not wait for a form whose announced length is too large.
	head := "%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: %s\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 1000000000000\r\n\r\n" +
		"--x\r\nContent-Disposition: form-data; name=\"setId\"\r\n\r\n%s\r\n--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nbegin"
	for _, to := range []string{"POST /resources", "PUT /resources/" + resource} {
		method, path, _ := strings.Cut(to, " ")
		of := set
		if method == "PUT" {
			of = c.get(path).object().text("setId")
		}
		_, reader := c.dial(head, method+" /v1"+path, c.key, of)
		full(c.readRaw(reader, method, path))
	}
	c.upload(set, "b", "it fits")
	room.Store(&blobs.FreeSpace{Bytes: free}) // no free inode
	full(begin(1, "setId", set))
	room.Store(nil)
	begin(free+1, "setId", set).want(http.StatusCreated)
}
