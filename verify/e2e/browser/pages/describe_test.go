package browser

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
)

// metadata returns the descriptive metadata of the record at a path of the interface, in canonical
// form; {} for none.
func (s *site) metadata(t *testing.T, path string) string {
	t.Helper()
	var record struct{ Metadata json.RawMessage }
	if err := s.Call(t.Context(), "GET", path, nil, &record); err != nil {
		t.Fatal(err)
	}
	if record.Metadata == nil { // nothing is said
		return "{}"
	}
	said, err := descriptive.Parse(record.Metadata)
	if err != nil {
		t.Fatal(err)
	}
	return string(said.Append(nil))
}

// describe changes the metadata of a record by a merge patch.
func (s *site) describe(t *testing.T, method, path, patch string) {
	t.Helper()
	s.call(t, method, path, map[string]any{"metadata": json.RawMessage(patch)})
}

// describes presses the button that opens the form of metadata.
func (v *visitor) describes(button string) {
	v.t.Helper()
	v.press(button)
	v.until(`document.querySelector("dialog .describe")`)
}

// tags types words into the field of tags, each with Enter.
func (v *visitor) tags(label string, words ...string) {
	v.t.Helper()
	for _, word := range words {
		v.do(chromedp.Focus(field(label)), chromedp.SendKeys(field(label), word))
		v.key("Enter", "Enter", "\r")
	}
}

// saved submits the dialog and waits until it is closed.
func (v *visitor) saved() {
	v.t.Helper()
	v.submit()
	v.until(`!document.querySelector("dialog")`)
}

// chooses selects an option of the control with this label, as a user does with the keyboard.
func (v *visitor) chooses(label, value string) {
	v.t.Helper()
	v.do(chromedp.SetValue(field(label), value))
	v.do(chromedp.Focus(field(label)), chromedp.Evaluate[chromedp.Void](`void document.activeElement.dispatchEvent(new Event("change", {bubbles: true}))`))
}

// A file is described by tags and properties of every kind. What a value is, is recognised; numbers
// stay as they are typed.
func TestDescribeFile(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.makeSet(t)
	path := "/resources/" + s.put(t, sid, "a.txt")[0]
	v := s.signedIn(t, s.Key(), path)
	v.describes("Describe")
	v.tags("Tags", "ice", "deep core", "wrong")
	v.press("Remove wrong")
	v.fill("Name 1", "temperature")
	v.fill("Value 1", "20.0")
	v.fill("Unit 1", "°C")
	for i, row := range [][2]string{{"operator", "Ada"}, {"ok", "yes"}, {"sampled", "2026-01-31"}, {"runs", `[1, 2.50, "b"]`}, {"sample", `{"id": "S1"}`}, {"code", "0042"}, {"tags", "constructor"}} {
		v.press("Add a property")
		v.fill(fmt.Sprintf("Name %d", i+2), row[0])
		v.fill(fmt.Sprintf("Value %d", i+2), row[1])
	}
	v.shots("describe-file")
	v.saved()
	v.sees("temperature", "20.0 °C", "operator", "sample › id", "deep core")
	v.shots("described-file")
	want := `{"tags":["ice","deep core"],"properties":{"code":"0042","ok":true,"operator":"Ada","runs":[1,2.50,"b"],"sample":{"id":"S1"},` +
		`"sampled":"2026-01-31","tags":"constructor","temperature":{"value":20.0,"unit":"°C"}}}`
	if got := s.metadata(t, path); got != want {
		t.Errorf("the file says %s, want %s", got, want)
	}

	v.describes("Edit metadata")
	v.do(chromedp.Evaluate[chromedp.Void](`void ((send) => (window.fetch = (to, init) => (init?.method === "PATCH" && (window.sent = init.body), send(to, init))))(fetch)`))
	v.press("Remove property 3, operator")
	v.fill("Unit 7", "K") // temperature, now without the row of the operator
	v.do(chromedp.Focus(field("Tags")), chromedp.SendKeys(field("Tags"), "typed"))
	v.saved() // a word that is typed is added
	v.seesNot("Ada")
	if want := `{"metadata":{"tags":["ice","deep core","typed"],"properties":{"operator":null,"temperature":{"unit":"K"}}}}`; want != get(v, chromedp.Evaluate[string]("sent")) {
		t.Errorf("sent is %s, want %s", get(v, chromedp.Evaluate[string]("sent")), want)
	}
}

