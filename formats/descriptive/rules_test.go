package descriptive_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"labshelf/formats/descriptive"
)

func TestValidateRefuses(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 501)
	for _, test := range []struct{ in, want string }{
		{`{"creators":[{}]}`, "metadata.creators.0.name must be present, and not empty"},
		{`{"creators":[{"name":"a"},{"name":" b"}]}`, "metadata.creators.1.name must not begin or end with white space"},
		{`{"creators":[{"name":"a","type":"robot"}]}`, "metadata.creators.0.type must be one of organization, person"},
		{`{"creators":[{"name":"a","orcid":"0000-0002-1825-0098"}]}`, "metadata.creators.0.orcid must be an ORCID iD"},
		{`{"creators":[{"name":"a","type":"organization","orcid":"0000-0002-1825-0097"}]}`, "metadata.creators.0.orcid is not available for an organization"},
		{`{"creators":[{"name":"a","affiliations":[""]}]}`, "metadata.creators.0.affiliations.0 must be present"},
		{`{"publisher":"` + long + `"}`, "metadata.publisher must have at most 500 bytes"},
		{`{"publisher":"a\nb"}`, "metadata.publisher must not have line breaks or tabs"},
		{`{"publisher":"a\u202eb"}`, "metadata.publisher must not have control or text-direction characters"},
		{`{"publicationYear":26}`, "metadata.publicationYear must be a year from 1000 to 9999"},
		{`{"resourceType":"dataset"}`, "metadata.resourceType must be one of Audiovisual, Award"},
		{`{"licence":"cc-by-4.0"}`, "metadata.licence must be an SPDX identifier"},
		{`{"licence":"# deprecated"}`, "metadata.licence must be an SPDX identifier"},
		{`{"keywords":["a","a"]}`, "metadata.keywords.1 must not occur twice"},
		{`{"related":[{"identifier":"x","type":"DOI","relation":"Cites"}]}`, "metadata.related.0.identifier must be a DOI"},
		{`{"related":[{"identifier":"javascript:alert(1)","type":"URL","relation":"Cites"}]}`, "metadata.related.0.identifier must be a URL that begins with https:// or http://"},
		{`{"related":[{"identifier":"x","type":"ISBN","relation":"Eats"}]}`, "metadata.related.0.relation must be one of Cites"},
		{`{"related":[{"identifier":"x","relation":"Cites"}]}`, "metadata.related.0.type must be present"},
		{`{"dates":[{"date":"yesterday","type":"Collected"}]}`, "metadata.dates.0.date must be a year"},
		{`{"dates":[{"date":"2026","type":"Birthday"}]}`, "metadata.dates.0.type must be one of Accepted"},
		{`{"funding":[{"award":"1"}]}`, "metadata.funding.0.funder must be present"},
		{`{"funding":[{"funder":"F","uri":"/x"}]}`, "metadata.funding.0.uri must be a URL that begins with https:// or http://"},
		{`{"places":[{}]}`, "metadata.places.0 must have a name, a point or a box"},
		{`{"places":[{"latitude":1}]}`, "metadata.places.0.longitude must be a number of degrees from -180 to 180"},
		{`{"places":[{"latitude":90.5,"longitude":0}]}`, "metadata.places.0.latitude must be a number of degrees from -90 to 90"},
		{`{"places":[{"latitude":1,"longitude":1,"box":{"west":1,"east":2,"south":3,"north":4}}]}`, "metadata.places.0 must not have both a point and a box"},
		{`{"places":[{"box":{"west":1,"east":2,"south":5,"north":4}}]}`, "metadata.places.0.box.north must not be less than south"},
		{`{"tags":["a,b"]}`, "metadata.tags.0 must not have a comma"},
		{`{"tags":[""]}`, "metadata.tags.0 must be present, and not empty"},
		{`{"tags":["` + long[:101] + `"]}`, "metadata.tags.0 must have at most 100 bytes"},
		{`{"tags":["a","b","a"]}`, "metadata.tags.2 must not occur twice"},
		{`{"tags":["a` + strings.Join(slices.Collect(numbers(100)), `","`) + `"]}`, "metadata.tags must have at most 100 elements"},
		{`{"properties":{"":1}}`, "metadata.properties. must have a name that begins with a letter or a digit"},
		{`{"properties":{"_a":1}}`, "metadata.properties._a must have a name that begins with a letter or a digit"},
		{`{"properties":{"a.b":1}}`, "metadata.properties.a.b must have a name of letters"},
		{`{"properties":{"a:b":1}}`, "metadata.properties.a:b must have a name of letters"},
		{`{"properties":{"a ":1}}`, "metadata.properties.a  must have a name of letters"},
		{`{"properties":{"` + long + `":1}}`, "metadata.properties." + long[:100] + "… must have a name of at most 100 bytes"},
		{`{"properties":{"a":[1,"\u0000"]}}`, "metadata.properties.a.1 must not have control"},
		{`{"properties":{"a":{"b":{"value":1,"unit":" K"}}}}`, "metadata.properties.a.b.unit must not begin or end with white space"},
		{`{"properties":{"a":"` + strings.Repeat("a", 16385) + `"}}`, "metadata.properties.a must have at most 16384 bytes"},
	} {
		err := parse(t, test.in).Validate(descriptive.Set)
		var known *descriptive.Error
		if !errors.As(err, &known) || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%.100s: %v, want %s", test.in, err, test.want)
		}
	}
}

