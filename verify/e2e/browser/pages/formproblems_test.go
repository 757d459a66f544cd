package pages

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"labshelf/verify/e2e/browser"
)

// makeSchema creates the schema of measurements over the HTTP API. Sample names must look like
// S-0001.
func makeSchema(t *testing.T, s *browser.Site, did, kind string, enforce bool) (kid string) {
	t.Helper()
	schema := strings.Replace(measurementSchema, `"title":"Sample"`, `"title":"Sample","description":"As on the label: S-0001.","pattern":"^S-[0-9]{4}$"`, 1)
	var made struct{ ID string }
	fields := map[string]any{"name": "measurement-of-" + kind, "title": "Measurement", "for": kind, "enforce": enforce, "schema": json.RawMessage(schema)}
	if err := s.Call(t.Context(), "POST", "/dataspaces/"+did+"/schemas", fields, &made); err != nil {
		t.Fatal(err)
	}
	return made.ID
}

// says waits until an element shows exactly these errors, in this order.
func says(v *browser.Visitor, within string, texts ...string) {
	v.T.Helper()
	v.Until(fmt.Sprintf(`[...document.querySelectorAll(%q)].map((e) => e.innerText).filter(Boolean).join("|") === %q`, within+" .error", strings.Join(texts, "|")))
}

// A field with a missing or wrong value shows the problem, on the page of the file and in its form.
// A form that does not enforce its schema saves the values anyway.
func TestFormShowsProblems(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid := s.NewSet(t)
	makeSchema(t, s, did, "files", false)
	path := "/resources/" + s.Put(t, sid, "a.csv")[0]
	describe(t, s, "PATCH", path, `{"properties":{"temperature":{"value":20,"unit":"F"},"preparation":[{"what_was_done":"milled"},{"minutes":-1}],"other":1}}`)
	v := s.SignedIn(t, s.Key(), path)
	missing, unit := "This is missing.", `The unit must be "°C" or "K".`
	says(v, ".described", missing, missing, unit, `Number 2, “Minutes” must be at least 0.`, `Number 2, “What was done” is missing.`)
	v.Shots("form-wrong-file")
	describes(v, "Fill in the form")
	says(v, "dialog .asked", missing, missing, unit, missing, "This must be at least 0.")
	v.Shots("form-wrong")
	v.Until(`document.activeElement === document.querySelector("dialog .asked input")`) // the first field with a problem
	keyboard(v, "S-0007")
	v.TabTo(`e.getAttribute("aria-label") === "Unit of Temperature"`)
	keyboard(v, "K")
	v.Fill("Temperature", "-300")
	v.Do(chromedp.KeyEvent(kb.Tab))
	says(v, "dialog .asked", missing, "This should be -273.15 or more.", missing, "This must be at least 0.")
	v.Fill("Temperature", "cold")
	v.Submit() // the browser refuses a value that is not a number
	says(v, "dialog .asked", missing, "This is not a number. Write it as 20, -0.5 or 1e-3.", missing, "This must be at least 0.")
	v.Fill("Temperature", "4")
	saved(v)
	says(v, ".described", missing, `Number 2, “Minutes” must be at least 0.`, `Number 2, “What was done” is missing.`)
	want := `"properties":{"other":1,"preparation":[{"what_was_done":"milled"},{"minutes":-1}],"sample":"S-0007","temperature":{"value":4,"unit":"K"}}`
	if got := metadata(t, s, path); !strings.Contains(got, want) {
		t.Errorf("the metadata of the file are %s, want %s", got, want)
	}
}

