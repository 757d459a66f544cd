package backup_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"labshelf/backup"
	"labshelf/blobs"
	"labshelf/bolt"
	"labshelf/metadata"
	"labshelf/repository"
)

// TestBrokenBackups breaks a backup in each way. The backup is rejected with the reason, no service
// starts on the target directory, and the backup does not change.
func TestBrokenBackups(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.upload("one", "two", "three")
	manifest := func(change func(string) string) func(*testing.T, string) {
		return func(t *testing.T, dest string) {
			t.Helper()
			name := filepath.Join(dest, "manifest.json")
			text, err := os.ReadFile(name)
			check(t, err)
			check(t, os.WriteFile(name, []byte(change(string(text))), 0o600))
		}
	}
	replace := func(from, to string) func(*testing.T, string) {
		return manifest(func(text string) string { return strings.Replace(text, from, to, 1) })
	}
	tests := []struct {
		name    string
		break_  func(t *testing.T, dest string)
		words   string
		found   []string
		partial bool // whether it can be restored in part
	}{
		{name: "no manifest", words: "there is no manifest.json",
			break_: func(t *testing.T, dest string) { check(t, os.Remove(filepath.Join(dest, "manifest.json"))) }},
		{name: "empty manifest", words: "manifest.json is damaged", break_: manifest(func(string) string { return "" })},
		{name: "torn manifest", words: "manifest.json is damaged", break_: manifest(func(text string) string { return text[:len(text)/2] })},
		{name: "other number", words: "its digest differs", break_: replace(`"count": 3`, `"count": 2`)},
		{name: "other file", words: "its digest differs", break_: replace(`"file": "meta`, `"file": "../meta`)},
		{name: "unknown field", words: "unknown field", break_: replace(`"stamp"`, `"colour": 1, "stamp"`)},
		{name: "more behind it", words: "manifest.json is damaged", break_: manifest(func(text string) string { return text + "{}" })},
		{name: "older format", words: "it has another format, 2; this program supports 3", break_: replace(`"format": 3`, `"format": 2`)},
		{name: "other format", words: "it has another format, 7; this program supports 3", break_: replace(`"format": 3`, `"format": 7`)},
		{name: "manifest is a folder", words: "manifest.json is not a manifest", break_: func(t *testing.T, dest string) {
			check(t, os.Remove(filepath.Join(dest, "manifest.json")))
			check(t, os.Mkdir(filepath.Join(dest, "manifest.json"), 0o700))
		}},
		{name: "no metadata", words: ".db is missing", break_: func(t *testing.T, dest string) { check(t, os.Remove(metaOf(t, dest))) }},
		{name: "short metadata", words: "bytes, not", break_: func(t *testing.T, dest string) { check(t, os.Truncate(metaOf(t, dest), 4096)) }},
		{name: "other metadata", words: "has been changed: its digest differs",
			break_: func(t *testing.T, dest string) { flip(t, metaOf(t, dest)) }},
		{name: "no blob", words: "files are missing or of another length: 1 of 3", found: []string{"file1: in the backup: blob not found"}, partial: true,
			break_: func(t *testing.T, dest string) { check(t, os.Remove(path(dest, made[1]))) }},
		{name: "short blob", words: "files are missing or of another length: 1 of 3", found: []string{"file2: has 2 bytes, not 5"}, partial: true,
			break_: func(t *testing.T, dest string) { check(t, os.Truncate(path(dest, made[2]), 2)) }},
		{name: "other bytes", words: "files are damaged: 2 of 3", found: []string{"file0: has the SHA-256", "file1: has the SHA-256"}, partial: true,
			break_: func(t *testing.T, dest string) { flip(t, path(dest, made[0])); flip(t, path(dest, made[1])) }},
		{name: "link instead of a blob", words: "files are missing or of another length: 1 of 3", found: []string{"file0: not a regular file"}, partial: true,
			break_: func(t *testing.T, dest string) {
				check(t, os.Remove(path(dest, made[0])))
				if runtime.GOOS == "windows" { // on Windows, creating links requires a privilege
					check(t, os.Mkdir(path(dest, made[0]), 0o700))
					return
				}
				check(t, os.Symlink(path(w.dir, made[0]), path(dest, made[0])))
			}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dest := t.TempDir()
			w := &world{t: t, dir: w.dir, set: w.set, key: w.key}
			w.backUp(dest)
			tt.break_(t, dest)
			dir, found, err := restore(t, dest, false)
			wantError(t, err, backup.ErrBroken, tt.words)
			wantFound(t, found, tt.found...)
			if _, err := os.Stat(filepath.Join(dir, "meta.db")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a service would start: %v", err)
			}
			if _, err := os.Stat(filepath.Join(dir, "blobs")); err == nil && !strings.Contains(tt.words, "damaged") {
				t.Error("blobs were written before the refusal")
			}
			_, err = backup.Verify(t.Context(), dest, t.TempDir(), backup.RestoreOptions{})
			wantError(t, err, backup.ErrBroken, tt.words)
			if dir, found, err = restore(t, dest, true); tt.partial != (err == nil) {
				t.Errorf("in part: %v", err)
			}
			if tt.partial {
				wantFound(t, found, namesOf(tt.found)...)
				wantSame(t, w.dir, dir)
			}
		})
	}
}

