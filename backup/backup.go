// Package backup keeps a copy of a repository in a folder of its own: it makes the copy, holds it against itself, restores it
// and takes lost files out of it.
//
// A backup keeps several snapshots of the metadata, each with a manifest that says what it is made of; the files are shared, and none is
// taken away. What lies in the folder, with modes 0700 and 0600:
//
//	manifest.json                      of the latest snapshot; replaced last, so that what it names is complete
//	manifest-<stamp>-<digest>.json     of each earlier snapshot
//	meta-<stamp>-<digest>.db           the metadata of a snapshot
//	blobs/00 … blobs/ff                the files, under their digests
//	tmp/                               what is being written
//	parts/, trash/                     empty
//	lock                               so that two processes do not write here
//
// A folder of format 1 has one snapshot, and becomes one of format 2 with the next.
package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"labshelf/blobs"
	"labshelf/bolt"
	"labshelf/metadata"
)

var (
	// ErrBroken is what is refused as a backup: it is incomplete, has been changed, or is of another format.
	ErrBroken = errors.New("the backup cannot be used")
	// ErrBusy: another process works on the backup.
	ErrBusy = errors.New("another process is using the backup")
	// ErrOccupied: the folder that is to be filled holds something else.
	ErrOccupied = errors.New("the folder is not empty")
	// ErrMetadataDamaged: no snapshot of damaged metadata was added to those of a backup.
	ErrMetadataDamaged = errors.New("the metadata are damaged")
	// ErrInside: the folder for a backup lies in a data directory.
	ErrInside = errors.New("the folder lies in a data directory")
	// ErrOtherRepository: the latest snapshot in the backup is of another repository.
	ErrOtherRepository = errors.New("the backup is of another repository")
	// ErrNewerBackup: the latest snapshot in the backup holds changes that the repository does not know any more.
	ErrNewerBackup = errors.New("the backup is newer than the repository")
	// ErrOtherEpoch: the repository was put back, and the latest snapshot in the backup holds what that has undone.
	ErrOtherEpoch = errors.New("the backup is of another epoch of the repository")
	// ErrNoSnapshot: no snapshot in the backup is the one that was asked for.
	ErrNoSnapshot = errors.New("the backup has no such snapshot")
	// ErrSource is returned, together with the cause, where the bytes of a blob do not come, also when they are asked for again,
	// and the source does not say that the blob is lost.
	ErrSource = errors.New("the source does not give all that it has")
)

// Source is a repository that a backup is made of.
type Source interface {
	// Snapshot copies the metadata as of one moment. The caller closes it.
	Snapshot(ctx context.Context) (Snapshot, error)

	// Blob opens a blob that the last snapshot refers to; size is what it should have, in bytes. The caller closes it.
	// blobs.ErrNotFound and blobs.ErrDamaged, also of its Read, mean that the blob is lost; any other error, that the source
	// is. Blob may be called concurrently.
	Blob(ctx context.Context, digest blobs.Digest, size int64) (io.ReadCloser, error)
}

// Snapshot is a copy of a metadata file, to be read once.
type Snapshot struct {
	io.ReadCloser
	Stamp metadata.Stamp // the last one given out in it
	Bytes int64          // its length
}

// Events are called while something is under way, one at a time. Each may be nil.
type Events struct {
	Progress  func(what string, done, total int64) // bytes of one part of the work, such as "metadata" or "files"
	Skipped   func(what string, bytes int64)       // so many bytes of it need no work; before the Progress that counts them
	Violation func(metadata.Violation)             // something is damaged or missing
}

// What Progress calls the parts of the work.
const (
	partMetadata = "metadata"
	partFiles    = "files"
	partCheck    = "check"
	partEarlier  = "earlier files" // those that only earlier snapshots need
)

// What lies in a backup, or in a data directory, beside what package blobs keeps there.
const (
	manifestFile = "manifest.json"
	lockFile     = "lock"
	metadataFile = "meta.db" // of a data directory
	metaPrefix   = "meta-"   // of a snapshot in a backup
	metaSuffix   = ".db"
	earlier      = "manifest-" // of an earlier snapshot
	earlierEnd   = ".json"
)

// serial makes events safe to be called concurrently, and never nil.
func (e Events) serial() Events {
	var mu sync.Mutex
	safe := Events{Progress: func(string, int64, int64) {}, Skipped: func(string, int64) {}, Violation: func(metadata.Violation) {}}
	if e.Progress != nil {
		safe.Progress = func(what string, done, total int64) {
			mu.Lock()
			defer mu.Unlock()
			e.Progress(what, done, total)
		}
	}
	if e.Skipped != nil {
		safe.Skipped = func(what string, bytes int64) {
			mu.Lock()
			defer mu.Unlock()
			e.Skipped(what, bytes)
		}
	}
	if e.Violation != nil {
		safe.Violation = func(v metadata.Violation) {
			mu.Lock()
			defer mu.Unlock()
			e.Violation(v)
		}
	}
	return safe
}

// meter counts bytes that are through.
type meter struct {
	what   string
	events Events
	mu     sync.Mutex
	done   int64
	total  int64
}

func (m *meter) add(n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done += n
	m.events.Progress(m.what, m.done, m.total)
}

// part is for a number of bytes of the whole, to be read perhaps more than once.
func (m *meter) part(bytes int64) *portion { return &portion{m, bytes} }

// portion counts its bytes once.
type portion struct {
	meter *meter
	left  int64 // not yet counted
}

// through returns r, whose bytes are counted as they are read.
func (p *portion) through(r io.Reader) io.Reader { return io.TeeReader(r, p) }

// Write counts.
func (p *portion) Write(read []byte) (int, error) {
	n := min(int64(len(read)), p.left)
	p.left -= n
	p.meter.add(n)
	return len(read), nil
}

