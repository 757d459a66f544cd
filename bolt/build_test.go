package bolt

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"

	"labshelf/metadata"
	"labshelf/metadata/tables"
)

// TestBuild builds a file from the rows of another file, in more than one transaction. Both files
// must have the same content.
func TestBuild(t *testing.T) {
	t.Parallel()
	from := closedStore(t, 300)
	s, err := Open(from, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		err := s.Update(t.Context(), func(tx *metadata.Tx) error {
			return tx.InlineBodies.Put(metadata.VersionKey{Version: uint32(i)}, make([]byte, compactBytes/4))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "meta.db")
	if err := Build(t.Context(), path, s.Rows(t.Context())); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	onlyFile(t, path)
	built, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if built.Secret() != s.Secret() {
		t.Error("the tokens of the two files differ")
	}
	if err := checkPages(built); err != nil {
		t.Error(err)
	}
	if err := built.Close(); err != nil {
		t.Error(err)
	}
	if got, want := dump(t, path), dump(t, from); !sameRows(got, want) {
		t.Errorf("%d rows in the new file, %d in the other, or different ones", len(got), len(want))
	}
	if err := Build(t.Context(), path, s.Rows(t.Context())); !errors.Is(err, fs.ErrExist) {
		t.Errorf("if the file exists: %v", err)
	}
}

// TestBuildRefuses tests that incomplete metadata are refused, and that no file remains.
func TestBuildRefuses(t *testing.T) {
	t.Parallel()
	ended, end := context.WithCancel(t.Context())
	end()
	changed := func(change func(all []tables.Row) []tables.Row) func([]tables.Row) iter.Seq2[tables.Row, error] {
		return func(all []tables.Row) iter.Seq2[tables.Row, error] {
			return func(yield func(tables.Row, error) bool) {
				for _, row := range change(all) {
					if !yield(row, nil) {
						return
					}
				}
			}
		}
	}
	as := changed(func(all []tables.Row) []tables.Row { return all })
	for name, tc := range map[string]struct {
		ctx  context.Context
		rows func([]tables.Row) iter.Seq2[tables.Row, error]
		want error
	}{
		"an ended context": {ended, as, context.Canceled},
		"none":             {t.Context(), changed(func([]tables.Row) []tables.Row { return nil }), metadata.ErrRecordDamaged},
		"one twice": {t.Context(), changed(func(all []tables.Row) []tables.Row {
			return append(all, all[len(all)-1])
		}), metadata.ErrRecordDamaged},
		"a bucket that is no more": {t.Context(), changed(func(all []tables.Row) []tables.Row {
			all[len(all)-1].Bucket = gone(t)
			return all
		}), metadata.ErrRecordDamaged},
		"a sequence that ends early": {t.Context(), func(all []tables.Row) iter.Seq2[tables.Row, error] {
			return func(yield func(tables.Row, error) bool) {
				for row, err := range as(all) {
					if !yield(row, err) {
						return
					}
				}
				yield(tables.Row{}, errOnPurpose)
			}
		}, errOnPurpose},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "meta.db")
			if err := Build(tc.ctx, path, tc.rows(rowsOfFile(t))); !errors.Is(err, tc.want) {
				t.Errorf("%v, want %v", err, tc.want)
			}
			if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 0 {
				t.Errorf("remaining files: %v, %v", left, err)
			}
		})
	}
}

// gone returns a bucket that the current schema no longer has.
func gone(t *testing.T) tables.Bucket {
	for b := range tables.BucketCount {
		if !b.In(tables.Schema) {
			return b
		}
	}
	t.Fatal("the present schema has all buckets")
	return 0
}

// rowsOfFile returns copies of the rows of a new file with users in it.
func rowsOfFile(t *testing.T) (all []tables.Row) {
	t.Helper()
	s, err := Open(closedStore(t, 3), Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	for row, err := range s.Rows(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, tables.Row{Bucket: row.Bucket, Key: append([]byte{}, row.Key...), Value: append([]byte{}, row.Value...)})
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestRowsOfDamaged tests that reading the rows ends with an error if the metadata are damaged,
// have an older schema, or if the context has ended.
func TestRowsOfDamaged(t *testing.T) {
	t.Parallel()
	ended, end := context.WithCancel(t.Context())
	end()
	for name, tc := range map[string]struct {
		ctx    context.Context
		damage func(tx *bbolt.Tx) error
		want   error
	}{
		"an ended context": {ended, func(*bbolt.Tx) error { return nil }, context.Canceled},
		"no row of the last stamp": {t.Context(), func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte("meta")).Delete([]byte("last stamp"))
		}, metadata.ErrRecordDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := closedStore(t, 3)
			s, err := Open(path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.db.Update(tc.damage); err != nil {
				t.Fatal(err)
			}
			if err := last(s.Rows(tc.ctx)); !errors.Is(err, tc.want) {
				t.Errorf("%v, want %v", err, tc.want)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	old, err := Open(olderFile(t), Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := last(old.Rows(t.Context())); err == nil {
		t.Error("rows of an older schema")
	}
	if err := old.Close(); err != nil {
		t.Error(err)
	}
}
