package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// A folder can be dropped; the list of the set shows its files.
func TestDropFolder(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.makeSet(t)
	files := map[string]int{}
	want := []string{"alone.txt"}
	for i := range 104 { // browsers list a folder in batches of 100
		files[fmt.Sprintf("%d/%03d.dat", i%3, i)] = 10 + i
		want = append(want, fmt.Sprintf("run/%d/%03d.dat", i%3, i))
	}
	root := folder(t, "run", files)
	alone := filepath.Join(folder(t, "x", map[string]int{"alone.txt": 4}), "alone.txt")
	v := s.signedIn(t, s.Key(), "/sets/"+sid)
	v.sees("This set is empty")
	v.drop(root, alone)
	v.sees("105 files", "Runs of 2026")
	v.submit()
	v.sees("All done", "105 sent")
	v.sees("alone.txt")
	v.until(`document.querySelector(".list .foot").innerText === "2 entries"`)
	v.press("All files")
	v.until(`document.querySelector(".list[aria-busy=false] .foot")?.innerText === "105 files"`)
	s.holds(t, sid, want)
}

// Without permission to upload, a drop is refused, and the browser does not open the file.
func TestDropIsRefused(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.makeSet(t)
	jon := s.person(t, "jon", "member", did)
	v := s.signedIn(t, jon.key, "/sets/"+sid)
	v.sees("This set is empty")
	v.do(chromedp.Evaluate[chromedp.Void](`void addEventListener("dragleave", () => (window.refused = true))`))
	v.drop(filepath.Join(folder(t, "x", map[string]int{"a.txt": 4}), "a.txt"))
	v.until(`window.refused`) // browsers end a refused drag with this event; a new document would not know it
	v.isAt("/sets/" + sid)
	v.until(`!document.querySelector("dialog")`)
	s.holds(t, sid, nil)
}

// delayRead delays reading the file of this name from a drop until release is called. The drop must
// contain a file next to folders: only an entry gives access to the prototype of entries.
func (v *visitor) delayRead(name string) (release func()) {
	v.t.Helper()
	v.do(chromedp.Evaluate[chromedp.Void](`void (() => {
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
		v.t.Helper()
		v.do(chromedp.Evaluate[chromedp.Void](`window.__release()`))
	}
}

// Files that vanish while a drop is read are listed before and after the upload; the rest is
// uploaded.
func TestDropWithUnreadableFiles(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.makeSet(t)
	run := folder(t, "run", map[string]int{"a.txt": 5, "b/c.txt": 6, "b/lost.txt": 7})
	gone := folder(t, "gone", map[string]int{"x.txt": 8})
	never := filepath.Join(t.TempDir(), "never.txt")
	last := filepath.Join(folder(t, "x", map[string]int{"last.txt": 9}), "last.txt")
	v := s.signedIn(t, s.Key(), "/sets/"+sid)
	v.sees("This set is empty")
	release := v.delayRead("lost.txt")
	v.drop(run, gone, never, last)
	v.until("window.__held")
	for _, path := range []string{filepath.Join(run, "b", "lost.txt"), gone} {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
	release()
	v.sees("3 files", "3 could not be read", "run/b/lost.txt", "gone", "never.txt", "could not be found")
	v.shot("plan-unread")
	v.submit()
	v.sees("Finished, but some files could not be read", "3 sent", "3 unreadable")
	v.shot("report-unread")
	v.until(`[...document.querySelectorAll(".uploads li")].filter((l) => l.innerText.includes("unreadable")).length === 3`)
	s.holds(t, sid, []string{"last.txt", "run/a.txt", "run/b/c.txt"})
	v.press("Close the report")
	v.drop(never)
	v.sees("The selection contains no readable files.", "never.txt")
}

// A drop works if the element below the pointer is replaced just before, as when a list is rendered
// again.
func TestDropOnReplacedElement(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.makeSet(t)
	names := []string{"a.txt", "b.txt", "c.txt", "d.txt", "e.txt", "f.txt", "g.txt", "h.txt"} // enough rows to reach the position of the drop
	s.put(t, sid, names...)
	path := filepath.Join(folder(t, "x", map[string]int{"alone.txt": 4}), "alone.txt")
	v := s.signedIn(t, s.Key(), "/sets/"+sid)
	v.sees("h.txt")
	v.drag(input.DispatchDragEventTypeDragEnter, path)
	v.drag(input.DispatchDragEventTypeDragOver, path)
	v.sees("Drop to upload")
	v.until(`((e) => e.closest(".list") && (e.replaceWith(e.cloneNode(true)), true))(document.elementFromPoint(400, 400))`)
	v.drag(input.DispatchDragEventTypeDrop, path)
	v.sees("1 file", "Runs of 2026")
	v.seesNot("Drop to upload")
	v.submit()
	v.sees("All done", "1 sent")
	s.holds(t, sid, append(names, "alone.txt"))
}
