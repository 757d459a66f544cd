package browser

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// A folder is uploaded to a new set. A second upload sends only changed files.
func TestUploadFolder(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, _ := s.makeSet(t)
	root := folder(t, "Growth 7", map[string]int{"a.csv": 300, "2026-10/b.bin": 70_000, "2026-10/deep/c.bin": 5, "empty.txt": 0, ".DS_Store": 9})
	v := s.signedIn(t, s.Key(), "/dataspaces/"+did)
	v.sees("New set")
	v.pick("Folder to upload", root)
	v.sees("4 files", "1 system file")
	v.until(`document.querySelector("dialog input").value === "growth-7"`)
	v.shot("plan")
	v.submit()
	v.sees("All done", "4 sent")
	v.shot("uploaded")
	v.follow("growth-7")
	v.sees("Growth 7/2026-10/deep/c.bin", "4 files")
	set := get(v, chromedp.Evaluate[string](`location.pathname.slice("/sets/".length)`))
	want := []string{"Growth 7/a.csv", "Growth 7/2026-10/b.bin", "Growth 7/2026-10/deep/c.bin", "Growth 7/empty.txt"}
	s.holds(t, set, want)
	v.press("Close the report")
	if err := os.WriteFile(filepath.Join(root, "a.csv"), bytes.Repeat([]byte("x"), 300), 0o600); err != nil {
		t.Fatal(err)
	}
	v.pick("Folder to upload", root)
	v.do(chromedp.SetValue(field("If a name exists"), "replace"))
	v.submit()
	v.sees("Replace 4 files?", "stays as older versions", "Growth 7/2026-10/deep/c.bin", "4 of them have the same size")
	v.shot("replace-many")
	v.press("Replace")
	v.sees("1 sent", "3 already exist")
	s.holds(t, set, want)
}

// The dialog shows its fields and its button only after the sets are loaded, so that the button
// does not move.
func TestUploadDialogDoesNotShift(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, _ := s.makeSet(t)
	root := folder(t, "growth", map[string]int{"a.csv": 300})
	v := s.signedIn(t, s.Key(), "/dataspaces/"+did)
	v.sees("Runs of 2026")
	v.slow(-1, 500*time.Millisecond)
	v.do(chromedp.Evaluate[chromedp.Void](`void new MutationObserver(() => {
		const has = (selector) => document.querySelector(selector) !== null;
		const seen = (window.seen ??= { Waited: false, Early: false });
		seen.Waited ||= has("dialog") && !has("dialog option[value='']");
		seen.Early ||= has("dialog [type=submit]") && !has("dialog option[value='']");
	}).observe(document.body, { childList: true, subtree: true })`))
	v.pick("Folder to upload", root)
	v.until(`document.querySelector("dialog option[value='']")`)
	seen := get(v, chromedp.Evaluate[struct{ Waited, Early bool }](`window.seen`))
	if !seen.Waited {
		t.Error("the sets were there at once: nothing is tested")
	}
	if seen.Early {
		t.Error("the button was there before the fields above it")
	}
	v.shot("plan-with-sets")
	v.slow(-1, 0)
	v.submit()
	v.sees("All done", "1 sent")
}

// interrupted starts an upload of 40 files by mary, and revokes her key when some of them are sent.
func interrupted(t *testing.T) (s *site, v *visitor, mary person, setID string, names []string) {
	t.Helper()
	s = open(t)
	did, setID := s.makeSet(t)
	mary = s.person(t, "mary", "editor", did)
	root, names := many(t, 40)
	v = s.visit(t)
	v.at("/sets/" + setID)
	v.signIn(mary.key)
	v.sees("This set is empty")
	v.slow(-1, 150*time.Millisecond)
	v.pick("Folder to upload", root)
	v.submit()
	v.until(`+document.querySelector(".uploads .report")?.innerText.match(/^\d+/)?.[0] > 5`)
	s.revoke(t, mary)
	v.sees("Paused")
	return s, v, mary, setID, names
}

// If the session ends during an upload, signing in again continues it: every file is sent once.
func TestSessionEndsDuringUpload(t *testing.T) {
	t.Parallel()
	s, v, mary, sid, names := interrupted(t)
	v.sees("Your session has ended")
	v.shot("session-ended")
	var other struct{ Key string }
	if err := s.Call(t.Context(), "POST", "/users/"+mary.id+"/keys", map[string]string{}, &other); err != nil {
		t.Fatal(err)
	}
	v.signIn(other.Key)
	v.sees("All done", "40 sent")
	s.holds(t, sid, names)
}

