package backup

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"labshelf/blobs"
	"labshelf/blobs/directory"
	"labshelf/bolt"
	"labshelf/metadata"
)

// CreateOptions are the options of [Create].
type CreateOptions struct {
	Program string // and its version, for the manifest
	Rehash  bool   // also read files that the backup has, instead of trusting files of the right size
	Keep    int    // number of the last snapshots to keep, in addition to the last one of each epoch; 0: DefaultKeep
	Allow
	Events
}

// Allow permits a snapshot although the latest one in the backup is not an earlier state of the
// same repository. Each field suppresses the named error.
type Allow struct {
	OtherRepository bool // ErrOtherRepository
	NewerBackup     bool // ErrNewerBackup
	OtherEpoch      bool // ErrOtherEpoch
}

// Created is the result of [Create].
type Created struct {
	Manifest   Manifest `json:"manifest"`
	Copied     extent   `json:"copied"`     // blobs that the backup lacked
	Violations int64    `json:"violations"` // number of reported violations
	Removed    []string `json:"removed"`    // the names of removed snapshots
	Room       Room     `json:"room"`
}

// Create makes a backup of the source in the folder dest, or adds a snapshot to an existing one. It
// has the state at one moment, the moment of Source.Snapshot, while the source may continue to
// change. Existing snapshots stay valid, also after an error or a crash, and calling Create again
// continues. When the new snapshot is complete, snapshots beyond Keep are removed; their files
// stay.
//
// A blob that the source has lost is reported, for each resource, and listed in the manifest;
// everything else is copied. If the metadata themselves are damaged, that is reported too, and the
// backup is created only if dest has no snapshot yet.
//
// Errors: ErrBusy, ErrOccupied, ErrInside, ErrBroken for a folder whose manifest.json cannot be
// read, ErrOtherRepository, ErrNewerBackup and ErrOtherEpoch unless they are allowed,
// ErrMetadataDamaged, ErrSource, blobs.ErrNoSpace, the errors of the source.
func Create(ctx context.Context, source Source, dest string, o CreateOptions) (made Created, err error) {
	return createOn(ctx, source, dest, o, directory.OS{})
}

// createOn is Create on a file system.
func createOn(ctx context.Context, source Source, dest string, o CreateOptions, disk directory.FS) (made Created, err error) {
	d, err := openDestination(dest, disk)
	if err != nil {
		return made, err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	w := &writer{destination: d, source: source, rehash: o.Rehash, allow: o.Allow, events: o.serial()}
	counted := w.events.Violation
	w.events.Violation = func(v metadata.Violation) {
		w.mu.Lock()
		made.Violations++
		w.mu.Unlock()
		counted(v)
	}
	m := &made.Manifest
	*m = Manifest{Format: format, Number: d.next(), Program: o.Program, Created: time.Now().UTC().Truncate(time.Second)}
	if err := w.takeMetadata(ctx, m); err != nil {
		return made, fmt.Errorf("copy the metadata: %w", err)
	}
	if err := w.fillFrom(ctx, m); err != nil {
		return made, errors.Join(err, disk.Remove(d.temporary()))
	}
	made.Copied = w.copied
	if err := d.commit(m); err != nil {
		return made, err
	}
	if made.Removed, err = d.expire(cmp.Or(o.Keep, DefaultKeep)); err != nil {
		return made, fmt.Errorf("the backup is complete, but older snapshots were not removed: %w", err)
	}
	made.Room, err = d.room(ctx, d.files)
	return made, err
}

// writer is one run of Create.
type writer struct {
	*destination
	source Source
	rehash bool
	allow  Allow
	events Events

	mu     sync.Mutex
	copied extent
	lost   []string
	there  trusted
}

// takeMetadata writes a snapshot of the metadata to stable storage, under a name that is not yet
// part of the backup.
func (w *writer) takeMetadata(ctx context.Context, m *Manifest) (err error) {
	snapshot, err := w.source.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, snapshot.Close()) }()
	file, err := w.disk.Create(w.temporary())
	if err != nil {
		return err
	}
	progress := &meter{what: partMetadata, events: w.events, total: snapshot.Bytes}
	n, sum, err := copyHashed(ctx, file, progress.part(snapshot.Bytes).through(snapshot))
	if err == nil {
		err = file.Sync()
	}
	if err == nil && n != snapshot.Bytes {
		err = fmt.Errorf("the source returned %d of %d bytes", n, snapshot.Bytes)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, w.disk.Remove(w.temporary()))
	}
	m.Stamp, m.Database = snapshot.Stamp, Database{Bytes: n, SHA256: sum}
	m.Database.File = m.Database.name(m.Stamp)
	return nil
}

// fillFrom copies the blobs of the new metadata, if they may follow the latest snapshot.
func (w *writer) fillFrom(ctx context.Context, m *Manifest) error {
	meta, err := openMetadata(w.temporary())
	if err != nil {
		return fmt.Errorf("the copy of the metadata: %w", err)
	}
	if err = readLineage(ctx, meta, m); err == nil {
		err = w.follows(m, w.allow)
	}
	if err == nil {
		err = w.fill(ctx, meta, m)
	}
	return errors.Join(err, meta.Close())
}

