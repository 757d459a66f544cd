package handlers_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"labshelf/auth/errs"
	"labshelf/handlers"
	"labshelf/repository"
)

// starts requests a new upload through a request link.
func (v visitor) starts(length int, pairs ...string) *answer {
	v.t.Helper()
	return v.ask("POST", "/uploads", nil, inTus, fmt.Sprint("Upload-Length: ", length), uploadMetadata(pairs...))
}

// started returns the address of a new upload.
func (v visitor) started(length int, pairs ...string) string {
	v.t.Helper()
	a := v.starts(length, pairs...).want(http.StatusCreated)
	at := a.header.Get("Location")
	if !strings.HasPrefix(at, v.address+"/uploads/") || a.header.Get("Upload-Expires") == "" || a.header.Get("Cache-Control") != "private, no-store" {
		v.t.Errorf("it is at %q: %s", at, a.short())
	}
	return at
}

// puts sends a chunk.
func (v visitor) puts(at string, offset int, content string, headers ...string) *answer {
	v.t.Helper()
	return v.bad("PATCH", at, raw{"application/offset+octet-stream", []byte(content)}, append([]string{inTus, fmt.Sprint("Upload-Offset: ", offset)}, headers...)...)
}

// offset returns the progress of an upload.
func (v visitor) offset(at string) string {
	v.t.Helper()
	return v.bad("HEAD", at, nil, inTus).want(http.StatusOK).header.Get("Upload-Offset")
}

// dropped lists the files of a set that arrived through a link, with DAY instead of the day.
func (c *client) dropped(set, link string) (names []string) {
	c.t.Helper()
	for _, r := range c.get("/sets/" + set + "/resources").want(http.StatusOK).data() {
		if r["linkId"] == link {
			names = append(names, strings.Replace(r.text("name"), time.Now().UTC().Format("2006-01-02"), "DAY", 1))
		}
	}
	slices.Sort(names)
	return names
}

// TestFileRequestChunks tests that a visitor can send a file in chunks through a request link,
// without learning its destination. The complete file counts as a use. The sender can see that it
// is complete, even if it was the last use of the link.
func TestFileRequestChunks(t *testing.T) {
	t.Parallel()
	l := sysadmin(t).on(t).newLinked()
	v := l.newLink(object{"kind": "request", "setId": l.set, "label": "Bern/East", "maxUses": 2})
	options := v.ask("OPTIONS", "/uploads", nil).want(http.StatusNoContent)
	same(t, "the protocol", options.header.Get("Tus-Version")+" "+options.header.Get("Tus-Checksum-Algorithm"), "1.0.0 sha1,sha256,md5")
	v.ask("POST", "/uploads", nil, "Upload-Length: 1").problem(http.StatusPreconditionFailed, "unsupported_tus_version", "Tus-Resumable")
	sum := "Labshelf-SHA256: " + sha256Hex("abcdef")
	at := v.started(6, "filename", "a.txt", "relativePath", "run 1/../deep/a.txt", "name", "a.txt", "type", "text/x-own")
	v.puts(at, 0, "abd", "Upload-Checksum: sha1 "+"qZk+NkcGgWq6PiVxeFDCbJzQ2J0=").problem(460, "checksum_mismatch", "Upload-Checksum")
	v.puts(at, 0, "abc", "Upload-Checksum: sha1 "+"qZk+NkcGgWq6PiVxeFDCbJzQ2J0=").want(http.StatusNoContent)
	same(t, "half", v.offset(at), "3")
	v.puts(at, 2, "c").problem(http.StatusConflict, "offset_mismatch", "Upload-Offset")
	shown := v.bad("GET", at, nil, inTus).want(http.StatusOK)
	same(t, "its address", shown.object().text("url"), at)
	same(t, "all that is shown", len(shown.object()), 6)
	last := v.bad("POST", at, raw{"application/offset+octet-stream", []byte("def")}, inTus, "Upload-Offset: 3", "X-HTTP-Method-Override: PATCH", sum).want(http.StatusNoContent)
	one := v.ask("POST", "/uploads", raw{"application/offset+octet-stream", []byte("at once")}, inTus, "Upload-Length: 7", uploadMetadata("filename", "b.txt")).want(http.StatusCreated)
	same(t, "the whole", v.offset(at)+v.offset(one.header.Get("Location")), "67")
	for _, a := range []*answer{shown, last, one, v.bad("GET", at, nil, inTus).want(http.StatusOK)} {
		if text := fmt.Sprint(a.header, string(a.body)); strings.Contains(text, l.set) || strings.Contains(text, l.dataspace) || a.header.Get("Labshelf-Resource") != "" {
			t.Errorf("the answer to the visitor contains %s", a.short())
		}
	}
	same(t, "files", strings.Join(l.dropped(l.set, v.id), " "), "Bern-East/DAY/b.txt Bern-East/DAY/run 1/deep/a.txt")
	for _, r := range l.get("/sets/" + l.set + "/resources").data() {
		if r["linkId"] == v.id && strings.HasSuffix(r.text("name"), "a.txt") {
			same(t, "the stored file", fmt.Sprint(r["sha256"], r["mimetype"], r["filename"], r["createdBy"]), sha256Hex("abcdef")+"text/x-owna.txt"+l.get("/users/me").object().text("id"))
		}
	}
	after := l.get("/links/" + v.id).object()
	same(t, "uses and bytes", fmt.Sprint(after["uses"], " ", after["bytesReceived"], " ", after["state"]), "2 13 used_up")
	v.starts(1, "filename", "c").problem(http.StatusGone, "link_ended", "")
}

