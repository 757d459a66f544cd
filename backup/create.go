package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"labshelf/blobs"
	"labshelf/bolt"
	"labshelf/repository"
)

// CreateOptions say how a backup is made.
type CreateOptions struct {
	Program string // and its version, for the manifest
	Rehash  bool   // read also the files that are in the backup already, instead of trusting those of the right size
	Events
}

// Created is what came of making a backup.
type Created struct {
	Manifest   Manifest `json:"manifest"`
	Copied     extent   `json:"copied"`     // blobs that were not there yet
	Violations int64    `json:"violations"` // that were reported
}

// Create makes a backup of the source in the folder dest, or brings the one that is there up to date. It is of one moment,
// that of the snapshot, while the source may go on to change. The older backup in dest stays valid until the new one is
// complete; after an error, or where the process ends, it is still there, and calling Create again goes on.
//
// A blob that the source has lost is reported, for each resource, and listed in the manifest; everything else is copied.
// Where the metadata themselves are damaged, that is reported too, and the backup is made only if dest has no older one.
//
// Errors: ErrBusy, ErrOccupied, ErrMetadataDamaged, ErrSource, blobs.ErrNoSpace, those of the source.
func Create(ctx context.Context, source Source, dest string, o CreateOptions) (made Created, err error) {
	return createOn(ctx, source, dest, o, blobs.OS{})
}

// createOn is Create, with what the blobs are written with.
func createOn(ctx context.Context, source Source, dest string, o CreateOptions, disk blobs.FS) (made Created, err error) {
	d, err := openDestination(dest, disk)
	if err != nil {
		return made, err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	w := &writer{destination: d, source: source, rehash: o.Rehash, events: o.serial()}
	counted := w.events.Violation
	w.events.Violation = func(v repository.Violation) {
		w.mu.Lock()
		made.Violations++
		w.mu.Unlock()
		counted(v)
	}
	m := &made.Manifest
	*m = Manifest{Format: format, Program: o.Program, Created: time.Now().UTC().Truncate(time.Second)}
	if err := w.takeMetadata(ctx, m); err != nil {
		return made, fmt.Errorf("copy the metadata: %w", err)
	}
	meta, err := openMetadata(filepath.Join(dest, m.Database.File))
	if err != nil {
		return made, fmt.Errorf("the copy of the metadata: %w", err)
	}
	err = w.fill(ctx, meta, m)
	if err = errors.Join(err, meta.Close()); err != nil {
		return made, errors.Join(err, w.forget(m.Database.File))
	}
	made.Copied = w.copied
	if err := m.write(dest); err != nil {
		return made, fmt.Errorf("write the manifest: %w", err)
	}
	return made, d.clean(m.Database.File)
}

// writer is one run of Create.
type writer struct {
	*destination
	source Source
	rehash bool
	events Events

	mu     sync.Mutex
	copied extent
	lost   []string
	there  trusted
}

// takeMetadata brings a snapshot of the metadata to stable storage and gives it its name.
func (w *writer) takeMetadata(ctx context.Context, m *Manifest) (err error) {
	snapshot, err := w.source.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, snapshot.Close()) }()
	var disk blobs.OS
	temp := filepath.Join(w.path, "tmp", "snapshot")
	file, err := disk.Create(temp)
	if err != nil {
		return err
	}
	progress := &meter{what: partMetadata, events: w.events, total: snapshot.Bytes}
	n, sum, err := copyHashed(ctx, file, progress.part(snapshot.Bytes).through(snapshot))
	if err == nil {
		err = file.Sync()
	}
	if err == nil && n != snapshot.Bytes {
		err = fmt.Errorf("the source gave %d bytes of %d", n, snapshot.Bytes)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, disk.Remove(temp))
	}
	m.Stamp, m.Database = snapshot.Stamp, Database{Bytes: n, SHA256: sum}
	m.Database.File = m.Database.name(m.Stamp)
	if err := disk.Rename(temp, filepath.Join(w.path, m.Database.File)); err != nil {
		return err
	}
	return disk.SyncDir(w.path)
}

// fill copies what the metadata refer to.
func (w *writer) fill(ctx context.Context, meta *bolt.Store, m *Manifest) (err error) {
	damages := 0
	err = meta.Inspect(ctx, func(v repository.Violation) {
		damages++
		w.events.Violation(v)
	})
	if err != nil {
		return err
	}
	if damages > 0 && w.older != nil {
		return fmt.Errorf("%w: the older backup of %s was left as it is; make the new one in another folder, and restore the older one",
			ErrMetadataDamaged, w.older.Created.Format(time.RFC3339))
	}
	if m.Blobs, err = measure(ctx, meta); err != nil {
		return err
	}
	progress := &meter{what: partFiles, events: w.events, total: m.Blobs.Bytes}
	err = eachBlob(ctx, meta, func(ctx context.Context, blob repository.Blob) error {
		part := progress.part(blob.Bytes)
		defer part.end()
		return w.keep(ctx, meta, blob, part)
	})
	m.Damaged = w.lost
	if err != nil {
		return err
	}
	return errors.Join(w.keepHeld(ctx, meta), w.there.keep(w.files))
}

// forget removes a metadata file that no manifest will name.
func (w *writer) forget(name string) error {
	if w.older != nil && w.older.Database.File == name {
		return nil
	}
	return os.Remove(filepath.Join(w.path, name))
}