// end counts what was not read.
func (p *portion) end() {
	if p.left > 0 {
		p.meter.events.Skipped(p.meter.what, p.left)
	}
	p.meter.add(p.left)
	p.left = 0
}

// extent is how much a metadata file vouches for.
type extent struct {
	Count int64 `json:"count"` // blobs
	Bytes int64 `json:"bytes"` // of them
}

// vouched calls fn for each blob that has a row, ascending by digest, and stops at its first error. That includes files that were
// replaced and not yet purged: a check wants to see every file for which there is a row.
func vouched(ctx context.Context, meta metadata.Reader, fn func(metadata.Blob) error) error {
	return meta.View(ctx, func(tx *metadata.Tx) error {
		for blob, err := range tx.Blobs.All(nil) {
			if err == nil {
				err = ctx.Err()
			}
			if err == nil {
				err = fn(blob)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func measure(ctx context.Context, meta metadata.Reader) (e extent, err error) {
	err = vouched(ctx, meta, func(blob metadata.Blob) error {
		e.Count++
		e.Bytes += blob.Bytes
		return nil
	})
	return e, err
}

// copiers is how many blobs are copied at a time.
const copiers = 4

// eachBlob calls fn for each blob that has a row, for several at a time, and returns its first error.
func eachBlob(ctx context.Context, meta metadata.Reader, fn func(context.Context, metadata.Blob) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan metadata.Blob)
	var workers sync.WaitGroup
	for range copiers {
		workers.Go(func() {
			for blob := range queue {
				if err := fn(ctx, blob); err != nil {
					cancel(err)
				}
			}
		})
	}
	err := vouched(ctx, meta, func(blob metadata.Blob) error {
		select {
		case queue <- blob:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	close(queue)
	workers.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// report names each resource whose file a lost blob is, or the blob itself where it is no resource's.
func report(ctx context.Context, meta metadata.Reader, blob metadata.Blob, wrong string, events Events) error {
	return meta.View(ctx, func(tx *metadata.Tx) error {
		needed := false
		for id, err := range tx.Blobs.Refs(blob.Digest) {
			if err != nil {
				return err
			}
			needed = true
			v := metadata.Violation{Part: metadata.PartBlobs, Kind: "resource", ID: id.String()}
			v.Wrong = fmt.Sprintf("its file, sha256 %s: %s", blob.Digest, wrong)
			if r, err := tx.Resources.Get(id); err == nil {
				v.Name = r.Name
			}
			events.Violation(v)
		}
		if !needed {
			events.Violation(metadata.Violation{
				Part: metadata.PartBlobs, Kind: "blob", ID: blob.Digest.String(), Wrong: wrong + " (no resource needs it)",
			})
		}
		return nil
	})
}

// trusted are the folders of blobs that were found in a store, and are relied upon. Who has placed them may have been killed before
// the names were on stable storage.
type trusted [256]atomic.Bool

func (t *trusted) note(digest blobs.Digest) { t[digest[0]].Store(true) }

// keep puts the names in the folders on stable storage.
func (t *trusted) keep(files *blobs.Dir) error {
	for first := range t {
		if !t[first].Load() {
			continue
		}
		if err := files.KeepNames(byte(first)); err != nil {
			return err
		}
	}
	return nil
}

// openMetadata opens a metadata file that nobody changes.
func openMetadata(path string) (*bolt.Store, error) {
	return bolt.Open(path, bolt.Options{ReadOnly: true})
}

// Local is a data directory as the source of a backup. Its service is stopped, and cannot start until Close.
type Local struct {
	meta  *bolt.Store
	files *blobs.Dir
}

var _ Source = (*Local)(nil)

// OpenLocal opens a data directory, and changes nothing in it. Errors: those of bolt.Open, such as bolt.ErrLocked. The caller
// closes it.
func OpenLocal(path string) (*Local, error) {
	files, err := blobs.OpenDirReadOnly(path)
	if err != nil {
		return nil, err
	}
	meta, err := openMetadata(filepath.Join(path, metadataFile))
	if err != nil {
		return nil, err
	}
	return &Local{meta: meta, files: files}, nil
}

// Close gives the data directory free.
func (l *Local) Close() error { return l.meta.Close() }

// Snapshot implements [Source].
func (l *Local) Snapshot(ctx context.Context) (Snapshot, error) {
	s, err := l.meta.Snapshot(ctx)
	if err != nil {
		return Snapshot{}, err
	}
	return Snapshot{ReadCloser: s, Stamp: s.Stamp(), Bytes: s.Bytes()}, nil
}

// Blob implements [Source].
func (l *Local) Blob(_ context.Context, digest blobs.Digest, size int64) (io.ReadCloser, error) {
	file, err := l.files.Open(digest, size)
	if err == nil {
		return lossy{file}, nil
	}
	if errors.Is(err, blobs.ErrNotFound) || errors.Is(err, blobs.ErrDamaged) || errors.Is(err, blobs.ErrUnavailable) {
		return nil, err
	}
	return nil, fmt.Errorf("%w: %w", blobs.ErrDamaged, err)
}

// lossy is a file of which what cannot be read is lost.
type lossy struct{ io.ReadCloser }

func (l lossy) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("%w: %w", blobs.ErrDamaged, err)
	}
	return n, err
}

// makeDir makes a folder for its owner alone, and those above it, so that they survive a power cut.
func makeDir(path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.IsDir():
		return fmt.Errorf("%w: %s is a file", ErrOccupied, path)
	case err == nil || !errors.Is(err, fs.ErrNotExist):
		return err
	}
	parent := filepath.Dir(path)
	if err := makeDir(parent); err != nil {
		return err
	}
	if err := (blobs.OS{}).Mkdir(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return blobs.OS{}.SyncDir(parent)
}
