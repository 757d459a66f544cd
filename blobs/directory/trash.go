package directory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"labshelf/blobs"
)

func (d *Store) trashed(digest blobs.Digest) string { return filepath.Join(d.trash, digest.String()) }

// Remove implements [blobs.Remover]: the file moves to trash/, where it replaces an older one with
// the same digest.
func (d *Store) Remove(digest blobs.Digest, confirm func() error) error {
	if d.readOnly {
		return fmt.Errorf("blobs: remove %s: %w", digest, errReadOnly)
	}
	return d.pins.remove(digest, func() error {
		if confirm != nil {
			if err := confirm(); err != nil {
				return err
			}
		}
		if err := d.discard(digest); err != nil {
			return missing(digest, err)
		}
		// The new name first: after a power failure between the two syncs the file must have a
		// name.
		err := d.trashNames.sync(d.fs, d.trash)
		if err == nil {
			err = d.folders.syncWithin(digest[0])
		}
		if err != nil {
			return unsynced("remove "+digest.String(), err)
		}
		return nil
	})
}

// discard sets the time of the blob and moves it to trash/. Other entries than regular files are
// moved without setting the time: a link would pass it on to its target.
func (d *Store) discard(digest blobs.Digest) error {
	path := d.folders.path(digest)
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	d.trashing.Lock()
	defer d.trashing.Unlock()
	if info.Mode().IsRegular() {
		if err := d.fs.Touch(path, time.Now()); err != nil {
			return err
		}
	}
	err = d.fs.Rename(path, d.trashed(digest))
	if err != nil && d.keepsOpenTargets && d.unlink(d.trashed(digest)) == nil {
		err = d.fs.Rename(path, d.trashed(digest))
	}
	return err
}

// unlink deletes a file so that its name is free immediately. If open files cannot be replaced
// (keepsOpenTargets), a deleted file keeps its name until the last reader closes it. So the file
// first gets another name, in tmp/.
func (d *Store) unlink(path string) error {
	if d.keepsOpenTargets {
		aside := d.tempName()
		if err := d.fs.Rename(path, aside); err != nil {
			return err
		}
		path = aside
	}
	return d.fs.Remove(path)
}

// OpenTrashed implements [blobs.Trash].
func (d *Store) OpenTrashed(digest blobs.Digest) (io.ReadSeekCloser, int64, error) {
	f, size, err := openRegular(d.trashed(digest), digest)
	if err != nil {
		return nil, 0, err
	}
	return f, size, nil
}

// WalkTrash implements [blobs.Trash]. It skips entries that are not regular files named by a
// digest.
func (d *Store) WalkTrash(ctx context.Context, fn func(digest blobs.Digest, size int64, removed time.Time) error) error {
	entries, err := d.list(d.trash)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		digest, err := blobs.ParseDigest(entry.Name())
		if err != nil || digest.String() != entry.Name() || !entry.Type().IsRegular() {
			continue
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted since the folder was read
		}
		if err != nil {
			return failed("look at a removed blob", err)
		}
		if err := fn(digest, info.Size(), info.ModTime()); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// EmptyTrash implements [blobs.Trash].
func (d *Store) EmptyTrash(ctx context.Context, before time.Time) (files int, bytes int64, err error) {
	err = d.WalkTrash(ctx, func(digest blobs.Digest, size int64, _ time.Time) error {
		deleted, err := d.deleteTrashed(digest, before)
		if deleted {
			files++
			bytes += size
		}
		return err
	})
	if files == 0 {
		return files, bytes, err
	}
	if synced := d.trashNames.sync(d.fs, d.trash); synced != nil {
		err = errors.Join(err, unsynced("empty the trash", synced))
	}
	return files, bytes, err
}

// DeleteTrashed implements [blobs.Trash].
func (d *Store) DeleteTrashed(digest blobs.Digest) error {
	if d.readOnly {
		return fmt.Errorf("blobs: delete %s: %w", digest, errReadOnly)
	}
	deleted, err := d.deleteTrashed(digest, time.Time{})
	if err != nil || !deleted {
		return err
	}
	if synced := d.trashNames.sync(d.fs, d.trash); synced != nil {
		return unsynced("delete "+digest.String(), synced)
	}
	return nil
}

// deleteTrashed compares the time again: a blob with the same digest may have been removed since
// the folder was read. The zero time is after every time.
func (d *Store) deleteTrashed(digest blobs.Digest, before time.Time) (deleted bool, err error) {
	d.trashing.Lock()
	defer d.trashing.Unlock()
	info, err := os.Lstat(d.trashed(digest))
	if err == nil && !before.IsZero() && !info.ModTime().Before(before) {
		return false, nil
	}
	if err == nil {
		err = d.unlink(d.trashed(digest))
	}
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, fs.ErrNotExist):
		return false, nil // another EmptyTrash has deleted it
	}
	return false, failed("delete a removed blob", err)
}
