package browser

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
)

// keyboard types texts where the focus is, as a person does who has no mouse.
func (v *visitor) keyboard(texts ...string) {
	v.t.Helper()
	for _, text := range texts {
		v.do(chromedp.KeyEvent(text))
		v.rendered()
	}
}

// send presses Ctrl and Enter, which sends a form.
func (v *visitor) send() {
	v.t.Helper()
	v.do(chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(kb.ModifierCtrl)))
}

// formField is a field in the builder of forms. rest is typed into the controls behind the first
// ones.
type formField struct {
	label, kind       string
	required, several bool
	rest              []string
	fields            []formField
}

// typeFields types fields with the keyboard alone, and begins in the label of the first.
func (v *visitor) typeFields(list string, fields []formField) {
	v.t.Helper()
	for i, f := range fields {
		if i > 0 {
			v.tabTo(`e.matches(".add-field") && e.parentElement.matches("` + list + `")`)
			v.keyboard(kb.Enter)
		}
		v.keyboard(f.label, kb.Tab, f.kind, kb.Tab)
		for _, is := range []bool{f.required, f.several} {
			if is {
				v.keyboard(" ")
			}
			v.keyboard(kb.Tab)
		}
		v.keyboard(kb.Tab, kb.Tab, kb.Tab) // past up, down and remove
		for i, text := range f.rest {
			if i > 0 {
				v.keyboard(kb.Tab)
			}
			v.keyboard(text)
		}
		v.typeFields(".field-card > .field-list", f.fields)
	}
}

// measurement is the form of five fields that a person makes, and measurementSchema is what it
// stands for.
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

// makeMeasurement makes the form in the builder, without a mouse, and returns its id.
func (v *visitor) makeMeasurement(s *site, did string) string {
	v.t.Helper()
	v.at("/dataspaces/" + did + "?view=schemas")
	v.sees("No forms yet")
	v.shots("forms-none")
	v.tabTo(`e.innerText?.trim() === "New form"`)
	v.keyboard(kb.Enter)
	v.until(`document.activeElement.placeholder?.includes("Raman")`)
	v.keyboard("Measurement")
	v.tabTo(`e.matches(".field-card .label")`)
	v.typeFields("form > div > .field-list", measurement)
	v.shots("form-builder")
	v.do(chromedp.Evaluate[chromedp.Void](`document.querySelector(".programs").open = true; scrollTo(0, 1e6)`))
	v.shots("form-builder-end")
	v.send()
	v.sees("Try it")
	v.shots("form-page")
	var list struct {
		Data []struct {
			ID     string
			Schema json.RawMessage
		}
	}
	if err := s.Call(v.t.Context(), "GET", "/dataspaces/"+did+"/schemas", nil, &list); err != nil || len(list.Data) != 1 {
		v.t.Fatalf("there are %d schemas, %v", len(list.Data), err)
	}
	var got bytes.Buffer
	if err := json.Compact(&got, list.Data[0].Schema); err != nil || got.String() != measurementSchema {
		v.t.Errorf("the builder has made\n%s\nwant\n%s\n%v", &got, measurementSchema, err)
	}
	return list.Data[0].ID
}

// A person makes a form of five fields, describes twenty files with it, changes the metadata of all
// files by a spreadsheet, and takes that back.
func TestForms(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.makeSet(t)
	n := size(t, "EDITED_FILES", 300)
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("run-%05d.csv", i)
	}
	ids := s.put(t, sid, names...)
	v := s.signedIn(t, s.Key(), "/")
	kid := v.makeMeasurement(s, did)
	v.describeTwenty(sid, names)
	for i, id := range ids[:20] {
		want := fmt.Sprintf(`{"tags":["winter"],"properties":{"measured_on":"2026-01-31","method":"SEM","preparation":[{"minutes":20,"what_was_done":"milled"},{"what_was_done":"sieved"}],`+
			`"sample":"S-%04d","temperature":{"value":20.5,"unit":"K"}},"schema":{"id":%q,"version":1}}`, i, kid)
		if got := s.metadata(t, "/resources/"+id); got != want {
			t.Errorf("%s says\n%s, want\n%s", names[i], got, want)
		}
	}
	v.editTable(s, sid, n)
}

