package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"sync"

	"labshelf/blobs"
	"labshelf/bolt"
	"labshelf/metadata"
	"labshelf/metadata/tables"
)

var (
	// ErrLost means that files are damaged or missing at the origin.
	ErrLost = errors.New("files are damaged or missing")
	// ErrDiffers means that the written metadata differ from the read ones.
	ErrDiffers = errors.New("the metadata that were written differ from those that were read")
)

// Origin is the repository that Move moves. Its service must be stopped. Move does not change it.
type Origin struct {
	Metadata metadata.Store
	Files    blobs.Reader
}

// Destination is the target of Move. Its service must be stopped.
type Destination struct {
	Files blobs.Store                                                        // nil: the files are not moved
	Load  func(ctx context.Context, rows iter.Seq2[tables.Row, error]) error // writes all rows as new metadata, or no row
	Rows  func(ctx context.Context) iter.Seq2[tables.Row, error]             // returns the rows that Load has written, in order
	Claim func(ctx context.Context, of metadata.Identity) error              // checks that the files belong to no other repository; may be nil
	Work  string                                                             // path of a file with the state of an interrupted Move
}

// MoveOptions are the options of [Move].
type MoveOptions struct {
	Rehash  bool // also read existing files, instead of trusting files of the right size
	Partial bool // move even if files are damaged or missing
	Events
}

// Moved is the result of [Move].
type Moved struct {
	Identity metadata.Identity `json:"identity"`
	Stamp    metadata.Stamp    `json:"stamp"`  // the last change
	Rows     int64             `json:"rows"`   // of the metadata, which were read again and compared
	SHA256   string            `json:"sha256"` // of these rows, in hex
	Files    extent            `json:"files"`
	Copied   extent            `json:"copied"` // files copied by this run
	Lost     int64             `json:"lost"`   // files that are damaged or missing
}

// Move copies a repository with all of its metadata, so that tokens, keys, sessions, ids and the
// audit log stay valid: it is the same repository in the same epoch. It copies files first, each
// compared with its digest, and the metadata last, as a whole. After an interruption the caller
// calls Move again, which continues; until it has returned, no service starts at the destination.
// Unfinished uploads in chunks begin again, and the trash is not moved, unless the files stay where
// they are.
//
// Errors: ErrLost unless Partial, ErrDiffers, the errors of the stores.
func Move(ctx context.Context, from Origin, to Destination, o MoveOptions) (done Moved, err error) {
	m := &move{from: from, to: to, rehash: o.Rehash, events: o.serial()}
	if err := m.takeRecords(ctx); err != nil {
		return done, fmt.Errorf("copy the metadata: %w", err)
	}
	defer func() {
		if m.records != nil {
			err = errors.Join(err, m.records.Close())
		}
	}()
	m.done.Identity = metadata.IdentityOf(m.records.Secret())
	if to.Claim != nil {
		if err := to.Claim(ctx, m.done.Identity); err != nil {
			return m.done, err
		}
	}
	if m.done.Files, err = measure(ctx, m.records); err == nil && to.Files != nil {
		err = m.moveFiles(ctx)
	}
	if err == nil && m.done.Lost > 0 && !o.Partial {
		err = fmt.Errorf("%w in the source repository: %d of %d", ErrLost, m.done.Lost, m.done.Files.Count)
	}
	if err == nil {
		err = m.load(ctx)
	}
	if err != nil {
		return m.done, err
	}
	err = m.records.Close()
	m.records = nil
	return m.done, errors.Join(err, os.Remove(to.Work))
}

// move is one run of Move.
type move struct {
	from   Origin
	to     Destination
	rehash bool
	events Events

	records *bolt.Store // a copy of the metadata, whose blobs have the names of their objects at the destination
	before  *bolt.Store // the copy of an interrupted run, before the last change, or nil
	there   trusted

	mu    sync.Mutex
	done  Moved
	noted []blobs.Blob // of the current batch, those with a new object
}

