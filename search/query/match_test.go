package query_test

import (
	"slices"
	"testing"

	"labshelf/search/query"
	"labshelf/search/words"
)

// withOthers returns a clause with the other spellings of each of its words.
func withOthers(c query.Clause, others ...[]words.Spelling) query.Clause {
	c.Others = others
	return c
}

// TestOthers tests the other spellings of words and tags, and fields without other spellings.
func TestOthers(t *testing.T) {
	t.Parallel()
	muller := []words.Spelling{{Text: "muller"}}
	mueller := []words.Spelling{{Text: "mueller"}}
	for text, want := range map[string][][]words.Spelling{
		"mueller": {muller}, `"mueller"`: {muller}, "-M\u00fcller": {mueller}, "Mu\u0308ller": {mueller}, "name:Müller": {mueller},
		"creator:mueller": {muller}, "operator:Müller": {mueller}, "tag:mueller": {muller}, "muller": nil, "by:müller": {mueller}, "by:mueller": nil, "by:Muller": nil,
		"run_mueller_Müller": {nil, muller, mueller}, "in:mueller": nil, "tag:ice": nil,
	} {
		q, err := query.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		got := q.Clauses[0].Others
		if len(got) != len(want) || !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%s: other spellings %v, want %v", text, got, want)
		}
	}
}

// TestOtherPaths tests the other spellings of property names, in any form.
func TestOtherPaths(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"größe:>5": {"groesse"}, "gro\u0308ße:>5": {"groesse"}, `"probe.größe":x`: {"probe.groesse"}, "groesse:2": {"grosse"}, "length:2": nil,
	} {
		q, err := query.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := q.Clauses[0].OtherPaths; !slices.Equal(got, want) {
			t.Errorf("%s: other paths %q, want %q", text, got, want)
		}
	}
}
