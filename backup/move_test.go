package backup_test

import (
	"context"
	"iter"
	"path/filepath"
	"strings"
	"testing"

	"labshelf/backup"
	"labshelf/blobs/directory"
	"labshelf/bolt"
	"labshelf/metadata/tables"
)

// TestMoveComparesRows: a move fails if the written metadata lack a row or have a different one.
func TestMoveComparesRows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.upload("a", strings.Repeat("b", 1000))
	for name, change := range map[string]func(tables.Row) (tables.Row, bool){
		"the same":   func(row tables.Row) (tables.Row, bool) { return row, true },
		"one less":   func(row tables.Row) (tables.Row, bool) { return row, row.Bucket.String() != "users" },
		"one other":  func(row tables.Row) (tables.Row, bool) { return flipped(row, "users"), true },
		"one moved":  func(row tables.Row) (tables.Row, bool) { return elsewhere(row), true },
		"no records": func(tables.Row) (tables.Row, bool) { return tables.Row{}, false },
	} {
		from, err := openLocal(w.dir)
		check(t, err)
		dir := t.TempDir()
		files, err := directory.Open(dir, directory.OS{})
		check(t, err)
		made := filepath.Join(dir, "meta.db")
		to := backup.Destination{
			Files: files, Work: filepath.Join(dir, "work"),
			Load: func(ctx context.Context, rows iter.Seq2[tables.Row, error]) error { return bolt.Build(ctx, made, rows) },
			Rows: func(ctx context.Context) iter.Seq2[tables.Row, error] { return changed(ctx, t, made, change) },
		}
		done, err := backup.Move(t.Context(), backup.Origin{Metadata: from.meta, Files: from.Files}, to, backup.MoveOptions{})
		if name == "the same" {
			check(t, err)
			if done.Files.Count != 2 || done.Copied != done.Files || done.Rows == 0 {
				t.Errorf("%+v", done)
			}
		} else {
			wantError(t, err, backup.ErrDiffers, "do not use the new metadata")
		}
		check(t, from.Close())
	}
}

// changed yields the rows of a file as change returns them.
func changed(ctx context.Context, t *testing.T, path string, change func(tables.Row) (tables.Row, bool)) iter.Seq2[tables.Row, error] {
	return func(yield func(tables.Row, error) bool) {
		meta, err := bolt.Open(path, bolt.Options{ReadOnly: true})
		check(t, err)
		defer func() { check(t, meta.Close()) }()
		for row, err := range meta.Rows(ctx) {
			check(t, err)
			if row, ok := change(row); ok && !yield(row, nil) {
				return
			}
		}
	}
}

func flipped(row tables.Row, in string) tables.Row {
	if row.Bucket.String() == in {
		row.Value = append([]byte{}, row.Value...)
		row.Value[len(row.Value)-1] ^= 1
	}
	return row
}

// elsewhere moves a byte from the end of the key to the beginning of the value.
func elsewhere(row tables.Row) tables.Row {
	if row.Bucket.String() == "users" {
		last := len(row.Key) - 1
		row.Key, row.Value = row.Key[:last], append([]byte{row.Key[last]}, row.Value...)
	}
	return row
}