// takeRecords opens the copy of an interrupted run if it has the current state, or makes a new one.
func (m *move) takeRecords(ctx context.Context) (err error) {
	if m.done.Stamp, err = lastStamp(ctx, m.from.Metadata); err != nil {
		return err
	}
	if err := makeDir(filepath.Dir(m.to.Work)); err != nil {
		return err
	}
	if _, err := os.Lstat(m.to.Work); err == nil {
		if m.records, err = bolt.Open(m.to.Work, bolt.Options{}); err != nil {
			return fmt.Errorf("the files of an interrupted run, %s, cannot be used; remove them: %w", m.to.Work, err)
		}
		last, err := lastStamp(ctx, m.records)
		if err == nil && last == m.done.Stamp && m.records.Secret() == m.from.Metadata.Secret() {
			return nil
		}
		if err = errors.Join(err, m.records.Close(), os.Rename(m.to.Work, m.beforePath())); err != nil {
			return err
		}
		m.records = nil
	}
	if err := m.snapshot(ctx); err != nil {
		return err
	}
	m.records, err = bolt.Open(m.to.Work, bolt.Options{})
	return err
}

func (m *move) beforePath() string { return m.to.Work + ".before" }

func lastStamp(ctx context.Context, meta metadata.Reader) (last metadata.Stamp, err error) {
	err = meta.View(ctx, func(tx *metadata.Tx) error {
		last, err = tx.Lineage.LastStamp()
		return err
	})
	return last, err
}

// snapshot makes the copy of the metadata. It gets its name after the names of the origin's objects
// are removed.
func (m *move) snapshot(ctx context.Context) (err error) {
	snapshot, err := m.from.Metadata.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, snapshot.Close()) }()
	fresh := m.to.Work + ".fresh"
	file, err := os.OpenFile(fresh, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	progress := &meter{what: partMetadata, events: m.events, total: snapshot.Bytes()}
	n, _, err := copyHashed(ctx, file, progress.part(snapshot.Bytes()).through(snapshot))
	if err == nil && n != snapshot.Bytes() {
		err = fmt.Errorf("the snapshot returned %d of %d bytes", n, snapshot.Bytes())
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if m.to.Files != nil {
		if err := forgetObjects(ctx, fresh); err != nil {
			return err
		}
	}
	return os.Rename(fresh, m.to.Work)
}

// load writes the metadata of the destination, reads them again, and compares.
func (m *move) load(ctx context.Context) error {
	read, err := summarise(m.records.Rows(ctx))
	if err != nil {
		return err
	}
	progress := &meter{what: partRecords, events: m.events, total: 2 * read.bytes}
	err = m.to.Load(ctx, counted(m.records.Rows(ctx), progress))
	if err != nil {
		return fmt.Errorf("write the metadata: %w", err)
	}
	written, err := summarise(counted(m.to.Rows(ctx), progress))
	if err != nil {
		return fmt.Errorf("read the metadata that were written: %w", err)
	}
	if written != read {
		return fmt.Errorf("%w: read %d rows of %d bytes with digest %s, but wrote %d rows of %d bytes with digest %s; do not use the new metadata",
			ErrDiffers, read.rows, read.bytes, read.digest, written.rows, written.bytes, written.digest)
	}
	m.done.Rows, m.done.SHA256 = read.rows, read.digest
	return nil
}

// summary is equal for equal rows.
type summary struct {
	rows, bytes int64
	digest      string
}

func summarise(rows iter.Seq2[tables.Row, error]) (s summary, err error) {
	hash := sha256.New()
	for row, err := range rows {
		if err != nil {
			return s, err
		}
		s.rows++
		s.bytes += int64(len(row.Key) + len(row.Value))
		_, _ = fmt.Fprintf(hash, "%s %d %d\n", row.Bucket, len(row.Key), len(row.Value)) // a hash never fails
		_, _ = hash.Write(row.Key)
		_, _ = hash.Write(row.Value)
	}
	s.digest = hex.EncodeToString(hash.Sum(nil))
	return s, nil
}

// counted yields the rows, and counts their bytes.
func counted(rows iter.Seq2[tables.Row, error], progress *meter) iter.Seq2[tables.Row, error] {
	return func(yield func(tables.Row, error) bool) {
		for row, err := range rows {
			progress.add(int64(len(row.Key) + len(row.Value)))
			if !yield(row, err) {
				return
			}
		}
	}
}
