// Package indexing keeps the search index up to date. It follows the audit log, whose order is the
// order of changes, and passes the changes to the index. The index is a cache. Its position records
// the epoch and the last entry followed. An index without a position, of another epoch, or from
// beyond the end of the log is rebuilt from the tables. The index contains only data on stable
// storage, which a power failure cannot undo.
//
// A change is followed in two steps. Its record can be found immediately. The text of its file,
// which takes longer to read, follows later: a second position, by the stamp of the last
// modification, follows behind the first.
package indexing

import (
	"context"
	"errors"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/repository/internal/background"
	"labshelf/repository/internal/conformance"
	"labshelf/repository/internal/storage"
	"labshelf/search/index"
)

const (
	interval    = 250 * time.Millisecond // between two reads of the log
	maxEntries  = 4096                   // maximum entries that one read transaction examines
	maxScanned  = 2000                   // maximum objects that one reads while the index is rebuilt
	maxChecking = time.Second            // approximate time that one spends on validation
	retryAfter  = 3 * time.Second

	rebuildAfter = time.Second // limits the load if each new index is damaged
)

// Status is the status of the index.
type Status struct {
	Epoch    string // of the audit log that the index follows
	Entries  uint64 // number of entries followed
	Behind   uint64 // number of entries not followed yet; all of them while Scanning
	Scanning bool   // the index is being rebuilt: objects are missing
	Texts    bool   // texts of some files are missing
	Schemas  bool   // some objects were not validated since a schema changed
	Failure  error  // why the index does not advance; nil if it does
	index.Status
}

// Indexing follows the log into an index. It is safe for concurrent use.
type Indexing struct {
	stores  *storage.Stores
	schemas *conformance.Schemas
	dir     string
	worker  *background.Worker

	unread map[blobs.Digest]bool // unreadable files; nil at first; only the worker uses it
	looked time.Time             // time of the last attempt

	compact bool // after a rebuild: compact once everything is indexed; only the worker uses it

	swap  sync.RWMutex // read-locked to use the index, locked to replace it
	index *index.Index // nil if it could not be opened

	damaged atomic.Bool // a search has found damage; false again for a new index

	mu      sync.Mutex
	at      position
	failure error
	moved   chan struct{} // closed when at changes
}

// Start opens the index in the directory dir, creates it if necessary, and starts to follow the
// log. If dir is "", search is disabled. If the index cannot be opened, Start tries again in the
// background. The caller must close the Indexing.
func Start(stores *storage.Stores, schemas *conformance.Schemas, dir string) *Indexing {
	x := &Indexing{stores: stores, schemas: schemas, dir: dir, moved: make(chan struct{})}
	if dir == "" {
		return x
	}
	if ix, at, err := index.Open(dir); err == nil { // otherwise the first run rebuilds it
		x.index, x.at = ix, parsePosition(at)
		x.damaged.Store(len(at) > 0 && x.at == position{}) // another version has made it
	}
	x.worker = background.Start(background.Idle(), x.run)
	x.worker.Wake() // only now, because a run may rebuild the index and then uses x.worker
	return x
}

// Grown must be called when the audit log has grown and the new entries are on stable storage.
func (x *Indexing) Grown() {
	if x.worker != nil {
		x.worker.Wake()
	}
}

// Close stops following and saves the index. It may be called again.
func (x *Indexing) Close() {
	if x.worker == nil {
		return
	}
	x.worker.Close()
	x.swap.Lock()
	defer x.swap.Unlock()
	if x.index != nil {
		_ = x.index.Close() // unsaved changes are followed again at the next start
	}
	x.index = nil
}

// Search searches the index. In addition to the errors of the index, it returns errAway while the
// index is being rebuilt and cannot be opened. A damaged index is rebuilt in the background.
func (x *Indexing) Search(ctx context.Context, r index.Request) (index.Result, error) {
	x.swap.RLock()
	defer x.swap.RUnlock()
	if x.index == nil {
		return index.Result{}, errAway
	}
	result, err := x.index.Search(ctx, r)
	if errors.Is(err, index.ErrDamaged) {
		x.damaged.Store(true)
		x.worker.Wake()
	}
	return result, err
}

var errAway = errors.New("the search index is not open")

