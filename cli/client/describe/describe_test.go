package describe

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"labshelf/cli/exit"
	"labshelf/client"
)

// TestPatch: flags become a merge patch with the right types.
func TestPatch(t *testing.T) {
	t.Parallel()
	const present client.Metadata = `{"tags":["a","b"],"properties":{"n":1}}`
	for want, edit := range map[string]Edit{
		`{"properties":{"operator":"Ada"}}`:                                {Set: []string{"operator=Ada"}},
		`{"properties":{"equation":"a=b","n":"20","t":""}}`:                {Set: []string{"equation=a=b", "n=20", "t="}},
		`{"properties":{"n":2.50e1,"ok":true,"runs":[1,"x"]}}`:             {Set: []string{"n:=2.50e1", "ok:=true", `runs:=[1,"x"]`}},
		`{"properties":{"temperature":{"unit":"°C","value":20}}}`:          {Set: []string{"temperature:=20 °C"}},
		`{"properties":{"p":{"unit":"mbar","value":-1.5e-3}}}`:             {Set: []string{"p:=-1.5e-3mbar"}},
		`{"properties":{"T":{"unit":"°C","value":20.5},"n":1234.5}}`:       {Set: []string{"T:=20,5\u00a0°C", "n:=1 234,5"}},
		`{"properties":{"T":"20,5 °C","z":{"unit":"zork","value":1}}}`:     {Set: []string{"T=20,5 °C", `z:={"value":1,"unit":"zork"}`}},
		`{"properties":{"gone":null,"sample":{"id":"S1","mass":null}}}`:    {Set: []string{"sample.id=S1"}, Unset: []string{"gone", "sample.mass"}},
		`{"tags":["a","b","c"]}`:                                           {Tag: []string{"c", "a"}},
		`{"tags":["b","c"]}`:                                               {Tag: []string{"c"}, Untag: []string{"a", "x"}},
		`{"tags":null}`:                                                    {Untag: []string{"b", "a"}},
		`{"properties":{"n":3,"x":1e400},"publisher":"<Curie>"}`:           {File: "f.json", Set: []string{"n:=3"}},
		`{"properties":{"n":null,"x":1e400},"publisher":"<Curie>"}`:        {File: "f.json", Unset: []string{"n"}},
		`{"properties":{"n":2,"x":1e400},"publisher":"<Curie>"}`:           {File: "f.json"},
		`{"properties":{"a":{"b":{"c":"d","e":"f"}},"quote":"say \"x\""}}`: {Set: []string{"a.b.c=d", "a.b.e=f", `quote=say "x"`}},
	} {
		got, err := edit.Patch(strings.NewReader(`{"publisher":"<Curie>","properties":{"n":2,"x":1e400}}`), present)
		if err != nil || string(got) != want {
			t.Errorf("%+v: %s, %v; want %s", edit, got, err, want)
		}
	}
	for _, edit := range []Edit{
		{Set: []string{"operator"}}, {Set: []string{"=Ada"}}, {Set: []string{":=1"}}, {Set: []string{"n:=Ada"}}, {Set: []string{"n:=1 2"}},
		{Set: []string{"a=1", "a.b=2"}}, {File: "broken.json"},
	} {
		got, err := edit.Patch(strings.NewReader(`{"a":1} x`), present)
		if err == nil || !errors.Is(err, exit.ErrUsage) {
			t.Errorf("%+v: %s, %v", edit, got, err)
		}
	}
}

// TestPatchRefuses: a value that is not a known quantity is rejected, and the error says how it was
// parsed.
func TestPatchRefuses(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"12h30":   `"12h30" is read as the number 12, and "h30" after it is not a unit; write a string as t=12h30`,
		"5/2":     `"5/2" is read as the number 5, and "/2" after it is not a unit; write a string as t=5/2`,
		"20 zork": `"20 zork" is read as the number 20, and "zork" after it is not a known unit; write a string as t=20 zork, and another unit as t:={"value":20,"unit":"zork"}`,
		"1,234":   "the number 1,234 can be read in two ways; write 1.234, or 1234 without a thousands separator",
		"5-7 mm":  "is not a unit", "5±2 mm": "is not a unit", "12:30": "is not a unit", "½": "there must be JSON", "0x10": "is not a known unit", "1_000": "is not a unit",
		"NaN": "there must be JSON", "٣": "there must be JSON", "20 °C x": "is not a known unit", "2026-01-02": "is not a unit", "007": "there must be JSON",
	} {
		got, err := Edit{Set: []string{"t:=" + value}}.Patch(strings.NewReader(""), "")
		if !errors.Is(err, exit.ErrUsage) || !strings.Contains(err.Error(), want) || got != "" {
			t.Errorf("%s: %s, %v", value, got, err)
		}
	}
}

// TestStringsLikeValues: a string that looks like another value is shown in quotation marks, and a
// hint names the other value.
func TestStringsLikeValues(t *testing.T) {
	t.Parallel()
	rows, err := Rows(`{"properties":{"T":"20 °C","U":{"value":20,"unit":"°C"},"id":"007","n":"3","ok":"true","list":["5 mm",5],"who":"Ada"}}`)
	want := [][2]string{{"T", `"20 °C"`}, {"U", "20 °C"}, {"id", "007"}, {"n", `"3"`}, {"ok", `"true"`}, {"list", `"5 mm", 5`}, {"who", "Ada"}}
	if diff := cmp.Diff(want, rows); diff != "" || err != nil {
		t.Errorf("%v: %s", err, diff)
	}
	hints := Edit{Set: []string{"T=20 °C", "U:=20 °C", "id=007", "n=3", "who=Ada", `q:="20 °C"`}}.TextsLikeValues()
	if diff := cmp.Diff([]string{`T is the text "20 °C"; for a quantity write --set 'T:=20 °C'`, `n is the text "3"; for a number write --set 'n:=3'`}, hints); diff != "" {
		t.Error(diff)
	}
}

// TestRows: each property is shown as a row, in the order of the service.
func TestRows(t *testing.T) {
	t.Parallel()
	got, err := Rows(`{"publisher":"Curie","tags":["a","b"],"properties":{"n":2.50e1,"ok":true,"runs":[1,[2,"x"]],"sample":{"id":"S1"},"t":{"value":20,"unit":"°C"},"value":{"value":1}},"sources":{"n":"header","sample":"sidecar","t":"header"}}`)
	want := [][2]string{{"publisher", "Curie"}, {"tags", "a, b"}, {"n", "2.50e1"}, {"ok", "true"}, {"runs", "1, 2, x"}, {"sample", `{"id":"S1"}`}, {"t", "20 °C"}, {"value", `{"value":1}`}, {"(from the header)", "n, t"}, {"(from the sidecar)", "sample"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v: %s", err, diff)
	}
	if none, err := Rows(""); none != nil || err != nil {
		t.Errorf("without metadata: %v, %v", none, err)
	}
	for _, broken := range []client.Metadata{`{`, `{"a"`, `{"a":`, `{"properties":{"a":}}`} {
		if _, err := Rows(broken); err == nil {
			t.Errorf("%s is accepted", broken)
		}
	}
}
