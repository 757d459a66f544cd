package browser

import "testing"

// axe-core finds no serious violation in the dialogs in which people describe files, and none is
// wider than a narrow window.
func TestFormsAreAccessible(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.makeSet(t)
	s.put(t, sid, "a.csv", "b.csv", "c.csv")
	s.makeSchema(t, did, "files", false)
	s.makeSchema(t, did, "sets", true)
	script := axe(t)
	v := s.signedIn(t, s.Key(), "/sets/"+sid)
	look := func(name string) {
		t.Helper()
		v.shots(name)
		for _, f := range append(v.audit(script), v.darkContrast(script)...) {
			t.Errorf("%s: %s: %s: %s\n\t%s", name, f.Impact, f.ID, f.Help, f.Where)
		}
		v.size(360, 740)
		v.until(`document.documentElement.scrollWidth <= innerWidth && document.querySelector("dialog").scrollWidth <= document.querySelector("dialog").clientWidth`)
		v.size(1280, 800)
	}
	v.describes("Fill in the form")
	v.press("Add : Preparation")
	look("dialog-set")
	v.press("Cancel")
	v.press("Describe them one by one")
	v.until(`document.querySelector("dialog .describe")`)
	v.press("Add : Preparation")
	look("dialog-file")
	v.press("Cancel")
	click(v, xpath("input", "Select all files of the list"))
	v.describes("Describe …")
	for _, name := range []string{"Method", "Temperature", "Preparation", "Another property"} {
		v.press(name)
	}
	look("dialog-many")
	v.tags("Add tags", "ice")
	v.press("Remove property 4")
	v.submit()
	v.sees("3 files change.")
	look("dialog-many-preview")
	v.submit()
	v.until(`!document.querySelector("dialog")`)
	v.menu("Edit")
	v.sees("A JSON file next to the file")
	look("dialog-set-edit")
}

// darkContrast runs the rule about contrast in the dark theme.
func (v *visitor) darkContrast(script string) []finding {
	v.t.Helper()
	v.theme("dark")
	defer v.theme("light")
	return v.audit(script, "color-contrast")
}
