package pages

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// A folder is uploaded to a new set. A second upload sends only changed files.
func TestUploadFolder(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, _ := s.NewSet(t)
	root := browser.Folder(t, "Growth 7", map[string]int{"a.csv": 300, "2026-10/b.bin": 70_000, "2026-10/deep/c.bin": 5, "empty.txt": 0, ".DS_Store": 9})
	v := s.SignedIn(t, s.Key(), "/dataspaces/"+did)
	v.Sees("New set")
	v.Pick("Folder to upload", root)
	v.Sees("4 files", "1 system file")
	v.Until(`document.querySelector("dialog input").value === "growth-7"`)
	v.Shot("plan")
	v.Submit()
	v.Sees("All done", "4 sent")
	v.Shot("uploaded")
	v.Follow("growth-7")
	v.Sees("Growth 7/2026-10/deep/c.bin", "4 files")
	set := browser.Get(v, chromedp.Evaluate[string](`location.pathname.slice("/sets/".length)`))
	want := []string{"Growth 7/a.csv", "Growth 7/2026-10/b.bin", "Growth 7/2026-10/deep/c.bin", "Growth 7/empty.txt"}
	s.Holds(t, set, want)
	v.Press("Close the report")
	if err := os.WriteFile(filepath.Join(root, "a.csv"), bytes.Repeat([]byte("x"), 300), 0o600); err != nil {
		t.Fatal(err)
	}
	v.Pick("Folder to upload", root)
	v.Do(chromedp.SetValue(browser.Field("If a name exists"), "replace"))
	v.Submit()
	v.Sees("Replace 4 files?", "stays as older versions", "Growth 7/2026-10/deep/c.bin", "4 of them have the same size")
	v.Shot("replace-many")
	v.Press("Replace")
	v.Sees("1 sent", "3 already exist")
	s.Holds(t, set, want)
}

// The dialog shows its fields and its button only after the sets are loaded, so that the button
// does not move.
func TestUploadDialogDoesNotShift(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, _ := s.NewSet(t)
	root := browser.Folder(t, "growth", map[string]int{"a.csv": 300})
	v := s.SignedIn(t, s.Key(), "/dataspaces/"+did)
	v.Sees("Runs of 2026")
	v.Slow(-1, 500*time.Millisecond)
	v.Do(chromedp.Evaluate[chromedp.Void](`void new MutationObserver(() => {
		const has = (selector) => document.querySelector(selector) !== null;
		const seen = (window.seen ??= { Waited: false, Early: false });
		seen.Waited ||= has("dialog") && !has("dialog option[value='']");
		seen.Early ||= has("dialog [type=submit]") && !has("dialog option[value='']");
	}).observe(document.body, { childList: true, subtree: true })`))
	v.Pick("Folder to upload", root)
	v.Until(`document.querySelector("dialog option[value='']")`)
	seen := browser.Get(v, chromedp.Evaluate[struct{ Waited, Early bool }](`window.seen`))
	if !seen.Waited {
		t.Error("the sets were loaded immediately: the test has no meaning")
	}
	if seen.Early {
		t.Error("the button appeared before the fields above it")
	}
	v.Shot("plan-with-sets")
	v.Slow(-1, 0)
	v.Submit()
	v.Sees("All done", "1 sent")
}

// interrupted starts an upload of 40 files by mary, and revokes her key when some of them have been
// sent.
func interrupted(t *testing.T) (s *browser.Site, v *browser.Visitor, mary browser.Person, setID string, names []string) {
	t.Helper()
	s = browser.Open(t)
	did, setID := s.NewSet(t)
	mary = s.Person(t, "mary", "editor", did)
	root, names := browser.Many(t, 40)
	v = s.Visit(t)
	v.At("/sets/" + setID)
	v.SignIn(mary.Key)
	v.Sees("This set is empty")
	v.Slow(-1, 150*time.Millisecond)
	v.Pick("Folder to upload", root)
	v.Submit()
	v.Until(`+document.querySelector(".uploads .report")?.innerText.match(/^\d+/)?.[0] > 5`)
	s.Revoke(t, mary)
	v.Sees("Paused")
	return s, v, mary, setID, names
}

// If the session ends during an upload, signing in again continues it. Every file is sent once.
func TestSessionEndsDuringUpload(t *testing.T) {
	t.Parallel()
	s, v, mary, sid, names := interrupted(t)
	v.Sees("Your session has ended")
	v.Shot("session-ended")
	var other struct{ Key string }
	if err := s.Call(t.Context(), "POST", "/users/"+mary.ID+"/keys", map[string]string{}, &other); err != nil {
		t.Fatal(err)
	}
	v.SignIn(other.Key)
	v.Sees("All done", "40 sent")
	s.Holds(t, sid, names)
}

