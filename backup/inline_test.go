package backup_test

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"labshelf/backup"
	"labshelf/blobs"
	"labshelf/blobs/directory"
	"labshelf/bolt"
	"labshelf/metadata"
	"labshelf/repository"
)

// TestInlineBodies: a body that is inline at the time of the backup is restored with the metadata.
// If it is later flushed to a file that is lost, the backup repairs it.
func TestInlineBodies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.holdUpTo = 100
	made := w.upload("first", "second", "")
	for _, r := range made {
		if _, err := os.Lstat(path(w.dir, r)); err == nil {
			t.Fatalf("%s is not inline", r.Name)
		}
	}
	dest := t.TempDir()
	if created := w.backUp(dest); created.Manifest.Blobs.Count != 0 {
		t.Errorf("the manifest counts %+v", created.Manifest.Blobs)
	}
	var f findings
	_, err := backup.Verify(t.Context(), dest, t.TempDir(), backup.RestoreOptions{Events: f.events()})
	check(t, err)
	wantFound(t, f.all)
	restored := mustRestore(t, dest)
	wantSame(t, w.dir, restored)

	// The service flushes the restored bodies to files, and one file is lost.
	w.dir = restored
	w.flush(made)
	check(t, os.Remove(path(w.dir, made[1])))
	done, err := backup.Repair(t.Context(), w.dir, dest, backup.RepairEvents{})
	check(t, err)
	if want := (backup.Repaired{Blobs: 3, Repaired: 1}); done != want {
		t.Errorf("repaired %+v, want %+v", done, want)
	}
	w.with(func(ctx context.Context, s *repository.Service) {
		_, file, err := s.Files.OpenResource(ctx, w.admin(ctx, s), made[1].ID.String())
		check(t, err)
		content, err := io.ReadAll(file)
		if check(t, errors.Join(err, file.Close())); string(content) != "second" {
			t.Errorf("the file has %q", content)
		}
	})
	w.backUp(dest)
	wantSame(t, w.dir, mustRestore(t, dest))
}

// flush runs a service until it has flushed the bodies of resources to files.
func (w *world) flush(made []metadata.Resource) {
	w.t.Helper()
	flushed := make(chan int64, len(made))
	w.observer.Flushed = func(batch metadata.BodyCount, _ time.Duration, err error) {
		if err != nil {
			w.t.Error(err)
			return
		}
		flushed <- batch.Bodies
	}
	w.with(func(context.Context, *repository.Service) {
		for left := int64(len(made)); left > 0; {
			left -= <-flushed
		}
	})
	w.observer = repository.Observer{}
	for _, r := range made {
		if _, err := os.Lstat(path(w.dir, r)); err != nil {
			w.t.Fatalf("%s is no file: %v", r.Name, err)
		}
	}
}

// TestDamagedInlineBody: an inline body that differs from its record is reported when the backup is
// restored.
func TestDamagedInlineBody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.holdUpTo = 100
	made := w.upload("first")
	meta, err := bolt.Open(w.metadata(), bolt.Options{})
	check(t, err)
	check(t, meta.Update(t.Context(), func(tx *metadata.Tx) error {
		return tx.InlineBodies.Put(metadata.VersionKey{Resource: made[0].ID}, []byte("other"))
	}))
	check(t, meta.Close())
	dest := t.TempDir()
	w.backUp(dest)
	files, err := directory.OpenReadOnly(dest)
	check(t, err)
	if _, err := files.Stat(t.Context(), blobs.Blob{Digest: made[0].Digest}); !errors.Is(err, blobs.ErrNotFound) {
		t.Errorf("the file is in the backup: %v", err)
	}
	_, found, err := restore(t, dest, false)
	check(t, err)
	if len(found) != 1 || found[0].Part != metadata.PartRules || found[0].ID != made[0].ID.String() {
		t.Errorf("found %v", found)
	}
}
