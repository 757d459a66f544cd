package pages

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"labshelf/formats/descriptive"
	"labshelf/verify/e2e/browser"
)

// metadata returns the descriptive metadata of the record at a path of the HTTP API, in canonical
// form, or {}.
func metadata(t *testing.T, s *browser.Site, path string) string {
	t.Helper()
	var record struct{ Metadata json.RawMessage }
	if err := s.Call(t.Context(), "GET", path, nil, &record); err != nil {
		t.Fatal(err)
	}
	if record.Metadata == nil { // no metadata
		return "{}"
	}
	said, err := descriptive.Parse(record.Metadata)
	if err != nil {
		t.Fatal(err)
	}
	return string(said.Append(nil))
}

// describe changes the metadata of a record with a merge patch.
func describe(t *testing.T, s *browser.Site, method, path, patch string) {
	t.Helper()
	s.Do(t, method, path, map[string]any{"metadata": json.RawMessage(patch)})
}

// describes opens the metadata form with a button.
func describes(v *browser.Visitor, button string) {
	v.T.Helper()
	v.Press(button)
	v.Until(`document.querySelector("dialog .describe")`)
}

// tags types words into a field for tags, each followed by Enter.
func tags(v *browser.Visitor, label string, words ...string) {
	v.T.Helper()
	for _, word := range words {
		v.Do(chromedp.Focus(browser.Field(label)), chromedp.SendKeys(browser.Field(label), word))
		v.Key("Enter", "Enter", "\r")
	}
}

// saved submits the dialog and waits until it closes.
func saved(v *browser.Visitor) {
	v.T.Helper()
	v.Submit()
	v.Until(`!document.querySelector("dialog")`)
}

// chooses selects an option of the control with this label, like a user with the keyboard.
func chooses(v *browser.Visitor, label, value string) {
	v.T.Helper()
	v.Do(chromedp.SetValue(browser.Field(label), value))
	v.Do(chromedp.Focus(browser.Field(label)), chromedp.Evaluate[chromedp.Void](`void document.activeElement.dispatchEvent(new Event("change", {bubbles: true}))`))
}

// A user edits the tags and properties of a file. The form recognizes the kind of each value, and
// keeps numbers as typed.
func TestDescribeFile(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	path := "/resources/" + s.Put(t, sid, "a.txt")[0]
	v := s.SignedIn(t, s.Key(), path)
	describes(v, "Describe")
	tags(v, "Tags", "ice", "deep core", "wrong")
	v.Press("Remove wrong")
	v.Fill("Name 1", "temperature")
	v.Fill("Value 1", "20.0")
	v.Fill("Unit 1", "°C")
	for i, row := range [][2]string{{"operator", "Ada"}, {"ok", "yes"}, {"sampled", "2026-01-31"}, {"runs", `[1, 2.50, "b"]`}, {"sample", `{"id": "S1"}`}, {"code", "0042"}, {"tags", "constructor"}} {
		v.Press("Add a property")
		v.Fill(fmt.Sprintf("Name %d", i+2), row[0])
		v.Fill(fmt.Sprintf("Value %d", i+2), row[1])
	}
	v.Shots("describe-file")
	saved(v)
	v.Sees("temperature", "20.0 °C", "operator", "sample › id", "deep core")
	v.Shots("described-file")
	want := `{"tags":["ice","deep core"],"properties":{"code":"0042","ok":true,"operator":"Ada","runs":[1,2.50,"b"],"sample":{"id":"S1"},` +
		`"sampled":"2026-01-31","tags":"constructor","temperature":{"value":20.0,"unit":"°C"}}}`
	if got := metadata(t, s, path); got != want {
		t.Errorf("the metadata of the file are %s, want %s", got, want)
	}

	describes(v, "Edit metadata")
	v.Do(chromedp.Evaluate[chromedp.Void](`void ((send) => (window.fetch = (to, init) => (init?.method === "PATCH" && (window.sent = init.body), send(to, init))))(fetch)`))
	v.Press("Remove property 3, operator")
	v.Fill("Unit 7", "K") // temperature, after the row of the operator was removed
	v.Do(chromedp.Focus(browser.Field("Tags")), chromedp.SendKeys(browser.Field("Tags"), "typed"))
	saved(v) // a typed word without Enter is added, too
	v.SeesNot("Ada")
	if want := `{"metadata":{"tags":["ice","deep core","typed"],"properties":{"operator":null,"temperature":{"unit":"K"}}}}`; want != browser.Get(v, chromedp.Evaluate[string]("sent")) {
		t.Errorf("the page sent %s, want %s", browser.Get(v, chromedp.Evaluate[string]("sent")), want)
	}
}

