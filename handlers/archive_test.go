package handlers_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"labshelf/auth/errs"
	"labshelf/handlers"
	"labshelf/repository"
)

// unzipped returns the content of each file by path. It checks the files that the archive adds
// itself, and omits them.
func unzipped(t *testing.T, body []byte) map[string]string {
	t.Helper()
	reader, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		t.Fatal(err)
	}
	contents := map[string]string{}
	for _, entry := range reader.File {
		file, err := entry.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(file)
		if err := errors.Join(err, file.Close()); err != nil {
			t.Fatal(err)
		}
		contents[entry.Name] = string(content)
	}
	var manifest struct {
		Files map[string]struct{ Path, SHA256 string }
		Count int
	}
	if err := json.Unmarshal([]byte(contents["manifest.json"]), &manifest); err != nil {
		t.Fatal(err)
	}
	sums := contents["SHA256SUMS"]
	delete(contents, "manifest.json")
	delete(contents, "SHA256SUMS")
	same(t, "files in the manifest", len(manifest.Files), len(contents))
	same(t, "count", manifest.Count, len(contents))
	for id, listed := range manifest.Files {
		same(t, id+" in the manifest", listed.SHA256, sha256Hex(contents[listed.Path]))
		same(t, id+" in the sums", strings.Contains(sums, listed.SHA256+"  "+listed.Path+"\n"), true)
	}
	return contents
}

