package pages

import (
	"testing"

	"labshelf/verify/e2e/browser"
)

// axe-core finds no serious violation in the dialogs for metadata, and no dialog is wider than a
// narrow window.
func TestFormsAreAccessible(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid := s.NewSet(t)
	s.Put(t, sid, "a.csv", "b.csv", "c.csv")
	makeSchema(t, s, did, "files", false)
	makeSchema(t, s, did, "sets", true)
	script := browser.Axe(t)
	v := s.SignedIn(t, s.Key(), "/sets/"+sid)
	look := func(name string) {
		t.Helper()
		v.Shots(name)
		for _, f := range append(v.Audit(script), darkContrast(v, script)...) {
			t.Errorf("%s: %s: %s: %s\n\t%s", name, f.Impact, f.ID, f.Help, f.Where)
		}
		v.Size(360, 740)
		v.Until(`document.documentElement.scrollWidth <= innerWidth && document.querySelector("dialog").scrollWidth <= document.querySelector("dialog").clientWidth`)
		v.Size(1280, 800)
	}
	describes(v, "Fill in the form")
	v.Press("Add : Preparation")
	look("dialog-set")
	v.Press("Cancel")
	v.Press("Describe them one by one")
	v.Until(`document.querySelector("dialog .describe")`)
	v.Press("Add : Preparation")
	look("dialog-file")
	v.Press("Cancel")
	browser.Click(v, browser.Xpath("input", "Select all files of the list"))
	describes(v, "Describe …")
	for _, name := range []string{"Method", "Temperature", "Preparation", "Another property"} {
		v.Press(name)
	}
	look("dialog-many")
	tags(v, "Add tags", "ice")
	v.Press("Remove property 4")
	v.Submit()
	v.Sees("3 files change.")
	look("dialog-many-preview")
	v.Submit()
	v.Until(`!document.querySelector("dialog")`)
	menu(v, "Edit")
	v.Sees("A JSON file next to the file")
	look("dialog-set-edit")
}

// darkContrast runs the rule for contrast in the dark theme.
func darkContrast(v *browser.Visitor, script string) []browser.Finding {
	v.T.Helper()
	v.Theme("dark")
	defer v.Theme("light")
	return v.Audit(script, "color-contrast")
}
