// Package instruments fills properties of files from their headers and sidecars, in sets that
// enable it.
//
// It follows the audit log, whose order is the order of changes, with two positions. The first is
// for arrivals: an entry about a file may have changed the header of the file, or the sidecar of
// another one, so the files concerned are examined in their present state. The second is for sets
// that have enabled an extraction: all their files are examined by name, some in each step. Both
// positions are stored in the metadata, and move in the transaction of the edits that they cover. A
// crash repeats at most one step, and a repeated step finds nothing to change.
//
// A file is read outside transactions, in a separate process. The transaction of the edit compares
// the result with the present record. If the file, its name, its sidecar or the set has changed in
// the meantime, the result is dropped: that change has its own entry, which is followed.
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
	maxEntries = 4096 // maximum entries that one read transaction examines
	maxFiles   = 16   // maximum files that one step reads
	maxPassed  = 4096 // entries without an effect after which the position is committed

	interval   = 100 * time.Millisecond // between two reads of the log
	retryAfter = 3 * time.Second
)

// Reader reads the properties of a file. from is descriptive.FromHeader for the file's own
// properties, or descriptive.FromSidecar for those it has for another file. An error that wraps
// extraction.ErrFormat means that the file has no properties. See child.Runner.
type Reader interface {
	Read(ctx context.Context, from, name string, file io.Reader) (extraction.Result, error)
}

// Rules contains the functions of the repository that instruments need.
type Rules interface {
	// Lookup returns a file with its descriptive metadata, and the sources of properties that its
	// set has enabled: none if the file is deleted.
	Lookup(tx *metadata.Tx, id metadata.ID) (metadata.Resource, metadata.Extract, error)
	// Fill saves the new descriptive metadata of a file. cause is the entry of the log that led to
	// it.
	Fill(ctx context.Context, tx *metadata.Tx, id metadata.ID, now descriptive.Metadata, cause uint64) error
}

// Instruments follows the log. It is safe for concurrent use.
type Instruments struct {
	stores *storage.Stores
	rules  Rules
	reader Reader
	worker *background.Worker

	lease  metadata.Stamp      // lease under which stored was read; only the worker uses it
	stored *metadata.FillState // as committed; nil if not read yet; only the worker uses it
	at     metadata.FillState  // the present position; only the worker uses it

	mu       sync.Mutex
	followed uint64        // number of processed entries of the log
	moved    chan struct{} // closed when followed changes
}

// Start starts to follow the log. If reader is nil, instruments are disabled. The caller must call
// Close.
func Start(stores *storage.Stores, rules Rules, reader Reader) *Instruments {
	i := &Instruments{stores: stores, rules: rules, reader: reader, moved: make(chan struct{})}
	if reader != nil {
		i.worker = stores.Node.Work(background.Next{}, i.run)
	}
	return i
}

// Grown must be called when the audit log has grown and the new entries are on stable storage.
func (i *Instruments) Grown() {
	if i.worker != nil {
		i.worker.Wake()
	}
}

// Close stops following, and waits until no file is being read. Unfinished work resumes at the next
// start. It may be called again.
func (i *Instruments) Close() {
	if i.worker != nil {
		i.worker.Close()
	}
}

// Followed waits until the first log entries of the audit log have been processed.
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

// passed records how many entries have been processed.
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
	if lease := nodes.Fence(ctx); lease != i.lease { // another node may have moved the position
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

// follow advances both positions by one step.
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

// step plans, reads and fills. more reports whether work remains.
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

// commit makes edits and stores the position, unless there are no edits and the position has moved
// little.
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
		i.stored = nil // read the committed position again
		return err
	}
	i.stored = &at
	return nil
}

// fill makes an edit, unless its inputs have changed.
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

// errUnknown reports that a file cannot be read at present. Properties filled from it stay.
var errUnknown = errors.New("the file cannot be read")

// read reads the header and the sidecar of a file, as far as its set has enabled them.
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