// TestOnlySenderAccessesUpload tests that only the sender can access an upload. Every other secret,
// every other link, and the owner of the link are refused.
func TestOnlySenderAccessesUpload(t *testing.T) {
	t.Parallel()
	l := sysadmin(t).on(t).newLinked()
	fields := object{"kind": "request", "setId": l.set}
	v, other := l.newLink(fields), l.newLink(fields)
	at, another := v.started(3, "filename", "a"), v.started(3, "filename", "a")
	id, secret, _ := strings.Cut(strings.TrimPrefix(at, v.address+"/uploads/"), "-")
	_, foreign, _ := strings.Cut(strings.TrimPrefix(another, v.address+"/uploads/"), "-")
	key := l.send("POST", "/uploads", nil, inTus, "Upload-Length: 3", uploadMetadata("setId", l.set, "filename", "own")).want(http.StatusCreated)
	own := strings.TrimPrefix(key.header.Get("Location"), l.base+"/uploads/")
	if len(secret) < 22 || secret == foreign {
		t.Errorf("the secrets are %q and %q", secret, foreign)
	}
	for _, wrong := range []string{
		v.address + "/uploads/" + id, v.address + "/uploads/" + id + "-", v.address + "/uploads/" + id + "-" + foreign, v.address + "/uploads/" + id + "-" + secret[1:],
		v.address + "/uploads/nonsense-" + secret, v.address + "/uploads/" + own + "-" + secret, other.address + "/uploads/" + id + "-" + secret,
	} {
		for _, ask := range []struct{ method, instead string }{{"HEAD", ""}, {"GET", ""}, {"PATCH", ""}, {"DELETE", ""}, {"POST", "DELETE"}} {
			a := v.bad(ask.method, wrong, raw{"application/offset+octet-stream", []byte("x")}, inTus, "Upload-Offset: 0", "X-HTTP-Method-Override: "+ask.instead)
			if a.status != http.StatusNotFound || ask.method != "HEAD" && a.object().text("code") != "upload_not_found" {
				t.Errorf("%s %s: %s", ask.method, wrong, a.short())
			}
		}
	}
	l.bad("HEAD", l.base+"/uploads/"+id, nil, inTus).want(http.StatusNotFound)
	l.bad("DELETE", l.base+"/uploads/"+id, nil, inTus).want(http.StatusNotFound)
	same(t, "the upload still exists", v.offset(at), "0")
	v.bad("DELETE", at, nil, inTus).want(http.StatusNoContent)
	v.bad("HEAD", at, nil, inTus).want(http.StatusNotFound)
	v.puts(another, 0, "abc").want(http.StatusNoContent)
	same(t, "files", len(l.dropped(l.set, v.id)), 1)
}

