// Package instruments fills properties of files from their headers and sidecars, in the sets that
// ask for it.
//
// It follows the audit log, whose order is that of all changes, by two positions. The first is that
// of arrivals: behind each entry about a file that may be, or may have been, another one's header
// or sidecar, the file that it is about is looked at as it is then. The second one is that of sets
// that began to ask for something: all of their files are looked at, by name, some in each step.
// Both are in the metadata and move in the transaction of the edits that they stand for. A crash
// repeats a step at most, and a step that is repeated finds nothing to change.
//
// A file is read outside of transactions, by a process of its own. What it says is compared in the
// transaction of the edit with the record as it is by then. If the file, its name, its sidecar or
// the set has changed meanwhile, what was read is dropped: that change has an entry of its own,
// which is followed.
package instruments

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"labshelf/blobs"
	"labshelf/formats/descriptive"
	"labshelf/formats/extraction"
	"labshelf/metadata"
	"labshelf/repository/internal/background"
	"labshelf/repository/internal/nodes"
	"labshelf/repository/internal/storage"
)

const (
	maxEntries = 4096 // that one read transaction looks at
	maxFiles   = 16   // that one step reads
	maxPassed  = 4096 // entries of no interest after which the position is committed

	interval   = 100 * time.Millisecond // between two reads of the log, so that what grows it often is read together
	retryAfter = 3 * time.Second
)

// Reader reads the properties of a file with a name: descriptive.FromHeader its own,
// descriptive.FromSidecar those that it has for another one. An error that wraps
// extraction.ErrFormat says that there are none. See child.Runner.
type Reader interface {
	Read(ctx context.Context, from, name string, file io.Reader) (extraction.Result, error)
}

// Rules are what instruments ask of the repository.
type Rules interface {
	// Lookup returns a file with its descriptive metadata, and from where its set wants properties:
	// from nothing, if it is deleted.
	Lookup(tx *metadata.Tx, id metadata.ID) (metadata.Resource, metadata.Extract, error)
	// Fill saves what is said about a file now, as a consequence of an entry of the log.
	Fill(ctx context.Context, tx *metadata.Tx, id metadata.ID, now descriptive.Metadata, cause uint64) error
}

// Instruments follow the log. They are safe for concurrent use.
type Instruments struct {
	stores *storage.Stores
	rules  Rules
	reader Reader
	worker *background.Worker

	lease  metadata.Stamp      // under which that was read; of the worker alone
	stored *metadata.FillState // as it was committed; nil: not read yet; of the worker alone
	at     metadata.FillState  // likewise

	mu       sync.Mutex
	followed uint64        // entries of the log that are dealt with
	moved    chan struct{} // closed when followed changes
}

// Start begins to follow the log; nil for reader: there are no instruments. The caller ends them
// with Close.
func Start(stores *storage.Stores, rules Rules, reader Reader) *Instruments {
	i := &Instruments{stores: stores, rules: rules, reader: reader, moved: make(chan struct{})}
	if reader != nil {
		i.worker = stores.Node.Work(background.Next{}, i.run)
	}
	return i
}

// Grown is called when the audit log has grown, and that is on stable storage.
func (i *Instruments) Grown() {
	if i.worker != nil {
		i.worker.Wake()
	}
}

// Close ends following, and returns when no file is read any more. What was under way is done at
// the next start. It may be called again.
func (i *Instruments) Close() {
	if i.worker != nil {
		i.worker.Close()
	}
}