// TestSchemaAndSources tests the schema and the sources of the properties of a file.
func TestSchemaAndSources(t *testing.T) {
	t.Parallel()
	const id = "01K5Z3V7Q8W9X0Y1Z2A3B4C5D6"
	for _, test := range []struct{ in, want string }{
		{`{"schema":{"id":"` + id + `","version":1}}`, ""},
		{`{"schema":{"version":1}}`, "metadata.schema.id must be the id of a schema"},
		{`{"schema":{"id":"` + strings.ToLower(id) + `","version":1}}`, "metadata.schema.id must be the id of a schema"},
		{`{"schema":{"id":"` + id + `"}}`, "metadata.schema.version must be the number of a version"},
		{`{"schema":{"id":"` + id + `","version":-1}}`, "metadata.schema.version must be the number of a version"},
		{`{"properties":{"a":1,"b":{"c":2}},"sources":{"a":"header","b":"sidecar"}}`, ""},
		{`{"properties":{"a":1},"sources":{"b":"header"}}`, "metadata.sources.b must be the source of an existing property"},
		{`{"properties":{"b":{"c":2}},"sources":{"c":"header"}}`, "metadata.sources.c must be the source of an existing property"},
		{`{"properties":{"a":1},"sources":{"a":"person"}}`, "metadata.sources.a must be one of header, sidecar"},
		{`{"properties":{"a":1},"sources":{"a":""}}`, "metadata.sources.a must be present"},
	} {
		got := ""
		if err := parse(t, test.in).Validate(descriptive.Resource); err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, test.want) || test.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", test.in, got, test.want)
		}
	}
	if err := parse(t, `{"properties":{"a":1},"sources":{"a":"header"}}`).Validate(descriptive.Set); err == nil {
		t.Error("a set has sources")
	}
}

// TestKeepSources tests that a changed or removed property loses its source. Other properties keep
// their sources.
func TestKeepSources(t *testing.T) {
	t.Parallel()
	const before = `{"properties":{"a":1,"b":[2],"c":3},"sources":{"a":"header","b":"sidecar"}}`
	for _, test := range []struct{ patch, want, added string }{
		{`{"tags":["t"]}`, `{"a":"header","b":"sidecar"}`, ""},
		{`{"properties":{"c":4}}`, `{"a":"header","b":"sidecar"}`, ""},
		{`{"properties":{"a":1,"b":[2]}}`, `{"a":"header","b":"sidecar"}`, ""},
		{`{"properties":{"a":1.0}}`, `{"b":"sidecar"}`, ""},
		{`{"properties":{"a":null,"b":[2,3]}}`, ``, ""},
		{`{"properties":null}`, ``, ""},
		{`{"sources":{"a":null}}`, `{"b":"sidecar"}`, ""},
		{`{"sources":null}`, ``, ""},
		{`{"sources":{"a":"header"},"properties":{"a":2}}`, `{"b":"sidecar"}`, ""},
		{`{"sources":{"a":"sidecar"}}`, `{"b":"sidecar"}`, "a"},
		{`{"sources":{"z":"header","c":"header"}}`, `{"a":"header","b":"sidecar"}`, "c"},
	} {
		m := parse(t, before)
		after, err := m.Merge([]byte(test.patch))
		if err != nil {
			t.Fatal(err)
		}
		if name, ok := after.Sources.Added(m.Sources); name != test.added || ok != (test.added != "") {
			t.Errorf("%s: added %q", test.patch, name)
		}
		after.KeepSources(m)
		want := parse(t, `{"sources":`+cmp.Or(test.want, "{}")+`}`)
		if got := (descriptive.Metadata{Sources: after.Sources}); !got.Equal(want) {
			t.Errorf("%s: %s, want %s", test.patch, got.Append(nil), test.want)
		}
		if !m.Equal(parse(t, before)) {
			t.Errorf("%s changed the former metadata", test.patch)
		}
	}
}

