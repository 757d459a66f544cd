package browser

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// makeSchema makes the schema of measurements by the interface. Samples are called as S-0001.
func (s *site) makeSchema(t *testing.T, did, kind string, enforce bool) (kid string) {
	t.Helper()
	schema := strings.Replace(measurementSchema, `"title":"Sample"`, `"title":"Sample","description":"As on the label: S-0001.","pattern":"^S-[0-9]{4}$"`, 1)
	var made struct{ ID string }
	fields := map[string]any{"name": "measurement-of-" + kind, "title": "Measurement", "for": kind, "enforce": enforce, "schema": json.RawMessage(schema)}
	if err := s.Call(t.Context(), "POST", "/dataspaces/"+did+"/schemas", fields, &made); err != nil {
		t.Fatal(err)
	}
	return made.ID
}

// says waits until exactly these texts are said to be wrong in an element, in this order.
func (v *visitor) says(within string, texts ...string) {
	v.t.Helper()
	v.until(fmt.Sprintf(`[...document.querySelectorAll(%q)].map((e) => e.innerText).filter(Boolean).join("|") === %q`, within+" .error", strings.Join(texts, "|")))
}

// What is missing or wrong is said at its field, on the page of a file and in its form; a form that
// reminds saves it all the same.
func TestFormReminds(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.makeSet(t)
	s.makeSchema(t, did, "files", false)
	path := "/resources/" + s.put(t, sid, "a.csv")[0]
	s.describe(t, "PATCH", path, `{"properties":{"temperature":{"value":20,"unit":"F"},"preparation":[{"what_was_done":"milled"},{"minutes":-1}],"other":1}}`)
	v := s.signedIn(t, s.Key(), path)
	missing, unit := "This is missing.", `The unit must be "°C" or "K".`
	v.says(".described", missing, missing, unit, `Number 2, “Minutes” must be at least 0.`, `Number 2, “What was done” is missing.`)
	v.shots("form-wrong-file")
	v.describes("Fill in the form")
	v.says("dialog .asked", missing, missing, unit, missing, "This must be at least 0.")
	v.shots("form-wrong")
	v.until(`document.activeElement === document.querySelector("dialog .asked input")`) // the first that lacks something
	v.keyboard("S-0007")
	v.tabTo(`e.getAttribute("aria-label") === "Unit of Temperature"`)
	v.keyboard("K")
	v.fill("Temperature", "-300")
	v.do(chromedp.KeyEvent(kb.Tab))
	v.says("dialog .asked", missing, "This should be -273.15 or more.", missing, "This must be at least 0.")
	v.fill("Temperature", "cold")
	v.submit() // the browser refuses what is no number
	v.says("dialog .asked", missing, "This is not a number. Write it as 20, -0.5 or 1e-3.", missing, "This must be at least 0.")
	v.fill("Temperature", "4")
	v.saved()
	v.says(".described", missing, `Number 2, “Minutes” must be at least 0.`, `Number 2, “What was done” is missing.`)
	want := `"properties":{"other":1,"preparation":[{"what_was_done":"milled"},{"minutes":-1}],"sample":"S-0007","temperature":{"value":4,"unit":"K"}}`
	if got := s.metadata(t, path); !strings.Contains(got, want) {
		t.Errorf("the file says %s, want %s", got, want)
	}
}

// A form that insists keeps what is missing from being sent, and shows at its field what the
// service refuses; also of many files, and of a table.
func TestFormInsists(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.makeSet(t)
	ids := s.put(t, sid, "a.csv", "b.csv")
	s.makeSchema(t, did, "files", true)
	v := s.signedIn(t, s.Key(), "/resources/"+ids[0], "status of 400")
	v.describes("Fill in the form")
	v.submit()
	v.until(`document.querySelector("dialog form:invalid") && document.activeElement === document.querySelector("dialog .asked input")`)
	v.keyboard("7", kb.Tab, "01312026")
	v.submit()
	v.says("dialog .asked", "This must match the regular expression ^S-[0-9]{4}$.")
	v.until(`!document.querySelector("dialog .note.bad")`)
	v.shots("form-refused")
	v.fill("Sample", "S-0007")
	v.press("Save")
	v.until(`!document.querySelector("dialog")`)
	v.seesNot("incomplete")

	v.at("/sets/" + sid)
	click(v, xpath("input", "Select all files of the list"))
	v.sees("2 files selected")
	v.describes("Describe …")
	v.press("Method")
	v.keyboard("XRD")
	v.submit()
	v.sees("1 file cannot be changed this way, so no file was changed", "b.csv: measured_on is missing; the schema measurement-of-files asks for it, and 1 more")
	v.until(`document.querySelector("dialog button[type=submit]").disabled`)
	v.shots("form-many-refused")
	v.press("Back")
	v.press("Cancel")
	v.at("/sets/" + sid + "/table")
	var table strings.Builder
	if err := s.Download(t.Context(), s.Base()+"/sets/"+sid+"/metadata", &table); err != nil {
		t.Fatal(err)
	}
	v.pick("Edited table", fileWith(t, "wrong.csv", strings.Replace(table.String(), "S-0007", "7", 1)))
	v.sees("1 problem: nothing changes until they are fixed", "Row 2, column properties.sample: a.csv: sample must be a text, not a number")
	v.shots("table-refused")
}