// The form reads numbers as people write them, by the rule of the service. Ambiguous numbers are
// refused.
func TestTypedNumbers(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	path := "/resources/" + s.Put(t, sid, "a.txt")[0]
	v := s.SignedIn(t, s.Key(), path)
	describes(v, "Describe")
	v.Fill("Name 1", "temperature")
	v.Fill("Value 1", "37,5")
	v.Fill("Unit 1", "°C")
	for i, typed := range []string{"1.234,5", "1'234", "−5", "12h30", "5/2", "1_000"} {
		v.Press("Add a property")
		v.Fill(fmt.Sprintf("Name %d", i+2), string(rune('a'+i)))
		v.Fill(fmt.Sprintf("Value %d", i+2), typed)
	}
	v.Press("Add a property")
	v.Fill("Name 8", "p")
	v.Fill("Value 8", "1,234")
	v.Sees("This can be read in two ways. Write 1.234 or 1234.")
	v.Fill("Value 8", "1234")
	saved(v)
	want := `{"properties":{"a":1234.5,"b":1234,"c":-5,"d":"12h30","e":"5/2","f":"1_000","p":1234,"temperature":{"value":37.5,"unit":"°C"}}}`
	if got := metadata(t, s, path); got != want {
		t.Errorf("the metadata are %s, want %s", got, want)
	}
}

// The form marks a field that the service refuses, and keeps the typed values. Unsaved changes are
// discarded only after a question.
func TestDescribeErrors(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	path := "/resources/" + s.Put(t, sid, "a.txt")[0]
	v := s.SignedIn(t, s.Key(), path, "status of 400")
	describes(v, "Describe")
	v.Fill("Name 1", "a.b")
	v.Fill("Value 1", "1")
	v.Press("Add a property")
	v.Fill("Name 2", "a.b")
	v.Fill("Value 2", "2")
	v.Submit() // the browser refuses
	v.Sees("Another property has this name.")
	v.Fill("Name 2", "width")
	chooses(v, "Kind 2", "number")
	v.Fill("Value 2", "wide")
	v.Sees("This is not a number.")
	v.Fill("Value 2", "2")
	v.Submit()
	v.Until(`[...document.querySelectorAll("dialog .property .error")].filter((e) => e.innerText.includes("metadata.properties")).length === 1`)
	v.Until(`!document.querySelector("dialog .note.bad")`)
	v.Shot("describe-refused")
	v.Do(chromedp.SendKeys(chromedp.CSS("dialog"), kb.Escape))
	v.Sees("Discard unsaved changes?")
	v.Press("Keep editing")
	v.Fill("Name 1", "ab")
	saved(v)
	if got, want := metadata(t, s, path), `{"properties":{"ab":1,"width":2}}`; got != want {
		t.Errorf("the metadata of the file are %s, want %s", got, want)
	}
	describes(v, "Edit metadata")
	v.Press("Remove property 1, ab")
	v.Until(`document.querySelectorAll("dialog .property").length === 1`)
	v.Do(chromedp.SendKeys(chromedp.CSS("dialog"), kb.Escape))
	v.Sees("Discard unsaved changes?") // a removed row is a change, too
	v.Press("Discard")
	v.Until(`!document.querySelector("dialog")`)
}