func numbers(n int) func(func(string) bool) {
	return func(yield func(string) bool) {
		for i := range n + 1 {
			if !yield(fmt.Sprint(i)) {
				return
			}
		}
	}
}

func TestValidateAccepts(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		`{"creators":[{"name":"a","orcid":"0000-0002-1694-233X"},{"name":"CERN","type":"organization"}]}`,
		`{"licence":"GPL-3.0"}`, `{"licence":"0BSD"}`, `{"licence":"wxWindows"}`,
		`{"related":[{"identifier":"https://example.org/a?b","type":"URL","relation":"Cites"}]}`,
		`{"dates":[{"date":"0079-08-24","type":"Coverage","information":"a\nb"}]}`,
		`{"places":[{"name":"x"},{"latitude":-90,"longitude":180.0},{"box":{"west":170,"east":-170,"south":0,"north":0}}]}`,
		`{"properties":{"µ (°C) %/-_":1,"हिन्दी":2,"2θ":3,"日本語":"a\r\nb\tc"}}`,
		`{"tags":["` + strings.Join(slices.Collect(numbers(99)), `","`) + `"]}`,
	} {
		if err := parse(t, in).Validate(descriptive.Set); err != nil {
			t.Errorf("%s: %v", in, err)
		}
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	examples := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(typical), &examples); err != nil {
		t.Fatal(err)
	}
	examples["schema"] = json.RawMessage(`{"id":"01K5Z3V7Q8W9X0Y1Z2A3B4C5D6","version":3}`)
	examples["funding"] = json.RawMessage(`[{"funder":"F"}]`)
	allowed := map[descriptive.Kind]string{
		descriptive.Dataspace: "creators funding keywords licence properties publisher tags",
		descriptive.Set:       "creators dates funding keywords licence places properties publicationYear publisher related resourceType schema tags",
		descriptive.Resource:  "properties schema tags",
	}
	for kind, want := range allowed {
		var got []string
		for name, example := range examples {
			if parse(t, fmt.Sprintf(`{%q:%s}`, name, example)).Validate(kind) == nil {
				got = append(got, name)
			}
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("kind %d: %v, want %s", kind, got, want)
		}
	}
}

func TestSize(t *testing.T) {
	t.Parallel()
	filled := func(bytes int) descriptive.Metadata {
		var texts []descriptive.Value
		rest := bytes - len(`{"publisher":"P","properties":{"a":[]}}`)
		for ; rest > 1000; rest -= 1000 {
			texts = append(texts, descriptive.TextOf(strings.Repeat("x", 997)))
		}
		texts = append(texts, descriptive.TextOf(strings.Repeat("x", rest-2)))
		return descriptive.Metadata{Publisher: "P", Properties: descriptive.Group{}.With("a", descriptive.ListOf(texts...))}
	}
	most := filled(descriptive.MaxBytes)
	if size := len(most.Append(nil)); size != descriptive.MaxBytes {
		t.Fatalf("the test created %d bytes", size)
	}
	if err := most.Validate(descriptive.Set); err != nil {
		t.Error(err)
	}
	if err := filled(descriptive.MaxBytes + 1).Validate(descriptive.Set); err == nil || err.Error() != "metadata must have at most 65536 bytes as JSON, and has 65537" {
		t.Error(err)
	}
}