// Numbers are read as people write them, by the rule of the service; what can be read in two ways
// is refused.
func TestTypedNumbers(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.makeSet(t)
	path := "/resources/" + s.put(t, sid, "a.txt")[0]
	v := s.signedIn(t, s.Key(), path)
	v.describes("Describe")
	v.fill("Name 1", "temperature")
	v.fill("Value 1", "37,5")
	v.fill("Unit 1", "°C")
	for i, typed := range []string{"1.234,5", "1'234", "−5", "12h30", "5/2", "1_000"} {
		v.press("Add a property")
		v.fill(fmt.Sprintf("Name %d", i+2), string(rune('a'+i)))
		v.fill(fmt.Sprintf("Value %d", i+2), typed)
	}
	v.press("Add a property")
	v.fill("Name 8", "p")
	v.fill("Value 8", "1,234")
	v.sees("This can be read in two ways. Write 1.234 or 1234.")
	v.fill("Value 8", "1234")
	v.saved()
	want := `{"properties":{"a":1234.5,"b":1234,"c":-5,"d":"12h30","e":"5/2","f":"1_000","p":1234,"temperature":{"value":37.5,"unit":"°C"}}}`
	if got := s.metadata(t, path); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A field that the service refuses is named next to it, and what was typed stays. Nothing is
// discarded without a question.
func TestDescribeErrors(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.makeSet(t)
	path := "/resources/" + s.put(t, sid, "a.txt")[0]
	v := s.signedIn(t, s.Key(), path, "status of 400")
	v.describes("Describe")
	v.fill("Name 1", "a.b")
	v.fill("Value 1", "1")
	v.press("Add a property")
	v.fill("Name 2", "a.b")
	v.fill("Value 2", "2")
	v.submit() // the browser refuses
	v.sees("Another property has this name.")
	v.fill("Name 2", "width")
	v.chooses("Kind 2", "number")
	v.fill("Value 2", "wide")
	v.sees("This is not a number.")
	v.fill("Value 2", "2")
	v.submit()
	v.until(`[...document.querySelectorAll("dialog .property .error")].filter((e) => e.innerText.includes("metadata.properties")).length === 1`)
	v.until(`!document.querySelector("dialog .note.bad")`)
	v.shot("describe-refused")
	v.do(chromedp.SendKeys(chromedp.CSS("dialog"), kb.Escape))
	v.sees("Discard unsaved changes?")
	v.press("Keep editing")
	v.fill("Name 1", "ab")
	v.saved()
	if got, want := s.metadata(t, path), `{"properties":{"ab":1,"width":2}}`; got != want {
		t.Errorf("the file says %s, want %s", got, want)
	}
	v.describes("Edit metadata")
	v.press("Remove property 1, ab")
	v.until(`document.querySelectorAll("dialog .property").length === 1`)
	v.do(chromedp.SendKeys(chromedp.CSS("dialog"), kb.Escape))
	v.sees("Discard unsaved changes?") // a row that is gone is a change, too
	v.press("Discard")
	v.until(`!document.querySelector("dialog")`)
}

// A set gets what a publication needs; the page lists what is missing until then.
func TestDescribeSet(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.makeSet(t)
	path := "/sets/" + sid
	v := s.signedIn(t, s.Key(), path)
	v.sees("Missing for a publication: creators, publisher, year of publication, type.")
	v.describes("Describe")
	v.tags("Keywords", "radium", "salt")
	v.fill("Publisher", "Example University")
	v.fill("Year of publication", "2026")
	v.chooses("Type", "Dataset")
	v.chooses("Licence", "other")
	v.fill("Identifier of the licence", "EUPL-1.1")
	v.chooses("Licence", "CC-BY-4.0")
	v.press("Add a creator")
	v.fill("Name", "Curie, Marie")
	v.fill("ORCID iD", "0000-0002-1825-0098")
	v.sees("This ORCID iD has a typing error")
	v.fill("ORCID iD", "https://orcid.org/0000-0002-1825-0097")
	v.fill("Affiliations", "Sorbonne; Institut du Radium")
	v.chooses("Kind", "person")
	v.press("Add a related work")
	v.fill("Identifier", "10.5072/x")
	v.press("Add a date")
	v.fill("Date or period", "2026-01-05 10:20Z/2026-03")
	v.press("Add funding")
	v.fill("Funder", "ERC")
	v.press("Add a place")
	v.fill("Latitude", "48.850")
	v.fill("Longitude", "2.35")
	v.press("Add a creator") // and says nothing of it
	v.shots("describe-set")
	v.saved()
	v.sees("Curie, Marie", "ORCID 0000-0002-1825-0097", "Sorbonne; Institut du Radium", "is supplement to", "collected 2026-01-05T10:20Z to 2026-03", "latitude 48.850°")
	v.seesNot("Missing for a publication")
	v.shots("described-set")
	want := `{"creators":[{"name":"Curie, Marie","type":"person","orcid":"0000-0002-1825-0097","affiliations":["Sorbonne","Institut du Radium"]}],` +
		`"publisher":"Example University","publicationYear":2026,"resourceType":"Dataset","licence":"CC-BY-4.0","keywords":["radium","salt"],` +
		`"related":[{"identifier":"10.5072/x","type":"DOI","relation":"IsSupplementTo"}],"dates":[{"date":"2026-01-05T10:20Z/2026-03","type":"Collected"}],` +
		`"funding":[{"funder":"ERC"}],"places":[{"latitude":48.850,"longitude":2.35}]}`
	if got := s.metadata(t, path); got != want {
		t.Errorf("the set says %s, want %s", got, want)
	}
	v.at(path + "/history")
	v.sees("Creators", "name: Curie, Marie; type: person", "Year of publication", "radium, salt")
	v.shot("described-history")

	v.at("/dataspaces/" + did)
	v.describes("Describe")
	v.tags("Tags", "lab")
	v.seesNot("Year of publication")
	v.saved()
	if got, want := s.metadata(t, "/dataspaces/"+did), `{"tags":["lab"]}`; got != want {
		t.Errorf("the dataspace says %s, want %s", got, want)
	}
}

// Changes of different properties merge; of the same one the form asks which value to keep. Members
// cannot edit.
func TestDescribeConflicts(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.makeSet(t)
	path := "/resources/" + s.put(t, sid, "a.txt")[0]
	s.describe(t, "PATCH", path, `{"tags":["old"],"properties":{"a":1,"b":1}}`)
	v := s.signedIn(t, s.Key(), path, "status of 412")
	v.describes("Edit metadata")
	s.describe(t, "PATCH", path, `{"properties":{"b":2,"c":3}}`)
	v.fill("Value 1", "10")
	v.saved()
	if got, want := s.metadata(t, path), `{"tags":["old"],"properties":{"a":10,"b":2,"c":3}}`; got != want {
		t.Errorf("the file says %s, want %s", got, want)
	}
	v.describes("Edit metadata")
	s.describe(t, "PATCH", path, `{"tags":["theirs"]}`)
	v.tags("Tags", "mine")
	v.submit()
	v.sees("Tags: which value should be kept?", "theirs")
	v.shot("describe-conflict")
	click(v, chromedp.Search(`//fieldset//label[contains(., "Yours")]`))
	v.saved()
	if got, want := s.metadata(t, path), `{"tags":["old","mine"],"properties":{"a":10,"b":2,"c":3}}`; got != want {
		t.Errorf("the file says %s, want %s", got, want)
	}
	mary := s.person(t, "mary", "member", did)
	w := s.signedIn(t, mary.key, path)
	w.sees("mine")
	w.seesNot("Edit metadata")
}

// Twenty selected files get a tag and a property, after a preview, in one edit that one click
// undoes. What somebody changes meanwhile stays.
func TestDescribeMany(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.makeSet(t)
	var names []string
	for i := range 20 {
		names = append(names, fmt.Sprintf("%02d.txt", i))
	}
	ids := s.put(t, sid, names...)
	s.describe(t, "PATCH", "/resources/"+ids[0], `{"tags":["first","raw"]}`)
	v := s.signedIn(t, s.Key(), "/sets/"+sid)
	v.toggle(names...)
	v.selected(20)
	v.describes("Describe …")
	v.tags("Add tags", "deep ice")
	v.tags("Remove tags", "raw")
	v.press("Set a property")
	v.fill("Name 1", "temperature")
	v.fill("Value 1", "-5")
	v.fill("Unit 1", "°C")
	v.shots("describe-many")
	v.submit()
	v.sees("20 files change.", "first; raw", "first; deep ice", "-5 °C")
	v.shots("describe-many-preview")
	if got := s.metadata(t, "/resources/"+ids[1]); got != "{}" {
		t.Errorf("a preview has made %s of a file", got)
	}
	v.press("Back")
	v.until(`document.querySelector("[aria-label='Value 1']").value === "-5"`) // what was typed is there still
	v.submit()
	v.press("Change 20 files")
	v.sees("20 files changed.")
	v.until(`!document.querySelector("dialog")`)
	v.shots("describe-many-done")
	want := `{"tags":["deep ice"],"properties":{"temperature":{"value":-5,"unit":"°C"}}}`
	for i, id := range ids {
		want := want
		if i == 0 {
			want = strings.Replace(want, "[", `["first",`, 1)
		}
		if got := s.metadata(t, "/resources/"+id); got != want {
			t.Errorf("%s says %s, want %s", names[i], got, want)
		}
	}
	s.describe(t, "PATCH", "/resources/"+ids[7], `{"tags":["mine"]}`)
	v.press("Undo")
	v.sees("Undone: 19 files are as before.", "07.txt was left as it is")
	v.shots("undone-in-part")
	for i, want := range map[int]string{0: `{"tags":["first","raw"]}`, 1: `{}`, 7: strings.Replace(want, "deep ice", "mine", 1)} {
		if got := s.metadata(t, "/resources/"+ids[i]); got != want {
			t.Errorf("after undo %s says %s, want %s", names[i], got, want)
		}
	}
}

// The vocabularies of the pages are those of the service.
func TestVocabulariesOfPages(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../../../web/src/describe/vocabulary.ts")
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
			t.Errorf("%s is no licence of SPDX", id)
		}
	}
}
