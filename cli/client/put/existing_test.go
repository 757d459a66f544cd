package put

import (
	"testing"
)

// TestBeginning: put lists only the part of a set whose names have the common prefix.
func TestBeginning(t *testing.T) {
	t.Parallel()
	for want, names := range map[string][]string{
		"":       {"a", "b"},
		"2026/1": {"2026/11/a", "2026/12/b", "2026/1"},
		"only":   {"only"},
		"a/":     {"a/Gr\u00fcn", "a/Gr\u00f6n"}, // the stored names may have another Unicode form
		"b":      {"b\tc", "b\td"},               // no name can contain this character
	} {
		named := map[string]string{}
		for _, name := range names {
			named[name] = ""
		}
		if got := beginning(named); got != want {
			t.Errorf("%q begin with %q, want %q", names, got, want)
		}
	}
}

// TestTakeOtherForms: a name in another Unicode normal form is treated as the same name, if no
// resource has the exact name and one file has the other form.
func TestTakeOtherForms(t *testing.T) {
	t.Parallel()
	const composed, decomposed, third = "\u00dc\u00e9", "U\u0308e\u0301", "\u00dce\u0301"
	for _, tc := range []struct {
		held, others []string
		want         string // id of the resource that the name resolves to
	}{
		{nil, []string{decomposed}, decomposed}, {nil, []string{third}, third}, {[]string{composed}, []string{decomposed}, composed},
		{nil, []string{decomposed, third}, ""}, {nil, []string{"\u00dc"}, ""}, {nil, nil, ""},
	} {
		held, others := map[string][]existing{}, map[string][]existing{}
		for _, name := range tc.held {
			held[name] = []existing{{id: name}}
		}
		for _, name := range tc.others {
			others[name] = []existing{{id: name}}
		}
		takeOtherForms(held, others, map[string]string{composed: ""})
		got := ""
		if len(held[composed]) == 1 {
			got = held[composed][0].id
		}
		if got != tc.want {
			t.Errorf("%+q with %+q stored: %+q, want %+q", tc.held, tc.others, got, tc.want)
		}
	}
}
