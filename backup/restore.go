package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"labshelf/blobs"
	"labshelf/blobs/directory"
	"labshelf/bolt"
	"labshelf/metadata"
	"labshelf/repository/maintenance"
)

// RestoreOptions are the options of [Restore].
type RestoreOptions struct {
	At      At   // which snapshot
	Partial bool // restore the rest if files of the backup are missing or damaged
	Events
	temporary bool // the directory is removed afterwards
}

// Restored is the result of [Restore].
type Restored struct {
	Manifest Manifest
	Earlier  int64                   // further snapshots that Verify has read
	Check    maintenance.CheckResult // of the new data directory; its violations have been reported
}

// Restore makes a data directory from a snapshot in the folder src. The directory must be empty or
// missing. It then checks the directory in full. It reports violations, which are not an error.
//
// The data directory begins a new epoch, so that changes after the snapshot do not count as its
// future.
//
// An incomplete or damaged backup, or one of another format, is rejected with an ErrBroken and the
// reason; most of that is checked before any write. Blobs that were already lost at the time of the
// backup are no reason to reject it. The metadata get their name last: before that, and after an
// error, no service starts on the directory, and it can be deleted.
func Restore(ctx context.Context, src, dataDir string, o RestoreOptions) (done Restored, err error) {
	if err := refuseOccupied(dataDir); err != nil {
		return done, err
	}
	r, err := openPicked(ctx, src, o)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	done.Manifest = r.manifest
	if err := makeDir(dataDir); err != nil {
		return done, err
	}
	if err = beginRestoration(dataDir); err == nil {
		err = r.restore(ctx, dataDir)
	}
	if err == nil {
		err = endRestoration(dataDir)
	}
	if err != nil && o.temporary {
		return done, err
	}
	if err != nil {
		return done, fmt.Errorf("%w\n%s is not complete; no service starts on it, and it can be deleted", err, dataDir)
	}
	done.Check, err = check(ctx, dataDir, r.events)
	return done, err
}

// refuseOccupied returns ErrOccupied unless the folder is empty or missing.
func refuseOccupied(path string) error {
	entries, err := os.ReadDir(path)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if err := Incomplete(path); err != nil {
		return fmt.Errorf("%w: %w", ErrOccupied, err)
	}
	return fmt.Errorf("%w: it contains %s; %s must be empty or missing", ErrOccupied, entries[0].Name(), path)
}

// reader reads a snapshot in a backup, which is locked against changes.
type reader struct {
	path     string
	manifest Manifest
	locked   sharedLock
	meta     *bolt.Store
	files    *directory.Store
	partial  bool
	events   Events

	temporary bool // the restored data are compared with the backup, and removed
}

// openPicked opens the selected snapshot.
func openPicked(ctx context.Context, path string, o RestoreOptions) (_ *reader, err error) {
	locked, err := lockShared(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	c, err := readCatalog(path)
	if err == nil {
		var m Manifest
		if m, err = c.pick(o.At); err == nil {
			return openReader(ctx, path, m, locked, o)
		}
	}
	return nil, errors.Join(fmt.Errorf("%s: %w", path, err), locked.close())
}

// openReader opens a snapshot. It returns an error if the snapshot cannot be restored, as far as
// this shows without reading the blobs. The reader closes the lock.
func openReader(ctx context.Context, path string, m Manifest, locked sharedLock, o RestoreOptions) (_ *reader, err error) {
	r := &reader{path: path, manifest: m, locked: locked, partial: o.Partial, events: o.serial(), temporary: o.temporary}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("%s: %w", path, err), r.close())
		}
	}()
	if err := r.checkDatabase(ctx); err != nil {
		return nil, err
	}
	if r.meta, err = openMetadata(m.metadata(path)); err != nil {
		return nil, err
	}
	if r.files, err = directory.OpenReadOnly(path); err != nil {
		return nil, err
	}
	return r, r.checkSizes(ctx)
}

func (r *reader) close() (err error) {
	if r.meta != nil {
		err = r.meta.Close()
	}
	return errors.Join(err, r.locked.close())
}

// checkDatabase compares the metadata file with the manifest.
func (r *reader) checkDatabase(ctx context.Context) error {
	return r.copyDatabase(ctx, io.Discard)
}

// copyDatabase copies the metadata file to w, and returns an error if it differs from the manifest.
func (r *reader) copyDatabase(ctx context.Context, w io.Writer) (err error) {
	want := r.manifest.Database
	file, err := os.Open(filepath.Join(r.path, want.File))
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%w: the metadata file %s is missing", ErrBroken, want.File)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.Size() != want.Bytes {
		return fmt.Errorf("%w: the metadata file %s has %d bytes, not %d", ErrBroken, want.File, info.Size(), want.Bytes)
	}
	progress := &meter{what: partMetadata, events: r.events, total: want.Bytes}
	_, sum, err := copyHashed(ctx, w, progress.part(want.Bytes).through(brokenReader{file}))
	if err == nil && sum != want.SHA256 {
		err = fmt.Errorf("%w: the metadata file %s has been changed: its digest differs", ErrBroken, want.File)
	}
	return err
}

