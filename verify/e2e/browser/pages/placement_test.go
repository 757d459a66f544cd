package pages

import (
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// Selected files are moved to a set of another dataspace, and restored with one click. A file is
// copied, moved under another name, and found by its old address.
func TestMoveAndCopy(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid := s.NewSet(t)
	other := s.Create(t, "/dataspaces", map[string]string{"name": "archive", "title": "Archive"})
	away := s.Create(t, "/sets", map[string]string{"name": "old-runs", "title": "Old runs", "dataspaceId": other})
	s.Create(t, "/sets", map[string]string{"name": "second", "title": "Second set", "dataspaceId": did})
	ids := s.Put(t, sid, "a.txt", "b.txt", "c.txt")
	anna := s.Person(t, "anna", "editor", did)
	s.Do(t, "POST", "/privileges", map[string]string{"userId": anna.ID, "dataspaceId": other, "role": "editor"})
	v := s.SignedIn(t, anna.Key, "/sets/"+sid)
	toggle(v, "a.txt", "b.txt")
	v.Press("Move or copy …")
	v.Sees("Move or copy 2 files")
	chooses(v, "Dataspace", other)
	v.Until(`document.querySelectorAll("dialog select")[1].selectedOptions[0]?.innerText === "Old runs"`)
	v.Shots("move-selected")
	v.Submit()
	v.Lists("c.txt")
	v.Sees("2 files moved to Old runs.")
	v.Shots("moved")
	s.Holds(t, away, []string{"a.txt", "b.txt"})
	v.Press("Undo")
	v.Sees("Undone: 2 files are back.")
	v.Lists("a.txt", "b.txt", "c.txt")
	s.Holds(t, away, nil)
	if state := s.Field(t, "/resources/"+ids[0], "state"); state != "active" {
		t.Errorf("the restored file has the state %s under its id", state)
	}

	v.At("/resources/" + ids[2])
	menu(v, "Move or copy …")
	v.Until(`document.querySelectorAll("dialog select")[1]?.selectedOptions[0]?.innerText === "Runs of 2026"`)
	v.Press("Copy")
	v.Sees("Choose another set, or another name.")
	v.Fill("Name", "d.txt")
	v.Shots("copy-one")
	v.Press("Copy")
	v.Sees("1 file copied to d.txt")
	s.Holds(t, sid, []string{"a.txt", "b.txt", "c.txt", "d.txt"})
	menu(v, "Move or copy …")
	chooses(v, "Dataspace", other)
	v.Until(`document.querySelectorAll("dialog select")[1]?.selectedOptions[0]?.innerText === "Old runs"`)
	v.Press("Move")
	v.Until(`!location.pathname.endsWith("` + ids[2] + `") && document.querySelector("h1")?.innerText.trim() === "c.txt"`)
	v.At("/resources/" + ids[2])
	v.Sees("This file was moved to Old runs as c.txt", "moved")
	v.Shots("moved-record")
	menu(v, "History")
	v.Sees("to another set")
	v.Do(chromedp.Evaluate[chromedp.Void](`history.back()`))
	v.Follow("c.txt")
	v.Until(`document.querySelector("h1")?.innerText.trim() === "c.txt"`)
	s.Holds(t, away, []string{"c.txt"})
}
