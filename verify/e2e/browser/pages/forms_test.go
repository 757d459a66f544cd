package pages

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"labshelf/verify/e2e/browser"
)

// keyboard types texts at the focus, like a user without a mouse.
func keyboard(v *browser.Visitor, texts ...string) {
	v.T.Helper()
	for _, text := range texts {
		v.Do(chromedp.KeyEvent(text))
		v.Rendered()
	}
}

// send submits a form with Ctrl and Enter.
func send(v *browser.Visitor) {
	v.T.Helper()
	v.Do(chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(kb.ModifierCtrl)))
}

// formField is a field in the form builder. rest is typed into the remaining controls of the field.
type formField struct {
	label, kind       string
	required, several bool
	rest              []string
	fields            []formField
}

// typeFields types fields with the keyboard only. It begins in the label of the first field.
func typeFields(v *browser.Visitor, list string, fields []formField) {
	v.T.Helper()
	for i, f := range fields {
		if i > 0 {
			v.TabTo(`e.matches(".add-field") && e.parentElement.matches("` + list + `")`)
			keyboard(v, kb.Enter)
		}
		keyboard(v, f.label, kb.Tab, f.kind, kb.Tab)
		for _, is := range []bool{f.required, f.several} {
			if is {
				keyboard(v, " ")
			}
			keyboard(v, kb.Tab)
		}
		keyboard(v, kb.Tab, kb.Tab, kb.Tab) // skip the buttons up, down and remove
		for i, text := range f.rest {
			if i > 0 {
				keyboard(v, kb.Tab)
			}
			keyboard(v, text)
		}
		typeFields(v, ".field-card > .field-list", f.fields)
	}
}

// measurement is a form of five fields, and measurementSchema is its schema.
var measurement = []formField{
	{label: "Sample", kind: "Text", required: true},
	{label: "Measured on", kind: "Date", required: true},
	{label: "Temperature", kind: "Number w", rest: []string{"°C, K", "-273.15"}},
	{label: "Method", kind: "Choice", rest: []string{"XRD\rSEM\rRaman"}},
	{label: "Preparation", kind: "Group", several: true, fields: []formField{
		{label: "What was done", kind: "Text", required: true}, {label: "Minutes", kind: "Whole", rest: []string{"0"}},
	}},
}

const measurementSchema = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{` +
	`"sample":{"title":"Sample","type":"string"},` +
	`"measured_on":{"title":"Measured on","type":"string","format":"date"},` +
	`"temperature":{"title":"Temperature","type":"object","properties":{"value":{"type":"number","minimum":-273.15},"unit":{"enum":["°C","K"]}},"required":["value","unit"]},` +
	`"method":{"title":"Method","enum":["XRD","SEM","Raman"]},` +
	`"preparation":{"title":"Preparation","type":"array","items":{"type":"object","properties":{` +
	`"what_was_done":{"title":"What was done","type":"string"},"minutes":{"title":"Minutes","type":"integer","minimum":0}},"required":["what_was_done"]}}` +
	`},"required":["sample","measured_on"]}`

// makeMeasurement creates the form in the form builder without a mouse, and returns its id.
func makeMeasurement(v *browser.Visitor, s *browser.Site, did string) string {
	v.T.Helper()
	v.At("/dataspaces/" + did + "?view=schemas")
	v.Sees("No forms yet")
	v.Shots("forms-none")
	v.TabTo(`e.innerText?.trim() === "New form"`)
	keyboard(v, kb.Enter)
	v.Until(`document.activeElement.placeholder?.includes("Raman")`)
	keyboard(v, "Measurement")
	v.TabTo(`e.matches(".field-card .label")`)
	typeFields(v, "form > div > .field-list", measurement)
	v.Shots("form-builder")
	v.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector(".programs").open = true; scrollTo(0, 1e6)`))
	v.Shots("form-builder-end")
	send(v)
	v.Sees("Try it")
	v.Shots("form-page")
	var list struct {
		Data []struct {
			ID     string
			Schema json.RawMessage
		}
	}
	if err := s.Call(v.T.Context(), "GET", "/dataspaces/"+did+"/schemas", nil, &list); err != nil || len(list.Data) != 1 {
		v.T.Fatalf("got %d schemas, %v", len(list.Data), err)
	}
	var got bytes.Buffer
	if err := json.Compact(&got, list.Data[0].Schema); err != nil || got.String() != measurementSchema {
		v.T.Errorf("the builder created\n%s\nwant\n%s\n%v", &got, measurementSchema, err)
	}
	return list.Data[0].ID
}

// A user creates a form of five fields and enters the metadata of twenty files with it. The user
// then changes the metadata of all files with a spreadsheet, and undoes this change.
func TestForms(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid := s.NewSet(t)
	n := browser.Size(t, "EDITED_FILES", 300)
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("run-%05d.csv", i)
	}
	ids := s.Put(t, sid, names...)
	v := s.SignedIn(t, s.Key(), "/")
	kid := makeMeasurement(v, s, did)
	describeTwenty(v, sid, names)
	for i, id := range ids[:20] {
		want := fmt.Sprintf(`{"tags":["winter"],"properties":{"measured_on":"2026-01-31","method":"SEM","preparation":[{"minutes":20,"what_was_done":"milled"},{"what_was_done":"sieved"}],`+
			`"sample":"S-%04d","temperature":{"value":20.5,"unit":"K"}},"schema":{"id":%q,"version":1}}`, i, kid)
		if got := metadata(t, s, "/resources/"+id); got != want {
			t.Errorf("the metadata of %s are\n%s, want\n%s", names[i], got, want)
		}
	}
	editTable(v, s, sid, n)
}