// TestUploadsOfEndedLinks tests that the end of a link ends its uploads: the answer reports it, and
// the received bytes are removed.
func TestUploadsOfEndedLinks(t *testing.T) {
	t.Parallel()
	oneNode(t) // another node may have removed the abandoned upload
	var clock atomic.Int64
	now := func() time.Time { return time.Now().Add(time.Duration(clock.Load())) }
	c := ownGateway(t, repository.Config{Now: now}, handlers.Config{})
	l := c.newLinked()
	request := func(pairs ...any) object {
		o := object{"kind": "request", "setId": l.set}
		for i := 0; i < len(pairs); i += 2 {
			o[pairs[i].(string)] = pairs[i+1]
		}
		return o
	}
	parts := func() int {
		files, err := os.ReadDir(filepath.Join(l.dir, "parts"))
		if err != nil {
			t.Fatal(err)
		}
		return len(files)
	}
	for _, tc := range []struct {
		what   string
		fields object
		end    func(visitor, *client)
	}{
		{"revoked", request(), func(v visitor, _ *client) {
			l.send("DELETE", "/links/"+v.id, nil).want(http.StatusNoContent)
		}},
		{"expired", request("expires", now().Add(time.Hour).UTC().Format(time.RFC3339)), func(visitor, *client) { clock.Store(int64(2 * time.Hour)) }},
		{"used up", request("maxUses", 1), func(v visitor, _ *client) {
			v.ask("PUT", "/other.txt", raw{"text/plain", []byte("x")}).want(http.StatusCreated)
		}},
		{"the owner is no editor any more", request(), func(_ visitor, editor *client) {
			l.send("DELETE", "/privileges/"+editor.get("/privileges?userId=me").data()[0].text("id"), nil).want(http.StatusNoContent)
		}},
		{"the set is deleted", request(), func(visitor, *client) { l.send("DELETE", "/sets/"+l.set, nil).want(http.StatusNoContent) }},
	} {
		editor := l.newMember("editor")
		v := editor.newLink(tc.fields)
		at := v.started(6, "filename", "a.txt")
		v.puts(at, 0, "abc").want(http.StatusNoContent)
		same(t, tc.what+": parts before", parts(), 1)
		tc.end(v, editor)
		v.puts(at, 3, "def").problem(http.StatusGone, "link_ended", "")
		v.bad("HEAD", at, nil, inTus).want(http.StatusGone)
		v.starts(6, "filename", "b.txt").problem(http.StatusGone, "link_ended", "")
		l.repo.Uploads.Chunks.Tidy()
		for until := time.Now().Add(10 * time.Second); parts() > 0 && time.Now().Before(until); time.Sleep(time.Millisecond) {
		}
		same(t, tc.what+": parts after", parts(), 0)
	}
}

