package handlers_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"labshelf/handlers"
	"labshelf/repository"
)

// far is a header of a trusted proxy for a client on another machine.
const far = "X-Forwarded-For: 203.0.113.7"

var behindProxy = handlers.Config{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}}

func gunzip(t *testing.T, packed []byte) []byte {
	t.Helper()
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

// TestListingsAreCompressed tests that clients on other machines get compressed listings if they
// accept them, with a separate ETag for each encoding.
func TestListingsAreCompressed(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{}, behindProxy)
	f := c.newFixture(nil)
	for i := range 20 { // each listing must be longer than one packet
		f.upload(f.ids["SetId"], fmt.Sprint(i), "content")
		s := f.newSpace(nil)
		s.newSet()
		s.newMember("member")
		f.send("PUT", "/sets/"+f.ids["SetId"], object{"title": fmt.Sprint(i)}).want(http.StatusOK)
		f.send("PATCH", "/resources/"+f.ids["ResourceId"], object{"description": fmt.Sprint(i)}).want(http.StatusOK)
		f.send("POST", "/sets", object{"name": f.name("more"), "dataspaceId": f.dataspace}).want(http.StatusCreated)
		f.send("POST", "/links", object{"kind": "share", "setId": f.ids["SetId"], "label": fmt.Sprint(i)}).want(http.StatusCreated)
		f.send("POST", "/users/"+f.ids["UserId"]+"/keys", object{"label": strings.Repeat("x", 100)}).want(http.StatusCreated)
	}
	f.find("")
	for id, path := range f.listingOperations() {
		page := f.get(path).want(http.StatusOK)
		near := f.get(path, "Accept-Encoding: gzip").want(http.StatusOK)
		same(t, id+" over loopback", near.header.Get("Content-Encoding")+near.header.Get("ETag"), "")
		same(t, id+" over loopback", string(near.body), string(page.body))
		packed := f.get(path, far, "Accept-Encoding: br, gzip").want(http.StatusOK)
		if strings.Contains(strings.ToLower(id), "userkeys") {
			same(t, id+" shows the beginnings of keys", packed.header.Get("Content-Encoding"), "")
			continue
		}
		same(t, id+": Content-Encoding", packed.header.Get("Content-Encoding"), "gzip")
		same(t, id+": the content", string(gunzip(t, packed.body)), string(page.body))
		same(t, id+": it is shorter", len(packed.body) < len(page.body)/2, true)
		for _, refuses := range []string{"", "identity", "gzip;q=0", "br"} {
			plain := f.get(path, far, "Accept-Encoding: "+refuses).want(http.StatusOK)
			same(t, id+": Content-Encoding with "+refuses, plain.header.Get("Content-Encoding"), "")
			same(t, id+": the page", string(plain.body), string(page.body))
			same(t, id+": Vary", strings.Join(plain.header.Values("Vary"), ", "), "Accept-Encoding")
			same(t, id+": its own tag", plain.header.Get("ETag") != packed.header.Get("ETag") && plain.header.Get("ETag") != "", true)
			f.get(path, far, "Accept-Encoding: "+refuses, "If-None-Match: "+plain.header.Get("ETag")).want(http.StatusNotModified)
			f.get(path, far, "Accept-Encoding: "+refuses, "If-None-Match: "+packed.header.Get("ETag")).want(http.StatusOK)
		}
		again := f.get(path, far, "Accept-Encoding: gzip", "If-None-Match: "+packed.header.Get("ETag")).want(http.StatusNotModified)
		same(t, id+": a tag for 304", again.header.Get("ETag"), packed.header.Get("ETag"))
		same(t, id+": Vary of 304", again.header.Get("Vary"), "Accept-Encoding")
		f.get(page.object().text("currentPage"), far, "Accept-Encoding: gzip", "If-None-Match: "+packed.header.Get("ETag")).want(http.StatusNotModified)
		head := f.send("HEAD", path, nil, far, "Accept-Encoding: gzip").want(http.StatusOK)
		same(t, id+": HEAD", head.header.Get("ETag")+head.header.Get("Content-Length"), packed.header.Get("ETag")+packed.header.Get("Content-Length"))
	}
	f.upload(f.ids["SetId"], "one more", "content")
	before := f.get("/resources?limit=1", far, "Accept-Encoding: gzip").want(http.StatusOK)
	same(t, "a short page", before.header.Get("Content-Encoding"), "")
	end := f.get("/sets?name=nothing-has-it", far, "Accept-Encoding: gzip").want(http.StatusOK)
	f.get("/sets?name=nothing-has-it", far, "If-None-Match: "+end.header.Get("ETag")).want(http.StatusNotModified)
}

// TestSecretsAndFilesAreNotCompressed tests that files, records and answers with a key or a session
// are not compressed.
func TestSecretsAndFilesAreNotCompressed(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{}, behindProxy)
	s := c.newSpace(object{"description": strings.Repeat("text ", 1000)})
	file := s.newFile("a.txt", strings.Repeat("text ", 10_000))
	for _, request := range []struct {
		method, path string
		body         any
	}{
		{"GET", file + "/data", nil}, {"HEAD", file + "/data", nil}, {"GET", file, nil}, {"GET", "/dataspaces/" + s.dataspace, nil},
		{"POST", "/users/me/keys", object{"label": "x"}}, {"GET", "/users/me/keys", nil}, {"POST", "/session", object{"key": c.key}},
		{"GET", "/sets/" + c.get(file).object().text("setId") + "/archive", nil},
	} {
		a := c.bad(request.method, request.path, request.body, far, "Accept-Encoding: gzip")
		if a.status >= 300 || a.header.Get("Content-Encoding") != "" {
			t.Errorf("%s %s: %s", request.method, request.path, a.short())
		}
	}
	// Forwarding headers are ignored without a trusted proxy.
	c.upload(s.newSet(), "b.txt", "x")
	direct := c.configured(handlers.Config{})
	same(t, "a header of anybody", direct.get("/resources", far, "Accept-Encoding: gzip").want(http.StatusOK).header.Get("ETag"), "")
}
