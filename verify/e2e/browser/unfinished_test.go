package browser

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// left closes the page that is sending, with all that it was doing, and has the service keep what has come so far.
func (h *upload) left() {
	h.t.Helper()
	h.leaves()
	h.site.Kill()
	h.do(chromedp.Navigate("about:blank"))
	h.site.again(h.t)
	h.slow(-1, 0)
}

// reloaded is an upload of which a part has come before its page was loaded anew, over a fast line.
func reloaded(t *testing.T) *upload {
	t.Helper()
	h := halfway(t)
	h.left()
	h.at("/sets/" + h.set)
	return h
}

// After a reload the set shows how much has come, takes no other file for it, and goes on with the same one.
func TestUnfinishedUploadGoesOn(t *testing.T) {
	t.Parallel()
	h := reloaded(t)
	h.sees("1 upload is not finished", "large.bin", "% of")
	h.until(`+document.querySelector(".unfinished .num").innerText.match(/^\d+/)[0] > 0`)
	h.shot("unfinished")
	other := filepath.Join(t.TempDir(), "other.bin")
	if err := os.WriteFile(other, []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.pick("The file large.bin again", other)
	h.sees("other.bin is not the same file")
	renamed := filepath.Join(t.TempDir(), "renamed.bin")
	if err := os.Rename(h.path, renamed); err != nil {
		t.Fatal(err)
	}
	h.path = renamed
	h.pick("The file large.bin again", renamed)
	h.wentOn()
	h.seesNot("not finished")
	h.site.holds(t, h.set, []string{"large.bin"})
}

// Nobody else sees it, and whoever has begun it can discard it.
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
	h.expect("status of 404") // to anybody else it is not there
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

// A replacement goes on from the page of the file, to which the set leads.
func TestUnfinishedReplacementGoesOn(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.place(t)
	rid := s.put(t, sid, "a.txt")[0]
	path := filepath.Join(folder(t, "x", map[string]int{"large.bin": 48 << 20}), "large.bin")
	h := &upload{visitor: s.visit(t), site: s, set: sid, path: path}
	h.expect("status of 412") // the preview may still be reading what is replaced
	h.expect("ERR_CONNECTION_REFUSED", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET", "ERR_CONNECTION_CLOSED", "ERR_SOCKET_NOT_CONNECTED", "ERR_CONNECTION_ABORTED")
	h.at("/resources/" + rid)
	h.signIn(s.Key())
	h.sent = h.offsets()
	h.slow(3<<20, 0)
	h.pick("File to replace it with", path)
	h.submit()
	s.arrives(t, 24<<20)
	h.left()
	h.at("/sets/" + sid)
	h.sees("1 upload is not finished")
	h.follow("Open the file that it replaces")
	h.isAt("/resources/" + rid)
	h.pick("The file a.txt again", path)
	h.sees("Replace this file?")
	h.submit()
	h.until(`!document.querySelector("dialog")`)
	s.same(t, sid, path)
	h.seesNot("not finished")
	if got := h.sent(); len(got) != 2 || got[0] != "0" || got[1] == "0" {
		t.Errorf("pieces began at %v", got)
	}
}