// TestFileRequestLimits tests that the limits of a link are checked when an upload begins, while it
// grows, and when it is complete. A complete upload that is refused remains, and can be terminated.
func TestFileRequestLimits(t *testing.T) {
	t.Parallel()
	l := sysadmin(t).on(t).newLinked()
	for _, tc := range []struct {
		what          string
		before, after object
		drop          string // content of another file that arrives during the upload; "" for none
		status        int
		code          errs.Code
	}{
		{"a smaller file", object{"maxFileBytes": 6}, object{"maxFileBytes": 5}, "", http.StatusRequestEntityTooLarge, "too_large"},
		{"other kinds", object{"types": []string{".txt"}}, object{"types": []string{"image/*"}}, "", http.StatusUnsupportedMediaType, "unsupported_media_type"},
		{"others were faster", object{"maxBytes": 12}, nil, "xyzxyzx", http.StatusRequestEntityTooLarge, "too_large"},
		{"a password", object{}, object{"password": "a blue horse"}, "", http.StatusUnauthorized, "link_password"},
	} {
		fields := object{"kind": "request", "setId": l.set}
		for field, value := range tc.before {
			fields[field] = value
		}
		v := l.newLink(fields)
		if tc.before["maxFileBytes"] != nil || tc.before["maxBytes"] != nil {
			v.starts(13, "filename", "a.txt").problem(http.StatusRequestEntityTooLarge, "too_large", "")
		}
		if tc.before["types"] != nil {
			v.starts(6, "filename", "a.csv").problem(http.StatusUnsupportedMediaType, "unsupported_media_type", "filename")
		}
		at, whole := v.started(6, "filename", "a.txt"), v.started(6, "filename", "b.txt")
		v.puts(at, 0, "abc").want(http.StatusNoContent)
		if tc.after != nil {
			l.send("PUT", "/links/"+v.id, tc.after).want(http.StatusOK)
		}
		if tc.drop != "" {
			v.ask("PUT", "/first.txt", raw{"text/plain", []byte(tc.drop)}).want(http.StatusCreated)
		}
		for _, a := range []*answer{v.puts(at, 3, "def"), v.puts(whole, 0, "abcdef")} {
			if a.status != tc.status || a.object().text("code") != string(tc.code) {
				t.Errorf("%s: %s", tc.what, a.short())
			}
		}
		if tc.status != http.StatusUnauthorized {
			same(t, tc.what+": how far it is", v.offset(at)+v.offset(whole), "30")
			v.bad("DELETE", at, nil, inTus).want(http.StatusNoContent)
		}
	}
	v := l.newLink(object{"kind": "request", "setId": l.set})
	for _, key := range []string{"setId", "resourceId", "format", "description", "metadata"} {
		v.starts(1, "filename", "a", key, l.set).problem(http.StatusBadRequest, "unknown_field", key)
	}
	v.starts(1).problem(http.StatusBadRequest, "missing_field", "filename")
	v.starts(1, "filename", "a", "name", "a", "relativePath", strings.Repeat("p", 24_000)).problem(http.StatusBadRequest, "invalid_field", "relativePath")
	v.starts(1, "name", "a", "filename", strings.Repeat("f", 26_000)).problem(http.StatusBadRequest, "invalid_field", "filename")
	v.starts(1, "filename", "a", "type", strings.Repeat("t", 4097), "filetype", "text/plain").problem(http.StatusBadRequest, "invalid_field", "type")
	long := strings.Repeat("n", 4000)
	v.starts(1, "filename", "a", "name", long, "filetype", long, "relativePath", long).problem(http.StatusBadRequest, "invalid_field", "Upload-Metadata")
	spaces := strings.Repeat(" ", 1000)
	spaced := v.ask("POST", "/uploads", nil, inTus, "Upload-Length: 1", "Upload-Metadata: type"+spaces+","+spaces+"name "+spaces+"YQ==").want(http.StatusCreated)
	same(t, "values with spaces", v.bad("HEAD", spaced.header.Get("Location"), nil, inTus).header.Get("Upload-Metadata"), "type ,name YQ==")
	v.starts(1, "filename", "a", "name", "../..").problem(http.StatusBadRequest, "missing_field", "name")
	v.starts(1, "filename", "a", "name", "b\nc").problem(http.StatusBadRequest, "invalid_field", "name")
	at := v.started(1, "filename", "a", "sha256", sha256Hex("b"))
	v.puts(at, 0, "a").problem(http.StatusBadRequest, "digest_mismatch", "sha256")
	v.bad("HEAD", at, nil, inTus).want(http.StatusBadRequest)
}

