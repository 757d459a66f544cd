package browser

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A file is replaced and its record edited; a validation error is shown at its field.
func TestReplaceAndEdit(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.makeSet(t)
	rid := s.put(t, sid, "a.txt")[0]
	v := s.signedIn(t, s.Key(), "/resources/"+rid, "status of 400", "status of 412") // the preview may still read the replaced file
	v.sees("5 B")
	v.replace(folder(t, "x", map[string]int{"new.dat": 3000}) + "/new.dat")
	v.sees("3.0 kB", "new.dat")
	v.menu("Edit")
	v.fill("Description", "calibrated")
	v.fill("Format", "DAT")
	v.submit()
	v.seesNot("Edit details")
	v.sees("calibrated", "DAT")
	v.at("/sets/" + sid)
	v.menu("Edit")
	v.fill("Title", "Runs, calibrated")
	v.submit()
	v.until(`document.querySelector("h1").innerText === "Runs, calibrated"`)
	v.follow("Laser lab")
	v.press("New set")
	v.fill("Name", "Not A Name")
	v.submit()
	v.until(`document.querySelector("dialog .error:not(:empty)")`)
	v.until(`document.querySelector("dialog [name=name]").getAttribute("aria-invalid") === "true"`)
}

// A replacement needs confirmation, which names both files. Nothing is sent before, and it can be
// cancelled until all is sent.
func TestReplaceNeedsConfirmation(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.makeSet(t)
	rid := s.put(t, sid, "a.txt")[0]
	now := func() string {
		var r struct{ Filename, Sha256 string }
		if err := s.Call(t.Context(), "GET", "/resources/"+rid, nil, &r); err != nil {
			t.Fatal(err)
		}
		return r.Filename + " " + r.Sha256
	}
	before := now()
	files := folder(t, "x", map[string]int{"new.dat": 3000, "large.dat": 3_000_000})
	v := s.signedIn(t, s.Key(), "/resources/"+rid, "status of 412") // the preview may still read the replaced file
	v.sees("5 B")
	asked := func(path string) {
		v.pick("New file", files+path)
		v.sees("Replace this file?", "stays as version 1")
	}
	asked("/new.dat")
	v.shot("replace")
	v.until(`/^file\.txt 5 B (just now|1 minute ago) by admin\|new\.dat 3\.0 kB$/.test( // the name of the user comes later
		[...document.querySelectorAll("dialog dd")].map((d) => d.innerText.replace(/\s+/g, " ").trim()).join("|"))`)
	v.press("Cancel")
	v.until(`!document.querySelector("dialog")`)
	asked("/new.dat")
	v.do(chromedp.KeyEvent(kb.Escape))
	v.until(`!document.querySelector("dialog")`)
	asked("/large.dat")
	v.slow(200_000, 0)
	cancelled := v.outcome("PUT")
	v.submit()
	v.sees("of 3.0 MB sent")
	v.press("Cancel")
	v.slow(-1, 0)
	v.until(`!document.querySelector("dialog")`)
	if !cancelled() {
		t.Error("the upload went on")
	}
	if got := now(); got != before {
		t.Errorf("before confirmation the file is %s, was %s", got, before)
	}
	v.replace(files + "/new.dat")
	v.sees("3.0 kB")
	if got := now(); got == before {
		t.Error("the file was not replaced")
	}
}

// Replacing a file by an upload keeps its metadata.
func TestReplaceKeepsMetadata(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.makeSet(t)
	rid := s.put(t, sid, "a.txt")[0]
	known := map[string]string{"description": "calibrated on Monday", "format": "LOG"}
	s.call(t, "PATCH", "/resources/"+rid, known)
	path := fileWith(t, "a.txt", "other content")
	v := s.signedIn(t, s.Key(), "/sets/"+sid)
	v.pick("Files to upload", path)
	v.do(chromedp.SetValue(field("If a name exists"), "replace"))
	v.submit()
	v.sees("Replace 1 file?", "stays as an older version")
	v.press("Replace")
	v.sees("All done", "1 sent")
	var after struct {
		Description, Format string
		Bytes               int
	}
	if err := s.Call(t.Context(), "GET", "/resources/"+rid, nil, &after); err != nil || after.Bytes != 13 {
		t.Errorf("the file is %+v, %v", after, err)
	}
	if after.Description != known["description"] || after.Format != known["format"] {
		t.Errorf("metadata are lost: %+v", after)
	}
}

