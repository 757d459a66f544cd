// Package indexing keeps the index of the search up to date: it follows the audit log, whose order
// is that of all changes, and gives the index what has changed. The index is a cache. Its position
// says up to which entry it has followed which epoch; an index without a position, of another
// epoch, or from beyond the end of the log, is made anew from the tables. Nothing is in it that a
// power cut could take back.
//
// A change is followed in two steps. Its record is found at once; the text of its file, which takes
// longer to read, afterwards: behind the log comes a second position, by the stamp of the last
// modification.
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
	interval    = 250 * time.Millisecond // between two reads of the log, so that what grows it often is read together
	maxEntries  = 4096                   // that one read transaction looks at
	maxScanned  = 2000                   // objects that one reads when all are indexed
	maxChecking = time.Second            // that one takes to ask schemas, about
	retryAfter  = 3 * time.Second

	rebuildAfter = time.Second // so that what damages each new index does not keep the processor busy
)

// Status of the index.
type Status struct {
	Epoch    string // of the audit log that it follows
	Entries  uint64 // of the log that it has followed
	Behind   uint64 // entries of the log that it has not; all of them while Scanning
	Scanning bool   // it is being made anew: objects are missing
	Texts    bool   // the texts of some files are missing
	Schemas  bool   // some objects were not looked at since a schema has changed
	Failure  error  // why it is not followed at the moment; nil while all is well
	index.Status
}

// Indexing follows the log into an index. It is safe for concurrent use.
type Indexing struct {
	stores  *storage.Stores
	schemas *conformance.Schemas
	dir     string
	worker  *background.Worker

	unread map[blobs.Digest]bool // files whose texts could not be read; nil before the first look; of the worker alone
	looked time.Time             // when that was tried last

	compact bool // once everything is in it: it is being made anew; of the worker alone

	swap  sync.RWMutex // read while the index is used, written while another one is put in its place
	index *index.Index // nil: it could not be opened

	damaged atomic.Bool // a search has found the index so; false again when another one is in its place

	mu      sync.Mutex
	at      position
	failure error
	moved   chan struct{} // closed when at moves
}

// Start opens the index in a directory, which is made where it is not there, and begins to follow
// the log; "": there is no index. Where it cannot be opened, that is tried again in the background.
// The caller closes the Indexing.
func Start(stores *storage.Stores, schemas *conformance.Schemas, dir string) *Indexing {
	x := &Indexing{stores: stores, schemas: schemas, dir: dir, moved: make(chan struct{})}
	if dir == "" {
		return x
	}
	if ix, at, err := index.Open(dir); err == nil { // else the first run makes it anew
		x.index, x.at = ix, parsePosition(at)
		x.damaged.Store(len(at) > 0 && x.at == position{}) // another version has made it
	}
	x.worker = background.Start(background.Idle(), x.run)
	x.worker.Wake() // only now, since a run may rebuild the index, and then asks for the worker
	return x
}

// Grown is called when the audit log has grown, and that is on stable storage.
func (x *Indexing) Grown() {
	if x.worker != nil {
		x.worker.Wake()
	}
}

// Close ends following, and brings what was followed to files. It may be called again.
func (x *Indexing) Close() {
	if x.worker == nil {
		return
	}
	x.worker.Close()
	x.swap.Lock()
	defer x.swap.Unlock()
	if x.index != nil {
		_ = x.index.Close() // what it could not save is followed again at the next start
	}
	x.index = nil
}

// Search asks the index. Besides the errors of the index there is errAway, while it is made anew
// and cannot be opened. Where the index is damaged it is made anew in the background.
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

var errAway = errors.New("the index of the search is not open")

// Status returns how far the index is. log is the present size of the audit log.
func (x *Indexing) Status(log uint64) Status {
	x.swap.RLock()
	defer x.swap.RUnlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	s := Status{
		Epoch: x.at.epoch.String(), Entries: x.at.next, Texts: x.at.textsBehind(), Schemas: x.at.schemasBehind(), Failure: x.failure,
		Scanning: x.at.phase != following || x.damaged.Load(), // the worker may not have begun yet
	}
	if x.index != nil {
		s.Status = x.index.Status()
	}
	switch {
	case s.Scanning: // the position says where following begins when all is read
		s.Entries, s.Behind = 0, max(1, log)
	case log > x.at.next:
		s.Behind = log - x.at.next
	}
	return s
}

// Rebuild throws the index away; it is made anew in the background.
func (x *Indexing) Rebuild() (err error) {
	if x.worker == nil {
		return errAway
	}
	x.swap.Lock()
	defer x.swap.Unlock()
	defer x.worker.Wake()
	if x.index != nil {
		_ = x.index.Close() // what it could not save is of no use any more
	}
	x.index = nil
	x.moveTo(position{})
	x.damaged.Store(false) // not before: Followed looks at both
	if err := os.RemoveAll(x.dir); err != nil {
		return err
	}
	x.index, _, err = index.Open(x.dir)
	return err
}

// run takes one step: of the log, then of the texts.
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

// step follows the log by a batch; where the log has no more it reads some texts, and where there
// are none looks at some objects again whose schemas have changed.
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
	background.Sleep(ctx, interval) // what grows the log meanwhile is followed together
	if len(x.unread) > 0 {
		return background.After(healAtRest), nil
	}
	return background.Idle(), nil
}

// clean makes searches quick after the index was made anew, and takes out of its files what is gone
// for good.
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
		debug.FreeOSMemory() // what making it anew took
	}
	if at != x.position() { // it was thrown away meanwhile
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

// Followed returns when the index holds what the first entries of the log, so many, are about, with
// the texts of the files and what schemas say, and nothing that is gone for good.
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

// apply gives a batch to the index, unless the index was thrown away while the batch was read.
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