// If another user signs in, the uploads of the last user are discarded.
func TestUploadsOfAnotherUserAreDropped(t *testing.T) {
	t.Parallel()
	s, v, _, sid, _ := interrupted(t)
	v.SignIn(s.Key())
	v.Until(`!document.querySelector(".uploads")`)
	if n := len(s.Names(t, sid)); n >= 40 {
		t.Errorf("%d files were sent", n)
	}
}

// If the service restarts during an upload, failures are reported and can be retried. Every file is
// stored once.
func TestServiceRestartsDuringUpload(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	root, names := browser.Many(t, 30)
	v := s.SignedIn(t, s.Key(), "/sets/"+sid, "ERR_CONNECTION_REFUSED", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET", "ERR_CONNECTION_CLOSED", "ERR_SOCKET_NOT_CONNECTED")
	v.Sees("This set is empty")
	v.Slow(-1, 150*time.Millisecond)
	v.Pick("Folder to upload", root)
	v.Submit()
	v.Until(`+document.querySelector(".uploads .report")?.innerText.match(/^\d+/)?.[0] > 5`)
	s.Kill()
	v.Sees("Finished, ")
	v.Shot("upload-failed")
	s.Restart(t)
	v.Press("Retry failed")
	v.Sees("All done")
	s.Holds(t, sid, names)
}

// The panel shows progress, speed and remaining time. Uploads can be cancelled, and leaving the
// page requires a confirmation.
func TestProgressCancelAndLeave(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	root := browser.Folder(t, "x", map[string]int{"large.bin": 8 << 20, "small.txt": 3})
	v := s.SignedIn(t, s.Key(), "/sets/"+sid)
	v.Sees("This set is empty")
	asked := v.AnswerDialogs(false)
	v.Slow(1<<20, 0)
	v.Pick("Files to upload", filepath.Join(root, "large.bin"), filepath.Join(root, "small.txt"))
	v.Submit()
	v.Sees("1 sent", "/s,", " left", "1 left")
	v.Shot("uploading")
	v.Do(chromedp.Evaluate[chromedp.Void](`void (location.href = "/trash")`))
	select {
	case dialog := <-asked:
		if dialog.Type != page.DialogTypeBeforeunload {
			t.Errorf("the browser opened a dialog of type %s", dialog.Type)
		}
	case <-time.After(browser.StepTimeout):
		t.Error("leaving during an upload opens no dialog")
	}
	v.IsAt("/sets/" + sid)
	v.Press("Cancel large.bin")
	v.Sees("1 cancelled", "Finished, 1 file not uploaded")
	s.Holds(t, sid, []string{"small.txt"})
	v.Slow(-1, 0)
	v.Press("Retry failed")
	v.Sees("All done", "2 sent")
	s.Holds(t, sid, []string{"large.bin", "small.txt"})
}

// A full disk fails the upload with an error. Reading works, and a retry succeeds when there is
// space again.
func TestDiskFullDuringUpload(t *testing.T) {
	t.Parallel()
	browser.Need(t)
	disk := t.TempDir()
	if output, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=24m", "labshelf", disk).CombinedOutput(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("mount: %v: %s", err, output)
		}
		t.Skipf("mounting a small file system needs root on Linux: %v: %s", err, output)
	}
	t.Cleanup(func() {
		if output, err := exec.Command("umount", disk).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, output)
		}
	})
	s := browser.OpenAt(t, filepath.Join(disk, "data"))
	_, sid := s.NewSet(t)
	s.Put(t, sid, "first.txt")
	root := browser.Folder(t, "x", map[string]int{"too-large.bin": 40 << 20, "small.txt": 3})
	v := s.SignedIn(t, s.Key(), "/sets/"+sid, "status of 507", "ERR_CONNECTION_RESET", "ERR_FAILED")
	v.BeforeScripts(`{
		const wait = window.setTimeout;
		window.setTimeout = (f, ms, ...rest) => wait(f, Math.min(ms, 1000), ...rest); // uploads are tried again for 38 s
	}`)
	v.At("/sets/" + sid)
	v.Sees("first.txt")
	v.Pick("Files to upload", filepath.Join(root, "too-large.bin"), filepath.Join(root, "small.txt"))
	v.Submit()
	v.Sees("Finished, 1 file not uploaded", "space")
	v.Shot("disk-full")
	v.Follow("first.txt")
	v.Sees("For programs")
	if output, err := exec.Command("mount", "-o", "remount,size=120m", disk).CombinedOutput(); err != nil {
		t.Fatalf("remount: %v: %s", err, output)
	}
	v.Press("Retry failed")
	v.Sees("All done")
	s.Holds(t, sid, []string{"first.txt", "small.txt", "too-large.bin"})
}
