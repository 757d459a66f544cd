package handlers_test

import (
	"crypto/md5"
	"crypto/sha1"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// ask requests a property of a path on the drive. It returns "" if the property is missing.
func (d *onDrive) ask(path, property string) string {
	d.t.Helper()
	body := `<D:propfind xmlns:D="DAV:" xmlns:oc="http://owncloud.org/ns"><D:prop><` + property + `/></D:prop></D:propfind>`
	text := string(d.dav("PROPFIND", path, body, "Depth: 0").want(http.StatusMultiStatus).body)
	_, text, found := strings.Cut(text, "<"+property+">")
	if !found {
		return ""
	}
	text, _, _ = strings.Cut(text, "</"+property+">")
	return text
}

func sums(content string) string {
	return fmt.Sprintf("<oc:checksum>SHA1:%x MD5:%x SHA256:%s</oc:checksum>", sha1.Sum([]byte(content)), md5.Sum([]byte(content)), sha256Hex(content))
}

const (
	modified = "D:getlastmodified"
	given    = "Sat, 02 Jan 2021 03:04:05 GMT" // 1609556645
	changed  = "Tue, 05 Jan 2021 03:04:05 GMT"
)

func patchOf(property, value string) string {
	return proppatchOf(`<` + property + ` xmlns:ms="urn:schemas-microsoft-com:" xmlns:oc="http://owncloud.org/ns">` + value + `</` + property + `>`)
}

// TestDriveKeepsTimes tests that a file keeps the time that its client has set, also after moves,
// until its next version.
func TestDriveKeepsTimes(t *testing.T) {
	t.Parallel()
	d := sysadmin(t).newDrive(nil)
	timed := func(path string, headers ...string) *answer {
		return d.dav("PUT", path, "content", append(headers, "X-OC-Mtime: 1609556645")...)
	}
	same(t, "the answer", timed("/a").want(http.StatusCreated).header.Get("X-OC-Mtime"), "accepted")
	same(t, "its time", d.ask("/a", modified), given)
	a := d.dav("GET", "/a", "")
	same(t, "Last-Modified", a.header.Get("Last-Modified"), given)
	d.dav("PUT", "/a", "content", "If-Unmodified-Since: "+given, "X-OC-Mtime: 1609556645.75").want(http.StatusNoContent)
	same(t, "with a fraction", d.ask("/a", modified), given)
	d.dav("COPY", "/a", "", "Destination: $/copy").want(http.StatusCreated)
	d.dav("MOVE", "/a", "", "Destination: $/b").want(http.StatusCreated)
	d.dav("MKCOL", "/f", "").want(http.StatusCreated)
	d.dav("MOVE", "/b", "", "Destination: $/f/b").want(http.StatusCreated)
	d.dav("COPY", "/f", "", "Destination: $/g").want(http.StatusCreated)
	d.dav("PUT", "/onto", "other").want(http.StatusCreated)
	d.dav("COPY", "/copy", "", "Destination: $/onto").want(http.StatusNoContent)
	for _, path := range []string{"/copy", "/f/b", "/g/b", "/onto"} {
		same(t, path, d.ask(path, modified), given)
	}
	other := d.newDriveIn(d.newFixture(object{}))
	to := d.server.URL + other.folder + "/moved"
	d.dav("MOVE", "/f/b", "", "Destination: "+to).want(http.StatusCreated)
	same(t, "in another set", other.ask("/moved", modified), given)
	d.dav("PUT", "/copy", "next").want(http.StatusNoContent)
	if got, err := http.ParseTime(d.ask("/copy", modified)); err != nil || time.Since(got) > time.Hour {
		t.Errorf("a version without a time has the time %s", d.ask("/copy", modified))
	}
	for _, bad := range []string{"yesterday", "1e9", "99999999999999999999", "300000000000", "1.x", " "} {
		if a := d.dav("PUT", "/bad", "content", "X-OC-Mtime: "+bad); a.status != http.StatusBadRequest && strings.TrimSpace(bad) != "" {
			t.Errorf("%q: %s", bad, a.short())
		}
	}
	timed("/refused", "If-Match: *").want(http.StatusPreconditionFailed)
	before := d.get("/sets/" + d.set + "/resources?name=g/b").data()[0]
	d.dav("PROPPATCH", "/g/b", patchOf("D:lastmodified", "1609815845")).want(http.StatusMultiStatus)
	same(t, "by PROPPATCH", d.ask("/g/b", modified), changed)
	same(t, "the record", fmt.Sprint(d.get("/sets/" + d.set + "/resources?name=g/b").data()[0]), fmt.Sprint(before))
}

// TestDriveSetsTimes tests that clients can set the time of a file with several properties.
func TestDriveSetsTimes(t *testing.T) {
	t.Parallel()
	d := sysadmin(t).newDrive(nil)
	d.dav("MKCOL", "/folder", "").want(http.StatusCreated)
	for n, tc := range []struct{ property, value, want string }{
		{"D:lastmodified", "1609815845", "200"}, {"D:getlastmodified", changed, "200"}, {"D:getlastmodified", "2021-01-05T04:04:05+01:00", "200"}, {"D:getlastmodified", "2021-01-05 03:04:05Z", "200"}, {"D:lastmodified", "2021-01-05  03:04:05Z", "400"},
		{"ms:Win32LastModifiedTime", changed, "200"}, {"D:lastmodified", "soon", "400"}, {"D:getlastmodified", "", "400"}, {"D:creationdate", changed, "403"},
		{"oc:checksums", "<oc:checksum>SHA1:" + fmt.Sprintf("%x", sha1.Sum([]byte("x"))) + "</oc:checksum>", "403"},
		{"oc:checksums", "<oc:checksum>SHA1:" + fmt.Sprintf("%x", sha1.Sum([]byte("content"))) + "</oc:checksum>", "200"},
	} {
		path := fmt.Sprintf("/%d", n)
		d.dav("PUT", path, "content", "X-OC-Mtime: 1609556645", fmt.Sprintf("OC-Checksum: MD5:%x", md5.Sum([]byte("content")))).want(http.StatusCreated)
		a := d.dav("PROPPATCH", path, patchOf(tc.property, tc.value))
		want := given
		if tc.want == "200" && tc.property != "oc:checksums" {
			want = changed
		}
		if status := fmt.Sprint(a.status); status != tc.want && !strings.Contains(string(a.body), "HTTP/1.1 "+tc.want) {
			t.Errorf("%s: %s", tc.property, a.short())
		}
		same(t, tc.property+" "+tc.value, d.ask(path, modified), want)
	}
	d.dav("PROPPATCH", "/folder", patchOf("ms:Win32LastModifiedTime", changed)).want(http.StatusMultiStatus)
	if a := d.dav("PROPPATCH", "/folder", patchOf("D:lastmodified", "1609815845")); !strings.Contains(string(a.body), "403 Forbidden") {
		t.Errorf("a folder has a time: %s", a.short())
	}
}

// TestDriveChecksums tests that a file has SHA-1 and MD5 checksums if its client announced or
// requests them, and that they stay with the content.
func TestDriveChecksums(t *testing.T) {
	t.Parallel()
	d := sysadmin(t).newDrive(nil)
	long := strings.Repeat("long content\n", 50_000)
	announced := func(content string) string { return fmt.Sprintf("OC-Checksum: SHA1:%x", sha1.Sum([]byte(content))) }
	d.dav("PUT", "/short", "content", announced("content")).want(http.StatusCreated)
	d.dav("PUT", "/long", long, announced(long)).want(http.StatusCreated)
	d.dav("PUT", "/empty", "", announced("")).want(http.StatusCreated)
	d.dav("PUT", "/unannounced", "other").want(http.StatusCreated)
	d.upload(d.set, "form", "by the interface")
	d.upload(d.set, "long form", long+"more")
	d.dav("PUT", "/no bytes", "").want(http.StatusCreated)
	d.dav("MKCOL", "/folder", "").want(http.StatusCreated)
	all := `<D:propfind xmlns:D="DAV:" xmlns:oc="http://owncloud.org/ns"><D:prop><oc:checksums/></D:prop></D:propfind>`
	listing := string(d.dav("PROPFIND", "", all, "Depth: 1").want(http.StatusMultiStatus).body)
	for path, content := range map[string]string{
		"/short": "content", "/long": long, "/empty": "", "/unannounced": "other", "/form": "by the interface", "/long form": long + "more", "/no bytes": "",
	} {
		if !strings.Contains(listing, sums(content)) {
			t.Errorf("the listing lacks the checksums of %s", path)
		}
		same(t, path, d.ask(path, "oc:checksums"), sums(content))
	}
	same(t, "a folder", d.ask("/folder", "oc:checksums"), "")
	d.dav("COPY", "/long", "", "Destination: $/copy").want(http.StatusCreated)
	same(t, "a copy", d.ask("/copy", "oc:checksums"), sums(long))
	d.dav("PUT", "/long", "next").want(http.StatusNoContent)
	same(t, "the next version", d.ask("/long", "oc:checksums"), sums("next"))
	if text := string(d.dav("PROPFIND", "/short", "", "Depth: 0").body); strings.Contains(text, "checksum>") {
		t.Errorf("they are sent unrequested:\n%s", text)
	}
}
