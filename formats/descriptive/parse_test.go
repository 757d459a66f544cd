package descriptive_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"labshelf/formats/descriptive"
)

// typical is the metadata of a well-described set, in canonical form.
const typical = `{"creators":[{"name":"Curie, Marie","givenName":"Marie","familyName":"Curie","type":"person","orcid":"0000-0002-1825-0097","affiliations":["Université de Paris"]}],` +
	`"publisher":"Example University","publicationYear":2026,"resourceType":"Dataset","licence":"CC-BY-4.0","keywords":["radium","polonium"],` +
	`"related":[{"identifier":"10.5072/x","type":"DOI","relation":"IsSupplementTo"}],"dates":[{"date":"2026-01/2026-03","type":"Collected"}],` +
	`"places":[{"name":"Paris","latitude":48.850,"longitude":2.35}],"tags":["raw","to check"],` +
	`"properties":{"n":3.0,"ok":true,"operator":"Ada","runs":[1,2],"sample":{"id":"S1"},"temperature":{"value":20,"unit":"°C"}}}`

func TestParseAndAppend(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, in, want string }{
		{"nothing", ` { } `, `{}`},
		{"everything", typical, typical},
		{"members in another order", `{"tags":["a"],"publisher":"P"}`, `{"publisher":"P","tags":["a"]}`},
		{"empty lists and strings", `{"tags":[],"creators":[],"publisher":"","properties":{}}`, `{}`},
		{"properties out of order", `{"properties":{"b":1,"a":2}}`, `{"properties":{"a":2,"b":1}}`},
		{"numbers as written", `{"properties":{"a":[1.0,1e3,-0,0.10]}}`, `{"properties":{"a":[1.0,1e3,-0,0.10]}}`},
		{"empty values stay", `{"properties":{"a":"","b":[],"c":{}}}`, `{"properties":{"a":"","b":[],"c":{}}}`},
		{"a quantity's unit first", `{"properties":{"t":{"unit":"K","value":1}}}`, `{"properties":{"t":{"value":1,"unit":"K"}}}`},
		{"no quantity at the top", `{"properties":{"value":1,"unit":"K"}}`, `{"properties":{"unit":"K","value":1}}`},
		{"no quantity with more", `{"properties":{"t":{"value":1,"unit":"K","sensor":2}}}`, `{"properties":{"t":{"sensor":2,"unit":"K","value":1}}}`},
		{"no quantity without a unit", `{"properties":{"t":{"value":1,"a":2},"u":{"value":1}}}`, `{"properties":{"t":{"a":2,"value":1},"u":{"value":1}}}`},
		{"no quantity without a number", `{"properties":{"t":{"value":"1","unit":"K"}}}`, `{"properties":{"t":{"unit":"K","value":"1"}}}`},
		{"a composed letter", "{\"tags\":[\"e\u0301\"],\"properties\":{\"e\u0301\":1}}", "{\"tags\":[\"\u00e9\"],\"properties\":{\"\u00e9\":1}}"},
		{"a schema", `{"schema":{"version":3,"id":"x"},"properties":{"a":1}}`, `{"properties":{"a":1},"schema":{"id":"x","version":3}}`},
		{"half a schema", `{"schema":{"version":3}}`, `{"schema":{"version":3}}`},
		{"no schema", `{"schema":{},"sources":{}}`, `{}`},
		{"sources", `{"sources":{"b":"header","a":"sidecar"},"properties":{"a":1,"b":2}}`, `{"properties":{"a":1,"b":2},"sources":{"a":"sidecar","b":"header"}}`},
		{"a composed source", "{\"properties\":{\"e\u0301\":1},\"sources\":{\"e\u0301\":\"header\"}}", "{\"properties\":{\"\u00e9\":1},\"sources\":{\"\u00e9\":\"header\"}}"},
		{"escapes", `{"tags":["\u0041\u00e9"]}`, `{"tags":["Aé"]}`},
	} {
		m, err := descriptive.Parse([]byte(test.in))
		if got := string(m.Append([]byte("x"))); err != nil || got != "x"+test.want {
			t.Errorf("%s: %s, %v, want %s", test.name, got, err, test.want)
		}
		if m.IsZero() != (test.want == `{}`) {
			t.Errorf("%s: IsZero %t", test.name, m.IsZero())
		}
		if err := m.Validate(descriptive.Set); err != nil && !strings.Contains(test.name, "schema") && !strings.Contains(test.name, "source") {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":`, 8) + "1" + strings.Repeat("}", 8)
	for _, test := range []struct{ in, want string }{
		{``, "metadata must be valid JSON; at byte 0: unexpected EOF"},
		{`{"tags":["a"]`, "metadata must be valid JSON; at byte 13: unexpected EOF"},
		{`{} {}`, "metadata must be valid JSON; at byte 3: invalid character"},
		{`{} x`, "metadata must be valid JSON; at byte 3: invalid character"},
		{`[]`, "metadata must be an object"},
		{`null`, "metadata must not be null"},
		{`{"title":"x"}`, "metadata.title is unknown"},
		{`{"Tags":[]}`, "metadata.Tags is unknown"},
		{`{"creators":[{"name":"a"},{"name":"b","email":"c"}]}`, "metadata.creators.1.email is unknown"},
		{`{"tags":null}`, "metadata.tags must not be null"},
		{`{"tags":[null]}`, "metadata.tags.0 must not be null"},
		{`{"places":[{"latitude":null}]}`, "metadata.places.0.latitude must not be null"},
		{`{"properties":null}`, "metadata.properties must not be null"},
		{`{"properties":{"a":{"b":null}}}`, "metadata.properties.a.b must not be null"},
		{`{"tags":["a"],"tags":["b"]}`, "metadata.tags must not occur twice"},
		{`{"properties":{"a":{"b":1,"b":2}}}`, "metadata.properties.a.b must not occur twice"},
		{"{\"properties\":{\"e\u0301\":1,\"\u00e9\":2}}", "metadata.properties.é must not occur twice"},
		{`{"tags":"a"}`, "metadata.tags must be a list"},
		{`{"tags":[1]}`, "metadata.tags.0 must be a string"},
		{`{"creators":[[]]}`, "metadata.creators.0 must be an object"},
		{`{"publicationYear":"2026"}`, "metadata.publicationYear must be a whole number"},
		{`{"publicationYear":2026.5}`, "metadata.publicationYear must be a whole number"},
		{`{"places":[{"latitude":"1"}]}`, "metadata.places.0.latitude must be a number"},
		{`{"properties":[]}`, "metadata.properties must be an object"},
		{`{"schema":"x"}`, "metadata.schema must be an object"},
		{`{"schema":{"id":1}}`, "metadata.schema.id must be a string"},
		{`{"schema":{"version":1.5}}`, "metadata.schema.version must be a whole number"},
		{`{"schema":{"name":"x"}}`, "metadata.schema.name is unknown"},
		{`{"sources":[]}`, "metadata.sources must be an object"},
		{`{"sources":{"a":1}}`, "metadata.sources.a must be a string"},
		{`{"sources":{"a":null}}`, "metadata.sources.a must not be null"},
		{"{\"sources\":{\"e\u0301\":\"header\",\"\u00e9\":\"header\"}}", "metadata.sources.é must not occur twice"},
		{`{"properties":{"a":1e999}}`, "metadata.properties.a must be a number that fits into 64 bits of floating point"},
		{`{"properties":{"a":` + deep + `}}`, "metadata.properties.a.a.a.a.a.a.a.a must not nest lists and groups deeper than 8 levels"},
		{"{\"tags\":[\"\xff\"]}", "metadata.tags.0 must be valid JSON; at byte 10: invalid UTF-8"},
		{`{"tags":["\ud800"]}`, "metadata.tags.0 must be valid JSON; at byte 10: invalid surrogate pair"},
	} {
		m, err := descriptive.Parse([]byte(test.in))
		var known *descriptive.Error
		if !errors.As(err, &known) || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.in, err, test.want)
		}
		if !m.IsZero() {
			t.Errorf("%s: %+v", test.in, m)
		}
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ before, patch, want string }{
		{typical, `{}`, typical},
		{typical, `null`, `{}`},
		{`{"tags":["a","b"]}`, `{"tags":["c"]}`, `{"tags":["c"]}`},
		{`{"publisher":"P","tags":["a"]}`, `{"tags":null}`, `{"publisher":"P"}`},
		{`{}`, `{"tags":null,"properties":{"a":null,"b":{"c":null}}}`, `{"properties":{"b":{}}}`},
		{`{"properties":{"a":1,"b":2}}`, `{"properties":{"a":null,"c":3}}`, `{"properties":{"b":2,"c":3}}`},
		{`{"properties":{"a":{"b":1,"c":2}}}`, `{"properties":{"a":{"b":null}}}`, `{"properties":{"a":{"c":2}}}`},
		{`{"properties":{"a":1}}`, `{"properties":{"a":{"b":2}}}`, `{"properties":{"a":{"b":2}}}`},
		{`{"properties":{"t":{"value":20,"unit":"K"}}}`, `{"properties":{"t":{"value":21.50}}}`, `{"properties":{"t":{"value":21.50,"unit":"K"}}}`},
		{`{"properties":{"t":{"value":20,"unit":"K"}}}`, `{"properties":{"t":21}}`, `{"properties":{"t":21}}`},
		{"{\"properties\":{\"\u00e9\":1}}", "{\"properties\":{\"e\u0301\":null}}", `{}`},
		{`{"schema":{"id":"x","version":3}}`, `{"schema":{"version":4}}`, `{"schema":{"id":"x","version":4}}`},
		{`{"schema":{"id":"x","version":3}}`, `{"schema":null}`, `{}`},
		{`{"properties":{"a":1},"sources":{"a":"header","b":"sidecar"}}`, `{"sources":{"a":null}}`, `{"properties":{"a":1},"sources":{"b":"sidecar"}}`},
	} {
		before := parse(t, test.before)
		after, err := before.Merge([]byte(test.patch))
		if got := string(after.Append(nil)); err != nil || got != test.want {
			t.Errorf("%s to %s: %s, %v, want %s", test.patch, test.before, got, err, test.want)
		}
		if string(before.Append(nil)) != test.before {
			t.Errorf("%s changed %s", test.patch, test.before)
		}
	}
	deep := strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000)
	for _, patch := range []string{``, `[]`, `"x"`, `{"x":1}`, `{"tags":[null]}`, `{"tags":["a"],"tags":null}`, `{} {}`, "{\"properties\":{\"e\u0301\":1,\"\u00e9\":null}}", `{"properties":` + deep + `}`} {
		if _, err := parse(t, typical).Merge([]byte(patch)); !errors.As(err, new(*descriptive.Error)) {
			t.Errorf("%.50s: %v", patch, err)
		}
	}
}

