package bolt

import (
	"errors"
	"os"
	"runtime"
	"testing"

	"labshelf/repository"
)

// TestGuardedKnowsWhoIsToBlame: what the file has done is an error, also where code of ours meets it; a mistake of ours stays a
// panic, with the place where it was made.
func TestGuardedKnowsWhoIsToBlame(t *testing.T) {
	t.Parallel()
	path := closedStore(t, 2000)
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.read(t.Context(), func(tx *tx) error {
		var records [][]byte
		for _, record := range tx.walk(usersBucket, span{}) {
			records = append(records, record)
		}
		if err := os.Truncate(path, 0); err != nil {
			if runtime.GOOS != "windows" {
				t.Fatal(err)
			}
			t.Skip(err) // Windows cuts no mapped file off
		}
		for _, record := range records {
			checksum(nil, record)
		}
		return errOnPurpose
	})
	if !errors.Is(err, repository.ErrRecordDamaged) {
		t.Errorf("a fault in code of ours: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	var none *Store
	for name, mistake := range map[string]func() error{
		"panic":       func() error { panic("by mistake") },
		"nil":         func() error { return none.file.Close() },
		"nil pointer": func() error { none.secret = [32]byte{}; return nil },
		"index":       func() error { return errors.New(path[len(path)+len(s.secret):]) },
	} {
		if !panics(func() { _ = guarded(mistake) }) {
			t.Errorf("%s: it did not come through", name)
		}
	}
	if err := guarded(func() error { return errOnPurpose }); !errors.Is(err, errOnPurpose) {
		t.Errorf("an error: %v", err)
	}
}

func panics(f func()) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	f()
	return false
}
