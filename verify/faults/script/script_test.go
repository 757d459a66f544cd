package script

import (
	"slices"
	"strings"
	"testing"
)

func TestDifferences(t *testing.T) {
	t.Parallel()
	line := func(exact, shape string) Line { return Line{Exact: exact, Shape: shape} }
	before := State{"a": line("a1", "a"), "b": line("b1", "b")}
	after := State{"a": line("a2", "A"), "b": line("b1", "b"), "c": line("c2", "c")}
	acked := State{"a": line("a7", "a"), "b": line("b7", "b")} // another run has other ids and stamps
	for _, c := range []struct {
		name  string
		found State
		steps bool
		want  string // a part of the report; "" is no difference
	}{
		{"not yet run", acked, false, ""},
		{"done", State{"a": line("a8", "A"), "b": line("b7", "b"), "c": line("c8", "c")}, false, ""},
		{"half done", State{"a": line("a8", "A"), "b": line("b7", "b")}, false, "half of an operation: a is new, c is not"},
		{"half done in steps", State{"a": line("a8", "A"), "b": line("b7", "b")}, true, ""},
		{"lost", State{"a": line("a7", "a")}, false, `b: found "", acknowledged "b7"`},
		{"other stamps", State{"a": line("a7", "a"), "b": line("b8", "b")}, false, `b: found "b8"`},
		{"other contents", State{"a": line("a9", "?"), "b": line("b7", "b")}, true, `a: found "a9"`},
		{"an additional row", State{"a": line("a7", "a"), "b": line("b7", "b"), "d": line("d1", "d")}, false, `d: found "d1"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := Expected{Acked: acked, Before: before, After: after, InBatches: c.steps}.Differences(c.found)
			if c.want == "" && len(got) > 0 || !strings.Contains(strings.Join(got, "\n"), c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestReportsAddUp tests that applying the reports of a run one after the other returns the final
// state.
func TestReportsAddUp(t *testing.T) {
	t.Parallel()
	states := []State{{}, {"a": {"1", "x"}, "b": {"2", "y"}}, {"a": {"3", "x"}}, {}}
	sum := State{}
	for n := range states[1:] {
		var r Report
		r.delta(states[n], states[n+1])
		sum = sum.Apply(r)
		if got, want := keysOf(sum), keysOf(states[n+1]); !slices.Equal(got, want) || sum["a"] != states[n+1]["a"] {
			t.Errorf("after report %d: %v, want %v", n, sum, states[n+1])
		}
	}
}

// TestVerifyBites tests that Verify finds each kind of damage to the result of the script.
func TestVerifyBites(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		hurt func(t *testing.T, dir string)
		want string
	}{
		{"no damage", func(*testing.T, string) {}, ""},
		{"a file is missing", func(t *testing.T, dir string) { remove(t, blobOf(t, dir)) }, "its file is missing"},
		{"a file has changed", func(t *testing.T, dir string) { corrupt(t, blobOf(t, dir)) }, "has the SHA-256"},
		{"a mode is too open", func(t *testing.T, dir string) { open(t, dir) }, "has mode"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir, state := scriptRun(t)
			c.hurt(t, dir)
			wrong, err := Verify(t.Context(), dir, Expected{Acked: state, Before: state, After: state})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(wrong, "\n"); !strings.Contains(got, c.want) || c.want == "" && got != "" {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
