package browser

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// interrupt closes the page during the upload and restarts the service, which has stored a part of
// the file.
func (h *upload) interrupt() {
	h.t.Helper()
	h.answerDialogs(true)
	h.site.Kill()
	h.do(chromedp.Navigate("about:blank"))
	h.site.restart(h.t)
	h.slow(-1, 0)
}

// reloaded interrupts an upload and opens its set again, over a fast connection.
func reloaded(t *testing.T) *upload {
	t.Helper()
	h := halfway(t)
	h.interrupt()
	h.at("/sets/" + h.set)
	return h
}

// After a reload the set shows the progress of the upload, refuses another file, and resumes with
// the same one.
func TestUnfinishedUploadResumes(t *testing.T) {
	t.Parallel()
	h := reloaded(t)
	h.sees("1 upload is not finished", "large.bin", "% of")
	h.until(`+document.querySelector(".unfinished .num").innerText.match(/^\d+/)[0] > 0`)
	h.shot("unfinished")
	other := fileWith(t, "other.bin", "other")
	h.pick("Select large.bin again", other)
	h.sees("other.bin is not the same file")
	renamed := filepath.Join(t.TempDir(), "renamed.bin")
	if err := os.Rename(h.path, renamed); err != nil {
		t.Fatal(err)
	}
	h.path = renamed
	h.pick("Select large.bin again", renamed)
	h.resumed()
	h.seesNot("not finished")
	h.site.holds(t, h.set, []string{"large.bin"})
}

// Other users do not see the upload, and its user can discard it.
func TestUnfinishedUploadIsDiscarded(t *testing.T) {
	t.Parallel()
	h := reloaded(t)
	h.sees("1 upload is not finished")
	var set struct{ DataspaceID string }
	if err := h.site.Call(t.Context(), "GET", "/sets/"+h.set, nil, &set); err != nil {
		t.Fatal(err)
	}
	mary := h.site.person(t, "mary", "editor", set.DataspaceID)
	h.press("Sign out")
	h.expect("status of 404") // for other users it does not exist
	h.signIn(mary.key)
	h.at("/sets/" + h.set)
	h.sees("This set is empty", "Upload files")
	h.seesNot("not finished")
	h.press("Sign out")
	h.signIn(h.site.Key())
	h.at("/sets/" + h.set)
	h.sees("1 upload is not finished")
	h.press("Discard large.bin")
	h.seesNot("not finished")
	h.until(`!Object.keys(localStorage).some((key) => key.startsWith("tus::"))`)
	files, err := filepath.Glob(filepath.Join(h.site.data, "parts", "*"))
	if err != nil || len(files) != 0 {
		t.Errorf("%v is left, %v", files, err)
	}
}

// An interrupted replacement resumes on the page of the file, to which the set links.
func TestUnfinishedReplacementResumes(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.makeSet(t)
	rid := s.put(t, sid, "a.txt")[0]
	path := filepath.Join(folder(t, "x", map[string]int{"large.bin": 48 << 20}), "large.bin")
	h := &upload{visitor: s.visit(t), site: s, set: sid, path: path}
	h.expect("status of 412") // the preview may still read the replaced file
	h.expect("ERR_CONNECTION_REFUSED", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET", "ERR_CONNECTION_CLOSED", "ERR_SOCKET_NOT_CONNECTED", "ERR_CONNECTION_ABORTED")
	h.at("/resources/" + rid)
	h.signIn(s.Key())
	h.sent = h.offsets()
	h.slow(3<<20, 0)
	h.pick("New file", path)
	h.submit()
	s.arrives(t, 24<<20)
	h.interrupt()
	h.at("/sets/" + sid)
	h.sees("1 upload is not finished")
	h.follow("Open the file to replace")
	h.isAt("/resources/" + rid)
	h.pick("Select a.txt again", path)
	h.sees("Replace this file?")
	h.submit()
	h.until(`!document.querySelector("dialog")`)
	s.holdsFile(t, sid, path)
	h.seesNot("not finished")
	if got := h.sent(); len(got) != 2 || got[0] != "0" || got[1] == "0" {
		t.Errorf("chunks began at %v", got)
	}
}