// Status returns the status of the index. log is the present size of the audit log.
func (x *Indexing) Status(log uint64) Status {
	x.swap.RLock()
	defer x.swap.RUnlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	s := Status{
		Epoch: x.at.epoch.String(), Entries: x.at.next, Texts: x.at.textsBehind(), Schemas: x.at.schemasBehind(), Failure: x.failure,
		Scanning: x.at.phase != following || x.damaged.Load(), // the worker might not have begun yet
	}
	if x.index != nil {
		s.Status = x.index.Status()
	}
	switch {
	case s.Scanning: // the position is where following begins after the rebuild
		s.Entries, s.Behind = 0, max(1, log)
	case log > x.at.next:
		s.Behind = log - x.at.next
	}
	return s
}

// Rebuild deletes the index and rebuilds it in the background.
func (x *Indexing) Rebuild() (err error) {
	if x.worker == nil {
		return errAway
	}
	x.swap.Lock()
	defer x.swap.Unlock()
	defer x.worker.Wake()
	if x.index != nil {
		_ = x.index.Close() // its unsaved changes are not needed
	}
	x.index = nil
	x.moveTo(position{})
	x.damaged.Store(false) // only after moveTo, because Followed reads both
	if err := os.RemoveAll(x.dir); err != nil {
		return err
	}
	x.index, _, err = index.Open(x.dir)
	return err
}

// run takes one step: first of the log, then of the texts.
func (x *Indexing) run(ctx context.Context) background.Next {
	next, err := x.step(ctx)
	if ctx.Err() != nil {
		return background.Idle()
	}
	if errors.Is(err, index.ErrDamaged) || errors.Is(err, errAway) {
		x.stores.Background.Report(background.TaskIndex, err)
		next, err = background.Backoff(rebuildAfter), x.Rebuild()
	}
	x.mu.Lock()
	x.failure = err
	x.mu.Unlock()
	x.stores.Background.Report(background.TaskIndex, err)
	if err != nil {
		return background.Backoff(retryAfter)
	}
	return next
}

// step follows the log by one batch. At the end of the log, it reads some texts. If no texts are
// left, it validates some objects again whose schemas have changed.
func (x *Indexing) step(ctx context.Context) (background.Next, error) {
	if x.damaged.Load() {
		return background.Next{}, index.ErrDamaged
	}
	var b batch
	at := x.position()
	x.compact = x.compact || at.phase != following
	err := x.stores.Meta.ViewDurable(ctx, func(tx *metadata.Tx) error {
		b = x.newBatch(tx, at)
		return b.read()
	})
	if err == nil {
		err = x.apply(b)
	}
	if err != nil || b.more {
		return background.Next{}, err
	}
	for _, follow := range []func(context.Context) (bool, error){x.readHealed, x.readTexts, x.renew} {
		if more, err := follow(ctx); err != nil || more {
			return background.Next{}, err
		}
	}
	if x.compact || x.position().erase {
		return background.Next{}, x.clean()
	}
	background.Sleep(ctx, interval) // entries logged in the meantime are followed together
	if len(x.unread) > 0 {
		return background.After(healAtRest), nil
	}
	return background.Idle(), nil
}

// clean compacts the index after a rebuild, which makes searches fast, or removes permanently
// deleted content from its files.
func (x *Indexing) clean() error {
	x.swap.RLock()
	defer x.swap.RUnlock()
	if x.index == nil {
		return errAway
	}
	at := x.position()
	clean := x.index.Expunge
	if x.compact {
		clean = x.index.Compact
	}
	if err := clean(); err != nil {
		return err
	}
	if x.compact {
		x.compact = false
		debug.FreeOSMemory() // memory used by the rebuild
	}
	if at != x.position() { // it was rebuilt in the meantime
		return nil
	}
	at.erase = false
	if err := x.index.Apply(nil, at.append(nil)); err != nil {
		return err
	}
	x.moveTo(at)
	return nil
}

func (x *Indexing) position() position {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.at
}

func (x *Indexing) moveTo(at position) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.at = at
	close(x.moved)
	x.moved = make(chan struct{})
}

// Followed waits until the index covers the first log entries of the audit log, including texts and
// validation, and until permanently deleted content has been removed.
func (x *Indexing) Followed(ctx context.Context, log uint64) error {
	for {
		x.mu.Lock()
		moved, reached := x.moved, !x.damaged.Load() && x.at.next >= log && !x.at.behind()
		x.mu.Unlock()
		if reached {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// apply applies a batch to the index, unless the index was deleted after the batch had been read.
func (x *Indexing) apply(b batch) error {
	x.swap.RLock()
	defer x.swap.RUnlock()
	if x.index == nil {
		return errAway
	}
	if x.position() != b.from || b.at == b.from && len(b.changes) == 0 {
		return nil
	}
	if err := x.index.Apply(b.changes, b.at.append(nil)); err != nil {
		return err
	}
	x.moveTo(b.at)
	return nil
}
