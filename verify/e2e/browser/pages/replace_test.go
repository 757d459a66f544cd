package pages

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"labshelf/verify/e2e/browser"
)

// A user replaces a file and edits its record. A validation error is shown at its field.
func TestReplaceAndEdit(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	rid := s.Put(t, sid, "a.txt")[0]
	v := s.SignedIn(t, s.Key(), "/resources/"+rid, "status of 400", "status of 412") // the preview may still read the replaced file
	v.Sees("5 B")
	v.Replace(browser.Folder(t, "x", map[string]int{"new.dat": 3000}) + "/new.dat")
	v.Sees("3.0 kB", "new.dat")
	menu(v, "Edit")
	v.Fill("Description", "calibrated")
	v.Fill("Format", "DAT")
	v.Submit()
	v.SeesNot("Edit details")
	v.Sees("calibrated", "DAT")
	v.At("/sets/" + sid)
	menu(v, "Edit")
	v.Fill("Title", "Runs, calibrated")
	v.Submit()
	v.Until(`document.querySelector("h1").innerText === "Runs, calibrated"`)
	v.Follow("Laser lab")
	v.Press("New set")
	v.Fill("Name", "Not A Name")
	v.Submit()
	v.Until(`document.querySelector("dialog .error:not(:empty)")`)
	v.Until(`document.querySelector("dialog [name=name]").getAttribute("aria-invalid") === "true"`)
}

// A replacement requires a confirmation that names both files. The page sends nothing before, and
// the user can cancel until everything is sent.
func TestReplaceNeedsConfirmation(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	rid := s.Put(t, sid, "a.txt")[0]
	now := func() string {
		var r struct{ Filename, Sha256 string }
		if err := s.Call(t.Context(), "GET", "/resources/"+rid, nil, &r); err != nil {
			t.Fatal(err)
		}
		return r.Filename + " " + r.Sha256
	}
	before := now()
	files := browser.Folder(t, "x", map[string]int{"new.dat": 3000, "large.dat": 3_000_000})
	v := s.SignedIn(t, s.Key(), "/resources/"+rid, "status of 412") // the preview may still read the replaced file
	v.Sees("5 B")
	asked := func(path string) {
		v.Pick("New file", files+path)
		v.Sees("Replace this file?", "stays as version 1")
	}
	asked("/new.dat")
	v.Shot("replace")
	v.Until(`/^file\.txt 5 B (just now|1 minute ago) by admin\|new\.dat 3\.0 kB$/.test( // the name of the user is loaded later
		[...document.querySelectorAll("dialog dd")].map((d) => d.innerText.replace(/\s+/g, " ").trim()).join("|"))`)
	v.Press("Cancel")
	v.Until(`!document.querySelector("dialog")`)
	asked("/new.dat")
	v.Do(chromedp.KeyEvent(kb.Escape))
	v.Until(`!document.querySelector("dialog")`)
	asked("/large.dat")
	v.Slow(200_000, 0)
	cancelled := v.Outcome("PUT")
	v.Submit()
	v.Sees("of 3.0 MB sent")
	v.Press("Cancel")
	v.Slow(-1, 0)
	v.Until(`!document.querySelector("dialog")`)
	if !cancelled() {
		t.Error("the upload was not cancelled")
	}
	if got := now(); got != before {
		t.Errorf("without a confirmation, the file changed to %s, want %s", got, before)
	}
	v.Replace(files + "/new.dat")
	v.Sees("3.0 kB")
	if got := now(); got == before {
		t.Error("the file was not replaced")
	}
}

// Replacing a file with an upload keeps its metadata.
func TestReplaceKeepsMetadata(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	rid := s.Put(t, sid, "a.txt")[0]
	known := map[string]string{"description": "calibrated on Monday", "format": "LOG"}
	s.Do(t, "PATCH", "/resources/"+rid, known)
	path := browser.FileWith(t, "a.txt", "other content")
	v := s.SignedIn(t, s.Key(), "/sets/"+sid)
	v.Pick("Files to upload", path)
	v.Do(chromedp.SetValue(browser.Field("If a name exists"), "replace"))
	v.Submit()
	v.Sees("Replace 1 file?", "stays as an older version")
	v.Press("Replace")
	v.Sees("All done", "1 sent")
	var after struct {
		Description, Format string
		Bytes               int
	}
	if err := s.Call(t.Context(), "GET", "/resources/"+rid, nil, &after); err != nil || after.Bytes != 13 {
		t.Errorf("the file is %+v, %v", after, err)
	}
	if after.Description != known["description"] || after.Format != known["format"] {
		t.Errorf("the metadata have changed: %+v", after)
	}
}

