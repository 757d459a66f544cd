package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"labshelf/blobs"
	"labshelf/blobs/directory"
	"labshelf/bolt"
	"labshelf/metadata"
)

var (
	// ErrBroken means that the backup is incomplete, has been changed, or has another format.
	ErrBroken = errors.New("the backup cannot be used")
	// ErrBusy means that another process works on the backup.
	ErrBusy = errors.New("another process is using the backup")
	// ErrOccupied means that the target folder contains other files.
	ErrOccupied = errors.New("the folder is not empty")
	// ErrMetadataDamaged means that the metadata are damaged, and that no snapshot of them was
	// added to a backup with snapshots.
	ErrMetadataDamaged = errors.New("the metadata are damaged")
	// ErrInside means that the folder of a backup is in a data directory.
	ErrInside = errors.New("the folder is in a data directory")
	// ErrOtherRepository means that the latest snapshot in the backup belongs to another
	// repository.
	ErrOtherRepository = errors.New("the backup is of another repository")
	// ErrNewerBackup means that the latest snapshot in the backup has changes that the repository
	// no longer has.
	ErrNewerBackup = errors.New("the backup is newer than the repository")
	// ErrOtherEpoch means that the repository was restored, and the latest snapshot in the backup
	// has changes that the restoration has undone.
	ErrOtherEpoch = errors.New("the backup is of another epoch of the repository")
	// ErrNoSnapshot means that the backup has no snapshot that matches.
	ErrNoSnapshot = errors.New("the backup has no such snapshot")
	// ErrSource is returned with the cause if the bytes of a blob cannot be read, not even by
	// further requests, and the source does not report the blob as lost.
	ErrSource = errors.New("the source does not return all of its data")
)

// Source is the repository to back up.
type Source interface {
	// Snapshot copies the metadata at one moment. The caller closes it.
	Snapshot(ctx context.Context) (Snapshot, error)

	// Blob opens a blob of the last snapshot, by its row there. The caller closes it.
	// blobs.ErrNotFound and blobs.ErrDamaged, also from Read, mean that the blob is lost; any other
	// error means that the source has failed. Blob may be called concurrently.
	Blob(ctx context.Context, b blobs.Blob) (io.ReadCloser, error)
}

// Snapshot is a copy of a metadata file. It can be read once.
type Snapshot struct {
	io.ReadCloser
	Stamp metadata.Stamp // the last stamp in it
	Bytes int64          // its length
}

// Events are called during an operation, one at a time. Each may be nil.
type Events struct {
	Progress  func(what string, done, total int64) // bytes of one part of the work, such as "metadata" or "files"
	Skipped   func(what string, bytes int64)       // bytes that need no work; called before the Progress that counts them
	Violation func(metadata.Violation)             // a damaged or missing object
}

// Names of the parts of the work, for Progress.
const (
	partMetadata = "metadata"
	partFiles    = "files"
	partCheck    = "check"
	partRecords  = "records"
	partEarlier  = "earlier files" // blobs that only earlier snapshots need
)

// Files in a backup or in a data directory, except the files of package blobs.
const (
	manifestFile = "manifest.json"
	lockFile     = "lock"
	metadataFile = "meta.db" // of a data directory
	metaPrefix   = "meta-"   // of a snapshot in a backup
	metaSuffix   = ".db"
	earlier      = "manifest-" // of an earlier snapshot
	earlierEnd   = ".json"
)

// serial returns events that may be called concurrently and are never nil.
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

// meter counts processed bytes.
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

// part returns a portion of the total, whose bytes may be read more than once.
func (m *meter) part(bytes int64) *portion { return &portion{m, bytes} }

// portion counts each of its bytes once.
type portion struct {
	meter *meter
	left  int64 // not yet counted
}

// through returns r with its bytes counted as they are read.
func (p *portion) through(r io.Reader) io.Reader { return io.TeeReader(r, p) }

// Write counts.
func (p *portion) Write(read []byte) (int, error) {
	n := min(int64(len(read)), p.left)
	p.left -= n
	p.meter.add(n)
	return len(read), nil
}

// end counts the bytes that were not read.
func (p *portion) end() {
	if p.left > 0 {
		p.meter.events.Skipped(p.meter.what, p.left)
	}
	p.meter.add(p.left)
	p.left = 0
}

// extent is the number and size of the blobs that a metadata file records.
type extent struct {
	Count int64 `json:"count"` // blobs
	Bytes int64 `json:"bytes"` // of these blobs
}