// A form that enforces its schema is not sent with missing values, and shows a refusal of the
// service at its field. This also applies to edits of many files, and to a table.
func TestFormEnforcesSchema(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid := s.NewSet(t)
	ids := s.Put(t, sid, "a.csv", "b.csv")
	makeSchema(t, s, did, "files", true)
	v := s.SignedIn(t, s.Key(), "/resources/"+ids[0], "status of 400")
	describes(v, "Fill in the form")
	v.Submit()
	v.Until(`document.querySelector("dialog form:invalid") && document.activeElement === document.querySelector("dialog .asked input")`)
	keyboard(v, "7", kb.Tab, "01312026")
	v.Submit()
	says(v, "dialog .asked", "This must match the regular expression ^S-[0-9]{4}$.")
	v.Until(`!document.querySelector("dialog .note.bad")`)
	v.Shots("form-refused")
	v.Fill("Sample", "S-0007")
	v.Press("Save")
	v.Until(`!document.querySelector("dialog")`)
	v.SeesNot("incomplete")

	v.At("/sets/" + sid)
	browser.Click(v, browser.Xpath("input", "Select all files of the list"))
	v.Sees("2 files selected")
	describes(v, "Describe …")
	v.Press("Method")
	keyboard(v, "XRD")
	v.Submit()
	v.Sees("1 file cannot be changed this way, so no file was changed", "b.csv: measured_on is missing; the schema measurement-of-files requires it, and 1 more")
	v.Until(`document.querySelector("dialog button[type=submit]").disabled`)
	v.Shots("form-many-refused")
	v.Press("Back")
	v.Press("Cancel")
	v.At("/sets/" + sid + "/table")
	var table strings.Builder
	if err := s.Download(t.Context(), s.Base()+"/sets/"+sid+"/metadata", &table); err != nil {
		t.Fatal(err)
	}
	v.Pick("Edited table", browser.FileWith(t, "wrong.csv", strings.Replace(table.String(), "S-0007", "7", 1)))
	v.Sees("1 problem: nothing changes until they are fixed", "Row 2, column properties.sample: a.csv: sample must be a text, not a number")
	v.Shots("table-refused")
}

// A changed form becomes a new version. Metadata keep the version with which they were entered
// until a user selects the new one. A deleted form requires no values, and can be restored.
func TestFormVersions(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid := s.NewSet(t)
	path := "/resources/" + s.Put(t, sid, "a.csv")[0]
	kid := makeSchema(t, s, did, "files", false)
	describe(t, s, "PATCH", path, `{"properties":{"sample":"S-0001","measured_on":"2026-01-31"}}`)
	v := s.SignedIn(t, s.Key(), "/schemas/"+kid)
	v.Follow("Edit")
	v.Press("Add a field")
	keyboard(v, "Operator", kb.Tab, kb.Tab, " ")
	v.Shots("form-edit")
	send(v)
	v.Sees("Version 2", "new: Operator")
	v.Shots("form-versions")
	v.At(path)
	v.Sees("version 1; version 2 is the newest")
	v.Press("Edit metadata")
	v.Sees("filled in with version 1 of the form. Version 2 is available.")
	v.Press("Use version 2")
	v.Fill("Operator", "Ada")
	v.Shots("form-newer")
	v.Press("Save")
	v.Until(`!document.querySelector("dialog")`)
	v.Sees("Ada")
	v.Shots("form-file")
	want := fmt.Sprintf(`{"properties":{"measured_on":"2026-01-31","operator":"Ada","sample":"S-0001"},"schema":{"id":%q,"version":2}}`, kid)
	if got := metadata(t, s, path); got != want {
		t.Errorf("the metadata of the file are %s, want %s", got, want)
	}
	v.At("/schemas/" + kid)
	v.Press("Delete")
	v.Submit()
	v.Sees("This form is deleted")
	v.At("/dataspaces/" + did + "?view=schemas")
	v.Sees("deleted")
	v.Shots("forms")
	v.Follow("Measurement")
	v.Press("Restore")
	v.Sees("Try it")
	v.SeesNot("deleted")
}

// A set selects the sources of properties of its files, including existing files. The page of a
// file shows the source of a property until a user changes the value.
func TestSetExtract(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	rid := s.Send(t, sid, browser.FileWith(t, "a.csv", "t (s),T (K)\n1,293\n2,294\n"))
	s.Send(t, sid, browser.FileWith(t, "a.csv.json", `{"operator":"Ada"}`))
	v := s.SignedIn(t, s.Key(), "/sets/"+sid)
	toggle := func(label, want string) {
		t.Helper()
		menu(v, "Edit")
		browser.Click(v, chromedp.Search(fmt.Sprintf(`//label[contains(., %q)]//input`, label)))
		saved(v)
		if got := s.Field(t, "/sets/"+sid, "extract"); got != want {
			t.Errorf("properties are extracted from %s, want %s", got, want)
		}
	}
	toggle("own header", "[header]")
	toggle("JSON file next to", "[sidecar header]")
	toggle("own header", "[sidecar]")
	v.At("/resources/" + rid)
	v.Sees("Ada", "from the JSON file next to it")
	describes(v, "Edit metadata")
	v.Sees("from the JSON file next to it")
	v.Shots("filled-by-sidecar")
	name := browser.Get(v, chromedp.Evaluate[int](`[...document.querySelectorAll("dialog .property > input:first-child")].findIndex((e) => e.value === "operator") + 1`))
	v.Fill(fmt.Sprintf("Value %d", name), "Grace")
	saved(v)
	v.Sees("Grace")
	v.SeesNot("from the JSON file next to it")
}