func namesOf(found []string) (names []string) {
	for _, f := range found {
		name, _, _ := strings.Cut(f, ": ")
		names = append(names, name+": ")
	}
	return names
}

// leave writes a file, and creates its folder if necessary.
func leave(t *testing.T, path, content string) {
	t.Helper()
	check(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)))
}

// TestUnknownFilesInBackup: other files in the folder are ignored.
func TestUnknownFilesInBackup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.upload("one")
	dest := t.TempDir()
	w.backUp(dest)
	for _, name := range []string{"README.txt", "meta-1-00000000.db", "blobs/README.txt", "blobs/00/x", "tmp/7"} {
		leave(t, filepath.Join(dest, filepath.FromSlash(name)), "x")
	}
	check(t, os.Remove(filepath.Join(dest, "lock"))) // as after copying the backup without it
	wantSame(t, w.dir, mustRestore(t, dest))
	w.upload("two")
	w.backUp(dest)
	metaOf(t, dest)
	if _, err := os.Stat(filepath.Join(dest, "README.txt")); err != nil {
		t.Error(err)
	}
	_ = made
}

func TestOccupiedDataDirectory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.upload("one")
	dest := t.TempDir()
	w.backUp(dest)
	_, err := backup.Restore(t.Context(), dest, w.dir, backup.RestoreOptions{})
	wantError(t, err, backup.ErrOccupied, "must be empty or missing")
	empty := t.TempDir()
	_, err = backup.Restore(t.Context(), dest, empty, backup.RestoreOptions{})
	check(t, err)
	wantSame(t, w.dir, empty)
	_, err = backup.Restore(t.Context(), dest, filepath.Join(empty, "meta.db"), backup.RestoreOptions{})
	if err == nil {
		t.Error("a file was accepted as a folder")
	}
}

// TestCancelledRestore: no service starts on the incomplete directory.
func TestCancelledRestore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.upload("one", "two", "three")
	dest := t.TempDir()
	w.backUp(dest)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	dir := filepath.Join(t.TempDir(), "x")
	_, err := backup.Restore(ctx, dest, dir, backup.RestoreOptions{Events: backup.Events{Progress: func(what string, _, _ int64) {
		if what == "files" {
			cancel()
		}
	}}})
	wantError(t, err, context.Canceled, "it can be deleted")
	if _, err := os.Stat(filepath.Join(dir, "meta.db")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a service would start: %v", err)
	}
	_, err = backup.Restore(t.Context(), dest, dir, backup.RestoreOptions{})
	wantError(t, err, backup.ErrOccupied, dir+" is an incomplete restoration; nothing in it is needed: delete it")
	check(t, os.RemoveAll(dir))
	_, err = backup.Restore(t.Context(), dest, dir, backup.RestoreOptions{})
	check(t, err)
	wantSame(t, w.dir, dir)

	// A data directory that lost its metadata later is not treated as incomplete. Neither is a
	// complete directory that contains the note.
	check(t, os.WriteFile(filepath.Join(dir, "restore.unfinished"), nil, 0o600))
	if backup.Incomplete(dir) != nil {
		t.Error("a complete data directory is treated as incomplete")
	}
	check(t, os.Remove(filepath.Join(dir, "restore.unfinished")))
	check(t, os.Remove(filepath.Join(dir, "meta.db")))
	if backup.Incomplete(dir) != nil {
		t.Error("a data directory without its metadata is treated as incomplete")
	}
	_, err = backup.Restore(t.Context(), dest, dir, backup.RestoreOptions{})
	wantError(t, err, backup.ErrOccupied, "must be empty or missing")
}

// TestCancelledVerify: a cancelled verification removes its files, and its error does not ask the
// user to delete them.
func TestCancelledVerify(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.upload("one", "two", "three")
	dest, temp := t.TempDir(), t.TempDir()
	w.backUp(dest)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := backup.Verify(ctx, dest, temp, backup.RestoreOptions{Events: backup.Events{Progress: func(what string, _, _ int64) {
		if what == "files" {
			cancel()
		}
	}}})
	wantError(t, err, context.Canceled, "")
	if left, _ := os.ReadDir(temp); len(left) > 0 || strings.Contains(err.Error(), temp) {
		t.Errorf("%v, remaining files %v", err, left)
	}
}

