package pages

import (
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// Names with slashes form a tree of folders. Folders open by click and by keyboard, have addresses,
// and can be created, renamed, copied, deleted and restored.
func TestFolders(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid := s.NewSet(t)
	s.Put(t, sid, "raw/2026/a.csv", "raw/2026/b.csv", "raw/notes.txt", "plan.pdf", "zero.txt")
	script := browser.Axe(t)
	v := s.SignedIn(t, s.Person(t, "anna", "editor", did).Key, "/sets/"+sid)
	v.Lists("raw", "plan.pdf", "zero.txt")
	v.Sees("5 files")
	looks(v, "folders", script)
	v.Follow("raw")
	v.Lists("2026", "notes.txt")
	v.IsAt("/sets/" + sid + "?folder=raw%2F")
	v.Follow("2026")
	v.Lists("a.csv", "b.csv")
	looks(v, "folder", script)
	v.Size(1280, 800)
	v.Do(chromedp.Evaluate[chromedp.Void](`history.back()`))
	v.Lists("2026", "notes.txt")

	v.Press("All files")
	v.Lists("raw/2026/a.csv", "raw/2026/b.csv", "raw/notes.txt")
	v.At("/sets/" + sid)
	v.Lists("plan.pdf", "raw/2026/a.csv", "raw/2026/b.csv", "raw/notes.txt", "zero.txt") // the choice is remembered
	v.Press("Changed")
	v.Lists("zero.txt", "plan.pdf", "raw/notes.txt", "raw/2026/b.csv", "raw/2026/a.csv")
	v.Press("Folders")
	v.Lists("raw", "plan.pdf", "zero.txt")
	v.Press("Name")
	v.Lists("raw", "zero.txt", "plan.pdf")
	v.Press("Name")
	v.Lists("raw", "plan.pdf", "zero.txt")

	v.Do(chromedp.Focus(browser.Xpath("a", "raw")))
	v.Key("Enter", "Enter", "\r")
	v.Lists("2026", "notes.txt")
	menuOf(v, "Folder actions", "New folder")
	v.Fill("Name", "empty")
	v.Submit()
	v.Sees("This folder is empty")
	v.IsAt("/sets/" + sid + "?folder=raw%2Fempty%2F")
	v.Follow("raw")
	v.Lists("2026", "empty", "notes.txt")

	menuOf(v, "Folder actions", "Rename, move, copy")
	v.Fill("Path", "treated")
	v.Submit()
	v.IsAt("/sets/" + sid + "?folder=treated%2F")
	v.Lists("2026", "empty", "notes.txt")
	s.Holds(t, sid, []string{"plan.pdf", "treated/2026/a.csv", "treated/2026/b.csv", "treated/notes.txt", "zero.txt"})
	v.Press("Undo")
	v.IsAt("/sets/" + sid + "?folder=raw%2F")
	v.Lists("2026", "empty", "notes.txt")
	s.Holds(t, sid, []string{"plan.pdf", "raw/2026/a.csv", "raw/2026/b.csv", "raw/notes.txt", "zero.txt"})

	menuOf(v, "Folder actions", "Delete folder")
	v.Sees("Delete the folder raw?")
	v.Submit()
	v.Lists("plan.pdf", "zero.txt")
	v.Follow("Show its content")
	v.Lists("2026", "notes.txt")
	v.Press("Undo")
	v.Sees("Undone: 3 files are back.")
	v.IsAt("/sets/" + sid + "?folder=raw%2F")
	v.Lists("2026", "empty", "notes.txt")
	s.Holds(t, sid, []string{"plan.pdf", "raw/2026/a.csv", "raw/2026/b.csv", "raw/notes.txt", "zero.txt"})
}
