package describe

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"labshelf/client"
	"labshelf/commands/exit"
)

// TestPatch: flags become a merge patch, with the types that people write.
func TestPatch(t *testing.T) {
	t.Parallel()
	const present client.Metadata = `{"tags":["a","b"],"properties":{"n":1}}`
	for want, edit := range map[string]Edit{
		`{"properties":{"operator":"Ada"}}`:                                {Set: []string{"operator=Ada"}},
		`{"properties":{"equation":"a=b","n":"20","t":""}}`:                {Set: []string{"equation=a=b", "n=20", "t="}},
		`{"properties":{"n":2.50e1,"ok":true,"runs":[1,"x"]}}`:             {Set: []string{"n:=2.50e1", "ok:=true", `runs:=[1,"x"]`}},
		`{"properties":{"temperature":{"unit":"°C","value":20}}}`:          {Set: []string{"temperature:=20 °C"}},
		`{"properties":{"p":{"unit":"mbar","value":-1.5e-3}}}`:             {Set: []string{"p:=-1.5e-3mbar"}},
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

// TestRows: each property is a row, in the order of the service.
func TestRows(t *testing.T) {
	t.Parallel()
	got, err := Rows(`{"publisher":"Curie","tags":["a","b"],"properties":{"n":2.50e1,"ok":true,"runs":[1,[2,"x"]],"sample":{"id":"S1"},"t":{"value":20,"unit":"°C"},"value":{"value":1}},"sources":{"n":"header","sample":"sidecar","t":"header"}}`)
	want := [][2]string{{"publisher", "Curie"}, {"tags", "a, b"}, {"n", "2.50e1"}, {"ok", "true"}, {"runs", "1, 2, x"}, {"sample", `{"id":"S1"}`}, {"t", "20 °C"}, {"value", `{"value":1}`}, {"(from the header)", "n, t"}, {"(from the sidecar)", "sample"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v: %s", err, diff)
	}
	if none, err := Rows(""); none != nil || err != nil {
		t.Errorf("of none: %v, %v", none, err)
	}
	for _, broken := range []client.Metadata{`{`, `{"a"`, `{"a":`, `{"properties":{"a":}}`} {
		if _, err := Rows(broken); err == nil {
			t.Errorf("%s is taken", broken)
		}
	}
}
