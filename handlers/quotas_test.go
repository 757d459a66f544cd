package handlers_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/handlers"
	"labshelf/repository"
)

// TestQuotas tests which callers see a quota, and how each kind of upload beyond it is refused.
func TestQuotas(t *testing.T) {
	oneNode(t) // a node does not know the reservations of other nodes
	t.Parallel()
	s := sysadmin(t).newSpace(object{"quota": 1000})
	editor, stranger := s.newMember("editor"), s.newUser(nil)
	set := s.newSet()
	path := "/dataspaces/" + s.dataspace
	s.send("PUT", path, object{"quota": 900, "visibility": "public"}).want(http.StatusOK)
	for of, want := range map[*client][2]any{s.client: {900.0, 900.0}, editor: {nil, 900.0}, stranger: {nil, nil}} {
		same(t, "quota of the dataspace", of.get(path).want(http.StatusOK).object()["quota"], want[0])
		same(t, "quota in its usage", of.get(path + "/usage").want(http.StatusOK).object()["quota"], want[1])
		for _, one := range of.get("/usage").want(http.StatusOK).object()["dataspaces"].([]any) {
			if one := one.(map[string]any); one["dataspaceId"] == s.dataspace {
				same(t, "quota in all usage", one["quota"], want[1])
			}
		}
	}
	s.newMember("admin").bad("PUT", path, object{"quota": 901}).problem(http.StatusForbidden, errs.CodeForbidden, "")

	full := func(what string, a *answer) {
		t.Helper()
		if a.problem(http.StatusInsufficientStorage, errs.CodeQuotaExceeded, ""); !strings.Contains(a.object().text("detail"), s.get(path).object().text("name")) {
			t.Errorf("%s: %s", what, a.object().text("detail"))
		}
	}
	editor.upload(set, "a", strings.Repeat("a", 500))
	full("a form", editor.bad("POST", "/resources", form(text("setId", set), file("b", strings.Repeat("b", 401)))))
	full("a form whose set comes last", editor.bad("POST", "/resources", form(file("b", strings.Repeat("b", 401)), text("setId", set))))
	upload := func(length int) *answer {
		return editor.bad("POST", "/uploads", nil, inTus, fmt.Sprint("Upload-Length: ", length), uploadMetadata("setId", set, "filename", "c"))
	}
	full("an upload in chunks", upload(401))
	location := upload(400).want(http.StatusCreated).header.Get("Location")
	editor.chunk(location, 0, strings.Repeat("c", 200)).want(http.StatusNoContent)
	full("a form during the upload", editor.bad("POST", "/resources", form(text("setId", set), file("b", strings.Repeat("b", 201)))))
	editor.chunk(location, 200, strings.Repeat("c", 200)).want(http.StatusNoContent)
	full("a byte", editor.bad("POST", "/resources", form(text("setId", set), file("b", "b"))))

	s.send("PUT", "/users/"+editor.id, object{"quota": 1000}).want(http.StatusOK)
	for of, want := range map[*client]any{s.client: 1000.0, editor: 1000.0, stranger: nil} {
		same(t, "quota of a user", of.get("/users/" + editor.id).want(http.StatusOK).object()["quota"], want)
	}
	own := editor.get("/users/me/usage").want(http.StatusOK).object()
	same(t, "usage of a user", fmt.Sprint(own["used"], own["quota"]), "900 1000")
	stranger.bad("GET", "/users/"+editor.id+"/usage", nil).problem(http.StatusForbidden, errs.CodeForbidden, "")
	editor.bad("PUT", "/users/me", object{"quota": 0}).problem(http.StatusForbidden, errs.CodeForbidden, "")
}

