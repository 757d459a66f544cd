package bolt

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"labshelf/repository"
)

// TestFileTakenAway: nothing is acknowledged that nobody would find again.
func TestFileTakenAway(t *testing.T) {
	t.Parallel()
	if !renamesOverOpen {
		t.Skip("this system does not let go of an open file")
	}
	for name, take := range map[string]func(path, other string) error{
		"deleted":  func(path, _ string) error { return os.Remove(path) },
		"replaced": func(path, other string) error { return os.Rename(other, path) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, other := closedStore(t, 1), closedStore(t, 2)
			s, err := Open(path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Update(t.Context(), putUser("before")); err != nil {
				t.Errorf("before: %v", err)
			}
			if err := take(path, other); err != nil {
				t.Fatal(err)
			}
			if err := s.Update(t.Context(), putUser("meanwhile")); !errors.Is(err, repository.ErrOutcomeUnknown) {
				t.Errorf("meanwhile: %v", err)
			}
			if err := s.Update(t.Context(), putUser("after")); !errors.Is(err, repository.ErrReadOnly) {
				t.Errorf("after: %v", err)
			}
			found := 0
			if err := s.Inspect(t.Context(), func(repository.Violation) { found++ }); err != nil || found != 1 {
				t.Errorf("an inspection found %d violations, %v", found, err)
			}
			if s.Health().ReadOnly == nil {
				t.Error("the store takes itself for healthy")
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestLoneMetaPage: where one of the two meta pages is not valid, the store opens, says so, and mends it with its next commits.
func TestLoneMetaPage(t *testing.T) {
	t.Parallel()
	whole, err := os.ReadFile(closedStore(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	for at := range 2 {
		path := filepath.Join(t.TempDir(), "meta.db")
		broken := append([]byte{}, whole...)
		broken[at*os.Getpagesize()+pageHeader] ^= 1
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
