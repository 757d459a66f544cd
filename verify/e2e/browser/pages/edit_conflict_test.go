package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// If two windows change the same field, the second one shows both values and asks which one to
// keep.
func TestConflictingEdits(t *testing.T) {
	t.Parallel()
	s := open(t).inTabs(t)
	did, sid := s.makeSet(t)
	rid := s.put(t, sid, "a.txt")[0]
	for _, c := range []struct{ path, button string }{
		{"/dataspaces/" + did, "Edit"}, {"/sets/" + sid, "Edit"}, {"/resources/" + rid, "Edit"},
	} {
		path, button := c.path, c.button
		first := s.signedIn(t, s.Key(), path, "status of 412")
		first.menu(button)
		first.until(`document.querySelector("dialog textarea")`)
		second := first.window(path)
		second.expect("status of 412")
		second.menu(button)
		second.types("description", "from the second window")
		second.submit()
		second.until(`!document.querySelector("dialog")`)
		first.front()
		first.types("description", "from the first window")
		first.submit()
		first.sees("The same field was changed", "from the second window", "from the first window", "by admin")
		first.shot("conflict-" + path[1:4])
		if got := s.field(t, path, "description"); got != "from the second window" {
			t.Errorf("%s: before the choice it is %q", path, got)
		}
		first.submit() // without a choice nothing is sent
		first.until(`document.querySelector("dialog .conflict input:invalid")`)
		click(first, chromedp.Search(`//fieldset//label[contains(., "Yours")]`))
		first.submit()
		first.until(`!document.querySelector("dialog")`)
		if got := s.field(t, path, "description"); got != "from the first window" {
			t.Errorf("%s: after the choice it is %q", path, got)
		}
	}
}

// Choosing the saved value discards only that field. A further change of the record asks again.
func TestConflictKeepsTheirs(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.makeSet(t)
	path := "/sets/" + sid
	v := s.signedIn(t, s.Key(), path, "status of 412")
	v.menu("Edit")
	v.until(`document.querySelector("dialog textarea")`)
	s.call(t, "PUT", path, map[string]string{"description": "theirs"})
	v.types("title", "my title")
	v.types("description", "mine")
	v.submit()
	v.sees("theirs", "mine")
	s.call(t, "PUT", path, map[string]string{"description": "theirs again"})
	click(v, chromedp.Search(`//fieldset//label[contains(., "Yours")]`))
	v.submit()
	v.sees("theirs again")
	v.until(`document.querySelectorAll("dialog .conflict input").length === 2 && !document.querySelector("dialog .conflict input:checked")`)
	click(v, chromedp.Search(`//fieldset//label[contains(., "Saved in the meantime")]`))
	v.submit()
	v.until(`!document.querySelector("dialog")`)
	if got := s.field(t, path, "title") + ", " + s.field(t, path, "description"); got != "my title, theirs again" {
		t.Errorf("it is %s", got)
	}
}

// Changes of different fields are merged without a question.
func TestEditsOfDifferentFieldsMerge(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.makeSet(t)
	rid := s.put(t, sid, "a.txt")[0]
	path := "/resources/" + rid
	v := s.signedIn(t, s.Key(), path, "status of 412")
	v.menu("Edit")
	v.until(`document.querySelector("dialog textarea")`)
	s.call(t, "PATCH", path, map[string]string{"format": "LOG"})
	v.types("description", "mine")
	v.submit()
	v.until(`!document.querySelector("dialog")`)
	v.sees("LOG", "mine")
	if got := s.field(t, path, "format") + ", " + s.field(t, path, "description"); got != "LOG, mine" {
		t.Errorf("it is %s", got)
	}
}

// Conflicting changes of a user by two sysadmins, and of a profile in two windows, ask as well.
func TestConflictingUserEdits(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, _ := s.makeSet(t)
	mary := s.person(t, "mary", "editor", did)
	path := "/users/" + mary.id
	v := s.signedIn(t, s.Key(), "/users", "status of 412")
	v.press("Change mary")
	v.until(`document.querySelector("dialog input[type=checkbox]")`)
	s.call(t, "PUT", path, map[string]string{"fullname": "Mary Smith"})
	v.fill("Full name", "Mary Jones")
	v.press("Save")
	v.sees("The same field was changed", "Mary Smith")
	click(v, chromedp.Search(`//fieldset//label[contains(., "Yours")]`))
	v.press("Save")
	v.until(`!document.querySelector("dialog")`)
	if got := s.field(t, path, "fullname"); got != "Mary Jones" {
		t.Errorf("the name is %s", got)
	}
	w := s.signedIn(t, mary.key, "/account", "status of 412")
	w.fill("Full name", "Mary")
	s.call(t, "PUT", path, map[string]string{"fullname": "Mary J."})
	w.press("Save")
	w.sees("The same field was changed", "Mary J.")
	w.shot("conflict-profile")
	click(w, chromedp.Search(`//fieldset//label[contains(., "Saved in the meantime")]`))
	w.press("Save")
	w.sees("Saved.")
	w.until(`[...document.querySelectorAll("input")].some((i) => i.value === "Mary J.")`)
	if got := s.field(t, path, "fullname"); got != "Mary J." {
		t.Errorf("the name is %s", got)
	}
}
