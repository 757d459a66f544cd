package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"

	"labshelf/bolt/fsck"
	"labshelf/bolt/fsck/fscktest"
	"labshelf/metadata"
)

// TestKeysOutOfOrder makes an entry of a leaf point to the row of another entry. That row is
// complete and has a valid checksum, but it comes twice or too early.
func TestKeysOutOfOrder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "meta.db")
	if err := os.WriteFile(path, disordered(t, grownFile(t), "users"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	list := func(tx *metadata.Tx) { _ = last(tx.Users.All(metadata.ID{})) }
	if err := s.View(t.Context(), func(tx *metadata.Tx) error { list(tx); return nil }); !errors.Is(err, metadata.ErrRecordDamaged) {
		t.Errorf("read: %v", err)
	}
	err = s.Update(t.Context(), func(tx *metadata.Tx) error { list(tx); return putUser("later")(tx) })
	if !errors.Is(err, metadata.ErrRecordDamaged) {
		t.Errorf("update: %v", err)
	}
	if err := s.Update(t.Context(), putUser("later")); err != nil {
		t.Errorf("an update that does not read the entry: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// disordered makes the fourth entry of a leaf of a bucket point to the row of the second entry.
func disordered(t *testing.T, file []byte, in string) []byte {
	t.Helper()
	key := leafKeyOf(t, file, in)
	for _, page := range fscktest.Pages(file) {
		if h := page.Header(); h.Flags != fsck.LeafPage || !bytes.Equal(page.Key(0), key) {
			continue
		}
		second, fourth := page[fsck.PageHeader+fsck.EntrySize:], page[fsck.PageHeader+3*fsck.EntrySize:]
		distance := binary.NativeEndian.Uint32(second[4:]) - 2*fsck.EntrySize
		copy(fourth[:fsck.EntrySize], second[:fsck.EntrySize])
		binary.NativeEndian.PutUint32(fourth[4:], distance)
		return file
	}
	t.Fatalf("no leaf of %s", in)
	return nil
}

// leafKeyOf returns the first key of a bucket.
func leafKeyOf(t *testing.T, file []byte, in string) (first []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "meta.db")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(path, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	err = s.db.View(func(tx *bbolt.Tx) error {
		key, _ := tx.Bucket([]byte(in)).Cursor().First()
		first = bytes.Clone(key)
		return nil
	})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	return first
}

// last returns the error at the end of a sequence.
func last[T any](seq iter.Seq2[T, error]) (end error) {
	for _, err := range seq {
		end = err
	}
	return end
}
