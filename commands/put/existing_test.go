package put

import "testing"

// TestBeginning: of what a set has only what begins like the names is listed.
func TestBeginning(t *testing.T) {
	t.Parallel()
	for want, names := range map[string][]string{
		"":       {"a", "b"},
		"2026/1": {"2026/11/a", "2026/12/b", "2026/1"},
		"only":   {"only"},
		"Gr":     {"Gr\u00fcn", "Gr\u00f6n"}, // half a character is none
		"a":      {"a\u200eb", "a\u200ec"},
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
