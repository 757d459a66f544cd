package pages

import (
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// If two windows change the same field, the second one to save shows both values and asks which one
// to keep.
func TestConflictingEdits(t *testing.T) {
	t.Parallel()
	s := browser.Open(t).InTabs(t)
	did, sid := s.NewSet(t)
	rid := s.Put(t, sid, "a.txt")[0]
	for _, c := range []struct{ path, button string }{
		{"/dataspaces/" + did, "Edit"}, {"/sets/" + sid, "Edit"}, {"/resources/" + rid, "Edit"},
	} {
		path, button := c.path, c.button
		first := s.SignedIn(t, s.Key(), path, "status of 412")
		menu(first, button)
		first.Until(`document.querySelector("dialog textarea")`)
		second := first.Window(path)
		second.Expect("status of 412")
		menu(second, button)
		second.Types("description", "from the second window")
		second.Submit()
		second.Until(`!document.querySelector("dialog")`)
		first.Front()
		first.Types("description", "from the first window")
		first.Submit()
		first.Sees("The same field was changed", "from the second window", "from the first window", "by admin")
		first.Shot("conflict-" + path[1:4])
		if got := s.Field(t, path, "description"); got != "from the second window" {
			t.Errorf("%s: before the choice, the description is %q", path, got)
		}
		first.Submit() // without a choice, the form is not sent
		first.Until(`document.querySelector("dialog .conflict input:invalid")`)
		browser.Click(first, chromedp.Search(`//fieldset//label[contains(., "Yours")]`))
		first.Submit()
		first.Until(`!document.querySelector("dialog")`)
		if got := s.Field(t, path, "description"); got != "from the first window" {
			t.Errorf("%s: after the choice, the description is %q", path, got)
		}
	}
}

// Choosing the saved value discards only this field. After another change of the record, the form
// asks again.
func TestConflictKeepsTheirs(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	path := "/sets/" + sid
	v := s.SignedIn(t, s.Key(), path, "status of 412")
	menu(v, "Edit")
	v.Until(`document.querySelector("dialog textarea")`)
	s.Do(t, "PUT", path, map[string]string{"description": "theirs"})
	v.Types("title", "my title")
	v.Types("description", "mine")
	v.Submit()
	v.Sees("theirs", "mine")
	s.Do(t, "PUT", path, map[string]string{"description": "theirs again"})
	browser.Click(v, chromedp.Search(`//fieldset//label[contains(., "Yours")]`))
	v.Submit()
	v.Sees("theirs again")
	v.Until(`document.querySelectorAll("dialog .conflict input").length === 2 && !document.querySelector("dialog .conflict input:checked")`)
	browser.Click(v, chromedp.Search(`//fieldset//label[contains(., "Saved in the meantime")]`))
	v.Submit()
	v.Until(`!document.querySelector("dialog")`)
	if got := s.Field(t, path, "title") + ", " + s.Field(t, path, "description"); got != "my title, theirs again" {
		t.Errorf("the set has %s", got)
	}
}

// Changes of different fields are merged without a question.
func TestEditsOfDifferentFieldsMerge(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	rid := s.Put(t, sid, "a.txt")[0]
	path := "/resources/" + rid
	v := s.SignedIn(t, s.Key(), path, "status of 412")
	menu(v, "Edit")
	v.Until(`document.querySelector("dialog textarea")`)
	s.Do(t, "PATCH", path, map[string]string{"format": "LOG"})
	v.Types("description", "mine")
	v.Submit()
	v.Until(`!document.querySelector("dialog")`)
	v.Sees("LOG", "mine")
	if got := s.Field(t, path, "format") + ", " + s.Field(t, path, "description"); got != "LOG, mine" {
		t.Errorf("the file has %s", got)
	}
}

// The form also asks about conflicting changes of a user by two sysadmins, and of a profile in two
// windows.
func TestConflictingUserEdits(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, _ := s.NewSet(t)
	mary := s.Person(t, "mary", "editor", did)
	path := "/users/" + mary.ID
	v := s.SignedIn(t, s.Key(), "/users", "status of 412")
	v.Press("Change mary")
	v.Until(`document.querySelector("dialog input[type=checkbox]")`)
	s.Do(t, "PUT", path, map[string]string{"fullname": "Mary Smith"})
	v.Fill("Full name", "Mary Jones")
	v.Press("Save")
	v.Sees("The same field was changed", "Mary Smith")
	browser.Click(v, chromedp.Search(`//fieldset//label[contains(., "Yours")]`))
	v.Press("Save")
	v.Until(`!document.querySelector("dialog")`)
	if got := s.Field(t, path, "fullname"); got != "Mary Jones" {
		t.Errorf("the full name is %s", got)
	}
	w := s.SignedIn(t, mary.Key, "/account", "status of 412")
	w.Fill("Full name", "Mary")
	s.Do(t, "PUT", path, map[string]string{"fullname": "Mary J."})
	w.Press("Save")
	w.Sees("The same field was changed", "Mary J.")
	w.Shot("conflict-profile")
	browser.Click(w, chromedp.Search(`//fieldset//label[contains(., "Saved in the meantime")]`))
	w.Press("Save")
	w.Sees("Saved.")
	w.Until(`[...document.querySelectorAll("input")].some((i) => i.value === "Mary J.")`)
	if got := s.Field(t, path, "fullname"); got != "Mary J." {
		t.Errorf("the full name is %s", got)
	}
}