// keep sees to it that the backup has a blob, or lists that as lost.
func (w *writer) keep(ctx context.Context, meta *bolt.Store, blob repository.Blob, part *portion) error {
	if w.has(ctx, blob) {
		w.there.note(blob.Digest)
		return nil
	}
	err := w.fetch(ctx, blob, part)
	w.mu.Lock()
	if err == nil {
		w.copied.Count++
		w.copied.Bytes += blob.Bytes
	}
	if isLost(err) {
		w.lost = append(w.lost, blob.Digest.String())
	}
	w.mu.Unlock()
	if isLost(err) {
		return report(ctx, meta, blob, err.Error(), w.events)
	}
	return err
}

// has tells whether the backup has a blob already.
func (w *writer) has(ctx context.Context, blob repository.Blob) bool {
	if w.rehash {
		return blobs.Verify(ctx, w.files, blob.Digest, blob.Bytes) == nil
	}
	size, err := w.files.Stat(blob.Digest)
	return err == nil && size == blob.Bytes
}

// attempts is how often a blob is asked for whose bytes do not come: a network may recover.
const attempts = 3

// fetch copies a blob from the source.
func (w *writer) fetch(ctx context.Context, blob repository.Blob, part *portion) error {
	for try := 1; ; try++ {
		err := w.fetchOnce(ctx, blob, part)
		var cut *sourceError
		switch {
		case !errors.As(err, &cut), errors.Is(err, blobs.ErrNotFound), try == attempts && isLost(err):
			return err
		case try == attempts:
			return fmt.Errorf("%w: blob %s, asked for %d times: %w", ErrSource, blob.Digest, try, err)
		}
		wait := time.Duration(try*try) * 250 * time.Millisecond
		if errors.Is(err, blobs.ErrDamaged) {
			wait = 0 // the source has said so itself, and there is nothing to wait for
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// sourceError marks what the source is to blame for.
type sourceError struct{ error }

func (e *sourceError) Unwrap() error { return e.error }

type sourceReader struct{ io.Reader }

func (r sourceReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = &sourceError{err}
	}
	return n, err
}

func (w *writer) fetchOnce(ctx context.Context, blob repository.Blob, part *portion) error {
	body, err := w.source.Blob(ctx, blob.Digest, blob.Bytes)
	if err != nil {
		return &sourceError{err}
	}
	return errors.Join(place(ctx, w.files, blob, part.through(sourceReader{body})), body.Close())
}

// place puts what r yields into a store, if it is the blob, and returns when it is on stable storage. If it is not:
// blobs.ErrDamaged.
func place(ctx context.Context, store blobs.Store, blob repository.Blob, r io.Reader) error {
	staged, err := store.Stage(ctx, r, max(1, blob.Bytes))
	if errors.Is(err, blobs.ErrTooLarge) {
		return fmt.Errorf("%w: it has more than %d bytes", blobs.ErrDamaged, blob.Bytes)
	}
	if err != nil {
		return err
	}
	switch {
	case staged.Size() != blob.Bytes:
		err = fmt.Errorf("%w: it has %d bytes, not %d", blobs.ErrDamaged, staged.Size(), blob.Bytes)
	case staged.Digest() != blob.Digest:
		err = fmt.Errorf("%w: its bytes have another digest, %s", blobs.ErrDamaged, staged.Digest())
	default:
		err = staged.Place()
	}
	return errors.Join(err, staged.Discard())
}

// copyHashed copies r to w and returns the length and the SHA-256, in hex.
func copyHashed(ctx context.Context, w io.Writer, r io.Reader) (n int64, sum string, err error) {
	hash := sha256.New()
	n, err = io.Copy(io.MultiWriter(w, hash), readerUntil{ctx, r})
	return n, hex.EncodeToString(hash.Sum(nil)), err
}

// readerUntil ends with its context, which lives no longer than one copy.
type readerUntil struct {
	ended interface{ Err() error }
	io.Reader
}

func (r readerUntil) Read(p []byte) (int, error) {
	if err := r.ended.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// destination is a folder in which a backup is made. Only one process has it.
type destination struct {
	path  string
	lock  *os.File
	files *blobs.Dir
	older *Manifest // of the complete backup that is there, or nil
}

// openDestination makes the folder, or takes it over, and clears away what an interrupted backup has left.
func openDestination(path string, disk blobs.FS) (*destination, error) {
	if err := refuseOthers(path); err != nil {
		return nil, err
	}
	if err := makeDir(path); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(path, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	d := &destination{path: path, lock: file}
	if err := d.open(disk); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	return d, nil
}

func (d *destination) open(disk blobs.FS) (err error) {
	if err := lock(d.lock, true); err != nil {
		return err
	}
	older, err := readManifest(d.path)
	switch {
	case err == nil:
		d.older = &older
	case errors.Is(err, errNoManifest):
	case errors.Is(err, errOtherFormat):
		return err
	}
	if d.files, err = blobs.OpenDir(d.path, disk); err != nil || d.older == nil {
		return err
	}
	return d.clean(d.older.Database.File)
}

// refuseOthers returns ErrOccupied for a folder that holds something, but nothing of a backup.
func refuseOthers(path string) error {
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Name() == lockFile || entry.Name() == manifestFile {
			return nil
		}
	}
	return fmt.Errorf("%w: %s holds other things than a backup", ErrOccupied, path)
}

// clean removes the metadata files other than the one kept, which a manifest names.
func (d *destination) clean(kept string) error {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		old, err := filepath.Match(metaPattern, entry.Name())
		if err == nil && old && entry.Name() != kept {
			err = os.Remove(filepath.Join(d.path, entry.Name()))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *destination) close() error { return d.lock.Close() }
