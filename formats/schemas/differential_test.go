package schemas_test

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"labshelf/formats/schemas"
)

// TestAgainstLibrary compares problems with the oracle on random pairs: verdict, paths, rules and
// messages. SCHEMA_PAIRS and SCHEMA_SEED have the same meaning as in TestAgainstOthers.
func TestAgainstLibrary(t *testing.T) {
	t.Parallel()
	g := generator{rand.New(rand.NewPCG(uint64(size(t, "SCHEMA_SEED", 1)), 1))}
	count, valid := pairs(t, 500), 0
	for range count {
		p := g.pair()
		schema, value := encoded(t, p.Schema), encoded(t, p.Value)
		if compare(t, schema, value) {
			valid++
		}
	}
	if valid < count/5 || count-valid < count/5 {
		t.Errorf("%d of %d pairs are valid", valid, count)
	}
}

// TestAgainstLibraryOnSuite compares the problems of the suite's tests, and the errors of its
// schemas, with the oracle.
func TestAgainstLibraryOnSuite(t *testing.T) {
	t.Parallel()
	for name, groups := range suite(t) {
		if strings.HasPrefix(name, "optional/format/") {
			continue // the library accepts invalid strings in this file
		}
		for _, g := range groups {
			for _, test := range g.Tests {
				compare(t, g.Schema, test.Data)
			}
		}
	}
}

// TestErrorsAgainstLibrary compares the errors of damaged schemas with the oracle.
func TestErrorsAgainstLibrary(t *testing.T) {
	t.Parallel()
	g := generator{rand.New(rand.NewPCG(uint64(size(t, "SCHEMA_SEED", 1)), 2))}
	count, refused := pairs(t, 500), 0
	for range count {
		schema := g.pair().Schema.(members)
		g.damage(schema)
		text := encoded(t, schema)
		if _, err := schemas.Compile(text); err != nil {
			refused++
		}
		compare(t, text, []byte(`{"a":1}`))
	}
	if refused < count/3 {
		t.Errorf("only %d of %d are refused", refused, count)
	}
}

// damage replaces the value of one keyword, somewhere in a schema, by another one.
func (g generator) damage(v any) {
	switch v := v.(type) {
	case members:
		for name, member := range v {
			if _, scalar := member.(string); scalar || g.IntN(4) == 0 {
				v[name] = pick(g, []any{nil, true, -1, 1.5, "text", "#/$defs/none", "#none", []any{}, []any{1, 1}, []any{"a", "a"}, members{"a": 1}, members{"type": 1}})
				return
			}
			g.damage(member)
		}
	case []any:
		for _, item := range v {
			g.damage(item)
		}
	}
}

// compare compares a schema and a value with the oracle, and reports whether the value is valid.
func compare(t *testing.T, schema, value []byte) bool {
	t.Helper()
	ours, err := schemas.Compile(schema)
	theirs, expected := consult(schema)
	var got, want *schemas.Error
	if errors.As(err, &got) != errors.As(expected, &want) && !differs(got) {
		t.Errorf("%v, the library %v\n%s", err, expected, schema)
	}
	if got != nil && want != nil && !differs(got) {
		if want.Rule == "reference" || want.Rule == "format" {
			got = &schemas.Error{Path: got.Path, Rule: got.Rule, Message: want.Message}
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("(-library +got): %s\n%s", diff, schema)
		}
	}
	if err != nil || expected != nil {
		return false
	}
	found := ours.Validate(t.Context(), value)
	others, err := theirs.validate(value)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(withoutExcused(others), withoutExcused(found)); diff != "" {
		t.Errorf("(-library +got): %s\n%s\n%s", diff, schema, value)
	}
	return len(found) == 0
}

// agree compares a verdict with the oracle, unless the schema contains something that the library
// treats differently. It checks formats less strictly, and does not support references of other
// drafts.
func agree(t *testing.T, schema, value []byte, valid bool) {
	t.Helper()
	if strings.Contains(string(schema), "format") || strings.Contains(string(schema), "recursive") || strings.Contains(string(schema), `\u`) {
		return
	}
	o, err := consult(schema)
	if err != nil {
		return // TestErrorsAgainstLibrary compares this error
	}
	others, err := o.validate(value)
	if err != nil {
		t.Fatal(err)
	}
	if valid != (len(others) == 0) {
		t.Errorf("valid: %t, the library %+v\n%s\n%s", valid, others, schema, value)
	}
}

// withoutExcused removes problems that the library reports differently: formats, and paths of
// names, which the library confuses with a later part of the value.
func withoutExcused(all []schemas.Problem) []schemas.Problem {
	changed := []schemas.Problem{}
	for _, p := range all {
		switch p.Rule {
		case "format":
			p.Message = ""
		case "propertyNames":
			p.Path = ""
		}
		changed = append(changed, p)
	}
	slices.SortFunc(changed, func(a, b schemas.Problem) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Rule, b.Rule), strings.Compare(a.Message, b.Message))
	})
	return slices.Compact(changed)
}

// differs reports whether an error belongs to a rule that the library does not have.
func differs(e *schemas.Error) bool {
	return e != nil && (e.Rule == "cycle" || e.Rule == "depth" || e.Rule == "size" || e.Rule == "$schema" || e.Rule == "number")
}
