package browser

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e"
)

// folder makes a folder called name with files of random bytes, by their paths in it and their sizes.
func folder(t *testing.T, name string, files map[string]int) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), name)
	random := rand.NewChaCha8([32]byte{1})
	for path, size := range files {
		content := make([]byte, size)
		_, _ = random.Read(content)
		at := filepath.Join(root, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// names are those of the active resources of a set, in order.
func (s *site) names(t *testing.T, setID string) (names []string) {
	t.Helper()
	_, err := s.Walk(t.Context(), s.Base()+"/sets/"+setID+"/resources?order=name", func(p e2e.Page) error {
		for _, r := range p.Data {
			names = append(names, r.Name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func (s *site) holds(t *testing.T, setID string, want []string) {
	t.Helper()
	slices.Sort(want)
	if got := s.names(t, setID); !slices.Equal(got, want) {
		t.Errorf("the set holds %d files: %.200q; want %d: %.200q", len(got), got, len(want), want)
	}
}

// pick chooses files, or a folder, as in the window that the button with that label opens.
func (v *visitor) pick(label string, paths ...string) {
	v.t.Helper()
	v.do(chromedp.SetUploadFiles(chromedp.Search(`//input[@aria-label="`+label+`"]`), paths, chromedp.NodeReady))
}

// drop lets files and folders fall onto the page.
func (v *visitor) drop(paths ...string) {
	v.t.Helper()
	v.drag(input.DispatchDragEventTypeDragEnter, paths...)
	v.drag(input.DispatchDragEventTypeDragOver, paths...)
	v.drag(input.DispatchDragEventTypeDrop, paths...)
}

// drag does one step of what drop does.
func (v *visitor) drag(step input.DispatchDragEventType, paths ...string) {
	v.t.Helper()
	data := &input.DragData{Items: []*input.DragDataItem{}, Files: paths, DragOperationsMask: 1}
	if _, err := chromedp.Call(v.ctx, input.DispatchDragEvent, input.DispatchDragEventParams{Type: step, X: 400, Y: 400, Data: data}); err != nil {
		v.fail(err)
	}
}

// slow lets the visitor send that many bytes a second, and wait for each answer.
func (v *visitor) slow(bytes float64, wait time.Duration) {
	v.t.Helper()
	rule := &network.Conditions{URLPattern: "", Latency: float64(wait.Milliseconds()), DownloadThroughput: -1, UploadThroughput: bytes}
	_, err := chromedp.Call(v.ctx, network.EmulateNetworkConditionsByRule,
		network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{rule}})
	if err != nil {
		v.fail(err)
	}
}

// submit presses the button of the dialog.
func (v *visitor) submit() {
	v.t.Helper()
	click(v, chromedp.CSS("dialog button[type=submit]"))
}

// A folder is put in, by its button, into a set that is made on the way; what is there already is not sent again.
func TestUploadFolder(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, _ := s.place(t)
	root := folder(t, "Growth 7", map[string]int{"a.csv": 300, "2026-10/b.bin": 70_000, "2026-10/deep/c.bin": 5, "empty.txt": 0, ".DS_Store": 9})
	v := s.visit(t)
	v.at("/dataspaces/" + did)
	v.signIn(s.Key())
	v.sees("Upload a folder")
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
	v.do(chromedp.SetValue(field("If a name is there already"), "replace"))
	v.submit()
	v.sees("Replace 4 files?", "gone for good", "Growth 7/2026-10/deep/c.bin", "4 of them have the same size")
	v.shot("replace-many")
	v.press("Replace")
	v.sees("1 sent", "3 already there")
	s.holds(t, set, want)
}

// The dialog waits for the sets that it offers: a button that is there is not pushed away from under the mouse.
func TestPlanStaysPut(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, _ := s.place(t)
	root := folder(t, "growth", map[string]int{"a.csv": 300})
	v := s.visit(t)
	v.at("/dataspaces/" + did)
	v.signIn(s.Key())
	v.sees("Runs of 2026")
	v.slow(-1, 500*time.Millisecond)
	v.pick("Folder to upload", root)
	waited := false
	for complete := false; !complete; time.Sleep(10 * time.Millisecond) {
		seen := get(v, chromedp.Evaluate[struct{ Dialog, Submit, Option bool }](`{
			const has = (selector) => document.querySelector(selector) !== null;
			({Dialog: has("dialog"), Submit: has("dialog [type=submit]"), Option: has("dialog option[value='']")})
		}`))
		waited = waited || seen.Dialog && !seen.Option
		if seen.Submit && !seen.Option {
			v.fail(errors.New("the button is there before what stands above it"))
		}
		complete = seen.Option
	}
	if !waited {
		t.Error("the sets were there at once: nothing was found out")
	}
	v.shot("plan-with-sets")
	v.slow(-1, 0)
	v.submit()
	v.sees("All done", "1 sent")
}

// A folder is dropped; the list of the set shows what came, and stays where it is.
func TestDropFolder(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.place(t)
	files := map[string]int{}
	want := []string{"alone.txt"}
	for i := range 104 { // a browser hands out a folder in hundreds
		files[fmt.Sprintf("%d/%03d.dat", i%3, i)] = 10 + i
		want = append(want, fmt.Sprintf("run/%d/%03d.dat", i%3, i))
	}
	root := folder(t, "run", files)
	alone := filepath.Join(folder(t, "x", map[string]int{"alone.txt": 4}), "alone.txt")
	v := s.visit(t)
	v.at("/sets/" + sid)
	v.signIn(s.Key())
	v.sees("This set is empty")
	v.drop(root, alone)
	v.sees("105 files", "Runs of 2026")
	v.submit()
	v.sees("All done", "105 sent")
	v.sees("alone.txt")
	v.until(`document.querySelector(".list .foot").innerText === "105 files"`)
	s.holds(t, sid, want)
}

// Where nothing may be put, a drop does nothing; above all it does not leave the page for the file.
func TestDropIsRefused(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.place(t)
	jon := s.person(t, "jon", "member", did)
	v := s.visit(t)
	v.at("/sets/" + sid)
	v.signIn(jon.key)
	v.sees("This set is empty")
	v.drop(filepath.Join(folder(t, "x", map[string]int{"a.txt": 4}), "a.txt"))
	time.Sleep(100 * time.Millisecond)
	v.isAt("/sets/" + sid)
	v.until(`!document.querySelector("dialog")`)
	s.holds(t, sid, nil)
}

// many is a folder of n small files called run, and the names that they get.
func many(t *testing.T, n int) (root string, names []string) {
	t.Helper()
	files := map[string]int{}
	for i := range n {
		files[fmt.Sprintf("%03d.dat", i)] = 100 + i
		names = append(names, fmt.Sprintf("run/%03d.dat", i))
	}
	return folder(t, "run", files), names
}

// interrupted has mary upload 40 files, names, into a set, and revokes her key when some of them are there.
func interrupted(t *testing.T) (s *site, v *visitor, mary person, setID string, names []string) {
	t.Helper()
	s = open(t)
	did, setID := s.place(t)
	mary = s.person(t, "mary", "editor", did)
	root, names := many(t, 40)
	v = s.visit(t)
	v.at("/sets/" + setID)
	v.signIn(mary.key)
	v.sees("This set is empty")
	v.slow(-1, 20*time.Millisecond)
	v.pick("Folder to upload", root)
	v.submit()
	v.until(`+document.querySelector(".uploads .report")?.innerText.match(/^\d+/)?.[0] > 5`)
	s.revoke(t, mary)
	v.sees("Paused")
	return s, v, mary, setID, names
}

// A visitor whose session ends during an upload is told, signs in again, and the rest is sent: every file once.
func TestSessionEndsInMidUpload(t *testing.T) {
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

// Somebody else who signs in at the same window sends nothing that was another's.
func TestUploadsAreOnesOwn(t *testing.T) {
	t.Parallel()
	s, v, _, sid, _ := interrupted(t)
	v.signIn(s.Key())
	v.until(`!document.querySelector(".uploads")`)
	if n := len(s.names(t, sid)); n >= 40 {
		t.Errorf("%d files were sent", n)
	}
}

// A service that goes away during an upload, and comes back: what failed is said, and another try sends it, every file once.
func TestServiceComesBackInMidUpload(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.place(t)
	root, names := many(t, 30)
	v := s.visit(t)
	v.expect("ERR_CONNECTION_REFUSED", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET", "ERR_CONNECTION_CLOSED", "ERR_SOCKET_NOT_CONNECTED")
	v.at("/sets/" + sid)
	v.signIn(s.Key())
	v.sees("This set is empty")
	v.slow(-1, 20*time.Millisecond)
	v.pick("Folder to upload", root)
	v.submit()
	v.until(`+document.querySelector(".uploads .report")?.innerText.match(/^\d+/)?.[0] > 5`)
	s.Kill()
	v.sees("Finished, ")
	v.shot("upload-failed")
	s.again(t)
	v.press("Try those again")
	v.sees("All done")
	s.holds(t, sid, names)
}

// Progress of one large file and of all, with rate and time left; cancelling; and who leaves is asked first.
func TestProgressCancelAndLeave(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.place(t)
	root := folder(t, "x", map[string]int{"large.bin": 8 << 20, "small.txt": 3})
	asked := make(chan bool, 1)
	v := s.visit(t)
	v.at("/sets/" + sid)
	v.signIn(s.Key())
	v.sees("This set is empty")
	err := chromedp.Listen(v.ctx, func(event any) {
		if e, is := event.(*page.EventJavascriptDialogOpening); is && e.Type == page.DialogTypeBeforeunload {
			asked <- true
			go func() { // the visitor stays
				_, _ = chromedp.Call(v.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: false})
			}()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	v.slow(1<<20, 0)
	v.pick("Files to upload", filepath.Join(root, "large.bin"), filepath.Join(root, "small.txt"))
	v.submit()
	v.sees("1 sent", "/s,", " left", "1 to go")
	v.shot("uploading")
	v.do(chromedp.Evaluate[chromedp.Void](`void (location.href = "/trash")`))
	select {
	case <-asked:
	case <-time.After(patience):
		t.Error("who leaves in mid-upload is not asked")
	}
	v.isAt("/sets/" + sid)
	v.press("Cancel large.bin")
	v.sees("1 cancelled", "Finished, 1 file not uploaded")
	s.holds(t, sid, []string{"small.txt"})
	v.slow(-1, 0)
	v.press("Try those again")
	v.sees("All done", "2 sent")
	s.holds(t, sid, []string{"large.bin", "small.txt"})
}

// A full disk refuses the upload and says so; reading goes on, and with room again another try succeeds.
func TestDiskFullInAnUpload(t *testing.T) {
	t.Parallel()
	needBrowser(t)
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
	_, sid := s.place(t)
	s.put(t, sid, "first.txt")
	root := folder(t, "x", map[string]int{"too-large.bin": 40 << 20, "small.txt": 3})
	v := s.visit(t)
	v.expect("status of 507", "ERR_CONNECTION_RESET", "ERR_FAILED")
	v.at("/sets/" + sid)
	v.signIn(s.Key())
	v.sees("first.txt")
	v.pick("Files to upload", filepath.Join(root, "too-large.bin"), filepath.Join(root, "small.txt"))
	v.submit()
	v.sees("Finished, 1 file not uploaded", "space")
	v.shot("disk-full")
	v.follow("first.txt")
	v.sees("SHA-256")
	if output, err := exec.Command("mount", "-o", "remount,size=120m", disk).CombinedOutput(); err != nil {
		t.Fatalf("remount: %v: %s", err, output)
	}
	v.press("Try those again")
	v.sees("All done")
	s.holds(t, sid, []string{"first.txt", "small.txt", "too-large.bin"})
}