// describeTwenty edits the metadata of the first twenty files of a set: common values in one edit,
// and the others file by file.
func describeTwenty(v *browser.Visitor, sid string, names []string) {
	v.T.Helper()
	v.At("/sets/" + sid)
	lacking := func(n int) {
		v.T.Helper()
		v.Until(fmt.Sprintf(`document.querySelector(".note.incomplete")?.innerText.startsWith("%s files lack")`, browser.Grouped(n)))
	}
	lacking(len(names))
	v.Shots("set-incomplete")
	toggle(v, names[0])
	v.Do(chromedp.Focus(browser.Xpath("input", "Select "+names[19])), chromedp.KeyEvent(" ", chromedp.KeyModifiers(kb.ModifierShift)))
	v.Sees("20 files selected")
	describes(v, "Describe …")
	tags(v, "Add tags", "winter")
	v.Press("Measured on")
	keyboard(v, "01312026")
	v.Press("Temperature")
	keyboard(v, "20.5", kb.Tab, "K")
	v.Press("Method")
	keyboard(v, "S")
	v.Shots("describe-twenty")
	v.Submit()
	v.Sees("20 files change.", "20.5 K", "2026-01-31")
	v.Shots("describe-twenty-preview")
	v.Press("Change 20 files")
	v.Sees("20 files changed.")
	v.Press("Clear selection")
	v.Press("Describe them one by one")
	for i, name := range names[:20] {
		v.Until(fmt.Sprintf(`document.querySelector("dialog h2").innerText === %q && document.activeElement.closest("dialog .field")?.innerText.startsWith("Sample")`, name))
		keyboard(v, fmt.Sprintf("S-%04d", i))
		if i == 0 {
			v.Press("Add : Preparation")
			keyboard(v, "milled", kb.Tab, "20")
			v.Press("Add another : Preparation")
			keyboard(v, "sieved")
			v.Shots("describe-one")
		} else {
			v.Press("The rest as in " + names[i-1])
		}
		send(v)
	}
	v.Until(fmt.Sprintf(`document.querySelector("dialog h2").innerText === %q`, names[20]))
	v.Press("Close")
	v.Until(`!document.querySelector("dialog")`)
	lacking(len(names) - 20)
	v.Follow("List them")
	v.Sees(browser.Grouped(len(names)-20) + " hits")
}

// editTable downloads the metadata of all files, changes each row, uploads the table, and undoes
// the change with one click.
func editTable(v *browser.Visitor, s *browser.Site, sid string, n int) {
	v.T.Helper()
	before := described(v.T, s, sid)
	folder := v.Downloads()
	v.At("/sets/" + sid)
	menu(v, "Metadata table")
	v.Sees("Last edits of many files")
	v.Shots("table")
	v.Follow("Download as CSV")
	table := filepath.Join(folder, "runs.csv")
	v.WaitFor(func() error {
		_, err := os.Stat(table)
		return err
	})
	rows := editRows(v.T, table, n)
	v.Pick("Edited table", table)
	v.Sees(browser.Grouped(n)+" files change.", browser.Grouped(n)+" rows read.", "Ada")
	v.Shots("table-preview")
	if got := described(v.T, s, sid); got[0] != before[0] || len(got) != n {
		v.T.Errorf("the preview has changed %s to %s", before[0], got[0])
	}
	v.Press("Change " + browser.Grouped(n) + " files")
	v.Sees(browser.Grouped(n) + " files changed.")
	v.Shots("table-changed")
	for i, got := range described(v.T, s, sid) {
		if !strings.Contains(got, `"operator":"Ada"`) || !strings.Contains(got, `"checked"`) {
			v.T.Fatalf("file %d has the metadata %s, want the values of row %d of the table: %s", i, got, i+2, rows[i])
		}
	}
	browser.Click(v, chromedp.CSS(".notice button"))
	v.Sees("Undone: " + browser.Grouped(n) + " files are as before.")
	v.Shots("table-undone")
	if got := described(v.T, s, sid); !slices.Equal(got, before) {
		v.T.Error("undo did not restore all files")
	}
}

// editRows adds a tag and a property to each row of a table, like a spreadsheet.
func editRows(t *testing.T, table string, n int) [][]string {
	t.Helper()
	content, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	const mark = "\ufeff"
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(string(content), mark))).ReadAll()
	if err != nil || len(rows) != n+1 {
		t.Fatalf("the table has %d rows, %v", len(rows), err)
	}
	tags := slices.Index(rows[0], "tags")
	for i := range rows {
		added := "Ada"
		if i == 0 {
			added = "properties.operator"
		} else {
			rows[i][tags] = strings.TrimPrefix(rows[i][tags]+",checked", ",")
		}
		rows[i] = append(rows[i], added)
	}
	var edited strings.Builder
	w := csv.NewWriter(&edited)
	if err := w.WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(table, []byte(mark+edited.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return rows[1:]
}

// described returns the names of the files of a set with their metadata, in order.
func described(t *testing.T, s *browser.Site, sid string) (list []string) {
	t.Helper()
	for next := s.Base() + "/sets/" + sid + "/resources?order=name&limit=1000&fields=metadata"; next != ""; {
		var page struct {
			Data []struct {
				Name     string
				Metadata json.RawMessage
			}
			NextPage string
		}
		if err := s.Call(t.Context(), "GET", strings.TrimPrefix(next, s.Base()), nil, &page); err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Data {
			var said bytes.Buffer
			if r.Metadata != nil {
				if err := json.Compact(&said, r.Metadata); err != nil {
					t.Fatal(err)
				}
			}
			list = append(list, r.Name+" "+said.String())
		}
		next = page.NextPage
	}
	return list
}
