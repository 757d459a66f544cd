package handlers_test

import (
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"time"

	"labshelf/auth/errs"
	"labshelf/handlers"
	"labshelf/repository"
)

// newFile uploads a file and returns the path of its record.
func (s *space) newFile(filename, content string, headers ...string) string {
	s.t.Helper()
	made := s.send("POST", "/resources", form(text("setId", s.newSet()), file(filename, content, headers...))).want(http.StatusCreated)
	return "/resources/" + made.object().text("id")
}

func TestDownload(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	const content = "0123456789"
	path := s.newFile("a.txt", content)
	record := s.get(path).object()
	full := s.get(path + "/data").want(http.StatusOK)
	modified, err := time.Parse(time.RFC3339, record.text("modified"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"Content-Type": "text/plain; charset=utf-8", "Content-Length": "10", "ETag": `"sha256-` + sha256Hex(content) + `"`,
		"Last-Modified": modified.Format(http.TimeFormat), "Repr-Digest": "sha-256=:" + digest64(content) + ":", "Accept-Ranges": "bytes",
		"Content-Disposition": `attachment; filename="a.txt"`, "X-Content-Type-Options": "nosniff",
		"Content-Security-Policy": "default-src 'none'; sandbox", "Cache-Control": "private, no-cache",
	} {
		same(t, name, full.header.Get(name), want)
	}
	same(t, "the file", string(full.body), content)
	head := s.send("HEAD", path+"/data", nil).want(http.StatusOK)
	full.header.Del("Date")
	for name := range full.header {
		if name != "X-Request-Id" {
			same(t, name+" of HEAD", head.header.Get(name), full.header.Get(name))
		}
	}
	s.send("PATCH", path, object{"name": "renamed"}).want(http.StatusOK)
	same(t, "the tag after a change of the record", s.get(path+"/data").header.Get("ETag"), full.header.Get("ETag"))
	s.send("PUT", path, form(file("b", "new"))).want(http.StatusOK)
	same(t, "the tag of another file", s.get(path+"/data").header.Get("ETag"), `"sha256-`+sha256Hex("new")+`"`)
	s.send("DELETE", path, nil).want(http.StatusNoContent)
	s.get(path+"/data").problem(http.StatusGone, "resource_deleted", "")
	s.send("HEAD", path+"/data", nil).want(http.StatusGone)
	s.send("POST", path+"/restore", nil).want(http.StatusOK)
	same(t, "the file after all", string(s.get(path+"/data").want(http.StatusOK).body), "new")
}

func TestRanges(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	path := s.newFile("a.txt", "0123456789")
	tag := s.get(path + "/data").header.Get("ETag")
	modified := s.get(path + "/data").header.Get("Last-Modified")
	at, err := http.ParseTime(modified)
	if err != nil {
		t.Fatal(err)
	}
	later := at.Add(2 * time.Second).Format(http.TimeFormat) // more than a second later, at any number of milliseconds
	cases := []struct {
		headers     []string
		status      int
		body, shown string
	}{
		{[]string{"Range: bytes=0-3"}, 206, "0123", "bytes 0-3/10"},
		{[]string{"Range: bytes=4-"}, 206, "456789", "bytes 4-9/10"},
		{[]string{"Range: bytes=-2"}, 206, "89", "bytes 8-9/10"},
		{[]string{"Range: bytes=-20"}, 206, "0123456789", "bytes 0-9/10"},
		{[]string{"Range: bytes=8-20"}, 206, "89", "bytes 8-9/10"},
		{[]string{"Range: bytes=0-3", "If-Range: " + tag}, 206, "0123", "bytes 0-3/10"},
		{[]string{"Range: bytes=0-3", "If-Range: " + modified}, 200, "0123456789", ""},
		{[]string{"Range: bytes=0-3", "If-Range: " + later}, 200, "0123456789", ""},
		{[]string{"Range: bytes=0-3", "If-Unmodified-Since: " + modified}, 200, "0123456789", ""},
		{[]string{"Range: bytes=0-3", "If-Unmodified-Since: " + modified, "If-Match: " + tag}, 206, "0123", "bytes 0-3/10"},
		{[]string{"Range: bytes=0-3", "If-Unmodified-Since: " + modified, "If-Range: " + tag}, 206, "0123", "bytes 0-3/10"},
		{[]string{"Range: bytes=0-3", `If-Range: "other"`}, 200, "0123456789", ""},
		{[]string{"Range: bytes=0-3", "If-Range: W/" + tag}, 200, "0123456789", ""},
		{[]string{"Range: bytes=0-3", "If-Range: Mon, 02 Jan 2006 15:04:05 GMT"}, 200, "0123456789", ""},
		{[]string{"If-None-Match: " + tag}, 304, "", ""},
		{[]string{"If-None-Match: W/" + tag}, 304, "", ""},
		{[]string{`If-None-Match: "a", ` + tag}, 304, "", ""},
		{[]string{"If-None-Match: *"}, 304, "", ""},
		{[]string{`If-None-Match: "other"`}, 200, "0123456789", ""},
		{[]string{"If-Modified-Since: " + modified}, 200, "0123456789", ""},
		{[]string{"If-Modified-Since: " + later}, 304, "", ""},
		{[]string{"If-Modified-Since: " + later, `If-None-Match: "other"`}, 200, "0123456789", ""},
		{[]string{"If-Modified-Since: " + modified, "If-None-Match: " + tag}, 304, "", ""},
		{[]string{"If-Modified-Since: nonsense"}, 200, "0123456789", ""},
		{[]string{"If-Match: " + tag}, 200, "0123456789", ""},
		{[]string{"If-Match: *"}, 200, "0123456789", ""},
	}
	for _, tc := range cases {
		a := s.get(path+"/data", tc.headers...).want(tc.status)
		what := strings.Join(tc.headers, ", ")
		same(t, what, string(a.body), tc.body)
		same(t, what+": Content-Range", a.header.Get("Content-Range"), tc.shown)
		same(t, what+": ETag", a.header.Get("ETag"), tag)
		if tc.status == http.StatusPartialContent {
			same(t, what+": Repr-Digest covers the whole file", a.header.Get("Repr-Digest"), "sha-256=:"+digest64("0123456789")+":")
		}
		s.send("HEAD", path+"/data", nil, tc.headers...).want(tc.status)
	}
	s.get(s.newFile("empty", "")+"/data", "Range: bytes=0-").want(http.StatusOK)
	several := s.get(path+"/data", "Range: bytes=0-1,5-6").want(http.StatusPartialContent)
	kind, params, err := mime.ParseMediaType(several.header.Get("Content-Type"))
	if err != nil || kind != "multipart/byteranges" {
		t.Fatalf("several ranges were sent as %s", several.short())
	}
	reader := multipart.NewReader(strings.NewReader(string(several.body)), params["boundary"])
	for _, want := range []string{"01", "56"} {
		p, err := reader.NextPart()
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(p)
		same(t, "one of several ranges", string(got), want)
		same(t, "its type", p.Header.Get("Content-Type"), "text/plain; charset=utf-8")
		same(t, "its end", err, nil)
	}
}

// TestDatesNeverSelectAVersion tests that a client never mistakes one version of a file for another
// because of a date. Two versions can have the same date.
func TestDatesNeverSelectAVersion(t *testing.T) {
	t.Parallel()
	begun := time.Now().Truncate(time.Second)
	standing := repository.Config{Now: func() time.Time { return begun.Add(300 * time.Millisecond) }}
	s := ownGateway(t, standing, handlers.Config{}).newSpace(nil) // the stamps are milliseconds apart, all within this second
	path := s.newFile("a.txt", "first version")
	first := s.get(path + "/data").want(http.StatusOK)
	date := first.header.Get("Last-Modified")
	s.send("PUT", path, form(file("a.txt", "other version"))).want(http.StatusOK)
	same(t, "the date of the other version", s.send("HEAD", path+"/data", nil).header.Get("Last-Modified"), date)
	for _, headers := range [][]string{
		{"Range: bytes=5-", "If-Range: " + date}, {"Range: bytes=5-", "If-Unmodified-Since: " + date}, {"If-Modified-Since: " + date},
		{"Range: bytes=5-", "If-Range: " + first.header.Get("ETag")}, {"If-None-Match: " + first.header.Get("ETag")},
	} {
		a := s.get(path+"/data", headers...).want(http.StatusOK)
		same(t, strings.Join(headers, ", "), string(a.body), "other version")
		s.send("HEAD", path+"/data", nil, headers...).want(http.StatusOK)
	}
	next := begun.Add(time.Second)
	s.get(path+"/data", "If-Modified-Since: "+next.UTC().Format(http.TimeFormat)).want(http.StatusOK)
	s.get(path+"/data", "If-Modified-Since: "+next.Add(time.Second).UTC().Format(http.TimeFormat)).want(http.StatusNotModified)
}

func TestRefusedDownload(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	path := s.newFile("a.txt", "0123456789") + "/data"
	none := []string{"ETag", "Last-Modified", "Repr-Digest", "Content-Disposition", "Cache-Control"}
	for _, tc := range []struct{ header, code, shown string }{
		{"Range: bytes=10-", "range_not_satisfiable", "bytes */10"},
		{"Range: bytes=5-3", "range_not_satisfiable", ""},
		{`If-Match: "other"`, "precondition_failed", ""},
		{"If-Unmodified-Since: Mon, 02 Jan 2006 15:04:05 GMT", "precondition_failed", ""},
	} {
		status := map[string]int{"range_not_satisfiable": 416, "precondition_failed": 412}[tc.code]
		a := s.get(path, tc.header).problem(status, errs.Code(tc.code), "")
		same(t, tc.header+": Content-Range", a.header.Get("Content-Range"), tc.shown)
		for _, name := range none {
			same(t, tc.header+": "+name, a.header.Get(name), "")
		}
		s.send("HEAD", path, nil, tc.header).want(status)
	}
	for _, query := range []string{"disposition=other", "disposition=", "disposition=inline&disposition=inline", "disposition=Inline"} {
		a := s.bad("GET", path+"?"+query, nil).problem(http.StatusBadRequest, "invalid_parameter", "disposition")
		for _, name := range none {
			same(t, query+": "+name, a.header.Get(name), "")
		}
	}
}

func TestDisposition(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	const sandbox, plain = "default-src 'none'; sandbox", "default-src 'none'"
	for _, tc := range []struct {
		mimetype, kind, security string
	}{
		{"image/png", "inline", sandbox}, {"image/jpeg", "inline", sandbox}, {"IMAGE/GIF", "inline", sandbox},
		{"image/svg+xml", "attachment", sandbox}, {"image/svg", "attachment", sandbox}, {"Image/SVG+XML; charset=utf-8", "attachment", sandbox},
		{"application/pdf", "inline", plain}, {"Application/PDF; v=1", "inline", plain}, {"audio/mpeg", "inline", sandbox}, {"video/mp4", "inline", sandbox},
		{"text/plain", "inline", sandbox}, {"text/plain; charset=latin1", "inline", sandbox},
		{"text/html", "attachment", sandbox}, {"text/csv", "attachment", sandbox}, {"application/xhtml+xml", "attachment", sandbox},
		{"application/xml", "attachment", sandbox}, {"image/any+xml", "attachment", sandbox}, {"video/x+XML", "attachment", sandbox}, {"audio/xml", "attachment", sandbox},
		{"application/json", "attachment", sandbox}, {"text/xml", "attachment", sandbox},
	} {
		path := s.newFile("f", "content", "Content-Type: "+tc.mimetype) + "/data"
		for query, want := range map[string]string{"": "attachment", "?disposition=attachment": "attachment", "?disposition=inline": tc.kind} {
			a := s.get(path + query).want(http.StatusOK)
			same(t, tc.mimetype+query, a.header.Get("Content-Disposition"), want+`; filename="f"`)
			same(t, tc.mimetype+": Content-Security-Policy", a.header.Get("Content-Security-Policy"), tc.security)
			same(t, "Content-Type", a.header.Get("Content-Type"), tc.mimetype)
		}
	}
}

// TestShownByContent tests that an inline file gets the type of its bytes if browsers do not show
// the recorded type. A download gets the recorded type.
func TestShownByContent(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	const png = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
	for _, tc := range []struct{ content, sent, shown, kind string }{
		{png, "application/x-www-form-urlencoded", "image/png", "inline"}, {"%PDF-1.4", "application/vnd.ms-excel", "application/pdf", "inline"},
		{"<html><script>", "application/x-www-form-urlencoded", "application/x-www-form-urlencoded", "attachment"}, {"<svg xmlns='http://www.w3.org/2000/svg'>", "application/x", "application/x", "attachment"},
		{png, "image/jpeg", "image/jpeg", "inline"}, {"a text", "application/x", "application/x", "attachment"},
	} {
		path := s.newFile("f", tc.content, "Content-Type: "+tc.sent) + "/data"
		same(t, "a download", s.get(path).want(http.StatusOK).header.Get("Content-Type"), tc.sent)
		a := s.get(path + "?disposition=inline").want(http.StatusOK)
		same(t, tc.sent, a.header.Get("Content-Type"), tc.shown)
		same(t, "Content-Disposition", a.header.Get("Content-Disposition"), tc.kind+`; filename="f"`)
		same(t, "the body", string(a.body), tc.content)
	}
}

// TestEveryNameIsSent tests that every file name can be sent and arrives unchanged.
func TestEveryNameIsSent(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	for _, tc := range []struct{ name, header string }{
		{"plain.txt", `attachment; filename="plain.txt"`},
		{"two words;x=1.txt", `attachment; filename="two words;x=1.txt"`},
		{`a"b.txt`, `attachment; filename="a_b.txt"; filename*=UTF-8''a%22b.txt`},
		{"100%.txt", `attachment; filename="100_.txt"; filename*=UTF-8''100%25.txt`},
		{"Grüße.txt", `attachment; filename="Gr__e.txt"; filename*=UTF-8''Gr%C3%BC%C3%9Fe.txt`},
		{"漢 字", `attachment; filename="_ _"; filename*=UTF-8''%E6%BC%A2%20%E5%AD%97`},
		{"it's*(1)", `attachment; filename="it's*(1)"`},
	} {
		path := s.newFile(strings.NewReplacer(`"`, `\"`).Replace(tc.name), "x")
		shown := s.get(path + "/data").want(http.StatusOK).header.Get("Content-Disposition")
		same(t, tc.name, shown, tc.header)
		_, params, err := mime.ParseMediaType(shown)
		if err != nil || params["filename"] != tc.name {
			t.Errorf("%q arrives as %q (%v)", tc.name, params["filename"], err)
		}
	}
	unnamed := s.send("POST", "/resources", form(text("setId", s.newSet()), part{disposition: `name="file"`, body: "x"}, text("name", "dir/sub.txt")))
	data := s.get("/resources/" + unnamed.want(http.StatusCreated).object().text("id") + "/data")
	for _, tc := range []struct{ name, want string }{ // the file was uploaded as first.csv
		{"renamed.txt", "renamed.txt"}, {"folder/sub/last.dat", "last.dat"}, {`folder\last.dat`, "last.dat"}, {"Raw data of run 12", "Raw data of run 12.csv"},
		{"folder/", "first.csv"}, {"folder/..", "first.csv"}, {".", "first.csv"}, {".hidden", ".hidden.csv"}, {"first.csv", "first.csv"},
	} {
		path := s.newFile("first.csv", "x")
		renamed := s.send("PATCH", path, object{"name": tc.name}).want(http.StatusOK).object()
		same(t, "the file name stays", renamed.text("filename"), "first.csv")
		_, params, err := mime.ParseMediaType(s.get(path + "/data").want(http.StatusOK).header.Get("Content-Disposition"))
		if err != nil || params["filename"] != tc.want {
			t.Errorf("%q is offered as %q (%v)", tc.name, params["filename"], err)
		}
	}
	bare := s.newFile("noextension", "x")
	s.send("PATCH", bare, object{"name": "title"}).want(http.StatusOK)
	same(t, "no extension at all", s.get(bare+"/data").header.Get("Content-Disposition"), `attachment; filename="title"`)
	same(t, "without a file name", data.header.Get("Content-Disposition"), `attachment; filename="sub.txt"`)
}
