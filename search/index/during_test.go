package index

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestChangesDuringMerge changes documents while their segments are merged to a file. The changes
// survive, and the position saved with the file is the earlier one.
func TestChangesDuringMerge(t *testing.T) {
	t.Parallel()
	l := newLab(2)
	dir, crashed := t.TempDir(), t.TempDir()
	var x *Index
	var during func()
	x, _, err := open(dir, func(step string) {
		if strings.HasPrefix(step, "create ") && strings.HasSuffix(step, segmentSuffix) && during != nil {
			during()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	a, b, c := l.document(), l.document(), l.document()
	apply := func(position string, changes ...Change) {
		t.Helper()
		if err := x.Apply(changes, []byte(position)); err != nil {
			t.Fatal(err)
		}
	}
	apply("first", Change{Document: &a}, Change{Document: &b}, Change{Document: &c})
	renamed := b
	renamed.Name = "another name"
	during = func() {
		during = nil
		apply("second", Change{ID: a.ID}, Change{Document: &renamed})
	}
	if err := x.flush(); err != nil {
		t.Fatal(err)
	}
	for name, data := range filesOf(t, dir) {
		if err := os.WriteFile(filepath.Join(crashed, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	expectNames(t, x, "another name", strings.ToLower(c.Name))

	// The changes also survive a merge of files.
	if err := x.flush(); err != nil {
		t.Fatal(err)
	}
	during = func() {
		during = nil
		apply("third", Change{ID: renamed.ID})
	}
	if err := x.mergeToFile(func(parts []part) []part { return parts }, false); err != nil {
		t.Fatal(err)
	}
	expectNames(t, x, strings.ToLower(c.Name))
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}

	x, position, err := Open(crashed)
	if err != nil || string(position) != "first" {
		t.Fatalf("after a crash: %q, %v", position, err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
}

func expectNames(t *testing.T, x *Index, want ...string) {
	t.Helper()
	result, err := x.Search(context.Background(), Request{All: true, Order: ByName, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, h := range result.Hits {
		found[h.Name] = true
	}
	for _, name := range want {
		if !found[name] {
			t.Errorf("%q is not found", name)
		}
	}
	if result.Total != len(want) {
		t.Errorf("%d hits, want %d", result.Total, len(want))
	}
}
