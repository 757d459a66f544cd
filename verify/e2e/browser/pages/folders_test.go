package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// Names with slashes are a tree: its folders open by click and by keyboard, have addresses, and are
// made, renamed, copied, deleted and brought back.
func TestFolders(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.makeSet(t)
	s.put(t, sid, "raw/2026/a.csv", "raw/2026/b.csv", "raw/notes.txt", "plan.pdf", "zero.txt")
	script := axe(t)
	v := s.signedIn(t, s.person(t, "anna", "editor", did).key, "/sets/"+sid)
	v.lists("raw", "plan.pdf", "zero.txt")
	v.sees("5 files")
	v.looks("folders", script)
	v.follow("raw")
	v.lists("2026", "notes.txt")
	v.isAt("/sets/" + sid + "?folder=raw%2F")
	v.follow("2026")
	v.lists("a.csv", "b.csv")
	v.looks("folder", script)
	v.size(1280, 800)
	v.do(chromedp.Evaluate[chromedp.Void](`history.back()`))
	v.lists("2026", "notes.txt")

	v.press("All files")
	v.lists("raw/2026/a.csv", "raw/2026/b.csv", "raw/notes.txt")
	v.at("/sets/" + sid)
	v.lists("plan.pdf", "raw/2026/a.csv", "raw/2026/b.csv", "raw/notes.txt", "zero.txt") // the choice is kept
	v.press("Changed")
	v.lists("zero.txt", "plan.pdf", "raw/notes.txt", "raw/2026/b.csv", "raw/2026/a.csv")
	v.press("Folders")
	v.lists("raw", "plan.pdf", "zero.txt")
	v.press("Name")
	v.lists("raw", "zero.txt", "plan.pdf")
	v.press("Name")
	v.lists("raw", "plan.pdf", "zero.txt")

	v.do(chromedp.Focus(xpath("a", "raw")))
	v.key("Enter", "Enter", "\r")
	v.lists("2026", "notes.txt")
	v.menuOf("Folder actions", "New folder")
	v.fill("Name", "empty")
	v.submit()
	v.sees("This folder is empty")
	v.isAt("/sets/" + sid + "?folder=raw%2Fempty%2F")
	v.follow("raw")
	v.lists("2026", "empty", "notes.txt")

	v.menuOf("Folder actions", "Rename, move, copy")
	v.fill("Path", "treated")
	v.submit()
	v.isAt("/sets/" + sid + "?folder=treated%2F")
	v.lists("2026", "empty", "notes.txt")
	s.holds(t, sid, []string{"plan.pdf", "treated/2026/a.csv", "treated/2026/b.csv", "treated/notes.txt", "zero.txt"})
	v.press("Undo")
	v.isAt("/sets/" + sid + "?folder=raw%2F")
	v.lists("2026", "empty", "notes.txt")
	s.holds(t, sid, []string{"plan.pdf", "raw/2026/a.csv", "raw/2026/b.csv", "raw/notes.txt", "zero.txt"})

	v.menuOf("Folder actions", "Delete folder")
	v.sees("Delete the folder raw?")
	v.submit()
	v.lists("plan.pdf", "zero.txt")
	v.follow("Show its content")
	v.lists("2026", "notes.txt")
	v.press("Undo")
	v.sees("Undone: 3 files are back.")
	v.isAt("/sets/" + sid + "?folder=raw%2F")
	v.lists("2026", "empty", "notes.txt")
	s.holds(t, sid, []string{"plan.pdf", "raw/2026/a.csv", "raw/2026/b.csv", "raw/notes.txt", "zero.txt"})
}
