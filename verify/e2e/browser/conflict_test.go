package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// window opens another window of the person in v, at a path.
func (v *visitor) window(path string) *visitor {
	v.t.Helper()
	other := v.tab()
	other.at(path)
	return other
}

// types puts a text into the control with that name in the dialog, as the person at the keyboard does.
func (v *visitor) types(name, text string) {
	v.t.Helper()
	control := chromedp.CSS(fmt.Sprintf(`dialog [name=%q]`, name))
	v.do(chromedp.Focus(control), chromedp.Evaluate[chromedp.Void](`void document.activeElement.select()`), chromedp.SendKeys(control, text))
}

// field is the value of a field of the record at a path of the interface.
func (s *site) field(t *testing.T, path, name string) (value string) {
	t.Helper()
	var record map[string]any
	if err := s.Call(t.Context(), "GET", path, nil, &record); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(record[name])
}

// Of two windows that change the same field, the second one is told what the first one has saved, and chooses; nothing is lost silently.
func TestTwoWindowsChangeOneField(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.place(t)
	rid := s.put(t, sid, "a.txt")[0]
	for _, c := range []struct{ path, button string }{
		{"/dataspaces/" + did, "Edit"}, {"/sets/" + sid, "Edit"}, {"/resources/" + rid, "Edit"},
	} {
		path, button := c.path, c.button
		first := s.visit(t)
		first.expect("status of 412")
		first.at(path)
		first.signIn(s.Key())
		first.press(button)
		first.until(`document.querySelector("dialog textarea")`)
		second := first.window(path)
		second.expect("status of 412")
		second.press(button)
		second.types("description", "from the second window")
		second.submit()
		second.until(`!document.querySelector("dialog")`)
		first.front()
		first.types("description", "from the first window")
		first.submit()
		first.sees("Somebody else has changed the same field", "from the second window", "from the first window", "by admin")
		first.shot("conflict-" + path[1:4])
		if got := s.field(t, path, "description"); got != "from the second window" {
			t.Errorf("%s: before anybody has chosen it is %q", path, got)
		}
		first.submit() // without a choice nothing is sent
		first.until(`document.querySelector("dialog .clash input:invalid")`)
		click(first, chromedp.Search(`//fieldset//label[contains(., "Yours")]`))
		first.submit()
		first.until(`!document.querySelector("dialog")`)
		if got := s.field(t, path, "description"); got != "from the first window" {
			t.Errorf("%s: after the choice it is %q", path, got)
		}
	}
}

// Who chooses what the other one has saved loses only the own text of that field; and another change meanwhile is told again.
func TestConflictGivesWay(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.place(t)
	path := "/sets/" + sid
	v := s.visit(t)
	v.expect("status of 412")
	v.at(path)
	v.signIn(s.Key())
	v.press("Edit")
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
	v.until(`document.querySelectorAll("dialog .clash input").length === 2 && !document.querySelector("dialog .clash input:checked")`)
	click(v, chromedp.Search(`//fieldset//label[contains(., "Saved meanwhile")]`))
	v.submit()
	v.until(`!document.querySelector("dialog")`)
	if got := s.field(t, path, "title") + ", " + s.field(t, path, "description"); got != "my title, theirs again" {
		t.Errorf("it is %s", got)
	}
}

// Changes of different fields do not meet, and nobody is asked.
func TestDifferentFieldsAreJoined(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.place(t)
	rid := s.put(t, sid, "a.txt")[0]
	path := "/resources/" + rid
	v := s.visit(t)
	v.expect("status of 412")
	v.at(path)
	v.signIn(s.Key())
	v.press("Edit")
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

// Of two sysadmins who change a user, and of a profile that is changed in two windows, the second one chooses, too.
func TestUserChangedInTwoWindows(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, _ := s.place(t)
	mary := s.person(t, "mary", "editor", did)
	path := "/users/" + mary.id
	v := s.visit(t)
	v.expect("status of 412")
	v.at("/users")
	v.signIn(s.Key())
	v.press("Change mary")
	v.until(`document.querySelector("dialog input[type=checkbox]")`)
	s.call(t, "PUT", path, map[string]string{"fullname": "Mary Smith"})
	v.fill("Full name", "Mary Jones")
	v.press("Save")
	v.sees("Somebody else has changed the same field", "Mary Smith")
	click(v, chromedp.Search(`//fieldset//label[contains(., "Yours")]`))
	v.press("Save")
	v.until(`!document.querySelector("dialog")`)
	if got := s.field(t, path, "fullname"); got != "Mary Jones" {
		t.Errorf("the name is %s", got)
	}
	w := s.visit(t)
	w.expect("status of 412")
	w.at("/account")
	w.signIn(mary.key)
	w.fill("Full name", "Mary")
	s.call(t, "PUT", path, map[string]string{"fullname": "Mary J."})
	w.press("Save")
	w.sees("Somebody else has changed the same field", "Mary J.")
	w.shot("conflict-profile")
	click(w, chromedp.Search(`//fieldset//label[contains(., "Saved meanwhile")]`))
	w.press("Save")
	w.sees("Saved.")
	w.until(`[...document.querySelectorAll("input")].some((i) => i.value === "Mary J.")`)
	if got := s.field(t, path, "fullname"); got != "Mary J." {
		t.Errorf("the name is %s", got)
	}
}
