package backup_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"labshelf/backup"
	"labshelf/blobs"
	"labshelf/bolt"
	"labshelf/formats/descriptive"
	"labshelf/metadata"
	"labshelf/repository"
	"labshelf/repository/core"
	"labshelf/repository/files"
)

func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.upload("one", "two", "two", "", strings.Repeat("long", 1<<18))
	dest := filepath.Join(t.TempDir(), "a", "b")
	first := w.backUp(dest)
	if c, m := first.Copied, first.Manifest.Blobs; c != m || c.Count != 4 || c.Bytes != 6+1<<20 {
		t.Errorf("copied %+v of %+v", c, m)
	}
	wantModes(t, dest)
	restored := mustRestore(t, dest)
	wantModes(t, restored)
	wantSame(t, w.dir, restored)

	// Later changes are in the next backup, and no file is copied twice.
	w.purge(made[0])
	w.upload("three")
	second := w.backUp(dest)
	if c := second.Copied; c.Count != 1 || c.Bytes != 5 || second.Manifest.Blobs.Count != 4 {
		t.Errorf("copied %+v of %+v", c, second.Manifest.Blobs)
	}
	if got := filepath.Base(metaOf(t, dest)); got != second.Manifest.Database.File || got == first.Manifest.Database.File {
		t.Errorf("the metadata file is %s", got)
	}
	if _, err := os.Stat(path(dest, made[0])); err != nil {
		t.Errorf("a backup lost a file: %v", err)
	}
	wantSame(t, w.dir, mustRestore(t, dest))
	var f findings
	source, err := openLocal(w.dir)
	check(t, err)
	_, err = backup.Create(t.Context(), source, dest, backup.CreateOptions{Program: "labshelf test", Events: f.events()})
	check(t, errors.Join(err, source.Close()))
	if want := second.Manifest.Blobs.Bytes; f.there["files"] != want || f.moved["files"][0] != want {
		t.Errorf("nothing was copied: %v bytes existed, progress %v", f.there, f.moved)
	}
	_, err = backup.Verify(t.Context(), dest, t.TempDir(), backup.RestoreOptions{Events: f.events()})
	check(t, err)
	if f.there["files"] != 0 {
		t.Errorf("everything was read: %v bytes existed", f.there)
	}
	if f.moved["files"][0] != second.Manifest.Blobs.Bytes || f.moved["files"][1] != second.Manifest.Blobs.Bytes {
		t.Errorf("progress %v", f.moved)
	}
}

// TestRestoreBeginsEpoch: a restored repository is the same repository in a new epoch, which
// continues the backup.
func TestRestoreBeginsEpoch(t *testing.T) {
	t.Parallel()
	w, dest := newWorld(t), filepath.Join(t.TempDir(), "backup")
	w.upload("one", "two")
	made := w.backUp(dest)
	identity, first, last := lineageOf(t, w.metadata())
	seen := map[metadata.EpochID]bool{first.ID: true}
	for range 2 {
		restored, epoch, stamp := lineageOf(t, filepath.Join(mustRestore(t, dest), "meta.db"))
		if restored != identity || seen[epoch.ID] || epoch.Base != made.Manifest.Stamp || stamp != last {
			t.Errorf("%s in %+v at %d was restored as %s in %+v at %d", identity, first, last, restored, epoch, stamp)
		}
		seen[epoch.ID] = true
	}
}

// lineageOf reads a metadata file.
func lineageOf(t *testing.T, path string) (identity metadata.Identity, epoch metadata.Epoch, last metadata.Stamp) {
	t.Helper()
	meta, err := bolt.Open(path, bolt.Options{ReadOnly: true})
	check(t, err)
	err = meta.View(t.Context(), func(tx *metadata.Tx) (err error) {
		if epoch, err = tx.Lineage.Epoch(); err == nil {
			last, err = tx.Lineage.LastStamp()
		}
		return err
	})
	check(t, errors.Join(err, meta.Close()))
	return metadata.IdentityOf(meta.Secret()), epoch, last
}

// TestServiceOnRestored: the service continues from the state of the backup, with the same keys.
func TestServiceOnRestored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.upload("one")
	dest := t.TempDir()
	w.backUp(dest)
	w.dir = mustRestore(t, dest)
	after := w.upload("two")
	if after[0].Created <= before[0].Modified {
		t.Errorf("stamp %d after stamp %d", after[0].Created, before[0].Modified)
	}
	w.backUp(t.TempDir())
}

