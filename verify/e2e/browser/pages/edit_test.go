package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A form leaves fields alone that it does not change: the visibility of a dataspace, and concurrent
// changes.
func TestEditKeepsOtherFields(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, _ := s.makeSet(t)
	ctx := t.Context()
	s.call(t, "PUT", "/dataspaces/"+did, map[string]string{"visibility": "public"})
	var mary struct {
		ID       string
		Fullname string
		Sysadmin bool
	}
	if err := s.Call(ctx, "POST", "/users", map[string]any{"username": "mary", "sysadmin": true}, &mary); err != nil {
		t.Fatal(err)
	}
	v := s.signedIn(t, s.Key(), "/dataspaces/"+did, "status of 412")
	v.menu("Edit")
	v.fill("Title", "Laser lab, west")
	v.submit()
	v.until(`document.querySelector("h1").innerText.startsWith("Laser lab, west")`)
	var dataspace struct{ Title, Visibility string }
	if err := s.Call(ctx, "GET", "/dataspaces/"+did, nil, &dataspace); err != nil || dataspace.Visibility != "public" {
		t.Errorf("after another title it is %+v, %v", dataspace, err)
	}
	v.at("/users")
	v.press("Change mary")
	v.sees("Sysadmin")
	s.call(t, "PUT", "/users/"+mary.ID, map[string]any{"sysadmin": false})
	v.fill("Full name", "Mary Jones")
	v.submit()
	v.sees("Mary Jones")
	if err := s.Call(ctx, "GET", "/users/"+mary.ID, nil, &mary); err != nil || mary.Sysadmin || mary.Fullname != "Mary Jones" {
		t.Errorf("after another name she is %+v, %v", mary, err)
	}
}

// A change of the name keeps concurrent changes of other fields. Other line ends do not count as a
// change.
func TestProfileKeepsOtherFields(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, _ := s.makeSet(t)
	const lines = "first line\r\nsecond line"
	s.call(t, "PUT", "/dataspaces/"+did, map[string]string{"description": lines})
	mary := s.person(t, "mary", "admin", did)
	s.call(t, "PUT", "/users/"+mary.id, map[string]string{"fullname": "Mary", "about": lines})
	v := s.signedIn(t, mary.key, "/account", "status of 412")
	v.sees("About you")
	s.call(t, "PUT", "/users/"+mary.id, map[string]string{"about": "looks after the laser"})
	v.fill("Full name", "Mary Jones")
	v.press("Save")
	v.sees("Saved.")
	var now struct{ Fullname, About, Description, Title string }
	if err := s.Call(t.Context(), "GET", "/users/"+mary.id, nil, &now); err != nil || now.Fullname != "Mary Jones" || now.About != "looks after the laser" {
		t.Errorf("after another name she is %+v, %v", now, err)
	}
	v.until(`document.querySelector("textarea").value === "looks after the laser"`)
	v.at("/dataspaces/" + did)
	v.menu("Edit")
	v.fill("Title", "Laser lab, west")
	v.submit()
	v.until(`document.querySelector("h1").innerText.startsWith("Laser lab, west")`)
	if err := s.Call(t.Context(), "GET", "/dataspaces/"+did, nil, &now); err != nil || now.Description != lines {
		t.Errorf("after another title it is %+v, %v", now, err)
	}
}

// Escape, a click outside and the close button discard unsaved input of a dialog only after
// confirmation.
func TestUnsavedInputNeedsConfirmation(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.makeSet(t)
	v := s.signedIn(t, s.Key(), "/sets/"+sid)
	v.menu("Edit")
	v.until(`document.querySelector("dialog textarea")`)
	v.do(chromedp.KeyEvent(kb.Escape)) // nothing was typed
	v.until(`!document.querySelector("dialog")`)
	v.menu("Edit")
	v.types("title", "Runs of 2027")
	unchanged := `document.querySelector("dialog[open] [name=title]").value === "Runs of 2027"`
	for name, leave := range map[string]func(){
		"Escape":        func() { v.do(chromedp.KeyEvent(kb.Escape)) },
		"Escape thrice": func() { v.do(chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent(kb.Escape)) },
		"the cross":     func() { v.press("Close") },
	} {
		leave()
		v.sees("Discard unsaved changes?")
		v.shot("discard")
		v.press("Keep editing")
		v.seesNot("Discard unsaved changes?")
		if !get(v, chromedp.Evaluate[bool](unchanged)) {
			t.Errorf("%s: it is gone", name)
		}
	}
	v.do(chromedp.MouseClickXY(5, 5))
	v.until(unchanged)
	v.do(chromedp.KeyEvent(kb.Escape))
	v.press("Discard")
	v.until(`!document.querySelector("dialog")`)
	if got := s.field(t, "/sets/"+sid, "title"); got != "Runs of 2026" {
		t.Errorf("it was saved: %s", got)
	}
}
