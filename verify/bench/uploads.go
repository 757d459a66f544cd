package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"labshelf/blobs/directory"
	"labshelf/repository"
)

// The sizes of small files in bytes, and the number of clients in rows with several clients.
const (
	smallFile   = 4 << 10
	mediumFile  = 100 << 10
	manyClients = 16
)

// holdUpTo is the default of hold_up_to, so that the program's own write path works like the
// service.
const holdUpTo = 128 << 10

// writers stores bodies of size bytes with this many parallel clients, for the duration of a load.
type writers func(ctx context.Context, clients, size int) (load, error)

// uploads measures the upload rate of small files. It compares them with a minimal durable upload,
// which stores the body in the metadata transaction or in its own file.
func (b *bench) uploads(ctx context.Context) (rows []row, err error) {
	var open closers
	defer open.close(&err)
	service, err := b.start(ctx, &open, "uploads")
	if err != nil {
		return nil, err
	}
	baselines, err := b.openBaselines(ctx, &open)
	if err != nil {
		return nil, err
	}
	const inTransaction, ownPath, inFile = "body in the metadata transaction", "own write path without HTTP", "file and row"
	cases := []struct {
		size, clients int
		reference     string
		theirs        writers
		least         float64
		rounds        int
	}{
		{smallFile, 1, inTransaction, baselines.inTransaction, 0.5, b.rounds},
		{smallFile, 1, ownPath, baselines.ownPath, 0.6, b.rounds},
		{smallFile, manyClients, inTransaction, baselines.inTransaction, 0.5, b.rounds},
		{mediumFile, manyClients, inFile, baselines.inFile, 1, b.moreRounds},
	}
	rows = make([]row, len(cases))
	tail := row{what: "4 KiB uploads, clients: 16, p99", unit: "ms", reference: "p50", targets: []target{ratioAtMost(4)}}
	sent := 0
	for i, c := range cases {
		what := fmt.Sprintf("%d KiB uploads, clients: %d", c.size>>10, c.clients)
		rows[i] = row{what: what, unit: "1/s", reference: c.reference, targets: []target{ratioAtLeast(c.least)}}
		for round := range c.rounds {
			b.say("%s, reference %s, round %d", what, c.reference, round+1)
			ours, err := b.uploadTo(ctx, service, c.clients, c.size, &sent)
			if err != nil {
				return nil, err
			}
			theirs, err := c.theirs(ctx, c.clients, c.size)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.reference, err)
			}
			rows[i].add(ours.perSecond(), theirs.perSecond())
			if c.size == smallFile && c.clients == manyClients {
				tail.add(ours.percentile(99), ours.percentile(50))
			}
		}
	}
	return slices.Insert(rows, 3, tail), service.holds(ctx, service.dataspace, counters{ActiveFiles: sent})
}

// uploadTo runs clients that upload to the service, and verifies every answer. It waits until all
// bodies have files, so that the flush is not included in the next measurement. It adds the number
// of uploads to sent.
func (b *bench) uploadTo(ctx context.Context, s *subject, clients, size int, sent *int) (load, error) {
	done, _, err := b.uploadBy(ctx, s, clients, sent, func(_ int, w *wire) *uploader { return newUploader(w, s.peer, s.set, size, b.number) })
	return done, err
}

// uploadBy is like uploadTo, but the caller creates the uploader of each client. It also returns
// the receipts of each client.
func (b *bench) uploadBy(ctx context.Context, s *subject, clients int, sent *int, uploaderOf func(client int, w *wire) *uploader) (done load, receipts [][]receipt, err error) {
	wires, err := dials(ctx, s.peer, clients)
	if err != nil {
		return done, nil, err
	}
	defer closeAll(wires)
	uploaders, workers := make([]*uploader, clients), make([]func() error, clients)
	for i, w := range wires {
		uploaders[i] = uploaderOf(i, w)
		workers[i] = uploaders[i].upload
	}
	done, err = work(workers, b.load)
	receipts = make([][]receipt, clients)
	for i, u := range uploaders {
		if err == nil {
			err = u.verify()
		}
		*sent += len(u.receipts)
		receipts[i] = u.receipts
	}
	if err != nil {
		return done, nil, err
	}
	moved, err := waitForFiles(ctx, s.data, *sent)
	b.say("%.0f uploads/s; %d files %.1f s later", done.perSecond(), *sent, moved.Seconds())
	return done, receipts, err
}

// baselines are other ways to make a body durable, for comparison. All write to the same disk.
type baselines struct {
	*bench
	bodies    *bareStore
	files     *bareFiles
	inProcess *inProcess
	data      string // of inProcess
	set       string
	own       int // bodies that inProcess has stored
}

func (b *bench) openBaselines(ctx context.Context, open *closers) (*baselines, error) {
	w := &baselines{bench: b}
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
	files, err := directory.Open(first.data, directory.OS{})
	if err != nil {
		return nil, err
	}
	w.data, w.set = first.data, first.set
	if w.inProcess, err = openInProcess(ctx, first.data, files, repository.Config{HoldUpTo: holdUpTo}); err != nil {
		return nil, err
	}
	open.later(w.inProcess.close)
	return w, nil
}

func (w *baselines) inTransaction(_ context.Context, clients, size int) (load, error) {
	return w.write(clients, size, w.bodies.put)
}

func (w *baselines) inFile(_ context.Context, clients, size int) (load, error) {
	return w.write(clients, size, w.files.put)
}

// ownPath waits until all bodies have files, as uploadTo does.
func (w *baselines) ownPath(ctx context.Context, clients, size int) (load, error) {
	done, err := w.write(clients, size, func(key uint64, body []byte) error {
		_, err := w.inProcess.upload(ctx, w.set, filenameOf(key), body)
		return err
	})
	if err != nil {
		return load{}, err
	}
	w.own += len(done.operations)
	_, err = waitForFiles(ctx, w.data, w.own)
	return done, err
}

// write runs writers that put bodies, all of them different.
func (w *baselines) write(writers, size int, put func(key uint64, body []byte) error) (load, error) {
	workers := make([]func() error, writers)
	for i := range workers {
		body := noise(size)
		workers[i] = func() error {
			n := w.number()
			stamp(body, n)
			return put(n, body)
		}
	}
	return work(workers, w.load)
}
