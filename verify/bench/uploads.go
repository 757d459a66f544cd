package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"labshelf/blobs"
	"labshelf/repository"
)

// The sizes of the small files, and how many clients come at once where it is not one alone.
const (
	smallFile  = 4 << 10
	mediumFile = 100 << 10
	crowd      = 16
)

// holdUpTo is the default of hold_up_to: the program's own write path works as the service does.
const holdUpTo = 128 << 10

// writers let so many clients or writers put bodies of this size somewhere, for the time that a load goes on.
type writers func(ctx context.Context, clients, size int) (load, error)

// uploads measures how many small files per second get in, beside the least that a durable upload can do: with its body inside the
// metadata transaction, or with a file of its own.
func (b *bench) uploads(ctx context.Context) (rows []row, err error) {
	var open closers
	defer open.close(&err)
	service, err := b.start(ctx, &open, "uploads")
	if err != nil {
		return nil, err
	}
	ways, err := b.openWays(ctx, &open)
	if err != nil {
		return nil, err
	}
	const inTransaction, ownPath, inFile = "body in the metadata transaction", "own write path without HTTP", "file and row"
	cases := []struct {
		size, clients int
		beside        string
		theirs        writers
		least         float64
		rounds        int
	}{
		{smallFile, 1, inTransaction, ways.inTransaction, 0.5, b.rounds},
		{smallFile, 1, ownPath, ways.ownPath, 0.6, b.rounds},
		{smallFile, crowd, inTransaction, ways.inTransaction, 0.5, b.rounds},
		{mediumFile, crowd, inFile, ways.inFile, 1, b.moreRounds},
	}
	rows = make([]row, len(cases))
	tail := row{what: "4 KiB uploads, clients: 16, p99", unit: "ms", beside: "p50", targets: []target{ratioAtMost(4)}}
	longest := row{what: "4 KiB uploads, clients: 16, longest", unit: "ms", beside: inTransaction + ", longest", worst: true}
	sent := 0
	for i, c := range cases {
		what := fmt.Sprintf("%d KiB uploads, clients: %d", c.size>>10, c.clients)
		rows[i] = row{what: what, unit: "1/s", beside: c.beside, targets: []target{ratioAtLeast(c.least)}}
		for round := range c.rounds {
			b.say("%s, beside %s, round %d", what, c.beside, round+1)
			ours, err := b.uploadTo(ctx, service, c.clients, c.size, &sent)
			if err != nil {
				return nil, err
			}
			theirs, err := c.theirs(ctx, c.clients, c.size)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.beside, err)
			}
			rows[i].add(ours.perSecond(), theirs.perSecond())
			if c.size == smallFile && c.clients == crowd {
				tail.add(ours.percentile(99), ours.percentile(50))
				longest.add(ours.percentile(100), theirs.percentile(100))
			}
		}
	}
	return slices.Insert(rows, 3, tail, longest), service.holds(ctx, service.dataspace, counters{ActiveFiles: sent})
}

// uploadTo lets clients upload to the service, sees that all of it has become what was sent, and waits until it is in files, so that
// nothing of it falls into the time of what comes next. It adds to sent how many uploads there were.
func (b *bench) uploadTo(ctx context.Context, s *subject, clients, size int, sent *int) (load, error) {
	wires, err := dials(ctx, s.peer, clients)
	if err != nil {
		return load{}, err
	}
	defer hangUp(wires)
	uploaders, hands := make([]*uploader, clients), make([]func() error, clients)
	for i, w := range wires {
		uploaders[i] = newUploader(w, s.peer, s.set, size, b.number)
		hands[i] = uploaders[i].upload
	}
	done, err := work(hands, b.load)
	for _, u := range uploaders {
		if err == nil {
			err = u.verify()
		}
		*sent += len(u.receipts)
	}
	if err != nil {
		return load{}, err
	}
	moved, err := settled(ctx, s.data, *sent)
	b.say("%.0f uploads/s; %d files %.1f s later", done.perSecond(), *sent, moved.Seconds())
	return done, err
}

// ways are the other ways of making a body durable. All have their files on the same disk.
type ways struct {
	*bench
	bodies *bareStore
	files  *bareFiles
	inside *inside
	data   string // of inside
	set    string
	own    int // bodies that inside has taken
}

func (b *bench) openWays(ctx context.Context, open *closers) (*ways, error) {
	w := &ways{bench: b}
	var err error
	if w.bodies, err = openBareStore(filepath.Join(b.folder, "bodies.db")); err != nil {
		return nil, err
	}
	open.later(w.bodies.close)
	if w.files, err = openBareFiles(filepath.Join(b.folder, "files")); err != nil {
		return nil, err
	}
	open.later(w.files.close)
	var made closers
	first, err := b.start(ctx, &made, "own")
	made.close(&err)
	if err != nil {
		return nil, err
	}
	files, err := blobs.OpenDir(first.data, blobs.OS{})
	if err != nil {
		return nil, err
	}
	w.data, w.set = first.data, first.set
	if w.inside, err = openInside(ctx, first.data, files, repository.Config{HoldUpTo: holdUpTo}); err != nil {
		return nil, err
	}
	open.later(w.inside.close)
	return w, nil
}

func (w *ways) inTransaction(_ context.Context, clients, size int) (load, error) {
	return w.write(clients, size, w.bodies.put)
}

func (w *ways) inFile(_ context.Context, clients, size int) (load, error) {
	return w.write(clients, size, w.files.put)
}

// ownPath waits, as uploadTo does, until all bodies are files.
func (w *ways) ownPath(ctx context.Context, clients, size int) (load, error) {
	done, err := w.write(clients, size, func(key uint64, body []byte) error {
		_, err := w.inside.upload(ctx, w.set, filenameOf(key), body)
		return err
	})
	if err != nil {
		return load{}, err
	}
	w.own += len(done.turns)
	_, err = settled(ctx, w.data, w.own)
	return done, err
}

// write lets writers put bodies that are all different.
func (w *ways) write(writers, size int, put func(key uint64, body []byte) error) (load, error) {
	hands := make([]func() error, writers)
	for i := range hands {
		body := noise(size)
		hands[i] = func() error {
			n := w.number()
			stamp(body, n)
			return put(n, body)
		}
	}
	return work(hands, w.load)
}
