package inline

import (
	"bytes"
	"context"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/repository/internal/background"
	"labshelf/repository/internal/rows"
	"labshelf/repository/internal/storage"
)

const (
	// maxStored is how many bytes of bodies the database has at most, about; what comes then
	// becomes a file as large bodies do.
	maxStored = 256 << 20
	// maxBorrowed is how many bytes of buffers all uploads together have at most.
	maxBorrowed = 32 << 20
)

// Config is what an operator decides about inline bodies.
type Config struct {
	Limit int64 // bytes of the longest one; 0: none is inline
	// Keep: bodies stay where they are, however many there are. Where a file is an object in an S3,
	// one of some KiB costs more than its row.
	Keep bool
	// Flushed hears of a batch of bodies that have become files, how long that took, and why it
	// failed. nil: none.
	Flushed func(flushed metadata.BodyCount, took time.Duration, err error)
}

// Bodies are the inline bodies of a repository. It is safe for concurrent use.
type Bodies struct {
	stores   *storage.Stores
	files    blobs.Writer
	config   Config
	stored   atomic.Int64 // bytes in the database, as of the last upload or batch
	borrowed atomic.Int64 // bytes of buffers
	buffers  sync.Pool    // of *[]byte, each one byte longer than the limit
	requests activity
	worker   *background.Worker
}

// Start begins to make files of what the last service has left. The caller ends it with Close,
// before it closes the stores.
func Start(stores *storage.Stores, files blobs.Writer, c Config) *Bodies {
	b := &Bodies{stores: stores, files: files, config: c, requests: activity{begun: time.Now()}}
	b.buffers.New = func() any { return new(make([]byte, c.Limit+1)) }
	b.worker = stores.Node.Work(background.Next{}, func(ctx context.Context) background.Next {
		err := b.flush(ctx, flushDelay)
		b.stores.Background.Report(background.TaskFlush, err)
		if err != nil {
			return background.Backoff(flushBackoff)
		}
		return background.Idle()
	})
	return b
}

// Close returns when the batch under way is done, less the files that it had not begun with.
func (b *Bodies) Close() { b.worker.Close() }

// Flush makes files of all bodies, also while clients upload.
func (b *Bodies) Flush(ctx context.Context) error { return b.flush(ctx, 0) }

// Wake says that a body has been committed.
func (b *Bodies) Wake() { b.worker.Wake() }

// Busy says that a client uploads, until done is called. Meanwhile no batch begins, unless one has
// waited for long or there is much to flush.
func (b *Bodies) Busy() (done func()) {
	b.requests.begin()
	return b.requests.end
}

// Reading says that a client reads a page or a file: no batch begins just then, as after an upload.
func (b *Bodies) Reading() { b.requests.note() }

// Limit is how many bytes the longest body has.
func (b *Bodies) Limit() int64 { return b.config.Limit }

// Stored is how many bytes of bodies the database has, as of the last upload or batch.
func (b *Bodies) Stored() int64 { return b.stored.Load() }

// Borrow returns a buffer for a body, one byte longer than the limit, and nil where none may be
// inline now. The caller gives it back with Return.
func (b *Bodies) Borrow() *[]byte {
	limit := b.config.Limit
	if limit <= 0 || !b.config.Keep && b.stored.Load()+limit > maxStored {
		return nil
	}
	if b.borrowed.Add(limit+1) > maxBorrowed {
		b.borrowed.Add(-(limit + 1))
		return nil
	}
	return b.buffers.Get().(*[]byte)
}

// Return gives a buffer back.
func (b *Bodies) Return(buffer *[]byte) {
	b.borrowed.Add(-(b.config.Limit + 1))
	b.buffers.Put(buffer)
}

// Count reads, in a transaction, how many bytes are stored.
func (b *Bodies) Count(tx *metadata.Tx) error {
	total, err := tx.InlineBodies.Total()
	if err == nil {
		b.stored.Store(total.Bytes)
	}
	return err
}

// file is a body as Open returns it: a copy, which nothing that happens to the resource changes.
type file struct{ *bytes.Reader }

func (file) Close() error { return nil }

// Open returns the inline body of a resource. It stays valid after the transaction.
func Open(tx *metadata.Tx, r metadata.Resource) (io.ReadSeekCloser, error) {
	body, err := rows.ReadInline(tx, r)
	if err != nil {
		return nil, storage.DamagedError("resource "+r.ID.String(), err)
	}
	return file{bytes.NewReader(body)}, nil
}

// activity counts the uploads under way, and remembers when there was one, or a client read.
type activity struct {
	begun   time.Time // when counting began
	uploads atomic.Int64
	last    atomic.Int64 // how long after that the last of these was, in nanoseconds
}

func (a *activity) begin() { a.uploads.Add(1) }

func (a *activity) end() {
	a.note()
	a.uploads.Add(-1)
}

// note is exact to some milliseconds, so that processors that serve many readers do not all write
// to one place.
func (a *activity) note() {
	if now := int64(time.Since(a.begun)); now-a.last.Load() > int64(idleWindow/16) {
		a.last.Store(now)
	}
}

// idle tells whether no upload is under way and nobody read for d.
func (a *activity) idle(d time.Duration) bool {
	return a.uploads.Load() == 0 && int64(time.Since(a.begun))-a.last.Load() >= int64(d)
}
