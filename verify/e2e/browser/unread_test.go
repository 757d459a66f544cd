package browser

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// hold keeps the page from reading a file of this name, in a drop that has a file beside folders, until release is called. What it
// reads then is what is there. Chromium shows the prototype of its entries only through one of them.
func (v *visitor) hold(name string) (release func()) {
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

// What goes away while a drop is read is named, before the upload and after it; the rest is sent.
func TestDropOfWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.place(t)
	run := folder(t, "run", map[string]int{"a.txt": 5, "b/c.txt": 6, "b/lost.txt": 7})
	gone := folder(t, "gone", map[string]int{"x.txt": 8})
	never := filepath.Join(t.TempDir(), "never.txt")
	last := filepath.Join(folder(t, "x", map[string]int{"last.txt": 9}), "last.txt")
	v := s.visit(t)
	v.at("/sets/" + sid)
	v.signIn(s.Key())
	v.sees("This set is empty")
	release := v.hold("lost.txt")
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
	v.sees("Finished, but some could not be read", "3 sent", "3 not read")
	v.shot("report-unread")
	v.until(`[...document.querySelectorAll(".uploads li")].filter((l) => l.innerText.includes("not read")).length === 3`)
	s.holds(t, sid, []string{"last.txt", "run/a.txt", "run/b/c.txt"})
	v.press("Close the report")
	v.drop(never)
	v.sees("There is no file that could be read in it.", "never.txt")
}

// What files hang above is replaced just before they fall, as when a list is drawn anew.
func TestDropOnWhatIsNew(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.place(t)
	names := []string{"a.txt", "b.txt", "c.txt", "d.txt", "e.txt", "f.txt", "g.txt", "h.txt"} // down to where they fall
	s.put(t, sid, names...)
	path := filepath.Join(folder(t, "x", map[string]int{"alone.txt": 4}), "alone.txt")
	v := s.visit(t)
	v.at("/sets/" + sid)
	v.signIn(s.Key())
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
