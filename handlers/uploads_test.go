package handlers_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSizeIsRounded(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	set := s.newSet()
	for bytes, kb := range map[int]int{0: 0, 1: 1, 511: 1, 512: 1, 1023: 1, 1024: 1, 1025: 1, 1535: 1, 1536: 2, 2047: 2, 2048: 2, 2559: 2, 2560: 3, 1 << 20: 1024} {
		content := strings.Repeat("b", bytes)
		made := s.upload(set, "f", content)
		read := s.get("/resources/" + made.text("id")).object()
		for _, o := range []object{made, read} {
			if o["size"] != float64(kb) || o["bytes"] != float64(bytes) || o.text("sha256") != sha256Hex(content) {
				t.Errorf("%d bytes: size %v, bytes %v, sha256 %v", bytes, o["size"], o["bytes"], o["sha256"])
			}
		}
		back := s.get("/resources/" + made.text("id") + "/data").want(http.StatusOK)
		if string(back.body) != content || back.header.Get("Content-Length") != fmt.Sprint(bytes) {
			t.Errorf("uploaded %d bytes, downloaded %d, Content-Length %s", bytes, len(back.body), back.header.Get("Content-Length"))
		}
	}
}

// TestPartsDescribeTheResource tests the fields that the parts set, and the defaults of missing
// parts.
func TestPartsDescribeTheResource(t *testing.T) {
	t.Parallel()
	type shown struct{ name, filename, format, mimetype string }
	const png = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
	cases := []struct {
		what  string
		parts []part
		want  shown
	}{
		{"only a file", []part{file("a.txt", "hello")}, shown{"a.txt", "a.txt", "TXT", "text/plain; charset=utf-8"}},
		{"a name", []part{file("a.txt", "hello"), text("name", "Title / sub")}, shown{"Title / sub", "a.txt", "TXT", "text/plain; charset=utf-8"}},
		{"a name stays unchanged", []part{file("a.txt", "x"), text("name", " dir//b.csv ")}, shown{" dir//b.csv ", "a.txt", "TXT", "text/plain; charset=utf-8"}},
		{"an empty name and format", []part{file("a.txt", "x"), text("name", ""), text("format", "")}, shown{"a.txt", "a.txt", "TXT", "text/plain; charset=utf-8"}},
		{"a format", []part{file("a.txt", "x"), text("format", "my format")}, shown{"a.txt", "a.txt", "my format", "text/plain; charset=utf-8"}},
		{"no extension", []part{file("README", "x")}, shown{"README", "README", "", "text/plain; charset=utf-8"}},
		{"a hidden file", []part{file(".profile", "x")}, shown{".profile", ".profile", "", "text/plain; charset=utf-8"}},
		{"the extension of the name", []part{file("README", "x"), text("name", "notes.md")}, shown{"notes.md", "README", "MD", "text/markdown; charset=utf-8"}},
		{"the last extension", []part{file("a.tar.gz", "\x1f\x8b\x08")}, shown{"a.tar.gz", "a.tar.gz", "GZ", "application/gzip"}},
		{"slashes", []part{file("../../etc/passwd.txt", "x")}, shown{"passwd.txt", "passwd.txt", "TXT", "text/plain; charset=utf-8"}},
		{"backslashes", []part{file(`C:\data\x.csv`, "a,b")}, shown{"x.csv", "x.csv", "CSV", "text/csv; charset=utf-8"}},
		{"a dot and a name", []part{file("..", "x"), text("name", "n.txt")}, shown{"n.txt", "..", "TXT", "text/plain; charset=utf-8"}},
		{"no file name", []part{{disposition: `name="file"`, body: "x"}, text("name", "n.json")}, shown{"n.json", "", "JSON", "application/json"}},
		{"an escaped quote", []part{file(`a\"b.txt`, "x")}, shown{`a"b.txt`, `a"b.txt`, "TXT", "text/plain; charset=utf-8"}},
		{"percent signs stay", []part{file("a%22b%2Fc.txt", "x")}, shown{"a%22b%2Fc.txt", "a%22b%2Fc.txt", "TXT", "text/plain; charset=utf-8"}},
		{"RFC 8187", []part{{disposition: `name="file"; filename*=UTF-8''%e2%82%ac.txt`, body: "x"}}, shown{"€.txt", "€.txt", "TXT", "text/plain; charset=utf-8"}},
		{"UTF-8", []part{file("漢字.txt", "x")}, shown{"漢字.txt", "漢字.txt", "TXT", "text/plain; charset=utf-8"}},
		{"content", []part{file("picture", png)}, shown{"picture", "picture", "", "image/png"}},
		{"content before extension", []part{file("picture.txt", png)}, shown{"picture.txt", "picture.txt", "TXT", "image/png"}},
		{"a type", []part{file("a.txt", "x", "Content-Type: application/x-own; v=1")}, shown{"a.txt", "a.txt", "TXT", "application/x-own; v=1"}},
		{"an unspecific type", []part{file("a.txt", "x", "Content-Type: application/octet-stream")}, shown{"a.txt", "a.txt", "TXT", "text/plain; charset=utf-8"}},
		{"RDF", []part{file("a.rdf", "<?xml version=\"1.0\"?><rdf:RDF/>")}, shown{"a.rdf", "a.rdf", "RDF", "application/rdf+xml"}},
		{"a name of 4,096 bytes", []part{file("a", "x"), text("name", strings.Repeat("é", 2048))}, shown{strings.Repeat("é", 2048), "a", "", "text/plain; charset=utf-8"}},
	}
	s := sysadmin(t).newSpace(nil)
	set, replaced := s.newSet(), "/resources/"+s.newResource()
	for _, tc := range cases {
		for _, a := range []*answer{
			s.send("POST", "/resources", form(append(tc.parts, text("setId", set))...)).want(http.StatusCreated),
			s.send("PUT", replaced, form(tc.parts...)).want(http.StatusOK),
		} {
			o := a.object()
			got := shown{o.text("name"), o.text("filename"), o.text("format"), o.text("mimetype")}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(shown{})); diff != "" {
				t.Errorf("%s: %s (-want +got)\n%s", tc.what, a.what, diff)
			}
			down := s.get("/resources/" + o.text("id") + "/data").want(http.StatusOK)
			same(t, tc.what+": Content-Type", down.header.Get("Content-Type"), tc.want.mimetype)
		}
	}
}