// TestBuilt checks the rules with metadata that a program can build, but that Parse never returns.
func TestBuilt(t *testing.T) {
	t.Parallel()
	one := descriptive.NumberOf("1")
	deep := one
	for range 8 {
		deep = descriptive.ListOf(deep)
	}
	for want, m := range map[string]descriptive.Metadata{
		"metadata.publisher must be valid UTF-8":                                                    {Publisher: "a\xff"},
		"metadata.tags.0 must be in Unicode's normal form C":                                        {Tags: []string{"e\u0301"}},
		"metadata.properties.a must be unique, and sorted by name":                                  {Properties: descriptive.Group{{"b", one}, {"a", one}}},
		"metadata.properties.a must be a number that fits into 64 bits of floating point":           {Properties: descriptive.Group{{"a", descriptive.NumberOf("01")}}},
		"metadata.properties.a.value must be a number that fits into 64 bits of floating point":     {Properties: descriptive.Group{{"a", descriptive.QuantityOf("1e999", "K")}}},
		"metadata.properties.a.0.0.0.0.0.0.0 must not nest lists and groups deeper than 8 levels":   {Properties: descriptive.Group{{"a", deep}}},
		"metadata.properties.e\u0301 must have a name in Unicode's normal form C":                   {Properties: descriptive.Group{{"e\u0301", one}}},
		"metadata.places.0.latitude must be a number of degrees from -90 to 90":                     {Places: []descriptive.Place{{Latitude: "x", Longitude: "1"}}},
		"metadata.properties.a\xff must have a name of letters, digits, spaces and _ - ( ) / % °, ": {Properties: descriptive.Group{{"a\xff", one}}},
	} {
		if err := m.Validate(descriptive.Set); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestMissing(t *testing.T) {
	t.Parallel()
	if got := fmt.Sprint(descriptive.Metadata{Tags: []string{"a"}}.Missing()); got != "[creators publisher publicationYear resourceType]" {
		t.Error(got)
	}
	if got := parse(t, typical).Missing(); got != nil {
		t.Error(got)
	}
}

func TestGroup(t *testing.T) {
	t.Parallel()
	var g descriptive.Group
	for i, name := range []string{"b", "a", "c", "b"} {
		before := fmt.Sprint(g)
		next := g.With(name, descriptive.NumberOf(descriptive.Number(fmt.Sprint(i))))
		if fmt.Sprint(g) != before {
			t.Errorf("With changed %s", before)
		}
		g = next
	}
	m := descriptive.Metadata{Properties: g}
	if got := string(m.Append(nil)); got != `{"properties":{"a":1,"b":3,"c":2}}` {
		t.Error(got)
	}
	without := descriptive.Metadata{Properties: g.Without("a").Without("x")}
	if got := string(without.Append(nil)); got != `{"properties":{"b":3,"c":2}}` {
		t.Error(got)
	}
	if v, ok := g.Get("b"); !ok || !v.Equal(descriptive.NumberOf("3")) || v.Equal(descriptive.NumberOf("3.0")) {
		t.Errorf("%v %t", v, ok)
	}
	if v, ok := g.Get("x"); ok || !v.Equal(descriptive.Value{}) {
		t.Errorf("%v %t", v, ok)
	}
}

func TestLeaves(t *testing.T) {
	t.Parallel()
	m := parse(t, `{"properties":{"a":{"b":"text","c":[1,[2.0,{"d":true}]]},"d":"2026-01-02","e":"2026-01-02T10:20:30+02:00","q":{"value":-1e3,"unit":"µm"},"z":[]}}`)
	var got []string
	for path, v := range m.Properties.Leaves() {
		got = append(got, fmt.Sprintf("%s %d %s %t %v%s %d", path, v.Form(), v.Text(), v.Bool(), v.Float(), v.Unit(), v.Time().Unix()))
	}
	want := []string{
		"a.b 0 text false 0 -62135596800", "a.c 1 1 false 1 -62135596800", "a.c 1 2.0 false 2 -62135596800", "a.c.d 2  true 0 -62135596800",
		"d 3 2026-01-02 false 0 1767312000", "e 3 2026-01-02T10:20:30+02:00 false 0 1767342030", "q 4 -1e3 false -1000µm -62135596800",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for range m.Properties.Leaves() {
		break // an iterator that continues after this panics
	}
}

func TestDates(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2026":                 "2026-01-01T00:00:00Z 2027-01-01T00:00:00Z",
		"2026-02":              "2026-02-01T00:00:00Z 2026-03-01T00:00:00Z",
		"2024-02-29":           "2024-02-29T00:00:00Z 2024-03-01T00:00:00Z",
		"2026-01/2026-03":      "2026-01-01T00:00:00Z 2026-04-01T00:00:00Z",
		"2026-01-15/2026-01":   "2026-01-15T00:00:00Z 2026-02-01T00:00:00Z",
		"2026-01-02T10:20":     "2026-01-02T10:20:00Z 2026-01-02T10:20:00Z",
		"2026-01-02T10:20:30Z": "2026-01-02T10:20:30Z 2026-01-02T10:20:30Z",
		"2026-01-02T10:20:30.5+02:00/2026-01-02T10:20:30.5+02:00": "2026-01-02T08:20:30Z 2026-01-02T08:20:30Z",
	} {
		from, until, ok := descriptive.Date{Date: text}.Period()
		if got := from.UTC().Format(time.RFC3339) + " " + until.UTC().Format(time.RFC3339); !ok || got != want {
			t.Errorf("%s: %s %t, want %s", text, got, ok, want)
		}
	}
	for _, text := range []string{
		"", "26", "20260102", "2026-13", "2025-02-29", "2026-1-2", "2026-01-02 10:20", "2026-01-02T1:20", "2026-01-02T10", "2026-01-02T24:00", "2026-01-02T10:20:30,5",
		"2026-03/2026-01", "2026-01-02T10:20Z/2026-01-02T10:19Z", "2026/", "/2026", "2026/2027/2028", "2026-01-02T10:20Zx",
	} {
		if _, _, ok := (descriptive.Date{Date: text}).Period(); ok {
			t.Errorf("%q is ok", text)
		}
	}
}

// TestVocabularies compares the vocabularies with the enumerations in DataCite's own schemas, which
// testdata/vocabularies.py extracts.
func TestVocabularies(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/datacite-4.6.json")
	if err != nil {
		t.Fatal(err)
	}
	var theirs map[string][]string
	if err := json.Unmarshal(text, &theirs); err != nil {
		t.Fatal(err)
	}
	ours := map[string][]string{
		"resourceTypeGeneral": descriptive.ResourceTypes(), "relatedIdentifierType": descriptive.IdentifierTypes(),
		"relationType": descriptive.RelationTypes(), "dateType": descriptive.DateTypes(),
	}
	for name := range maps.Keys(ours) {
		if !slices.Equal(slices.Sorted(slices.Values(ours[name])), slices.Sorted(slices.Values(theirs[name]))) {
			t.Errorf("%s: %q, want %q", name, ours[name], theirs[name])
		}
	}
	if len(theirs) != len(ours) {
		t.Errorf("%d vocabularies, want %d", len(ours), len(theirs))
	}
}

func TestLicences(t *testing.T) {
	t.Parallel()
	ids := descriptive.Licences()
	if !slices.IsSorted(ids) || len(slices.Compact(slices.Clone(ids))) != len(ids) || len(ids) < 700 {
		t.Errorf("%d licences, not sorted or not unique", len(ids))
	}
	if !slices.Contains(ids, "CC0-1.0") || slices.Contains(ids, "GPL-3.0") || ids[0] != "0BSD" || ids[len(ids)-1] != "zlib-acknowledgement" {
		t.Errorf("%q", ids)
	}
	for _, id := range ids {
		if err := (descriptive.Metadata{Licence: id}).Validate(descriptive.Set); err != nil {
			t.Error(err)
		}
	}
}

// TestORCID compares checksums with the results of another program, which testdata/vocabularies.py
// writes.
func TestORCID(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/orcid.tsv")
	if err != nil {
		t.Fatal(err)
	}
	valid := 0
	for line := range strings.Lines(string(text)) {
		id, verdict, _ := strings.Cut(strings.TrimSpace(line), "\t")
		m := descriptive.Metadata{Creators: []descriptive.Creator{{Name: "a", ORCID: id}}}
		if got := m.Validate(descriptive.Set) == nil; got != (verdict == "yes") {
			t.Errorf("%s: %t, want %s", id, got, verdict)
		} else if got {
			valid++
		}
	}
	if valid < 20 {
		t.Errorf("%d of the numbers are valid", valid)
	}
	for _, id := range []string{"0000000218250097", "0000-0002-1825-009", "0000-0002-1825-00977", "0000-0002-1825_0097", "000X-0002-1825-0097", "https://orcid.org/0000-0002-1825-0097"} {
		m := descriptive.Metadata{Creators: []descriptive.Creator{{Name: "a", ORCID: id}}}
		if m.Validate(descriptive.Set) == nil {
			t.Errorf("%s is valid", id)
		}
	}
}