// TestQuotaOfChunkedBody sends a form of unknown length. The service reads no more of it than the
// quota allows, and answers while the client still sends.
func TestQuotaOfChunkedBody(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(object{"quota": 100_000})
	set := s.newSet()
	head := "POST /v1/resources HTTP/1.1\r\nHost: localhost\r\nAuthorization: " + s.key + "\r\nContent-Type: multipart/form-data; boundary=x\r\n" +
		"Transfer-Encoding: chunked\r\n\r\n"
	begin := "--x\r\nContent-Disposition: form-data; name=\"setId\"\r\n\r\n" + set + "\r\n--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n"
	conn, reader := s.dial("%s", head)
	for _, chunk := range []string{begin, strings.Repeat("a", 1<<20)} {
		if _, err := io.WriteString(conn, fmt.Sprintf("%x\r\n%s\r\n", len(chunk), chunk)); err != nil {
			t.Fatal(err)
		}
	}
	s.readRaw(reader, "POST", "/resources").problem(http.StatusInsufficientStorage, errs.CodeQuotaExceeded, "")
	same(t, "bytes in the dataspace", s.get("/dataspaces/" + s.dataspace + "/usage").want(http.StatusOK).object()["activeBytes"], any(0.0))
	s.upload(set, "a", strings.Repeat("a", 100_000))
}

// TestQuotaOfDrive tests that a mounted drive shows the free space of the quota, and that a file or
// copy beyond it gets 507.
func TestQuotaOfDrive(t *testing.T) {
	t.Parallel()
	d := sysadmin(t).newDrive(object{"quota": 1000})
	room := func(what, want string) {
		t.Helper()
		const ask = `<D:propfind xmlns:D="DAV:"><D:prop><D:quota-available-bytes/></D:prop></D:propfind>`
		if body := string(d.dav("PROPFIND", "", ask, "Depth: 0").want(http.StatusMultiStatus).body); !strings.Contains(body, ">"+want+"</D:quota-available-bytes>") {
			t.Errorf("%s: %s", what, body)
		}
	}
	d.dav("PUT", "/a", strings.Repeat("a", 600)).want(http.StatusCreated)
	room("after 600 of 1000", "400")
	d.dav("PUT", "/b", strings.Repeat("b", 401)).want(http.StatusInsufficientStorage)
	d.dav("COPY", "/a", "", "Destination: $/c").want(http.StatusInsufficientStorage)
	d.dav("PUT", "/a", strings.Repeat("b", 400)).want(http.StatusNoContent)
	room("after a replacement", "0")
	d.dav("MOVE", "/a", "", "Destination: $/d").want(http.StatusCreated)
	d.dav("PUT", "/e", "").want(http.StatusCreated)
}

// TestDiskSpaceIsForSysadmins tests that the drive shows other users only the free space of
// their quotas, and nothing about the machine.
func TestDiskSpaceIsForSysadmins(t *testing.T) {
	t.Parallel()
	const disk = 5000
	root := ownGateway(t, repository.Config{Room: func() (blobs.FreeSpace, error) { return blobs.FreeSpace{Bytes: disk, Files: 1000}, nil }}, handlers.Config{})
	room := func(d *onDrive, path string) string {
		t.Helper()
		const ask = `<D:propfind xmlns:D="DAV:"><D:prop><D:quota-available-bytes/><D:quota-used-bytes/></D:prop></D:propfind>`
		body := string(d.dav("PROPFIND", path, ask, "Depth: 0").want(http.StatusMultiStatus).body)
		_, rest, found := strings.Cut(body, "<D:quota-available-bytes>")
		if left, _, ok := strings.Cut(rest, "</D:quota-available-bytes>"); found && ok {
			return left
		}
		return ""
	}
	free, limited := root.newDrive(object{"visibility": "public"}), root.newDrive(object{"quota": 8000})
	editor, owner := root.newUser(nil), root.newUser(object{"quota": 3000})
	for _, d := range []*onDrive{free, limited} {
		space := d.get("/sets/" + d.set).object().text("dataspaceId")
		root.send("POST", "/privileges", object{"userId": editor.id, "dataspaceId": space, "role": "editor"}).want(http.StatusCreated)
	}
	for _, tt := range []struct {
		what, path, want string
		of               *onDrive
	}{
		{"a sysadmin, at the top", "/dav/", "5000", free},
		{"a sysadmin, without a quota", "", "5000", free},
		{"a sysadmin, with a larger quota", "", "5000", limited},
		{"an editor, at the top", "/dav/", "", free.as(editor)},
		{"an editor, without a quota", "", "", free.as(editor)},
		{"an editor, with a quota larger than the disk", "", "8000", limited.as(editor)},
		{"a reader", "", "", free.as(owner)},
		{"a user with a quota, at the top", "/dav/", "3000", free.as(owner)},
	} {
		same(t, tt.what, room(tt.of, tt.path), tt.want)
	}
}