// TestArchiveHasEveryActiveFile tests that the archive is a zip that common programs can read. It
// contains every active file of the set under a unique path.
func TestArchiveHasEveryActiveFile(t *testing.T) {
	t.Parallel()
	for name, holdUpTo := range map[string]int64{"files": 0, "inline": 1 << 10} {
		s := ownGateway(t, repository.Config{HoldUpTo: holdUpTo}, handlers.Config{}).newSpace(nil)
		set := s.send("POST", "/sets", object{"name": "runs-2026", "dataspaceId": s.dataspace}).want(http.StatusCreated).object().text("id")
		long := strings.Repeat("0,1.5\n", 20_000)
		ids := []string{}
		for _, c := range [][2]string{
			{"day 1/run.csv", long}, {"day 1/run.csv", "again"}, {"../../etc/passwd", "x"}, {"Day 1/RUN.csv", "case"}, {"CON.txt", ""},
			{`C:\x\日本.txt`, "drive"}, {"manifest.json", "{}"}, {"day 1", "a file"}, {"gone.txt", "gone"},
		} {
			ids = append(ids, s.upload(set, "f", c[1], text("name", c[0])).text("id"))
		}
		s.send("DELETE", "/resources/"+ids[8], nil).want(http.StatusNoContent)
		s.upload(s.newSet(), "elsewhere.txt", "elsewhere")

		a := s.get("/sets/"+set+"/archive", "Range: bytes=0-3").want(http.StatusOK)
		want := map[string]string{
			"day 1/run.csv": long, "day 1/run (" + ids[1] + ").csv": "again", "etc/passwd": "x", "Day 1/RUN (" + ids[3] + ").csv": "case",
			"_CON.txt": "", "C_/x/日本.txt": "drive", "manifest (" + ids[6] + ").json": "{}", "day 1 (" + ids[7] + ")": "a file",
		}
		if diff := gocmp.Diff(want, unzipped(t, a.body)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
		for header, value := range map[string]string{
			"Content-Type": "application/zip", "Cache-Control": "no-store", "Accept-Ranges": "none", "Content-Length": "", "ETag": "",
			"Content-Disposition": `attachment; filename="runs-2026.zip"`,
		} {
			same(t, header, a.header.Get(header), value)
			same(t, "HEAD: "+header, s.send("HEAD", "/sets/"+set+"/archive", nil).want(http.StatusOK).header.Get(header), value)
		}
		extract(t, a.body)

		some := s.get("/sets/" + set + "/archive?resource=" + ids[3] + "&resource=" + ids[1] + "&resource=" + ids[3]).want(http.StatusOK)
		if diff := gocmp.Diff(map[string]string{"day 1/run.csv": "again", "Day 1/RUN (" + ids[3] + ").csv": "case"}, unzipped(t, some.body)); diff != "" {
			t.Errorf("some (-want +got)\n%s", diff)
		}
		same(t, "files of an empty set", len(unzipped(t, s.get("/sets/"+s.newSet()+"/archive").want(http.StatusOK).body)), 0)
	}
}

// extract reads an archive with common programs. Missing programs are skipped, except in CI.
func extract(t *testing.T, body []byte) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.zip")
	if err := os.WriteFile(path, body, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{
		{"unzip", "-tqq", path}, {"python3", "-m", "zipfile", "-t", path}, {"unzip", "-qq", path}, {"sha256sum", "--quiet", "--strict", "-c", "SHA256SUMS"},
	} {
		if _, err := exec.LookPath(command[0]); err != nil && os.Getenv("CI") != "true" {
			t.Logf("not tried with %s, which is not installed", command[0])
			return
		}
		run := exec.Command(command[0], command[1:]...)
		run.Dir, run.Env = dir, append(os.Environ(), "LC_ALL=C.UTF-8")
		if out, err := run.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
	}
}

func TestArchiveRefused(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	set, other := s.newSet(), s.newResource()
	kept, deleted := s.upload(set, "a", "a").text("id"), s.upload(set, "b", "b").text("id")
	s.send("DELETE", "/resources/"+deleted, nil).want(http.StatusNoContent)
	path := "/sets/" + set + "/archive"
	for _, c := range []struct {
		query  string
		status int
		code   errs.Code
		field  string
	}{
		{"?resource=" + kept + "&resource=" + other, http.StatusNotFound, "resource_not_found", "resource"},
		{"?resource=unknown", http.StatusNotFound, "resource_not_found", "resource"},
		{"?resource=" + deleted + "&resource=" + kept, http.StatusGone, "resource_deleted", "resource"},
		{"?resource=" + kept + "&resource=", http.StatusBadRequest, "invalid_parameter", "resource"},
		{"?resource=" + kept + strings.Repeat("&resource="+kept, 1000), http.StatusBadRequest, "invalid_parameter", "resource"},
		{"?resources=" + kept, http.StatusBadRequest, "invalid_parameter", "resources"},
	} {
		for _, method := range []string{"GET", "HEAD"} {
			a := s.bad(method, path+c.query, nil).want(c.status)
			if method == "GET" {
				a.problem(c.status, c.code, c.field)
			}
			same(t, "Content-Disposition", a.header.Get("Content-Disposition"), "")
		}
	}
	named := s.bad("GET", path+"?resource="+other, nil).object().text("detail")
	same(t, "the resource is named", strings.Contains(named, other), true)
	s.get(path + "?resource=" + kept + strings.Repeat("&resource="+kept, 999)).want(http.StatusOK)
	s.newUser(nil).get(path+"?resource=unknown").problem(http.StatusForbidden, "forbidden", "")
	s.send("DELETE", "/sets/"+set, nil).want(http.StatusNoContent)
	s.get(path).problem(http.StatusGone, "set_deleted", "")
	s.get(path+"?resource="+kept).problem(http.StatusGone, "resource_deleted", "resource")
}

// TestArchiveTooLarge tests that an archive is refused immediately if it alone exceeds the total
// number of files in all archives. It does not block other archives.
func TestArchiveTooLarge(t *testing.T) {
	t.Parallel()
	s := ownGateway(t, repository.Config{ArchiveRoom: 2}, handlers.Config{}).newSpace(nil)
	set := s.newSet()
	path := "/sets/" + set + "/archive"
	ids := []string{s.upload(set, "a", "a").text("id"), s.upload(set, "b", "b").text("id")}
	s.get(path).want(http.StatusOK)
	s.upload(set, "c", "c")
	for range 2 {
		s.get(path).problem(http.StatusRequestEntityTooLarge, "too_large", "")
		s.get(path + "?resource=" + ids[0] + "&resource=" + ids[1]).want(http.StatusOK)
	}
}

// TestArchiveDuringChanges tests that a change during an archive either does not affect the
// archive, or visibly cuts it off.
func TestArchiveDuringChanges(t *testing.T) {
	t.Parallel()
	large := make([]byte, 16<<20) // more than a connection buffers
	random := rand.NewChaCha8([32]byte{})
	_, _ = random.Read(large)
	s := ownGateway(t, repository.Config{}, handlers.Config{}).newSpace(nil)
	for what, c := range map[string]struct {
		act  func(set, last string, reader *client)
		want string // content of the last file; "" if the archive is cut off
	}{
		"nothing":     {func(string, string, *client) {}, "last"},
		"deleted":     {func(_, last string, _ *client) { s.send("DELETE", "/resources/"+last, nil).want(http.StatusNoContent) }, "last"},
		"set deleted": {func(set, _ string, _ *client) { s.send("DELETE", "/sets/"+set, nil).want(http.StatusNoContent) }, "last"},
		"replaced": {func(_, last string, _ *client) {
			s.send("PUT", "/resources/"+last, form(file("b.txt", "new content"))).want(http.StatusOK)
		}, "new content"},
		"purged": {func(_, last string, _ *client) {
			s.send("DELETE", "/resources/"+last, nil).want(http.StatusNoContent)
			s.send("POST", "/admin/purge", object{"olderThan": "0s"}).want(http.StatusOK)
		}, ""},
		"right revoked": {func(_, _ string, reader *client) {
			role := reader.get("/privileges?userId=me").data()[0].text("id")
			s.send("DELETE", "/privileges/"+role, nil).want(http.StatusNoContent)
		}, ""},
		"damaged": {func(string, string, *client) {
			if err := os.WriteFile(s.blobFile("last"), []byte("lasT"), 0o600); err != nil {
				t.Error(err)
			}
		}, ""},
	} {
		set, reader := s.newSet(), s.newMember("member")
		s.upload(set, "a.zip", string(large))
		last := s.upload(set, "b.txt", "last").text("id")
		response, err := httpClient.Do(reader.request("GET", "/sets/"+set+"/archive", nil, nil))
		if err != nil {
			t.Fatal(err)
		}
		c.act(set, last, reader)
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close() // the test only checks where the body ends
		if cut := errors.Is(err, io.ErrUnexpectedEOF); cut != (c.want == "") || !cut && err != nil {
			t.Errorf("%s: received %d bytes, and the error %v", what, len(body), err)
		}
		if c.want != "" {
			same(t, what, unzipped(t, body)["b.txt"], c.want)
		} else if _, err := zip.NewReader(bytes.NewReader(body), int64(len(body))); !errors.Is(err, zip.ErrFormat) {
			t.Errorf("%s: the cut-off archive can be read: %v", what, err)
		}
		if what == "damaged" {
			same(t, "damaged", s.damaged(), 1)
			s.get("/sets/"+set+"/archive?resource="+url.QueryEscape(last)).problem(http.StatusInternalServerError, "data_damaged", "")
			s.upload(set, "c.txt", "last") // the upload repairs the file
		}
	}
	if log := s.log.String(); !strings.Contains(log, "recorded SHA-256") || !strings.Contains(log, "resource_deleted") {
		t.Errorf("the log does not say why archives were cut off: %s", log)
	}
}