// Followed returns when what the first entries of the log, so many, ask for is done.
func (i *Instruments) Followed(ctx context.Context, log uint64) error {
	for {
		i.mu.Lock()
		moved, reached := i.moved, i.followed >= log
		i.mu.Unlock()
		if reached || i.worker == nil {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// passed says how far the log is followed.
func (i *Instruments) passed(entries uint64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.followed = entries
	close(i.moved)
	i.moved = make(chan struct{})
}

func (i *Instruments) run(ctx context.Context) background.Next {
	if i.stores.Meta.Health().ReadOnly != nil || i.stores.Unsynced() != nil {
		return background.Idle() // until the service is restarted
	}
	if lease := nodes.Fence(ctx); lease != i.lease { // another node may have gone on meanwhile
		i.lease, i.stored = lease, nil
	}
	more, err := i.follow(ctx)
	i.stores.Background.Report(background.TaskInstruments, err)
	switch {
	case err != nil:
		return background.Backoff(retryAfter)
	case more:
		return background.Next{}
	}
	background.Sleep(ctx, interval)
	return background.Idle()
}

// follow takes a step with either position.
func (i *Instruments) follow(ctx context.Context) (more bool, err error) {
	if i.stored == nil {
		var stored metadata.FillState
		err := i.stores.View(ctx, func(tx *metadata.Tx) (err error) {
			stored, err = tx.Filling.Get()
			return err
		})
		if err != nil {
			return false, err
		}
		i.stored, i.at = &stored, stored
	}
	for _, plan := range []func(*step) error{(*step).arrivals, (*step).switches} {
		again, err := i.step(ctx, plan)
		if err != nil {
			return false, err
		}
		more = more || again
	}
	i.passed(i.at.Switches)
	return more, nil
}

// step plans, reads and fills. more is whether the plan was not for all there is.
func (i *Instruments) step(ctx context.Context, plan func(*step) error) (more bool, err error) {
	var s step
	err = i.stores.Meta.ViewDurable(ctx, func(tx *metadata.Tx) error {
		s = step{instruments: i, tx: tx, at: i.at, planned: map[metadata.ID]bool{}, wants: map[metadata.ID]bool{}}
		return plan(&s)
	})
	if err != nil {
		return false, err
	}
	var edits []edit
	for _, f := range s.files {
		read, err := i.read(ctx, f)
		switch {
		case errors.Is(err, errUnknown):
			continue
		case err != nil:
			return false, err
		}
		if _, changes := read.merge(); changes {
			edits = append(edits, read)
		}
	}
	return s.more, i.commit(ctx, edits, s.at)
}

// commit makes edits and moves the position, unless nothing is edited and it has moved by little.
func (i *Instruments) commit(ctx context.Context, edits []edit, at metadata.FillState) error {
	i.at = at
	little := at.AfterName == i.stored.AfterName && at.AfterID == i.stored.AfterID &&
		at.Arrivals-i.stored.Arrivals < maxPassed && at.Switches-i.stored.Switches < maxPassed
	if len(edits) == 0 && little {
		return nil
	}
	err := i.stores.UpdateBackground(ctx, func(tx *metadata.Tx) error {
		for _, e := range edits {
			if err := i.fill(ctx, tx, e); err != nil {
				return err
			}
		}
		return tx.Filling.Put(at)
	})
	if err != nil {
		i.stored = nil // from what is committed
		return err
	}
	i.stored = &at
	return nil
}

// fill makes an edit, unless what was read is out of date.
func (i *Instruments) fill(ctx context.Context, tx *metadata.Tx, e edit) error {
	now, wanted, err := planFile(i, tx, e.resource.ID, e.cause)
	if err != nil || !wanted || now.inputs != e.inputs {
		return ignoreDamage(err)
	}
	e.resource = now.resource
	if m, changes := e.merge(); changes {
		err = i.rules.Fill(ctx, tx, e.resource.ID, m, e.cause)
	}
	return ignoreDamage(err)
}

// errUnknown says that a file cannot be read at present: what was filled from it stays.
var errUnknown = errors.New("the file cannot be read")

// read reads the header and the sidecar of a file, as far as its set asks for them.
func (i *Instruments) read(ctx context.Context, f file) (e edit, err error) {
	e.file = f
	if f.from&metadata.ExtractHeader != 0 {
		if e.ofHeader, err = i.readOne(ctx, descriptive.FromHeader, f.resource); err != nil {
			return e, err
		}
	}
	if f.sidecar.ID != (metadata.ID{}) {
		e.ofSidecar, err = i.readOne(ctx, descriptive.FromSidecar, f.sidecar)
	}
	return e, err
}

func (i *Instruments) readOne(ctx context.Context, from string, r metadata.Resource) (descriptive.Group, error) {
	if from == descriptive.FromSidecar && r.Bytes > extraction.MaxSidecar {
		return nil, nil
	}
	body, err := i.open(ctx, r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }() // it was only read
	if from == descriptive.FromHeader {
		var beginning [extraction.Beginning]byte
		n, err := io.ReadFull(body, beginning[:])
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, errUnknown
		}
		if !extraction.HasHeader(r.Name, beginning[:n]) {
			return nil, nil
		}
		if _, err := body.Seek(0, io.SeekStart); err != nil {
			return nil, errUnknown
		}
	}
	result, err := i.reader.Read(ctx, from, r.Name, body)
	if errors.Is(err, extraction.ErrUnread) {
		return nil, errUnknown
	}
	if errors.Is(err, extraction.ErrFormat) {
		err = nil
	}
	return result.Properties, err
}

// open opens the present file of a resource.
func (i *Instruments) open(ctx context.Context, r metadata.Resource) (body io.ReadSeekCloser, err error) {
	var b blobs.Blob
	err = i.stores.View(ctx, func(tx *metadata.Tx) error {
		now, err := tx.Resources.Get(r.ID)
		if err != nil || now.Digest != r.Digest || now.Body == metadata.Purged {
			return errors.Join(errUnknown, err)
		}
		if now.Body == metadata.Inline {
			body, err = openInline(tx, now)
			return err
		}
		if wrong, err := i.stores.DamageOf(tx, r.Digest); err != nil || wrong != "" {
			return errors.Join(errUnknown, err)
		}
		b, err = i.stores.BlobOf(tx, r)
		return err
	})
	if err != nil || body != nil {
		return body, err
	}
	body, err = i.stores.Blobs.Open(ctx, b)
	if errors.Is(err, blobs.ErrUnavailable) {
		return nil, err
	}
	if err != nil {
		return nil, errors.Join(errUnknown, err)
	}
	return body, nil
}