// eachRow calls fn for each blob with a row, ascending by digest, and stops at its first error.
// This includes files that were replaced and not yet purged: a check must see every recorded file.
func eachRow(ctx context.Context, meta metadata.Reader, fn func(blobs.Blob) error) error {
	return meta.View(ctx, func(tx *metadata.Tx) error {
		for blob, err := range tx.Blobs.All(blobs.Digest{}) {
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
	err = eachRow(ctx, meta, func(blob blobs.Blob) error {
		e.Count++
		e.Bytes += blob.Size
		return nil
	})
	return e, err
}

// copiers is the number of blobs that are copied concurrently.
const copiers = 4

// eachBlob calls fn for each blob with a row, several concurrently, and returns its first error.
func eachBlob(ctx context.Context, meta metadata.Reader, fn func(context.Context, blobs.Blob) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan blobs.Blob)
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
	err := eachRow(ctx, meta, func(blob blobs.Blob) error {
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

// report reports each resource and each version whose file is a lost blob, or the blob itself if it
// is unreferenced.
func report(ctx context.Context, meta metadata.Reader, blob blobs.Blob, wrong string, events Events) error {
	return meta.View(ctx, func(tx *metadata.Tx) error {
		needed := false
		for of, err := range tx.Blobs.Refs(blob.Digest) {
			if err != nil {
				return err
			}
			needed = true
			v := metadata.Violation{Part: metadata.PartBlobs, Kind: "resource", ID: of.Resource.String()}
			v.Wrong = fmt.Sprintf("its file, sha256 %s: %s", blob.Digest, wrong)
			switch r, err := tx.Resources.Get(of.Resource); {
			case err == nil && r.Version == of.Version:
				v.Name = r.Name
			case err == nil:
				v.Kind, v.Wrong = "version", fmt.Sprintf("the file of version %d, sha256 %s: %s", uint64(of.Version)+1, blob.Digest, wrong)
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

// trusted are the folders with blobs that an earlier process has committed to a store, and that
// this process does not write again. The earlier process may have been killed before the names were
// on stable storage.
type trusted [256]atomic.Bool

func (t *trusted) note(digest blobs.Digest) { t[digest[0]].Store(true) }

// sync brings the names in these folders to stable storage.
func (t *trusted) sync(files *directory.Store) error {
	for first := range t {
		if !t[first].Load() {
			continue
		}
		if err := files.SyncNames(byte(first)); err != nil {
			return err
		}
	}
	return nil
}

// openMetadata opens a metadata file for reading; no process may change it in the meantime.
func openMetadata(path string) (*bolt.Store, error) {
	return bolt.Open(path, bolt.Options{ReadOnly: true})
}

// Local is the stores of a repository as the source of a backup. Its service must be stopped, and
// cannot start until they are closed.
type Local struct {
	Metadata metadata.Maintenance
	Files    blobs.Reader
}

var _ Source = Local{}

// Snapshot implements [Source].
func (l Local) Snapshot(ctx context.Context) (Snapshot, error) {
	s, err := l.Metadata.Snapshot(ctx)
	if err != nil {
		return Snapshot{}, err
	}
	return Snapshot{ReadCloser: s, Stamp: s.Stamp(), Bytes: s.Bytes()}, nil
}

// Blob implements [Source].
func (l Local) Blob(ctx context.Context, b blobs.Blob) (io.ReadCloser, error) {
	file, err := l.Files.Open(ctx, b)
	if err == nil {
		return lossy{file}, nil
	}
	return nil, asLost(err)
}

// lossy is a blob whose read errors mean that it is lost, unless they mean that its store is
// unavailable.
type lossy struct{ io.ReadCloser }

func (l lossy) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = asLost(err)
	}
	return n, err
}

// asLost turns an unspecific error into the error of a damaged blob.
func asLost(err error) error {
	for _, known := range []error{blobs.ErrNotFound, blobs.ErrDamaged, blobs.ErrUnavailable, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, known) {
			return err
		}
	}
	return fmt.Errorf("%w: %w", blobs.ErrDamaged, err)
}

// makeDir creates a folder that only its owner can access, and its parents, durably.
func makeDir(path string) error {
	err := directory.OS{}.MkdirAll(path)
	if at, is := errors.AsType[*fs.PathError](err); is && at.Err == syscall.ENOTDIR {
		err = fmt.Errorf("%w: %s is a file", ErrOccupied, at.Path)
	}
	return err
}

// lock locks an open file, exclusively or shared, until it is closed. It does not wait.
func lock(file *os.File, exclusive bool) error {
	err := directory.Lock(file, exclusive)
	if errors.Is(err, directory.ErrLocked) {
		err = ErrBusy
	}
	return err
}