// TestManifestIsPublic: the manifest contains the documented fields, and no secret.
func TestManifestIsPublic(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.upload("one")
	dest := t.TempDir()
	w.backUp(dest)
	text, err := os.ReadFile(filepath.Join(dest, "manifest.json"))
	check(t, err)
	var fields map[string]any
	check(t, json.Unmarshal(text, &fields))
	for _, name := range []string{"format", "program", "created", "stamp", "database", "blobs", "digest", "number", "identity", "epoch", "auditHead"} {
		if _, ok := fields[name]; !ok {
			t.Errorf("no %s in %s", name, text)
		}
	}
	if len(fields) != 11 || strings.Contains(string(text), w.key) {
		t.Errorf("%s", text)
	}
}

// TestRepair loses files in each way. Repair restores the files that the backup has, and changes
// nothing else.
func TestRepair(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.upload("flipped", "missing", "truncated", "whole", "rotten in the backup too")
	dest := t.TempDir()
	w.backUp(dest)
	late := w.upload("later than the backup")[0]
	flip(t, path(w.dir, made[0]))
	check(t, os.Remove(path(w.dir, made[1])))
	check(t, os.Truncate(path(w.dir, made[2]), 1))
	flip(t, path(w.dir, made[4]))
	flip(t, path(dest, made[4]))
	w.with(func(ctx context.Context, s *repository.Service) {
		for _, r := range made {
			s.Files.NoteDamage(ctx, r.Digest, errors.New("as a test says"))
		}
	})
	check(t, os.Remove(path(w.dir, late)))                    // removed after the start, because the start records missing files
	check(t, os.Remove(filepath.Join(dest, "manifest.json"))) // without the manifest, each file is compared with its digest

	repair := func() (done backup.Repaired, repaired, left []metadata.Violation) {
		done, err := backup.Repair(t.Context(), w.dir, dest, backup.RepairEvents{
			Repaired: func(v metadata.Violation) { repaired = append(repaired, v) },
			Left:     func(v metadata.Violation) { left = append(left, v) },
		})
		check(t, err)
		return done, repaired, left
	}
	done, repaired, left := repair()
	if want := (backup.Repaired{Blobs: 6, Repaired: 3, Left: 2}); done != want {
		t.Errorf("got %+v, want %+v", done, want)
	}
	wantFound(t, repaired, "file0: has the SHA-256", "file1: not found", "file2: has 1 bytes")
	if len(left) != 2 {
		t.Errorf("remaining files %v", left)
	}
	wantNoted(t, w, made[4])
	done, repaired, left = repair()
	if want := (backup.Repaired{Blobs: 6, Left: 2}); done != want || len(repaired) != 0 || len(left) != 2 {
		t.Errorf("again: got %+v, want %+v", done, want)
	}
	check(t, os.WriteFile(path(dest, made[4]), []byte("rotten in the backup too"), 0o600))
	leave(t, path(dest, late), "later than the backup")
	if done, _, _ = repair(); done.Left != 0 || done.Repaired != 2 {
		t.Errorf("at last: got %+v", done)
	}
	wantNoted(t, w)
	w.backUp(t.TempDir())
}

// wantNoted fails the test unless exactly the blobs of these resources are recorded as damaged.
func wantNoted(t *testing.T, w *world, want ...metadata.Resource) {
	t.Helper()
	meta, err := bolt.Open(w.metadata(), bolt.Options{ReadOnly: true})
	check(t, err)
	defer func() { check(t, meta.Close()) }()
	noted := 0
	check(t, meta.View(t.Context(), func(tx *metadata.Tx) error {
		for _, err := range tx.Damages.All(blobs.Digest{}) {
			if err != nil {
				return err
			}
			noted++
		}
		for _, r := range want {
			if _, err := tx.Damages.Get(r.Digest); err != nil {
				return err
			}
		}
		return nil
	}))
	if noted != len(want) {
		t.Errorf("%d blobs are recorded as damaged, want %d", noted, len(want))
	}
}

// TestRepairRejectsDamagedMetadata: Repair rejects damaged metadata.
func TestRepairRejectsDamagedMetadata(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.upload("one")
	dest := t.TempDir()
	w.backUp(dest)
	check(t, os.Truncate(w.metadata(), 5000))
	_, err := backup.Repair(t.Context(), w.dir, dest, backup.RepairEvents{})
	wantError(t, err, bolt.ErrDamaged, "")
}