// fill copies the blobs of the metadata.
func (w *writer) fill(ctx context.Context, meta *bolt.Store, m *Manifest) (err error) {
	damages := 0
	err = meta.Inspect(ctx, func(v metadata.Violation) {
		damages++
		w.events.Violation(v)
	})
	if err != nil {
		return err
	}
	if there := w.all(); damages > 0 && len(there) > 0 {
		return fmt.Errorf("%w: the older backup of %s was not changed; create the new one in another folder, and restore the older one",
			ErrMetadataDamaged, there[len(there)-1].Created.Format(time.RFC3339))
	}
	if m.Blobs, err = measure(ctx, meta); err != nil {
		return err
	}
	progress := &meter{what: partFiles, events: w.events, total: m.Blobs.Bytes}
	err = eachBlob(ctx, meta, func(ctx context.Context, blob blobs.Blob) error {
		part := progress.part(blob.Size)
		defer part.end()
		return w.keep(ctx, meta, blob, part)
	})
	m.Damaged = w.lost
	if err != nil {
		return err
	}
	return errors.Join(w.copyInline(ctx, meta), w.there.sync(w.files))
}

// keep copies a blob unless the backup has it, or lists it as lost.
func (w *writer) keep(ctx context.Context, meta *bolt.Store, blob blobs.Blob, part *portion) error {
	if w.has(ctx, blob) {
		w.there.note(blob.Digest)
		return nil
	}
	err := w.fetch(ctx, blob, part)
	w.mu.Lock()
	if err == nil {
		w.copied.Count++
		w.copied.Bytes += blob.Size
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

// has reports whether the backup already has a blob.
func (w *writer) has(ctx context.Context, blob blobs.Blob) bool {
	if w.rehash {
		return blobs.Verify(ctx, w.files, blob) == nil
	}
	size, err := w.files.Stat(ctx, blob)
	return err == nil && size == blob.Size
}

// attempts bounds the requests for a blob whose bytes cannot be read: a network may recover.
const attempts = 3

// fetch copies a blob from the source.
func (w *writer) fetch(ctx context.Context, blob blobs.Blob, part *portion) error {
	for try := 1; ; try++ {
		err := w.fetchOnce(ctx, blob, part)
		var cut *sourceError
		switch failed := errors.As(err, &cut); {
		case !failed && errors.Is(err, blobs.ErrDamaged) && try == 1:
			continue // a byte may have changed in transit; two wrong reads are damage
		case !failed, errors.Is(err, blobs.ErrNotFound), try == attempts && isLost(err):
			return err
		case try == attempts:
			return fmt.Errorf("%w: blob %s, requested %d times: %w", ErrSource, blob.Digest, try, err)
		}
		wait := time.Duration(try*try) * 250 * time.Millisecond
		if errors.Is(err, blobs.ErrDamaged) {
			wait = 0 // the source itself reports it, so waiting would not help
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// sourceError marks errors of the source.
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

func (w *writer) fetchOnce(ctx context.Context, blob blobs.Blob, part *portion) error {
	body, err := w.source.Blob(ctx, blob)
	if err != nil {
		return &sourceError{err}
	}
	return errors.Join(commit(ctx, w.files, blob, part.through(sourceReader{body})), body.Close())
}

// commit writes the bytes of r to a store if they match the blob, and returns when they are on
// stable storage. Otherwise it returns blobs.ErrDamaged.
func commit(ctx context.Context, store blobs.Writer, blob blobs.Blob, r io.Reader) error {
	staged, err := store.Stage(ctx, r, max(1, blob.Size))
	if errors.Is(err, blobs.ErrTooLarge) {
		return fmt.Errorf("%w: it has more than %d bytes", blobs.ErrDamaged, blob.Size)
	}
	if err != nil {
		return err
	}
	content := staged.Content()
	switch {
	case content.Size != blob.Size:
		err = fmt.Errorf("%w: it has %d bytes, not %d", blobs.ErrDamaged, content.Size, blob.Size)
	case content.Digest != blob.Digest:
		err = fmt.Errorf("%w: its content has the SHA-256 %s", blobs.ErrDamaged, content.Digest)
	default:
		_, err = staged.Commit(ctx)
	}
	return errors.Join(err, staged.Discard())
}

// copyHashed copies r to w and returns the length and the SHA-256, in hex.
func copyHashed(ctx context.Context, w io.Writer, r io.Reader) (n int64, sum string, err error) {
	hash := sha256.New()
	n, err = io.Copy(io.MultiWriter(w, hash), readerUntil{ctx, r})
	return n, hex.EncodeToString(hash.Sum(nil)), err
}

// readerUntil fails when its context ends. The context belongs to one copy.
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
