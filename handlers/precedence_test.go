package handlers_test

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"labshelf/auth/errs"
	"labshelf/handlers"
	"labshelf/repository"
)

// TestOrderOfChecks tests the order of checks: media type, size and form of the body; existence of
// the object; permission; values of fields; state of the object.
func TestOrderOfChecks(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{MaxUpload: 1 << 20}, handlers.Config{})
	s := c.newSpace(nil)
	set := s.newSet()
	made := s.upload(set, "a.txt", "content")
	resource := "/resources/" + made.text("id")
	user := s.newMember("member")
	large := raw{"multipart/form-data; boundary=" + boundary, bytes.Repeat([]byte("x"), 3<<20)}

	s.bad("PUT", "/sets/"+set, object{"name": "other", "title": 5}).problem(400, errs.CodeInvalidField, "title")
	s.bad("PUT", "/sets/"+set, object{"name": "other", "zzz": 5}).problem(400, errs.CodeUnknownField, "zzz")
	s.bad("PUT", "/sets/"+set, object{"dataspaceId": nil}).problem(400, errs.CodeInvalidField, "dataspaceId")
	s.bad("PUT", "/resources/NOPE", large).problem(413, errs.CodeTooLarge, "file")
	s.bad("PUT", "/resources/NOPE", raw{"multipart/form-data", nil}).want(400)
	c.withKey("").bad("GET", "/resources?a;b", nil).want(401)
	user.bad("PUT", "/users/me", object{"about": 5, "sysadmin": true}).want(403)
	same(t, "a number in another form", s.send("PATCH", resource, raw{"application/json", []byte(`{"bytes": 7.0, "size": 1e0}`)}).status, 200)
	s.send("DELETE", resource, nil).want(204)
	s.bad("GET", resource+"/data?disposition=x", nil).problem(400, errs.CodeInvalidParameter, "disposition")
}

// TestRefusedUploadsLeaveNoBlob tests that an upload that the state of an object forbids is refused
// before its blob is stored.
func TestRefusedUploadsLeaveNoBlob(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{}, handlers.Config{})
	s := c.newSpace(nil)
	set, dropped := s.newSet(), s.newSet()
	resource := "/resources/" + s.upload(set, "a.txt", "content").text("id")
	s.send("DELETE", "/sets/"+dropped, nil).want(204)
	before := c.disk(t)
	s.bad("PUT", resource, form(file("b.txt", "other 1")), `If-Match: "old"`).want(412)
	s.bad("PUT", resource, form(text("setId", dropped), file("b.txt", "other 2"))).want(409)
	s.bad("POST", "/resources", form(text("setId", dropped), file("b.txt", "other 3"))).want(409)
	s.send("DELETE", resource, nil).want(204)
	s.bad("PUT", resource, form(file("b.txt", "other 4"))).want(409)
	same(t, "the blobs are the same", slices.Equal(c.disk(t), before), true)
}

// TestKeyRevokedDuringUpload tests that an upload cannot complete after its permission has ended.
func TestKeyRevokedDuringUpload(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	set, user := s.newSet(), s.newMember("editor")
	keys, _ := user.walk("/users/me/keys")
	body := form(text("setId", set), file("a.txt", strings.Repeat("x", 1<<20)))
	revoking := &interrupted{rest: body.body, at: len(body.body) / 2, act: func() {
		s.send("DELETE", "/users/"+user.id+"/keys/"+keys[0].text("id"), nil).want(204)
	}}
	user.bad("POST", "/resources", revoking, "Content-Type: "+body.contentType).want(401)
}

// TestRefusalIsSentBeforeTheBody tests that a client that waits for the answer before it sends the
// body gets a refusal.
func TestRefusalIsSentBeforeTheBody(t *testing.T) {
	t.Parallel()
	c := sysadmin(t)
	for _, expect := range []string{"", "Expect: 100-continue\r\n"} {
		conn, reader := c.dial("POST /v1/resources HTTP/1.1\r\nHost: localhost\r\n%sContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 300\r\n\r\n", expect)
		if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			t.Fatalf("%q: %v", expect, err)
		}
		same(t, "status", response.StatusCode, http.StatusUnauthorized)
		same(t, "the connection ends", response.Close, true)
	}
}