// TestMergePositions tests the positions in errors: they count the bytes of the patch, from 0.
func TestMergePositions(t *testing.T) {
	t.Parallel()
	for patch, want := range map[string]string{
		`{"a":x}`:              "metadata.a must be valid JSON; at byte 5: ",
		"\ufeff\n{\"a\":x}":    "metadata.a must be valid JSON; at byte 9: ",
		`{} {}`:                "metadata must not be followed by other text, which begins at byte 3",
		"\ufeff \u00a0{}\t x ": "metadata must not be followed by other text, which begins at byte 10",
	} {
		if _, err := (descriptive.Metadata{}).Merge([]byte(patch)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", patch, err, want)
		}
	}
}

// TestMergeReference compares the results of patches with the results of another program, which
// testdata/merge.py writes.
func TestMergeReference(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/merge.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	changed := 0
	for line := range bytes.Lines(text) {
		var row [3]json.RawMessage
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		before, want := parse(t, string(row[0])), parse(t, string(row[2]))
		got, err := before.Merge(row[1])
		if err != nil || !got.Equal(want) {
			t.Errorf("%s to %s: %s, %v, want %s", row[1], row[0], got.Append(nil), err, row[2])
		}
		changed += min(1, len(descriptive.Changes(before, got)))
	}
	if changed < 200 {
		t.Errorf("only %d patches changed anything", changed)
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	before := parse(t, `{"publisher":"P","tags":["a"],"properties":{"a":1,"b":{"c":1},"d":2}}`)
	after := parse(t, `{"publisher":"Q","properties":{"a":1.0,"b":{"c":1},"e":[3]}}`)
	got := fmt.Sprintf("%q", descriptive.Changes(before, after))
	want := `[{"properties.a" "1" "1.0"} {"properties.d" "2" ""} {"properties.e" "" "[3]"} {"publisher" "\"P\"" "\"Q\""} {"tags" "[\"a\"]" ""}]`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	before = parse(t, `{"properties":{"a":1},"schema":{"id":"x","version":1},"sources":{"a":"header"}}`)
	after = parse(t, `{"properties":{"a":1},"schema":{"id":"x","version":2}}`)
	got = fmt.Sprintf("%q", descriptive.Changes(before, after))
	want = `[{"schema" "{\"id\":\"x\",\"version\":1}" "{\"id\":\"x\",\"version\":2}"} {"sources" "{\"a\":\"header\"}" ""}]`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if changes := descriptive.Changes(before, before); changes != nil {
		t.Errorf("none: %q", changes)
	}
}

func TestWithinOtherJSON(t *testing.T) {
	t.Parallel()
	var record struct {
		Metadata descriptive.Metadata `json:"metadata"`
	}
	if err := json.Unmarshal([]byte(`{"metadata":`+typical+`}`), &record); err != nil {
		t.Fatal(err)
	}
	if text, err := json.Marshal(record); err != nil || string(text) != `{"metadata":`+typical+`}` {
		t.Errorf("%s, %v", text, err)
	}
	if err := json.Unmarshal([]byte(`{"metadata":{"tags":[1]}}`), &record); !errors.As(err, new(*descriptive.Error)) {
		t.Error(err)
	}
}

func parse(t testing.TB, text string) descriptive.Metadata {
	t.Helper()
	m, err := descriptive.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}