// The confirmation holds for one version, of small and of large files: a newer version has to be
// confirmed again.
func TestReplaceOnlyConfirmedVersion(t *testing.T) {
	t.Parallel()
	files := folder(t, "x", map[string]int{"small.dat": 3000, "large.dat": 17 << 20})
	for name, size := range map[string]int{"small.dat": 3000, "large.dat": 17 << 20} {
		s := open(t)
		_, sid := s.makeSet(t)
		rid := s.put(t, sid, "a.txt")[0]
		v := s.signedIn(t, s.Key(), "/resources/"+rid, "status of 412") // the preview may still read the replaced file
		v.pick("New file", filepath.Join(files, name))
		v.sees("Replace this file?")
		s.overwrite(t, rid, "bytes of another user")
		v.submit()
		v.sees("was changed since you confirmed its replacement", "theirs.txt", "21 B")
		v.shot("replaced-meanwhile")
		if got := s.field(t, "/resources/"+rid, "bytes"); got != "21" {
			t.Fatalf("%s: the other file was replaced: %s bytes", name, got)
		}
		s.call(t, "PATCH", "/resources/"+rid, map[string]string{"description": "written meanwhile"})
		v.submit()
		v.until(`!document.querySelector("dialog")`)
		if got := s.field(t, "/resources/"+rid, "bytes"); got != fmt.Sprint(float64(size)) {
			t.Errorf("%s: after the second question it has %s bytes", name, got)
		}
		if got := s.field(t, "/resources/"+rid, "description"); got != "written meanwhile" {
			t.Errorf("%s: its description is %q", name, got)
		}
	}
}

// Of many files, too, only confirmed versions are replaced; the others are reported.
func TestReplaceManyOnlyConfirmedVersions(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.makeSet(t)
	ids := s.put(t, sid, "a.txt", "b.txt")
	root := folder(t, "x", map[string]int{"a.txt": 300, "b.txt": 400, "c.txt": 500})
	v := s.signedIn(t, s.Key(), "/sets/"+sid)
	v.sees("b.txt")
	v.pick("Files to upload", filepath.Join(root, "a.txt"), filepath.Join(root, "b.txt"), filepath.Join(root, "c.txt"))
	v.do(chromedp.SetValue(field("If a name exists"), "replace"))
	v.submit()
	v.sees("Replace 2 files?", "a.txt", "b.txt")
	v.shot("replace-two")
	s.overwrite(t, ids[0], "bytes of another user")
	other := s.put(t, sid, "c.txt")[0]
	v.press("Replace")
	v.sees("1 sent", "2 failed", "was changed since you confirmed its replacement")
	want := map[string]string{ids[0]: "21", ids[1]: "400", other: "5"}
	for id, bytes := range want {
		if got := s.field(t, "/resources/"+id, "bytes"); got != bytes {
			t.Errorf("%s has %s bytes, not %s", id, got, bytes)
		}
	}
	s.holds(t, sid, []string{"a.txt", "b.txt", "c.txt"})
}

// A version that is created during the upload is not replaced either.
func TestReplaceConflictDuringUpload(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.makeSet(t)
	rid := s.put(t, sid, "a.txt")[0]
	v := s.signedIn(t, s.Key(), "/resources/"+rid, "status of 412")
	v.slow(3<<20, 0)
	v.pick("New file", filepath.Join(folder(t, "x", map[string]int{"large.dat": 40 << 20}), "large.dat"))
	v.submit()
	s.arrives(t, 1<<20)
	s.overwrite(t, rid, "bytes of another user")
	v.slow(-1, 0)
	v.sees("was changed since you confirmed its replacement", "21 B")
	if got := s.field(t, "/resources/"+rid, "bytes"); got != "21" {
		t.Errorf("the other file was replaced: %s bytes", got)
	}
}