// TestConcurrentFileRequestUploads tests 16 uploads that end at the same time. The link accepts as
// many files as its limit allows, and no more.
func TestConcurrentFileRequestUploads(t *testing.T) {
	t.Parallel()
	l := sysadmin(t).on(t).newLinked()
	for _, tc := range []struct {
		limit  object
		refuse int
	}{{object{"maxUses": 5}, http.StatusGone}, {object{"maxBytes": 35}, http.StatusRequestEntityTooLarge}} {
		v := l.newLink(object{"kind": "request", "setId": l.set})
		var at []string
		for i := range 16 {
			at = append(at, v.started(7, "filename", fmt.Sprint(i)))
		}
		l.send("PUT", "/links/"+v.id, tc.limit).want(http.StatusOK)
		rand.Shuffle(len(at), func(i, j int) { at[i], at[j] = at[j], at[i] })
		answers := make([]*answer, len(at))
		var all sync.WaitGroup
		for i := range at {
			all.Go(func() { answers[i] = v.puts(at[i], 0, "content") })
		}
		all.Wait()
		taken := 0
		for i, a := range answers {
			if a.status == http.StatusNoContent {
				taken++
				same(t, "the offset of the received bytes", v.offset(at[i]), "7")
			} else if a.status != tc.refuse {
				t.Errorf("%v: %s", tc.limit, a.short())
			}
		}
		same(t, fmt.Sprint(tc.limit, ": accepted"), taken, 5)
		same(t, fmt.Sprint(tc.limit, ": files"), len(l.dropped(l.set, v.id)), 5)
		same(t, fmt.Sprint(tc.limit, ": uses"), fmt.Sprint(l.get("/links/" + v.id).object()["uses"]), "5")
	}
}

// TestFileRequestsHideQuotas tests that quotas apply to uploads through a link, that the visitor
// sees no numbers, and that the secret of the link is not logged.
func TestFileRequestsHideQuotas(t *testing.T) {
	oneNode(t)
	t.Parallel()
	c := ownGateway(t, repository.Config{}, handlers.Config{})
	l := c.newLinked()
	v := l.newLink(object{"kind": "request", "setId": l.set})
	at := v.started(400, "filename", "a")
	l.send("PUT", "/dataspaces/"+l.dataspace, object{"quota": 500}).want(http.StatusOK)
	v.puts(at, 0, strings.Repeat("x", 200)).want(http.StatusNoContent)
	hides := func(a *answer) {
		t.Helper()
		a.problem(http.StatusInsufficientStorage, errs.CodeQuotaExceeded, "")
		if bytes.Contains(a.body, []byte("500")) || bytes.Contains(a.body, []byte("dataspace")) {
			t.Errorf("the visitor sees %s", a.short())
		}
	}
	hides(v.starts(400, "filename", "b"))
	later := v.started(250, "filename", "c")
	v.puts(at, 200, strings.Repeat("x", 200)).want(http.StatusNoContent)
	hides(v.puts(later, 0, strings.Repeat("x", 250)))
	token := strings.TrimPrefix(v.address, strings.TrimSuffix(c.base, "/v1")+"/s/")
	if log := c.log.String(); strings.Contains(log, token) || strings.Contains(log, strings.TrimPrefix(at, v.address)) {
		t.Error("the log has the address of a link or an upload")
	}
}

// TestPolicyOfLinkPages tests that only the page of a file request may run scripts, that these are
// scripts of the service, and that its form works without them.
func TestPolicyOfLinkPages(t *testing.T) {
	t.Parallel()
	l := sysadmin(t).on(t).newLinked()
	share, request := l.newLink(object{"kind": "share", "setId": l.set}), l.newLink(object{"kind": "request", "setId": l.set})
	const none = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
	page := request.ask("GET", "", nil, "Accept: text/html").want(http.StatusOK)
	same(t, "a request", page.header.Get("Content-Security-Policy"), none+"; script-src 'self'; connect-src 'self'")
	same(t, "its form", bytes.Contains(page.body, []byte(`<div id="drop"><form method="post" enctype="multipart/form-data">`)), true)
	for _, a := range []*answer{share.ask("GET", "", nil, "Accept: text/html"), share.ask("PUT", "/x", nil, "Accept: text/html")} {
		same(t, a.what, a.header.Get("Content-Security-Policy"), none)
		same(t, "scripts", bytes.Contains(a.body, []byte("<script")), false)
	}
}
