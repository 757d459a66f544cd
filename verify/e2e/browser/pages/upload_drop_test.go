package pages

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// A folder can be dropped, and the list of the set shows its files.
func TestDropFolder(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	files := map[string]int{}
	want := []string{"alone.txt"}
	for i := range 104 { // browsers list a folder in batches of 100
		files[fmt.Sprintf("%d/%03d.dat", i%3, i)] = 10 + i
		want = append(want, fmt.Sprintf("run/%d/%03d.dat", i%3, i))
	}
	root := browser.Folder(t, "run", files)
	alone := filepath.Join(browser.Folder(t, "x", map[string]int{"alone.txt": 4}), "alone.txt")
	v := s.SignedIn(t, s.Key(), "/sets/"+sid)
	v.Sees("This set is empty")
	v.Drop(root, alone)
	v.Sees("105 files", "Runs of 2026")
	v.Submit()
	v.Sees("All done", "105 sent")
	v.Sees("alone.txt")
	v.Until(`document.querySelector(".list .foot").innerText === "2 entries"`)
	v.Press("All files")
	v.Until(`document.querySelector(".list[aria-busy=false] .foot")?.innerText === "105 files"`)
	s.Holds(t, sid, want)
}

// Without permission to upload, the page refuses a drop, and the browser does not open the file.
func TestDropIsRefused(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid := s.NewSet(t)
	jon := s.Person(t, "jon", "member", did)
	v := s.SignedIn(t, jon.Key, "/sets/"+sid)
	v.Sees("This set is empty")
	v.Do(chromedp.Evaluate[chromedp.Void](`void addEventListener("dragleave", () => (window.refused = true))`))
	v.Drop(filepath.Join(browser.Folder(t, "x", map[string]int{"a.txt": 4}), "a.txt"))
	v.Until(`window.refused`) // browsers end a refused drag with this event; in a new document the variable would be unset
	v.IsAt("/sets/" + sid)
	v.Until(`!document.querySelector("dialog")`)
	s.Holds(t, sid, nil)
}

// delayRead delays reading the dropped file with this name until release is called. The drop must
// contain a file next to folders: only the entry of a file gives access to the prototype of file
// entries.
func delayRead(v *browser.Visitor, name string) (release func()) {
	v.T.Helper()
	v.Do(chromedp.Evaluate[chromedp.Void](`void (() => {
		const released = new Promise((resolve) => (window.__release = resolve));
		const getAsEntry = DataTransferItem.prototype.webkitGetAsEntry;
		DataTransferItem.prototype.webkitGetAsEntry = function () {
			const entry = getAsEntry.call(this);
			if (!entry?.isFile || window.__held !== undefined) return entry;
			window.__held = false;
			const files = Object.getPrototypeOf(entry);
			const read = files.file;
			files.file = function (...args) {
				if (this.name !== "` + name + `") return read.apply(this, args);
				window.__held = true;
				void released.then(() => read.apply(this, args));
			};
			return entry;
		};
	})()`))
	return func() {
		v.T.Helper()
		v.Do(chromedp.Evaluate[chromedp.Void](`window.__release()`))
	}
}

// Files that vanish while a drop is read are listed before and after the upload. The other files
// are uploaded.
func TestDropWithUnreadableFiles(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	run := browser.Folder(t, "run", map[string]int{"a.txt": 5, "b/c.txt": 6, "b/lost.txt": 7})
	gone := browser.Folder(t, "gone", map[string]int{"x.txt": 8})
	never := filepath.Join(t.TempDir(), "never.txt")
	last := filepath.Join(browser.Folder(t, "x", map[string]int{"last.txt": 9}), "last.txt")
	v := s.SignedIn(t, s.Key(), "/sets/"+sid)
	v.Sees("This set is empty")
	release := delayRead(v, "lost.txt")
	v.Drop(run, gone, never, last)
	v.Until("window.__held")
	for _, path := range []string{filepath.Join(run, "b", "lost.txt"), gone} {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
	release()
	v.Sees("3 files", "3 could not be read", "run/b/lost.txt", "gone", "never.txt", "could not be found")
	v.Shot("plan-unread")
	v.Submit()
	v.Sees("Finished, but some files could not be read", "3 sent", "3 unreadable")
	v.Shot("report-unread")
	v.Until(`[...document.querySelectorAll(".uploads li")].filter((l) => l.innerText.includes("unreadable")).length === 3`)
	s.Holds(t, sid, []string{"last.txt", "run/a.txt", "run/b/c.txt"})
	v.Press("Close the report")
	v.Drop(never)
	v.Sees("The selection contains no readable files.", "never.txt")
}

// A drop works even if the element below the pointer was just replaced, as when a list is rendered
// again.
func TestDropOnReplacedElement(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	names := []string{"a.txt", "b.txt", "c.txt", "d.txt", "e.txt", "f.txt", "g.txt", "h.txt"} // enough rows to reach the position of the drop
	s.Put(t, sid, names...)
	path := filepath.Join(browser.Folder(t, "x", map[string]int{"alone.txt": 4}), "alone.txt")
	v := s.SignedIn(t, s.Key(), "/sets/"+sid)
	v.Sees("h.txt")
	v.Drag(input.DispatchDragEventTypeDragEnter, path)
	v.Drag(input.DispatchDragEventTypeDragOver, path)
	v.Sees("Drop to upload")
	v.Until(`((e) => e.closest(".list") && (e.replaceWith(e.cloneNode(true)), true))(document.elementFromPoint(400, 400))`)
	v.Drag(input.DispatchDragEventTypeDrop, path)
	v.Sees("1 file", "Runs of 2026")
	v.SeesNot("Drop to upload")
	v.Submit()
	v.Sees("All done", "1 sent")
	s.Holds(t, sid, append(names, "alone.txt"))
}
