//go:build !windows

// Windows does not truncate mapped files.

package bolt

import (
	"errors"
	"hash/crc32"
	"os"
	"testing"

	"labshelf/metadata"
	"labshelf/metadata/tables"
)

// TestFileTruncatedWhileOpen truncates the file of an open store, as a broken disk may do. Reading
// the missing part must be an error.
func TestFileTruncatedWhileOpen(t *testing.T) {
	t.Parallel()
	path := closedStore(t, 2000)
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 2*int64(os.Getpagesize())); err != nil {
		t.Fatal(err)
	}
	all := func(tx *metadata.Tx) error {
		for _, err := range tx.Users.All(metadata.ID{}) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	for name, run := range map[string]func() error{
		"View":        func() error { return s.View(t.Context(), all) },
		"ViewDurable": func() error { return s.ViewDurable(t.Context(), all) },
		"Update":      func() error { return s.Update(t.Context(), all) },
	} {
		if err := run(); !errors.Is(err, metadata.ErrRecordDamaged) && !errors.Is(err, metadata.ErrReadOnly) {
			t.Errorf("%s: %v", name, err)
		}
	}
	found := 0
	if err := s.Inspect(t.Context(), func(metadata.Violation) { found++ }); err != nil || found == 0 {
		t.Errorf("inspect: %d violations, %v", found, err)
	}
	if _, err := s.Snapshot(t.Context()); !errors.Is(err, metadata.ErrRecordDamaged) {
		t.Errorf("snapshot: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestCatchFaultOfFile tests that a page fault in the file is an error, also if code of this
// program causes it.
func TestCatchFaultOfFile(t *testing.T) {
	t.Parallel()
	path := closedStore(t, 2000)
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.read(t.Context(), func(k *kv, _ *tables.Tx) error {
		var records [][]byte
		err := k.bolt.Bucket([]byte("users")).ForEach(func(_, record []byte) error {
			records = append(records, record)
			return nil
		})
		if err != nil {
			return err
		}
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
		for _, record := range records {
			crc32.ChecksumIEEE(record)
		}
		return errOnPurpose
	})
	if !errors.Is(err, metadata.ErrRecordDamaged) {
		t.Errorf("a fault in code of this program: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