// If another user signs in, the uploads of the last user are dropped.
func TestUploadsOfAnotherUserAreDropped(t *testing.T) {
	t.Parallel()
	s, v, _, sid, _ := interrupted(t)
	v.signIn(s.Key())
	v.until(`!document.querySelector(".uploads")`)
	if n := len(s.names(t, sid)); n >= 40 {
		t.Errorf("%d files were sent", n)
	}
}

// If the service restarts during an upload, failures are reported and can be retried: every file is
// sent once.
func TestServiceRestartsDuringUpload(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.makeSet(t)
	root, names := many(t, 30)
	v := s.signedIn(t, s.Key(), "/sets/"+sid, "ERR_CONNECTION_REFUSED", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET", "ERR_CONNECTION_CLOSED", "ERR_SOCKET_NOT_CONNECTED")
	v.sees("This set is empty")
	v.slow(-1, 150*time.Millisecond)
	v.pick("Folder to upload", root)
	v.submit()
	v.until(`+document.querySelector(".uploads .report")?.innerText.match(/^\d+/)?.[0] > 5`)
	s.Kill()
	v.sees("Finished, ")
	v.shot("upload-failed")
	s.restart(t)
	v.press("Retry failed")
	v.sees("All done")
	s.holds(t, sid, names)
}

// The panel shows progress, speed and time left; uploads can be cancelled, and leaving the page
// asks a question.
func TestProgressCancelAndLeave(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.makeSet(t)
	root := folder(t, "x", map[string]int{"large.bin": 8 << 20, "small.txt": 3})
	v := s.signedIn(t, s.Key(), "/sets/"+sid)
	v.sees("This set is empty")
	asked := v.answerDialogs(false)
	v.slow(1<<20, 0)
	v.pick("Files to upload", filepath.Join(root, "large.bin"), filepath.Join(root, "small.txt"))
	v.submit()
	v.sees("1 sent", "/s,", " left", "1 left")
	v.shot("uploading")
	v.do(chromedp.Evaluate[chromedp.Void](`void (location.href = "/trash")`))
	select {
	case dialog := <-asked:
		if dialog.Type != page.DialogTypeBeforeunload {
			t.Errorf("the browser asks: %s", dialog.Type)
		}
	case <-time.After(stepTimeout):
		t.Error("leaving during an upload asks no question")
	}
	v.isAt("/sets/" + sid)
	v.press("Cancel large.bin")
	v.sees("1 cancelled", "Finished, 1 file not uploaded")
	s.holds(t, sid, []string{"small.txt"})
	v.slow(-1, 0)
	v.press("Retry failed")
	v.sees("All done", "2 sent")
	s.holds(t, sid, []string{"large.bin", "small.txt"})
}

// A full disk fails the upload with an error; reading works, and a retry succeeds once there is
// space.
func TestDiskFullDuringUpload(t *testing.T) {
	t.Parallel()
	shell.need(t)
	disk := t.TempDir()
	if output, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=24m", "labshelf", disk).CombinedOutput(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("mount: %v: %s", err, output)
		}
		t.Skipf("a small file system is mounted by root on Linux only: %v: %s", err, output)
	}
	t.Cleanup(func() {
		if output, err := exec.Command("umount", disk).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, output)
		}
	})
	s := openAt(t, filepath.Join(disk, "data"))
	_, sid := s.makeSet(t)
	s.put(t, sid, "first.txt")
	root := folder(t, "x", map[string]int{"too-large.bin": 40 << 20, "small.txt": 3})
	v := s.signedIn(t, s.Key(), "/sets/"+sid, "status of 507", "ERR_CONNECTION_RESET", "ERR_FAILED")
	v.sees("first.txt")
	v.pick("Files to upload", filepath.Join(root, "too-large.bin"), filepath.Join(root, "small.txt"))
	v.submit()
	v.sees("Finished, 1 file not uploaded", "space")
	v.shot("disk-full")
	v.follow("first.txt")
	v.sees("For programs")
	if output, err := exec.Command("mount", "-o", "remount,size=120m", disk).CombinedOutput(); err != nil {
		t.Fatalf("remount: %v: %s", err, output)
	}
	v.press("Retry failed")
	v.sees("All done")
	s.holds(t, sid, []string{"first.txt", "small.txt", "too-large.bin"})
}