// brokenReader turns errors of reading a backup into ErrBroken.
type brokenReader struct{ io.Reader }

func (r brokenReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("%w: %w", ErrBroken, err)
	}
	return n, err
}

// checkSizes reports missing blobs, and returns an error if there are any. It does not read the
// blobs.
func (r *reader) checkSizes(ctx context.Context) error {
	var has extent
	missing := 0
	err := eachRow(ctx, r.meta, func(blob blobs.Blob) error {
		has.Count++
		has.Bytes += blob.Size
		size, err := r.files.Stat(ctx, blob)
		if err == nil && size != blob.Size {
			err = fmt.Errorf("%w: it has %d bytes, not %d", blobs.ErrDamaged, size, blob.Size)
		}
		if err == nil || r.partial || r.manifest.lost(blob.Digest) {
			return nil
		}
		missing++
		return report(ctx, r.meta, blob, "in the backup: "+err.Error(), r.events)
	})
	switch {
	case err != nil:
		return err
	case missing > 0:
		return fmt.Errorf("%w: files are missing or of another length: %d of %d", ErrBroken, missing, has.Count)
	case has != r.manifest.Blobs:
		return fmt.Errorf("%w: its metadata record %d files of %d bytes, its manifest %d of %d",
			ErrBroken, has.Count, has.Bytes, r.manifest.Blobs.Count, r.manifest.Blobs.Bytes)
	}
	return nil
}

// restore fills a data directory, and writes the metadata last.
func (r *reader) restore(ctx context.Context, dataDir string) error {
	files, err := directory.Open(dataDir, directory.OS{})
	if err != nil {
		return err
	}
	var broken atomic.Int64
	progress := &meter{what: partFiles, events: r.events, total: r.manifest.Blobs.Bytes}
	err = eachBlob(ctx, r.meta, func(ctx context.Context, blob blobs.Blob) error {
		part := progress.part(blob.Size)
		defer part.end()
		err := take(ctx, r.files, files, blob, part)
		if errors.Is(err, blobs.ErrDamaged) {
			err = take(ctx, r.files, files, blob, part) // two wrong reads are damage
		}
		if !isLost(err) {
			return err
		}
		if r.partial || r.manifest.lost(blob.Digest) {
			return nil // the check will report it
		}
		broken.Add(1)
		return report(ctx, r.meta, blob, "in the backup: "+err.Error(), r.events)
	})
	if err != nil {
		return err
	}
	if n := broken.Load(); n > 0 {
		return fmt.Errorf("%w: files are damaged: %d of %d", ErrBroken, n, r.manifest.Blobs.Count)
	}
	return r.restoreMetadata(ctx, dataDir)
}

// beginEpoch begins an epoch in the copy of the metadata, which lacks the changes since the backup.
func beginEpoch(ctx context.Context, path string) error {
	meta, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		return err
	}
	_, err = metadata.BeginEpoch(ctx, meta, time.Now())
	return errors.Join(err, meta.Close())
}

// take copies a blob from one store to another. Errors: blobs.ErrNotFound, blobs.ErrDamaged of the
// first store.
func take(ctx context.Context, from, to *directory.Store, blob blobs.Blob, part *portion) error {
	file, err := from.Open(ctx, blob)
	if err != nil {
		return err
	}
	return errors.Join(commit(ctx, to, blob, part.through(lossy{file})), file.Close())
}

func (r *reader) restoreMetadata(ctx context.Context, dataDir string) error {
	var disk directory.OS
	temp := filepath.Join(dataDir, "tmp", metadataFile)
	file, err := disk.Create(temp)
	if err != nil {
		return err
	}
	if err = r.copyDatabase(ctx, file); err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if !r.temporary {
		if err := forgetObjects(ctx, temp); err != nil { // the blobs are files in folders now
			return fmt.Errorf("forget where the files were: %w", err)
		}
		if err := beginEpoch(ctx, temp); err != nil {
			return fmt.Errorf("begin an epoch: %w", err)
		}
	}
	if err := disk.Rename(temp, filepath.Join(dataDir, metadataFile)); err != nil {
		return err
	}
	return disk.SyncDir(dataDir)
}

// check checks a complete data directory whose service is stopped.
func check(ctx context.Context, dataDir string, events Events) (result maintenance.CheckResult, err error) {
	files, err := directory.OpenReadOnly(dataDir)
	if err != nil {
		return result, err
	}
	meta, err := openMetadata(filepath.Join(dataDir, metadataFile))
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, meta.Close()) }()
	return maintenance.NewUpkeep(meta, files).Check(ctx, maintenance.CheckOptions{}, maintenance.CheckEvents{
		Violation: events.Violation,
		Progress:  func(done, total int64) { events.Progress(partCheck, done, total) },
	})
}