// TestBytesOutsidePartsAreBounded tests that the bytes outside known parts are bounded.
func TestBytesOutsidePartsAreBounded(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{MaxUpload: 1 << 20}, handlers.Config{})
	s := c.newSpace(nil)
	set := s.newSet()
	good := form(text("setId", set), file("a.txt", "content"))
	padding := strings.Repeat("x", 8<<20)
	for what, body := range map[string]string{
		"preamble":            padding + "\r\n" + string(good.body),
		"header of a part":    string(form(part{disposition: `name="name"`, headers: []string{"X-Padding: " + padding}, body: "x"}).body),
		"file without a name": string(form(text("setId", set), part{disposition: `name="file"; filename=""`, body: padding}).body),
		"epilogue":            string(good.body) + padding,
	} {
		sent := &interrupted{rest: []byte(body), at: 1 << 16} // of unknown length
		a := s.bad("POST", "/resources", sent, "Content-Type: "+good.contentType)
		a.what = what
		if a.status != http.StatusBadRequest && a.status != http.StatusRequestEntityTooLarge {
			t.Errorf("8 MiB of %s: status %d", what, a.status)
		}
	}
}

// TestOddInput tests unusual input of various kinds.
func TestOddInput(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	set := s.newSet()
	latin := part{disposition: `name="name"`, headers: []string{"Content-Type: text/plain; charset=windows-1252"}, body: "a\x81b"}
	s.bad("POST", "/resources", form(text("setId", set), latin, file("a.txt", "x"))).problem(400, errs.CodeInvalidField, "name")
	long := s.bad("POST", "/sets", object{"name": "x1", "dataspaceId": s.dataspace, strings.Repeat("long\u202e", 100_000): 1}).want(400)
	same(t, "the unknown field is cut", len(long.body) < 1000 && !bytes.ContainsRune(long.body, '\u202e'), true)
	twice := `"` + strings.Repeat("long", 100_000) + `": 1`
	doubled := s.bad("POST", "/sets", raw{"application/json", []byte("{" + twice + "," + twice + "}")}).want(400)
	same(t, "the name of the repeated field is truncated", len(doubled.body) < 1000, true)
	same(t, "a body of unknown length without bytes", s.bad("POST", "/users/me/keys", &interrupted{}).status, 201)
	s.bad("POST", "/users/me/keys", object{"expires": "9999-12-31T23:59:59-23:59"}).problem(400, errs.CodeInvalidField, "expires")
	s.bad("GET", "/sets%2F"+set, nil).problem(404, errs.CodeNotFound, "")
	name := strings.Repeat("n", 5000)
	a := s.bad("POST", "/resources", form(text("setId", set), file(name, "x"))).problem(400, errs.CodeInvalidField, "file")
	same(t, "it is the name that is too long", strings.Contains(a.object().text("detail"), "the file name"), true)
}

// TestOddRanges tests that other units than bytes are ignored, that units may have any case, and
// that a suffix of 0 bytes selects nothing.
func TestOddRanges(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	data := "/resources/" + s.upload(s.newSet(), "a.txt", "0123456789").text("id") + "/data"
	for sent, want := range map[string]string{
		"octets=0-1": "0123456789", "BYTES=0-1": "01", "bytes=-2": "89", "bytes=-0,0-0": "0",
	} {
		same(t, sent, string(s.get(data, "Range: "+sent).body), want)
	}
	a := s.bad("GET", data, nil, "Range: bytes=-0").problem(416, errs.CodeRange, "")
	same(t, "Content-Range", a.header.Get("Content-Range"), "bytes */10")
}
