package pages

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// interrupt closes the page during the upload and restarts the service, which has stored a part of
// the file.
func (h *upload) interrupt() {
	h.T.Helper()
	h.AnswerDialogs(true)
	h.site.Kill()
	h.Do(chromedp.Navigate("about:blank"))
	h.site.Restart(h.T)
	h.Slow(-1, 0)
}

// reloaded interrupts an upload and opens its set again, over a fast connection.
func reloaded(t *testing.T) *upload {
	t.Helper()
	h := halfway(t)
	h.interrupt()
	h.At("/sets/" + h.set)
	return h
}

// After a reload, the set shows the progress of the upload, refuses another file, and resumes with
// the same file.
func TestUnfinishedUploadResumes(t *testing.T) {
	t.Parallel()
	h := reloaded(t)
	h.Sees("1 upload is not finished", "large.bin", "% of")
	h.Until(`+document.querySelector(".unfinished .num").innerText.match(/^\d+/)[0] > 0`)
	h.Shot("unfinished")
	other := browser.FileWith(t, "other.bin", "other")
	h.Pick("Select large.bin again", other)
	h.Sees("other.bin is not the same file")
	renamed := filepath.Join(t.TempDir(), "renamed.bin")
	if err := os.Rename(h.path, renamed); err != nil {
		t.Fatal(err)
	}
	h.path = renamed
	h.Pick("Select large.bin again", renamed)
	h.resumed()
	h.SeesNot("not finished")
	h.site.Holds(t, h.set, []string{"large.bin"})
}

// Other users do not see the upload. Its user can discard it.
func TestUnfinishedUploadIsDiscarded(t *testing.T) {
	t.Parallel()
	h := reloaded(t)
	h.Sees("1 upload is not finished")
	var set struct{ DataspaceID string }
	if err := h.site.Call(t.Context(), "GET", "/sets/"+h.set, nil, &set); err != nil {
		t.Fatal(err)
	}
	mary := h.site.Person(t, "mary", "editor", set.DataspaceID)
	h.Press("Sign out")
	h.Expect("status of 404") // for other users, the upload does not exist
	h.SignIn(mary.Key)
	h.At("/sets/" + h.set)
	h.Sees("This set is empty", "Upload files")
	h.SeesNot("not finished")
	h.Press("Sign out")
	h.SignIn(h.site.Key())
	h.At("/sets/" + h.set)
	h.Sees("1 upload is not finished")
	h.Press("Discard large.bin")
	h.SeesNot("not finished")
	h.Until(`!Object.keys(localStorage).some((key) => key.startsWith("tus::"))`)
	files, err := filepath.Glob(filepath.Join(h.site.Data, "parts", "*"))
	if err != nil || len(files) != 0 {
		t.Errorf("partial files remain: %v, %v", files, err)
	}
}

// An interrupted replacement resumes on the page of the file. The set links to this page.
func TestUnfinishedReplacementResumes(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	rid := s.Put(t, sid, "a.txt")[0]
	path := filepath.Join(browser.Folder(t, "x", map[string]int{"large.bin": 48 << 20}), "large.bin")
	h := &upload{Visitor: s.Visit(t), site: s, set: sid, path: path}
	h.Expect("status of 412") // the preview may still read the replaced file
	h.Expect("ERR_CONNECTION_REFUSED", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET", "ERR_CONNECTION_CLOSED", "ERR_SOCKET_NOT_CONNECTED", "ERR_CONNECTION_ABORTED")
	h.At("/resources/" + rid)
	h.SignIn(s.Key())
	h.sent = offsets(h.Visitor)
	h.Slow(3<<20, 0)
	h.Pick("New file", path)
	h.Submit()
	s.Arrives(t, 24<<20)
	h.interrupt()
	h.At("/sets/" + sid)
	h.Sees("1 upload is not finished")
	h.Follow("Open the file to replace")
	h.IsAt("/resources/" + rid)
	h.Pick("Select a.txt again", path)
	h.Sees("Replace this file?")
	h.Submit()
	h.Until(`!document.querySelector("dialog")`)
	s.HoldsFile(t, sid, path)
	h.SeesNot("not finished")
	if got := h.sent(); len(got) != 2 || got[0] != "0" || got[1] == "0" {
		t.Errorf("the offsets of the chunks are %v", got)
	}
}
