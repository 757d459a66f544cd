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
	// maxStored is the approximate maximum number of bytes of bodies in the database. Beyond it,
	// small bodies become files immediately, like large ones.
	maxStored = 256 << 20
	// maxBorrowed is the maximum number of bytes of the buffers of all uploads.
	maxBorrowed = 32 << 20
)

// Config holds the operator's settings for inline bodies.
type Config struct {
	Limit int64 // maximum bytes of an inline body; 0 disables inline bodies
	// Keep leaves bodies inline permanently, whatever their number. If files are objects in S3, an
	// object of a few KiB costs more than a row.
	Keep bool
	// Flushed, if not nil, is called after each batch of flushed bodies, with the duration and the
	// error.
	Flushed func(flushed metadata.BodyCount, took time.Duration, err error)
}

// Bodies manages the inline bodies of a repository. It is safe for concurrent use.
type Bodies struct {
	stores   *storage.Stores
	files    blobs.Writer
	config   Config
	stored   atomic.Int64 // bytes in the database at the last upload or batch
	borrowed atomic.Int64 // bytes of borrowed buffers
	buffers  sync.Pool    // of *[]byte, each one byte longer than the limit
	requests activity
	worker   *background.Worker
}

// Start starts to flush bodies, including those left by an earlier process. The caller must call
// Close before it closes the stores.
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

// Close waits for the current batch, which skips files that it has not begun.
func (b *Bodies) Close() { b.worker.Close() }

// Flush flushes all bodies to files, even while clients upload.
func (b *Bodies) Flush(ctx context.Context) error { return b.flush(ctx, 0) }

// Wake must be called after a body has been committed.
func (b *Bodies) Wake() { b.worker.Wake() }

// Busy marks the beginning of an upload, and done its end. No batch begins in between, unless one
// has waited too long or there is too much to flush.
func (b *Bodies) Busy() (done func()) {
	b.requests.begin()
	return b.requests.end
}

// Reading must be called when a client reads a page or a file. No batch begins for a short time
// afterwards.
func (b *Bodies) Reading() { b.requests.note() }

// Limit returns the maximum number of bytes of an inline body.
func (b *Bodies) Limit() int64 { return b.config.Limit }

// Stored returns the number of bytes of bodies in the database at the last upload or batch.
func (b *Bodies) Stored() int64 { return b.stored.Load() }

// Borrow returns a buffer for a body, one byte longer than the limit, or nil if no body may be
// inline now. The caller must give it back with Return.
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

// Count updates the number of stored bytes from a transaction.
func (b *Bodies) Count(tx *metadata.Tx) error {
	total, err := tx.InlineBodies.Total()
	if err == nil {
		b.stored.Store(total.Bytes)
	}
	return err
}

// file is an opened body: a copy that later changes of the resource do not affect.
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

// activity counts the uploads in progress, and records the time of the last upload or read.
type activity struct {
	begun   time.Time // when counting began
	uploads atomic.Int64
	last    atomic.Int64 // time of the last upload or read since begun, in nanoseconds
}

func (a *activity) begin() { a.uploads.Add(1) }

func (a *activity) end() {
	a.note()
	a.uploads.Add(-1)
}

// note records the present time with a precision of some milliseconds, so that processors that
// serve many readers do not contend for one memory location.
func (a *activity) note() {
	if now := int64(time.Since(a.begun)); now-a.last.Load() > int64(idleWindow/16) {
		a.last.Store(now)
	}
}

// idle reports whether no upload is in progress and no client has uploaded or read for d.
func (a *activity) idle(d time.Duration) bool {
	return a.uploads.Load() == 0 && int64(time.Since(a.begun))-a.last.Load() >= int64(d)
}
