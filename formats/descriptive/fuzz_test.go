package descriptive_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"golang.org/x/text/unicode/norm"

	"labshelf/formats/descriptive"
)

func FuzzParse(f *testing.F) {
	f.Add([]byte(typical))
	f.Add([]byte(`{"properties":{"a":[{"value":1e3,"unit":"K"},{"value":1},{},[],"2026-01-02"]},"places":[{"box":{"west":-0.0}}]}`))
	f.Add([]byte(`{"properties":{"a":{"value":1,"b":2}}}`))
	f.Add([]byte("{\"tags\":[\"e\u0301\"],\"properties\":{\"\u2126\":{\"unit\":\"\u212b\",\"value\":1}}}"))
	f.Add([]byte("{\"properties\":{\"\u2126\":1},\"sources\":{\"\u2126\":\"header\",\"a\":\"\"},\"schema\":{\"version\":-1}}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := descriptive.Parse(data)
		if err != nil {
			return
		}
		_ = m.Validate(descriptive.Set)
		canonical := m.Append(nil)
		if norm.NFC.IsNormal(data) && !bytes.Contains(data, []byte(`\u`)) { // otherwise strings may change
			if before, after := properties(t, data), properties(t, canonical); !reflect.DeepEqual(before, after) {
				t.Fatalf("%s: the properties are %v", data, after)
			}
		}
		again, err := descriptive.Parse(canonical)
		if err != nil {
			t.Fatalf("%s: %v", canonical, err)
		}
		if !bytes.Equal(again.Append(nil), canonical) || !again.Equal(m) {
			t.Fatalf("%s is encoded as %s", canonical, again.Append(nil))
		}
		if changes := descriptive.Changes(m, again); len(changes) > 0 {
			t.Fatalf("%q", changes)
		}
		if m.IsZero() != (string(canonical) == "{}") {
			t.Fatalf("%s: IsZero %t", canonical, m.IsZero())
		}
		for path, v := range m.Properties.Leaves() {
			if v.Form() == descriptive.List || v.Form() == descriptive.Properties {
				t.Fatalf("%s is no leaf", path)
			}
		}
	})
}

// properties decodes the properties with another decoder, and keeps numbers as they are written.
func properties(t *testing.T, text []byte) map[string]any {
	var m struct{ Properties map[string]any }
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&m); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if len(m.Properties) == 0 {
		return nil // empty properties are omitted
	}
	return m.Properties
}

// FuzzMerge checks merging with the rules of RFC 7396 that can be tested without a second
// implementation.
func FuzzMerge(f *testing.F) {
	f.Add([]byte(typical), []byte(`{"tags":null,"properties":{"n":null,"sample":{"id":null,"kind":"x"}}}`))
	f.Add([]byte(`{"properties":{"a":{"value":1,"unit":"K"}}}`), []byte(`{"properties":{"a":{"value":2}}}`))
	f.Add([]byte(`{}`), []byte(` null `))
	f.Fuzz(func(t *testing.T, before, patch []byte) {
		m, err := descriptive.Parse(before)
		if err != nil {
			return
		}
		canonical := m.Append(nil)
		merged, err := m.Merge(patch)
		if !bytes.Equal(m.Append(nil), canonical) {
			t.Fatalf("%s changed %s", patch, canonical)
		}
		if err != nil {
			return
		}
		twice, err := merged.Merge(patch)
		if err != nil || !twice.Equal(merged) {
			t.Fatalf("merging %s twice: %s, %v, once: %s", patch, twice.Append(nil), err, merged.Append(nil))
		}
		if p, err := descriptive.Parse(patch); err == nil {
			into, err := descriptive.Metadata{}.Merge(patch)
			if err != nil || !into.Equal(p) {
				t.Fatalf("%s merged into empty metadata: %s, %v", patch, into.Append(nil), err)
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	data := []byte(typical)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := descriptive.Parse(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	m := parse(b, typical)
	buffer := make([]byte, 0, 4096)
	b.ReportAllocs()
	for b.Loop() {
		buffer = m.Append(buffer[:0])
	}
}

func BenchmarkValidate(b *testing.B) {
	m := parse(b, typical)
	b.ReportAllocs()
	for b.Loop() {
		if err := m.Validate(descriptive.Set); err != nil {
			b.Fatal(err)
		}
	}
}