// TestDamagedSource: lost files of the source are reported and listed, and the backup has all
// others. Restoring reports the same files.
func TestDamagedSource(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.upload("whole", "flipped", "missing", "truncated", "missing")
	flip(t, path(w.dir, made[1]))
	check(t, os.Remove(path(w.dir, made[2])))
	check(t, os.Truncate(path(w.dir, made[3]), 3))
	dest := t.TempDir()
	want := []string{"file1: has the SHA-256", "file2: not found", "file3: has 3 bytes, not 9", "file4: not found"}
	result, found, err := w.tryBackUp(dest, backup.CreateOptions{})
	check(t, err)
	wantFound(t, found, want...)
	if m := result.Manifest; len(m.Damaged) != 3 || m.Blobs.Count != 4 || result.Copied.Count != 1 || result.Violations != 4 {
		t.Errorf("%+v", result)
	}
	restored, found, err := restore(t, dest, false)
	check(t, err)
	wantFound(t, found, "file1: ", "file2: ", "file3: ", "file4: ")
	wantSame(t, w.dir, restored)

	// Restored files are in the next backup.
	check(t, os.WriteFile(path(w.dir, made[1]), []byte("flipped"), 0o600))
	check(t, os.WriteFile(path(w.dir, made[2]), []byte("missing"), 0o600))
	check(t, os.WriteFile(path(w.dir, made[3]), []byte("truncated"), 0o600))
	w.backUp(dest)
	wantSame(t, w.dir, mustRestore(t, dest))

	// Files in an older backup are kept when the source loses them.
	check(t, os.Remove(path(w.dir, made[2])))
	w.backUp(dest)
	mustRestore(t, dest)
}

func TestRehash(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.upload("one", "two")
	dest := t.TempDir()
	w.backUp(dest)
	flip(t, path(dest, made[0]))
	if again := w.backUp(dest); again.Copied.Count != 0 {
		t.Errorf("copied %+v", again.Copied)
	}
	again, found, err := w.tryBackUp(dest, backup.CreateOptions{Rehash: true})
	check(t, err)
	wantFound(t, found)
	if again.Copied.Count != 1 {
		t.Errorf("copied %+v", again.Copied)
	}
	mustRestore(t, dest)
	check(t, os.Truncate(path(dest, made[1]), 1))
	if again := w.backUp(dest); again.Copied.Count != 1 {
		t.Errorf("with another length: copied %+v", again.Copied)
	}
	mustRestore(t, dest)
}

// TestDamagedMetadata: damaged metadata do not replace an older backup.
func TestDamagedMetadata(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.upload("one")
	dest, fresh := t.TempDir(), t.TempDir()
	w.backUp(dest)
	before := metaOf(t, dest)
	text, err := os.ReadFile(w.metadata())
	check(t, err)
	changed := strings.ReplaceAll(string(text), "physics", "PHYSICS")
	check(t, os.WriteFile(w.metadata(), []byte(changed), 0o600))
	_, found, err := w.tryBackUp(dest, backup.CreateOptions{})
	wantError(t, err, backup.ErrMetadataDamaged, "the older backup of")
	if len(found) == 0 {
		t.Error("no file was reported")
	}
	if after := metaOf(t, dest); after != before {
		t.Errorf("%s was replaced by %s", before, after)
	}
	mustRestore(t, dest)
	result, _, err := w.tryBackUp(fresh, backup.CreateOptions{})
	check(t, err)
	if result.Violations == 0 {
		t.Error("no file was counted")
	}
	if _, found, err := restore(t, fresh, false); err != nil || len(found) == 0 {
		t.Errorf("%v; found %v", err, found)
	}
}

// broken is a source that fails after some blobs.
type broken struct {
	backup.Source
	left  int // blobs until it fails
	cause error
}

func (b *broken) Blob(ctx context.Context, blob blobs.Blob) (io.ReadCloser, error) {
	if b.left--; b.left < 0 {
		return io.NopCloser(io.MultiReader(strings.NewReader("b"), failing{b.cause})), nil
	}
	return b.Source.Blob(ctx, blob)
}

type failing struct{ error }

func (f failing) Read([]byte) (int, error) { return 0, f.error }

// TestFailingSource: if the source fails, the older backup is kept, and the next backup continues.
func TestFailingSource(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.upload("one")
	dest := t.TempDir()
	w.backUp(dest)
	before := mustRestore(t, dest)
	w.upload("two", "three", "four")
	source, err := openLocal(w.dir)
	check(t, err)
	cause := errors.New("the line is dead")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err = backup.Create(ctx, &lineOf{&broken{source, 1, cause}, make(chan struct{}, 1)}, dest, backup.CreateOptions{})
	check(t, source.Close())
	wantError(t, err, cause, "dead")
	wantSame(t, before, mustRestore(t, dest))
	if made := w.backUp(dest); made.Copied.Count != 2 {
		t.Errorf("copied %+v", made.Copied)
	}
	wantSame(t, w.dir, mustRestore(t, dest))
}

// lineOf returns blobs one at a time.
type lineOf struct {
	*broken
	busy chan struct{}
}

func (l *lineOf) Blob(ctx context.Context, b blobs.Blob) (io.ReadCloser, error) {
	l.busy <- struct{}{}
	defer func() { <-l.busy }()
	return l.broken.Blob(ctx, b)
}