// The confirmation is valid for one version, for small and large files. A newer version requires
// another confirmation.
func TestReplaceOnlyConfirmedVersion(t *testing.T) {
	t.Parallel()
	files := browser.Folder(t, "x", map[string]int{"small.dat": 3000, "large.dat": 17 << 20})
	for name, size := range map[string]int{"small.dat": 3000, "large.dat": 17 << 20} {
		s := browser.Open(t)
		_, sid := s.NewSet(t)
		rid := s.Put(t, sid, "a.txt")[0]
		v := s.SignedIn(t, s.Key(), "/resources/"+rid, "status of 412") // the preview may still read the replaced file
		v.Pick("New file", filepath.Join(files, name))
		v.Sees("Replace this file?")
		s.Overwrite(t, rid, "bytes of another user")
		v.Submit()
		v.Sees("was changed since you confirmed its replacement", "theirs.txt", "21 B")
		v.Shot("replaced-meanwhile")
		if got := s.Field(t, "/resources/"+rid, "bytes"); got != "21" {
			t.Fatalf("%s: the newer version was replaced: %s bytes", name, got)
		}
		s.Do(t, "PATCH", "/resources/"+rid, map[string]string{"description": "written meanwhile"})
		v.Submit()
		v.Until(`!document.querySelector("dialog")`)
		if got := s.Field(t, "/resources/"+rid, "bytes"); got != fmt.Sprint(float64(size)) {
			t.Errorf("%s: after the second confirmation, the file has %s bytes", name, got)
		}
		if got := s.Field(t, "/resources/"+rid, "description"); got != "written meanwhile" {
			t.Errorf("%s: the description is %q", name, got)
		}
	}
}

// In an upload of many files, only confirmed versions are replaced. The page reports the others.
func TestReplaceManyOnlyConfirmedVersions(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	ids := s.Put(t, sid, "a.txt", "b.txt")
	root := browser.Folder(t, "x", map[string]int{"a.txt": 300, "b.txt": 400, "c.txt": 500})
	v := s.SignedIn(t, s.Key(), "/sets/"+sid)
	v.Sees("b.txt")
	v.Pick("Files to upload", filepath.Join(root, "a.txt"), filepath.Join(root, "b.txt"), filepath.Join(root, "c.txt"))
	v.Do(chromedp.SetValue(browser.Field("If a name exists"), "replace"))
	v.Submit()
	v.Sees("Replace 2 files?", "a.txt", "b.txt")
	v.Shot("replace-two")
	s.Overwrite(t, ids[0], "bytes of another user")
	other := s.Put(t, sid, "c.txt")[0]
	v.Press("Replace")
	v.Sees("1 sent", "2 failed", "was changed since you confirmed its replacement")
	want := map[string]string{ids[0]: "21", ids[1]: "400", other: "5"}
	for id, bytes := range want {
		if got := s.Field(t, "/resources/"+id, "bytes"); got != bytes {
			t.Errorf("%s has %s bytes, want %s", id, got, bytes)
		}
	}
	s.Holds(t, sid, []string{"a.txt", "b.txt", "c.txt"})
}

// A version that is created during the upload is not replaced either.
func TestReplaceConflictDuringUpload(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	rid := s.Put(t, sid, "a.txt")[0]
	v := s.SignedIn(t, s.Key(), "/resources/"+rid, "status of 412")
	v.Slow(3<<20, 0)
	v.Pick("New file", filepath.Join(browser.Folder(t, "x", map[string]int{"large.dat": 40 << 20}), "large.dat"))
	v.Submit()
	s.Arrives(t, 1<<20)
	s.Overwrite(t, rid, "bytes of another user")
	v.Slow(-1, 0)
	v.Sees("was changed since you confirmed its replacement", "21 B")
	if got := s.Field(t, "/resources/"+rid, "bytes"); got != "21" {
		t.Errorf("the newer version was replaced: %s bytes", got)
	}
}
