package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// Selected files go into a set of another dataspace, and come back by one click; a file is copied,
// moved under another name, and found by its old address.
func TestMoveAndCopy(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.makeSet(t)
	other := s.create(t, "/dataspaces", map[string]string{"name": "archive", "title": "Archive"})
	away := s.create(t, "/sets", map[string]string{"name": "old-runs", "title": "Old runs", "dataspaceId": other})
	s.create(t, "/sets", map[string]string{"name": "second", "title": "Second set", "dataspaceId": did})
	ids := s.put(t, sid, "a.txt", "b.txt", "c.txt")
	anna := s.person(t, "anna", "editor", did)
	s.call(t, "POST", "/privileges", map[string]string{"userId": anna.id, "dataspaceId": other, "role": "editor"})
	v := s.signedIn(t, anna.key, "/sets/"+sid)
	v.toggle("a.txt", "b.txt")
	v.press("Move or copy …")
	v.sees("Move or copy 2 files")
	v.chooses("Dataspace", other)
	v.until(`document.querySelectorAll("dialog select")[1].selectedOptions[0]?.innerText === "Old runs"`)
	v.shots("move-selected")
	v.submit()
	v.lists("c.txt")
	v.sees("2 files moved to Old runs.")
	v.shots("moved")
	s.holds(t, away, []string{"a.txt", "b.txt"})
	v.press("Undo")
	v.sees("Undone: 2 files are back.")
	v.lists("a.txt", "b.txt", "c.txt")
	s.holds(t, away, nil)
	if state := s.field(t, "/resources/"+ids[0], "state"); state != "active" {
		t.Errorf("the file that came back is %s under its id", state)
	}

	v.at("/resources/" + ids[2])
	v.menu("Move or copy …")
	v.until(`document.querySelectorAll("dialog select")[1]?.selectedOptions[0]?.innerText === "Runs of 2026"`)
	v.press("Copy")
	v.sees("Choose another set, or another name.")
	v.fill("Name", "d.txt")
	v.shots("copy-one")
	v.press("Copy")
	v.sees("1 file copied to d.txt")
	s.holds(t, sid, []string{"a.txt", "b.txt", "c.txt", "d.txt"})
	v.menu("Move or copy …")
	v.chooses("Dataspace", other)
	v.until(`document.querySelectorAll("dialog select")[1]?.selectedOptions[0]?.innerText === "Old runs"`)
	v.press("Move")
	v.until(`!location.pathname.endsWith("` + ids[2] + `") && document.querySelector("h1")?.innerText.trim() === "c.txt"`)
	v.at("/resources/" + ids[2])
	v.sees("This file was moved to Old runs as c.txt", "moved")
	v.shots("moved-record")
	v.menu("History")
	v.sees("to another set")
	v.do(chromedp.Evaluate[chromedp.Void](`history.back()`))
	v.follow("c.txt")
	v.until(`document.querySelector("h1")?.innerText.trim() === "c.txt"`)
	s.holds(t, away, []string{"c.txt"})
}
