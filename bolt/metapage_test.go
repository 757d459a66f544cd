package bolt

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"labshelf/bolt/fsck"
)

// TestLoneMetaPage tests that a store with one invalid meta page opens, reports it, and repairs it
// with its next commits.
func TestLoneMetaPage(t *testing.T) {
	t.Parallel()
	sound, err := os.ReadFile(closedStore(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	for at := range 2 {
		path := filepath.Join(t.TempDir(), "meta.db")
		broken := append([]byte{}, sound...)
		broken[at*os.Getpagesize()+fsck.PageHeader] ^= 1
		if err := os.WriteFile(path, broken, 0o600); err != nil {
			t.Fatal(err)
		}
		for i, suspect := range []error{errAlone, nil} {
			s, err := Open(path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Health().Suspect; !errors.Is(got, suspect) {
				t.Errorf("meta page %d, open %d: suspect: %v", at, i+1, got)
			}
			for _, name := range []string{"one", "two"} {
				if err := s.Update(t.Context(), putUser(name)); err != nil && i == 0 {
					t.Error(err)
				}
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