// A changed form is a new version. What was filled in keeps its own until somebody takes the new
// one. A deleted form asks for nothing, and can be restored.
func TestFormVersions(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.makeSet(t)
	path := "/resources/" + s.put(t, sid, "a.csv")[0]
	kid := s.makeSchema(t, did, "files", false)
	s.describe(t, "PATCH", path, `{"properties":{"sample":"S-0001","measured_on":"2026-01-31"}}`)
	v := s.signedIn(t, s.Key(), "/schemas/"+kid)
	v.follow("Edit")
	v.press("Add a field")
	v.keyboard("Operator", kb.Tab, kb.Tab, " ")
	v.shots("form-edit")
	v.send()
	v.sees("Version 2", "new: Operator")
	v.shots("form-versions")
	v.at(path)
	v.sees("version 1; version 2 is the newest")
	v.press("Edit metadata")
	v.sees("filled in with version 1 of the form. Version 2 is available.")
	v.press("Use version 2")
	v.fill("Operator", "Ada")
	v.shots("form-newer")
	v.press("Save")
	v.until(`!document.querySelector("dialog")`)
	v.sees("Ada")
	v.shots("form-file")
	want := fmt.Sprintf(`{"properties":{"measured_on":"2026-01-31","operator":"Ada","sample":"S-0001"},"schema":{"id":%q,"version":2}}`, kid)
	if got := s.metadata(t, path); got != want {
		t.Errorf("the file says %s, want %s", got, want)
	}
	v.at("/schemas/" + kid)
	v.press("Delete")
	v.submit()
	v.sees("This form is deleted")
	v.at("/dataspaces/" + did + "?view=schemas")
	v.sees("deleted")
	v.shots("forms")
	v.follow("Measurement")
	v.press("Restore")
	v.sees("Try it")
	v.seesNot("deleted")
}

// A set says from where properties of its files are filled in, also of those that are there. Their
// pages say so, until a person changes the value.
func TestSetExtract(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.makeSet(t)
	rid := s.send(t, sid, fileWith(t, "a.csv", "t (s),T (K)\n1,293\n2,294\n"))
	s.send(t, sid, fileWith(t, "a.csv.json", `{"operator":"Ada"}`))
	v := s.signedIn(t, s.Key(), "/sets/"+sid)
	toggle := func(label, want string) {
		t.Helper()
		v.menu("Edit")
		click(v, chromedp.Search(fmt.Sprintf(`//label[contains(., %q)]//input`, label)))
		v.saved()
		if got := s.field(t, "/sets/"+sid, "extract"); got != want {
			t.Errorf("properties are filled from %s, want %s", got, want)
		}
	}
	toggle("own header", "[header]")
	toggle("JSON file next to", "[sidecar header]")
	toggle("own header", "[sidecar]")
	v.at("/resources/" + rid)
	v.sees("Ada", "from the JSON file next to it")
	v.describes("Edit metadata")
	v.sees("from the JSON file next to it")
	v.shots("filled-by-sidecar")
	name := get(v, chromedp.Evaluate[int](`[...document.querySelectorAll("dialog .property > input:first-child")].findIndex((e) => e.value === "operator") + 1`))
	v.fill(fmt.Sprintf("Value %d", name), "Grace")
	v.saved()
	v.sees("Grace")
	v.seesNot("from the JSON file next to it")
}