// describeTwenty describes the first twenty files of a set: what they have in common at once, the
// rest one after the other.
func (v *visitor) describeTwenty(sid string, names []string) {
	v.t.Helper()
	v.at("/sets/" + sid)
	lacking := func(n int) {
		v.t.Helper()
		v.until(fmt.Sprintf(`document.querySelector(".note.incomplete")?.innerText.startsWith("%s files lack")`, grouped(n)))
	}
	lacking(len(names))
	v.shots("set-incomplete")
	v.toggle(names[0])
	v.do(chromedp.Focus(xpath("input", "Select "+names[19])), chromedp.KeyEvent(" ", chromedp.KeyModifiers(kb.ModifierShift)))
	v.sees("20 files selected")
	v.describes("Describe …")
	v.tags("Add tags", "winter")
	v.press("Measured on")
	v.keyboard("01312026")
	v.press("Temperature")
	v.keyboard("20.5", kb.Tab, "K")
	v.press("Method")
	v.keyboard("S")
	v.shots("describe-twenty")
	v.submit()
	v.sees("20 files change.", "20.5 K", "2026-01-31")
	v.shots("describe-twenty-preview")
	v.press("Change 20 files")
	v.sees("20 files changed.")
	v.press("Clear selection")
	v.press("Describe them one by one")
	for i, name := range names[:20] {
		v.until(fmt.Sprintf(`document.querySelector("dialog h2").innerText === %q && document.activeElement.closest("dialog .field")?.innerText.startsWith("Sample")`, name))
		v.keyboard(fmt.Sprintf("S-%04d", i))
		if i == 0 {
			v.press("Add : Preparation")
			v.keyboard("milled", kb.Tab, "20")
			v.press("Add another : Preparation")
			v.keyboard("sieved")
			v.shots("describe-one")
		} else {
			v.press("The rest as in " + names[i-1])
		}
		v.send()
	}
	v.until(fmt.Sprintf(`document.querySelector("dialog h2").innerText === %q`, names[20]))
	v.press("Close")
	v.until(`!document.querySelector("dialog")`)
	lacking(len(names) - 20)
	v.follow("List them")
	v.sees(grouped(len(names)-20) + " hits")
}

// editTable downloads the metadata of all files, changes each row, uploads them, and undoes that by
// one click.
func (v *visitor) editTable(s *site, sid string, n int) {
	v.t.Helper()
	before := s.described(v.t, sid)
	folder := v.downloads()
	v.at("/sets/" + sid)
	v.menu("Metadata table")
	v.sees("Last edits of many files")
	v.shots("table")
	v.follow("Download as CSV")
	table := filepath.Join(folder, "runs.csv")
	v.waitFor(func() error {
		_, err := os.Stat(table)
		return err
	})
	rows := editRows(v.t, table, n)
	v.pick("Edited table", table)
	v.sees(grouped(n)+" files change.", grouped(n)+" rows read.", "Ada")
	v.shots("table-preview")
	if got := s.described(v.t, sid); got[0] != before[0] || len(got) != n {
		v.t.Errorf("a preview has changed %s to %s", before[0], got[0])
	}
	v.press("Change " + grouped(n) + " files")
	v.sees(grouped(n) + " files changed.")
	v.shots("table-changed")
	for i, got := range s.described(v.t, sid) {
		if !strings.Contains(got, `"operator":"Ada"`) || !strings.Contains(got, `"checked"`) {
			v.t.Fatalf("file %d says %s, and was to have what row %d of the table says: %s", i, got, i+2, rows[i])
		}
	}
	click(v, chromedp.CSS(".notice button"))
	v.sees("Undone: " + grouped(n) + " files are as before.")
	v.shots("table-undone")
	if got := s.described(v.t, sid); !slices.Equal(got, before) {
		v.t.Error("after undo some file is not as it was before")
	}
}

// editRows adds a tag and a property to each row of a table, as a spreadsheet does.
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

// described returns the names of the files of a set with what is said about them, in order.
func (s *site) described(t *testing.T, sid string) (list []string) {
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