// TestPartsInAnyOrder tests that the parts of a form may come in any order. A digest may be sent as
// a field, in a header of the file's part, or in a header of the request.
func TestPartsInAnyOrder(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	set := s.newSet()
	parts := []part{text("setId", set), text("name", "n"), text("format", "F"), text("description", "d"), text("sha256", sha256Hex("content")), file("a", "content")}
	for first := range parts {
		rotated := append(append([]part{}, parts[first:]...), parts[:first]...)
		o := s.send("POST", "/resources", form(rotated...)).want(http.StatusCreated).object()
		same(t, "the fields", o.text("name")+o.text("format")+o.text("description")+o.text("setId"), "nFd"+set)
	}
	own := "sha-256=:" + digest64("content") + ":"
	for _, headers := range [][]string{
		{"Content-Digest: " + own}, {"Repr-Digest: " + own}, {"content-digest: md5=:AAAA:, " + own},
	} {
		s.send("POST", "/resources", form(text("setId", set), file("a", "content", headers...))).want(http.StatusCreated)
	}
	// The service ignores digest algorithms that the document does not list.
	s.bad("POST", "/resources", form(text("setId", set), file("a", "content", "Content-Digest: sha-512=:AAAA:"))).want(http.StatusCreated)
	s.send("POST", "/resources", form(text("setId", set), file("a", "content"), text("sha256", strings.ToUpper(sha256Hex("content"))))).want(http.StatusCreated)
	whole := form(text("setId", set), file("a", "content"))
	s.send("POST", "/resources", whole, "Content-Digest: sha-256=:"+digest64(string(whole.body))+":").want(http.StatusCreated)
	unbroken := raw{whole.contentType, whole.body[:len(whole.body)-2]}
	s.send("POST", "/resources", unbroken).want(http.StatusCreated)
	whole.body = append([]byte("a preamble\r\n"), append(whole.body, "an epilogue"...)...)
	s.send("POST", "/resources", whole, "Repr-Digest: sha-256=:"+digest64(string(whole.body))+":").want(http.StatusCreated)
	fields := raw{"application/json", []byte(`{"title": "checked"}`)}
	s.send("PUT", "/sets/"+set, fields, "Content-Digest: sha-256=:"+digest64(string(fields.body))+":").want(http.StatusOK)
}

func digest64(content string) string {
	sum := sha256.Sum256([]byte(content))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// TestChunkedUpload sends a body of unknown length.
func TestChunkedUpload(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	set, content := s.newSet(), strings.Repeat("0123456789", 100_000)
	whole := form(text("setId", set), file("big", content))
	o := s.bad("POST", "/resources", io.MultiReader(strings.NewReader(string(whole.body))), "Content-Type: "+whole.contentType).want(http.StatusCreated).object()
	same(t, "sha256", o.text("sha256"), sha256Hex(content))
}

// TestReplaceKeepsTheSet tests that a PUT may repeat the set, but not change it.
func TestReplaceKeepsTheSet(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	set := s.newSet()
	path := "/resources/" + s.upload(set, "a", "old").text("id")
	s.send("PUT", path, form(text("setId", set), file("b", "new"))).want(http.StatusOK)
	for _, other := range []string{s.newSet(), "nonsense"} {
		s.send("PUT", path, form(text("setId", other), file("c", "newer"))).problem(http.StatusConflict, "resource_cannot_move", "setId")
	}
	same(t, "the file", string(s.get(path+"/data").body), "new")
}
