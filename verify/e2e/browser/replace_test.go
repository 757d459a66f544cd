package browser

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e"
)

// overwrite replaces the bytes of a resource, as somebody else.
func (s *site) overwrite(t *testing.T, rid, content string) {
	t.Helper()
	_, err := s.Upload(t.Context(), "PUT", "/resources/"+rid,
		e2e.File{Name: "a.txt", Filename: "theirs.txt", Body: strings.NewReader(content), Size: int64(len(content))})
	if err != nil {
		t.Fatal(err)
	}
}

// Who has agreed to replace one version of a file does not replace another one, small or large: the newer one is shown first.
func TestReplaceOnlyWhatIsShown(t *testing.T) {
	t.Parallel()
	files := folder(t, "x", map[string]int{"small.dat": 3000, "large.dat": 17 << 20})
	for name, size := range map[string]int{"small.dat": 3000, "large.dat": 17 << 20} {
		s := open(t)
		_, sid := s.place(t)
		rid := s.put(t, sid, "a.txt")[0]
		v := s.visit(t)
		v.expect("status of 412") // the preview may still be reading what is replaced
		v.at("/resources/" + rid)
		v.signIn(s.Key())
		v.pick("File to replace it with", filepath.Join(files, name))
		v.sees("Replace this file?")
		s.overwrite(t, rid, "the bytes of somebody else")
		v.submit()
		v.sees("Another file has come to this name", "theirs.txt", "26 B")
		v.shot("replaced-meanwhile")
		if got := s.field(t, "/resources/"+rid, "bytes"); got != "26" {
			t.Fatalf("%s: their file is gone: %s bytes", name, got)
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

// Of many files, too, only the versions are replaced that were shown: what came meanwhile stays, and is told.
func TestReplaceManyOnlyWhatIsShown(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.place(t)
	ids := s.put(t, sid, "a.txt", "b.txt")
	root := folder(t, "x", map[string]int{"a.txt": 300, "b.txt": 400, "c.txt": 500})
	v := s.visit(t)
	v.at("/sets/" + sid)
	v.signIn(s.Key())
	v.sees("b.txt")
	v.pick("Files to upload", filepath.Join(root, "a.txt"), filepath.Join(root, "b.txt"), filepath.Join(root, "c.txt"))
	v.do(chromedp.SetValue(field("If a name is there already"), "replace"))
	v.submit()
	v.sees("Replace 2 files?", "a.txt", "b.txt")
	v.shot("replace-two")
	s.overwrite(t, ids[0], "the bytes of somebody else")
	other := s.put(t, sid, "c.txt")[0]
	v.press("Replace")
	v.sees("1 sent", "2 failed", "Another file has come to this name")
	want := map[string]string{ids[0]: "26", ids[1]: "400", other: "5"}
	for id, bytes := range want {
		if got := s.field(t, "/resources/"+id, "bytes"); got != bytes {
			t.Errorf("%s has %s bytes, not %s", id, got, bytes)
		}
	}
	s.holds(t, sid, []string{"a.txt", "b.txt", "c.txt"})
}

// Nor does it replace what comes while its file is being sent: the service is told which version is meant.
func TestReplacedWhileSent(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.place(t)
	rid := s.put(t, sid, "a.txt")[0]
	v := s.visit(t)
	v.expect("status of 412")
	v.at("/resources/" + rid)
	v.signIn(s.Key())
	v.slow(3<<20, 0)
	v.pick("File to replace it with", filepath.Join(folder(t, "x", map[string]int{"large.dat": 40 << 20}), "large.dat"))
	v.submit()
	s.arrives(t, 1<<20)
	s.overwrite(t, rid, "the bytes of somebody else")
	v.slow(-1, 0)
	v.sees("Another file has come to this name", "26 B")
	if got := s.field(t, "/resources/"+rid, "bytes"); got != "26" {
		t.Errorf("their file is gone: %s bytes", got)
	}
}