func TestRefusedDestinations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.upload("one")
	other := t.TempDir()
	check(t, os.WriteFile(filepath.Join(other, "thesis.tex"), []byte("x"), 0o600))
	file := filepath.Join(other, "thesis.tex")
	newer := t.TempDir()
	check(t, os.WriteFile(filepath.Join(newer, "manifest.json"), []byte(`{"format": 4}`), 0o600))
	aliased := filepath.Join(w.dir, "blobs", "new")
	if runtime.GOOS != "windows" { // on Windows, creating links requires a privilege
		alias := filepath.Join(t.TempDir(), "alias")
		check(t, os.Symlink(w.dir, alias))
		aliased = filepath.Join(alias, "blobs", "new")
	}
	for _, tt := range []struct {
		dest  string
		kind  error
		words string
	}{
		{other, backup.ErrOccupied, "files that do not belong to a backup"},
		{w.dir, backup.ErrInside, "name a folder outside of it"},
		{filepath.Join(w.dir, "new", "below"), backup.ErrInside, "name a folder outside of it"},
		{aliased, backup.ErrInside, "name a folder outside of it"},
		{filepath.Join(file, "below"), nil, ""},
		{newer, backup.ErrBroken, "another format, 4; this program supports 3"},
	} {
		before, _ := os.ReadDir(tt.dest)
		_, _, err := w.tryBackUp(tt.dest, backup.CreateOptions{})
		if err == nil || tt.kind != nil && !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.words) {
			t.Errorf("%s: %v", tt.dest, err)
		}
		after, _ := os.ReadDir(tt.dest)
		if len(after) > len(before)+1 { // the lock file
			t.Errorf("%s: %d entries, %d before", tt.dest, len(after), len(before))
		}
	}
}

func TestConcurrentBackupIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.upload("one")
	dest := t.TempDir()
	w.backUp(dest)
	source, err := openLocal(w.dir)
	check(t, err)
	defer func() { check(t, source.Close()) }()
	inside := false
	_, err = backup.Create(t.Context(), source, dest, backup.CreateOptions{Events: backup.Events{Progress: func(string, int64, int64) {
		if inside {
			return
		}
		inside = true
		_, _, err := w.tryBackUp(dest, backup.CreateOptions{})
		wantError(t, err, backup.ErrBusy, dest)
		_, _, err = restore(t, dest, false)
		wantError(t, err, backup.ErrBusy, dest)
	}}})
	check(t, err)
	if !inside {
		t.Error("the test has tried nothing")
	}
	mustRestore(t, dest)
}

// TestServiceIsRunning: a running service locks its data directory.
func TestServiceIsRunning(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	meta, err := bolt.Open(w.metadata(), bolt.Options{})
	check(t, err)
	defer func() { check(t, meta.Close()) }()
	_, err = openLocal(w.dir)
	wantError(t, err, bolt.ErrLocked, "in use")
	_, err = backup.Repair(t.Context(), w.dir, t.TempDir(), backup.RepairEvents{})
	wantError(t, err, bolt.ErrLocked, "in use")
}

// TestDescriptiveMetadata: descriptive metadata are in the backup, and are restored with their
// objects.
func TestDescriptiveMetadata(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made, want := w.upload("first", "second")[1], `{"tags":["kept"],"properties":{"n":1}}`
	w.with(func(ctx context.Context, s *repository.Service) {
		_, err := s.Files.Edit(ctx, w.admin(ctx, s), made.ID.String(), files.Fields{Metadata: descriptive.Patch(want)}, core.Match{})
		check(t, err)
	})
	dest := t.TempDir()
	w.backUp(dest)
	restored := mustRestore(t, dest)
	wantSame(t, w.dir, restored)
	meta, err := bolt.Open(filepath.Join(restored, "meta.db"), bolt.Options{ReadOnly: true})
	check(t, err)
	defer func() { check(t, meta.Close()) }()
	check(t, meta.View(t.Context(), func(tx *metadata.Tx) error {
		row, err := tx.Descriptive.Get(made.ID)
		if row.JSON != want {
			t.Errorf("restored: %q", row.JSON)
		}
		return err
	}))
}

// TestReplacedFiles: replaced files that are not purged yet are in the backup, so that no file is
// missing after a restoration.
func TestReplacedFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.upload("first")[0]
	w.with(func(ctx context.Context, s *repository.Service) {
		u := s.Uploads.NewUpload(w.admin(ctx, s))
		check(t, u.Receive(ctx, strings.NewReader("second")))
		_, err := u.Replace(ctx, made.ID.String(), files.UploadFields{Filename: "file0"})
		check(t, err)
	})
	dest := t.TempDir()
	if m := w.backUp(dest).Manifest; m.Blobs.Count != 2 {
		t.Errorf("%+v", m.Blobs)
	}
	wantSame(t, w.dir, mustRestore(t, dest))
	check(t, os.Remove(path(w.dir, made)))
	_, found, err := w.tryBackUp(t.TempDir(), backup.CreateOptions{})
	check(t, err)
	if len(found) != 1 || found[0].Kind != "version" || found[0].ID != made.ID.String() {
		t.Errorf("found %v", found)
	}
}
