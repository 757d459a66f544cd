//go:build !windows

package bolt

import (
	"errors"
	"os"
	"testing"

	"labshelf/metadata"
)

// TestFileReplaced tests that no change is acknowledged if a later process would not find its file.
func TestFileReplaced(t *testing.T) {
	t.Parallel()
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
			if err := s.Update(t.Context(), putUser("meanwhile")); !errors.Is(err, metadata.ErrOutcomeUnknown) {
				t.Errorf("during the replacement: %v", err)
			}
			if err := s.Update(t.Context(), putUser("after")); !errors.Is(err, metadata.ErrReadOnly) {
				t.Errorf("after: %v", err)
			}
			found := 0
			if err := s.Inspect(t.Context(), func(metadata.Violation) { found++ }); err != nil || found != 1 {
				t.Errorf("an inspection found %d violations, %v", found, err)
			}
			if s.Health().ReadOnly == nil {
				t.Error("the store reports that it is healthy")
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