// A user edits the metadata for a publication of a set. The page lists the missing fields.
func TestDescribeSet(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid := s.NewSet(t)
	path := "/sets/" + sid
	v := s.SignedIn(t, s.Key(), path)
	v.Sees("Missing for a publication: creators, publisher, year of publication, type.")
	describes(v, "Describe")
	tags(v, "Keywords", "radium", "salt")
	v.Fill("Publisher", "Example University")
	v.Fill("Year of publication", "2026")
	chooses(v, "Type", "Dataset")
	chooses(v, "Licence", "other")
	v.Fill("Identifier of the licence", "EUPL-1.1")
	chooses(v, "Licence", "CC-BY-4.0")
	v.Press("Add a creator")
	v.Fill("Name", "Curie, Marie")
	v.Fill("ORCID iD", "0000-0002-1825-0098")
	v.Sees("This ORCID iD has a typing error")
	v.Fill("ORCID iD", "https://orcid.org/0000-0002-1825-0097")
	v.Fill("Affiliations", "Sorbonne; Institut du Radium")
	chooses(v, "Kind", "person")
	v.Press("Add a related work")
	v.Fill("Identifier", "10.5072/x")
	v.Press("Add a date")
	v.Fill("Date or period", "2026-01-05 10:20Z/2026-03")
	v.Press("Add funding")
	v.Fill("Funder", "ERC")
	v.Press("Add a place")
	v.Fill("Latitude", "48.850")
	v.Fill("Longitude", "2.35")
	v.Press("Add a creator") // an empty row is ignored
	v.Shots("describe-set")
	saved(v)
	v.Sees("Curie, Marie", "ORCID 0000-0002-1825-0097", "Sorbonne; Institut du Radium", "is supplement to", "collected 2026-01-05T10:20Z to 2026-03", "latitude 48.850°")
	v.SeesNot("Missing for a publication")
	v.Shots("described-set")
	want := `{"creators":[{"name":"Curie, Marie","type":"person","orcid":"0000-0002-1825-0097","affiliations":["Sorbonne","Institut du Radium"]}],` +
		`"publisher":"Example University","publicationYear":2026,"resourceType":"Dataset","licence":"CC-BY-4.0","keywords":["radium","salt"],` +
		`"related":[{"identifier":"10.5072/x","type":"DOI","relation":"IsSupplementTo"}],"dates":[{"date":"2026-01-05T10:20Z/2026-03","type":"Collected"}],` +
		`"funding":[{"funder":"ERC"}],"places":[{"latitude":48.850,"longitude":2.35}]}`
	if got := metadata(t, s, path); got != want {
		t.Errorf("the metadata of the set are %s, want %s", got, want)
	}
	v.At(path + "/history")
	v.Sees("Creators", "name: Curie, Marie; type: person", "Year of publication", "radium, salt")
	v.Shot("described-history")

	v.At("/dataspaces/" + did)
	describes(v, "Describe")
	tags(v, "Tags", "lab")
	v.SeesNot("Year of publication")
	saved(v)
	if got, want := metadata(t, s, "/dataspaces/"+did), `{"tags":["lab"]}`; got != want {
		t.Errorf("the metadata of the dataspace are %s, want %s", got, want)
	}
}

// Concurrent changes of different properties are merged. For changes of the same property, the form
// asks which value to keep. Members cannot edit.
func TestDescribeConflicts(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid := s.NewSet(t)
	path := "/resources/" + s.Put(t, sid, "a.txt")[0]
	describe(t, s, "PATCH", path, `{"tags":["old"],"properties":{"a":1,"b":1}}`)
	v := s.SignedIn(t, s.Key(), path, "status of 412")
	describes(v, "Edit metadata")
	describe(t, s, "PATCH", path, `{"properties":{"b":2,"c":3}}`)
	v.Fill("Value 1", "10")
	saved(v)
	if got, want := metadata(t, s, path), `{"tags":["old"],"properties":{"a":10,"b":2,"c":3}}`; got != want {
		t.Errorf("the metadata of the file are %s, want %s", got, want)
	}
	describes(v, "Edit metadata")
	describe(t, s, "PATCH", path, `{"tags":["theirs"]}`)
	tags(v, "Tags", "mine")
	v.Submit()
	v.Sees("Tags: which value should be kept?", "theirs")
	v.Shot("describe-conflict")
	browser.Click(v, chromedp.Search(`//fieldset//label[contains(., "Yours")]`))
	saved(v)
	if got, want := metadata(t, s, path), `{"tags":["old","mine"],"properties":{"a":10,"b":2,"c":3}}`; got != want {
		t.Errorf("the metadata of the file are %s, want %s", got, want)
	}
	mary := s.Person(t, "mary", "member", did)
	w := s.SignedIn(t, mary.Key, path)
	w.Sees("mine")
	w.SeesNot("Edit metadata")
}

