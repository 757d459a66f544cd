package pages

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"labshelf/verify/e2e/browser"
)

// A form changes only the fields that the user edited. It keeps the visibility of a dataspace, and
// concurrent changes.
func TestEditKeepsOtherFields(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, _ := s.NewSet(t)
	ctx := t.Context()
	s.Do(t, "PUT", "/dataspaces/"+did, map[string]string{"visibility": "public"})
	var mary struct {
		ID       string
		Fullname string
		Sysadmin bool
	}
	if err := s.Call(ctx, "POST", "/users", map[string]any{"username": "mary", "sysadmin": true}, &mary); err != nil {
		t.Fatal(err)
	}
	v := s.SignedIn(t, s.Key(), "/dataspaces/"+did, "status of 412")
	menu(v, "Edit")
	v.Fill("Title", "Laser lab, west")
	v.Submit()
	v.Until(`document.querySelector("h1").innerText.startsWith("Laser lab, west")`)
	var dataspace struct{ Title, Visibility string }
	if err := s.Call(ctx, "GET", "/dataspaces/"+did, nil, &dataspace); err != nil || dataspace.Visibility != "public" {
		t.Errorf("after the change of the title, the dataspace is %+v, %v", dataspace, err)
	}
	v.At("/users")
	v.Press("Change mary")
	v.Sees("Sysadmin")
	s.Do(t, "PUT", "/users/"+mary.ID, map[string]any{"sysadmin": false})
	v.Fill("Full name", "Mary Jones")
	v.Submit()
	v.Sees("Mary Jones")
	if err := s.Call(ctx, "GET", "/users/"+mary.ID, nil, &mary); err != nil || mary.Sysadmin || mary.Fullname != "Mary Jones" {
		t.Errorf("after the change of the name, the user is %+v, %v", mary, err)
	}
}

// Changing the name keeps concurrent changes of other fields. Different line ends are not treated
// as a change.
func TestProfileKeepsOtherFields(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, _ := s.NewSet(t)
	const lines = "first line\r\nsecond line"
	s.Do(t, "PUT", "/dataspaces/"+did, map[string]string{"description": lines})
	mary := s.Person(t, "mary", "admin", did)
	s.Do(t, "PUT", "/users/"+mary.ID, map[string]string{"fullname": "Mary", "about": lines})
	v := s.SignedIn(t, mary.Key, "/account", "status of 412")
	v.Sees("About you")
	s.Do(t, "PUT", "/users/"+mary.ID, map[string]string{"about": "looks after the laser"})
	v.Fill("Full name", "Mary Jones")
	v.Press("Save")
	v.Sees("Saved.")
	var now struct{ Fullname, About, Description, Title string }
	if err := s.Call(t.Context(), "GET", "/users/"+mary.ID, nil, &now); err != nil || now.Fullname != "Mary Jones" || now.About != "looks after the laser" {
		t.Errorf("after the change of the name, the user is %+v, %v", now, err)
	}
	v.Until(`document.querySelector("textarea").value === "looks after the laser"`)
	v.At("/dataspaces/" + did)
	menu(v, "Edit")
	v.Fill("Title", "Laser lab, west")
	v.Submit()
	v.Until(`document.querySelector("h1").innerText.startsWith("Laser lab, west")`)
	if err := s.Call(t.Context(), "GET", "/dataspaces/"+did, nil, &now); err != nil || now.Description != lines {
		t.Errorf("after the change of the title, the dataspace is %+v, %v", now, err)
	}
}

// Escape, a click outside of a dialog and its close button discard unsaved input only after a
// confirmation.
func TestUnsavedInputNeedsConfirmation(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	v := s.SignedIn(t, s.Key(), "/sets/"+sid)
	menu(v, "Edit")
	v.Until(`document.querySelector("dialog textarea")`)
	v.Do(chromedp.KeyEvent(kb.Escape)) // nothing was typed
	v.Until(`!document.querySelector("dialog")`)
	menu(v, "Edit")
	v.Types("title", "Runs of 2027")
	unchanged := `document.querySelector("dialog[open] [name=title]").value === "Runs of 2027"`
	for name, leave := range map[string]func(){
		"Escape":        func() { v.Do(chromedp.KeyEvent(kb.Escape)) },
		"Escape thrice": func() { v.Do(chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent(kb.Escape)) },
		"the cross":     func() { v.Press("Close") },
	} {
		leave()
		v.Sees("Discard unsaved changes?")
		v.Shot("discard")
		v.Press("Keep editing")
		v.SeesNot("Discard unsaved changes?")
		if !browser.Get(v, chromedp.Evaluate[bool](unchanged)) {
			t.Errorf("%s: the typed title is lost", name)
		}
	}
	v.Do(chromedp.MouseClickXY(5, 5))
	v.Until(unchanged)
	v.Do(chromedp.KeyEvent(kb.Escape))
	v.Press("Discard")
	v.Until(`!document.querySelector("dialog")`)
	if got := s.Field(t, "/sets/"+sid, "title"); got != "Runs of 2026" {
		t.Errorf("the discarded title was saved: %s", got)
	}
}