// A user adds a tag and a property to twenty selected files in one edit, after a preview. One click
// undoes the edit, and keeps concurrent changes of other users.
func TestDescribeMany(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	var names []string
	for i := range 20 {
		names = append(names, fmt.Sprintf("%02d.txt", i))
	}
	ids := s.Put(t, sid, names...)
	describe(t, s, "PATCH", "/resources/"+ids[0], `{"tags":["first","raw"]}`)
	v := s.SignedIn(t, s.Key(), "/sets/"+sid)
	toggle(v, names...)
	selected(v, 20)
	describes(v, "Describe …")
	tags(v, "Add tags", "deep ice")
	tags(v, "Remove tags", "raw")
	v.Press("Set a property")
	v.Fill("Name 1", "temperature")
	v.Fill("Value 1", "-5")
	v.Fill("Unit 1", "°C")
	v.Shots("describe-many")
	v.Submit()
	v.Sees("20 files change.", "first; raw", "first; deep ice", "-5 °C")
	v.Shots("describe-many-preview")
	if got := metadata(t, s, "/resources/"+ids[1]); got != "{}" {
		t.Errorf("a preview has changed the metadata of a file to %s", got)
	}
	v.Press("Back")
	v.Until(`document.querySelector("[aria-label='Value 1']").value === "-5"`) // the typed values remain
	v.Submit()
	v.Press("Change 20 files")
	v.Sees("20 files changed.")
	v.Until(`!document.querySelector("dialog")`)
	v.Shots("describe-many-done")
	want := `{"tags":["deep ice"],"properties":{"temperature":{"value":-5,"unit":"°C"}}}`
	for i, id := range ids {
		want := want
		if i == 0 {
			want = strings.Replace(want, "[", `["first",`, 1)
		}
		if got := metadata(t, s, "/resources/"+id); got != want {
			t.Errorf("the metadata of %s are %s, want %s", names[i], got, want)
		}
	}
	describe(t, s, "PATCH", "/resources/"+ids[7], `{"tags":["mine"]}`)
	v.Press("Undo")
	v.Sees("Undone: 19 files are as before.", "07.txt was not changed")
	v.Shots("undone-in-part")
	for i, want := range map[int]string{0: `{"tags":["first","raw"]}`, 1: `{}`, 7: strings.Replace(want, "deep ice", "mine", 1)} {
		if got := metadata(t, s, "/resources/"+ids[i]); got != want {
			t.Errorf("after undo, the metadata of %s are %s, want %s", names[i], got, want)
		}
	}
}

// The pages use the same vocabularies as the service.
func TestVocabulariesOfPages(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../../../../web/src/describe/vocabulary.ts")
	if err != nil {
		t.Fatal(err)
	}
	words := func(name string) []string {
		found := regexp.MustCompile("(?s)const " + name + " = words\\(`(.*?)`\\)").FindSubmatch(source)
		if found == nil {
			t.Fatalf("vocabulary.ts has no %s", name)
		}
		return strings.Fields(string(found[1]))
	}
	for name, want := range map[string][]string{
		"resourceTypes": descriptive.ResourceTypes(), "identifierTypes": descriptive.IdentifierTypes(),
		"relationTypes": descriptive.RelationTypes(), "dateTypes": descriptive.DateTypes(),
	} {
		if got := words(name); !slices.Equal(got, want) {
			t.Errorf("%s are %q, want %q", name, got, want)
		}
	}
	licences := regexp.MustCompile(`(?m)^      \["([^"]+)", "`).FindAllSubmatch(source, -1)
	if len(licences) < 10 {
		t.Errorf("the pages offer %d licences", len(licences))
	}
	for _, licence := range licences {
		if id := string(licence[1]); !slices.Contains(descriptive.Licences(), id) {
			t.Errorf("%s is not a licence of SPDX", id)
		}
	}
}
