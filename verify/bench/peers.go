package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"
)

// A peer makes a body durable before it acknowledges it, as labshelf does. rest-server stores
// bodies by their SHA-256, without records and permissions. Its client computes the hash.

// pair is labshelf and rest-server with new data, used for all rows of the peers.
type pair struct {
	*bench
	ours   *subject
	theirs *server
	sent   int // number of bodies sent to ours
}

// peers compares uploads and downloads with rest-server, in alternation, and the peak memory of
// both.
func (b *bench) peers(ctx context.Context) (rows []row, err error) {
	var open closers
	defer open.close(&err)
	program, err := findRestServer()
	if err != nil && b.fetch {
		program, err = buildRestServer(ctx)
	}
	if errors.Is(err, errNoRestServer) {
		b.say("%v: the rows that compare with it are skipped", err)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	p := &pair{bench: b}
	if p.ours, err = b.start(ctx, &open, "peers"); err != nil {
		return nil, err
	}
	if p.theirs, err = b.startRestServer(ctx, &open, program); err != nil {
		return nil, err
	}
	memory := watchMemory(ctx, p.ours.PID(), p.theirs.pid)
	defer memory.stop()
	for _, part := range []func(context.Context) ([]row, error){p.small, p.large, p.downloads} {
		more, err := part(ctx)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	if !onLinux {
		b.say("only Linux reports the memory of another process: the rows of the memory are skipped")
		return rows, nil
	}
	more, err := memory.rows()
	return append(rows, more...), err
}

// small measures small uploads until their acknowledgement, and until labshelf has written each
// body to a file.
func (p *pair) small(ctx context.Context) (rows []row, err error) {
	for _, c := range []struct {
		size, clients int
		least         float64
	}{{smallFile, 1, 1}, {smallFile, manyClients, 1.8}, {mediumFile, 1, 1}, {mediumFile, manyClients, 1.3}} {
		what := fmt.Sprintf("%d KiB uploads, clients: %d", c.size>>10, c.clients)
		acknowledged := row{what: what, unit: "1/s", reference: restServer, targets: []target{ratioAtLeast(c.least)}}
		atRest := row{what: what + ", until everything is at rest", unit: "1/s", reference: restServer}
		for round := range p.moreRounds {
			p.say("%s, reference %s, round %d", what, restServer, round+1)
			begin := time.Now()
			ours, err := p.uploadTo(ctx, p.ours, c.clients, c.size, &p.sent)
			if err != nil {
				return nil, err
			}
			rested := float64(len(ours.operations)) / time.Since(begin).Seconds()
			if err := p.atRest(ctx); err != nil {
				return nil, err
			}
			theirs, err := p.uploadToPeer(ctx, c.clients, c.size)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", restServer, err)
			}
			acknowledged.add(ours.perSecond(), theirs.perSecond())
			atRest.add(rested, theirs.perSecond())
			if err := p.atRest(ctx); err != nil {
				return nil, err
			}
		}
		rows = append(rows, acknowledged, atRest)
	}
	return rows, nil
}

// uploadToPeer runs clients that upload small files to rest-server. Afterwards it downloads each
// file once to verify it.
func (p *pair) uploadToPeer(ctx context.Context, clients, size int) (load, error) {
	wires, err := dials(ctx, p.theirs.peer, clients)
	if err != nil {
		return load{}, err
	}
	defer closeAll(wires)
	sent := make([][]uint64, clients)
	workers := make([]func() error, clients)
	for i, w := range wires {
		made := noise(size)
		workers[i] = func() error {
			n := p.number()
			stamp(made, n)
			sent[i] = append(sent[i], n)
			_, err := w.want(200, append(p.theirs.request("POST", blobPath(digestOf(made)), lengthHeader(int64(size))), made...))
			return err
		}
	}
	done, err := work(workers, p.load)
	if err != nil {
		return done, err
	}
	for i, w := range wires {
		made := noise(size)
		for _, n := range sent[i] {
			stamp(made, n)
			got, err := w.want(200, p.theirs.get(blobPath(digestOf(made))))
			if err == nil && !bytes.Equal(got, made) {
				err = fmt.Errorf("upload %d differs from what was sent", n)
			}
			if err != nil {
				return done, err
			}
		}
	}
	return done, nil
}

// large measures one large upload. rest-server rejects a blob that it already has. Therefore each
// round ends by deleting the blob there.
func (p *pair) large(ctx context.Context) ([]row, error) {
	digest := newLarge(p.body).digest(sha256.New())
	r := row{what: "upload of " + p.largeSize(), unit: "MiB/s", reference: restServer, targets: []target{ratioAtLeast(1.5)}}
	for round := range p.rounds {
		p.say("%s, reference %s, round %d", r.what, restServer, round+1)
		if err := p.atRest(ctx); err != nil {
			return nil, err
		}
		ours, err := p.timeLarge(ctx, p.ours.peer, func(w *wire, l *large) error {
			_, err := uploadLarge(w, p.ours.peer, p.ours.set, l, digest)
			return err
		})
		if err != nil {
			return nil, err
		}
		if err := p.atRest(ctx); err != nil {
			return nil, err
		}
		theirs, err := p.timeLarge(ctx, p.theirs.peer, func(w *wire, l *large) error {
			return p.sendLargeToPeer(w, l, digest)
		})
		if err == nil {
			err = p.deleteFromPeer(ctx, digest)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", restServer, err)
		}
		r.add(ours, theirs)
	}
	return []row{r}, nil
}

// timeLarge returns the throughput in MiB/s of sending the large body to a server.
func (p *pair) timeLarge(ctx context.Context, to peer, send func(*wire, *large) error) (speed float64, err error) {
	w, err := dial(ctx, to)
	if err != nil {
		return 0, err
	}
	defer w.close()
	begin := time.Now()
	err = send(w, newLarge(p.body))
	return p.speed(time.Since(begin)), err
}

func (p *pair) sendLargeToPeer(w *wire, l *large, digest string) error {
	_, err := w.conn.Write(p.theirs.request("POST", blobPath(digest), lengthHeader(l.size)))
	if err == nil {
		err = l.send(w.conn)
	}
	if err == nil {
		_, err = w.answer(200)
	}
	return err
}

func (p *pair) deleteFromPeer(ctx context.Context, digest string) error {
	w, err := dial(ctx, p.theirs.peer)
	if err != nil {
		return err
	}
	defer w.close()
	_, err = w.want(200, p.theirs.request("DELETE", blobPath(digest), ""))
	return err
}

// downloads measures small downloads by 16 clients, after each body was written to a file.
func (p *pair) downloads(ctx context.Context) ([]row, error) {
	files, err := p.sendFiles(ctx, p.ours)
	if err != nil {
		return nil, err
	}
	p.sent += len(files.bodies)
	if _, err := waitForFiles(ctx, p.ours.data, p.sent+1); err != nil { // including the large body
		return nil, err
	}
	w, err := dial(ctx, p.theirs.peer)
	if err != nil {
		return nil, err
	}
	defer w.close()
	for i, made := range files.bodies {
		files.names[i] = blobPath(digestOf(made))
		request := append(p.theirs.request("POST", files.names[i], lengthHeader(smallFile)), made...)
		if _, err := w.want(200, request); err != nil {
			return nil, fmt.Errorf("%s: %w", restServer, err)
		}
	}
	if err := p.atRest(ctx); err != nil {
		return nil, err
	}
	r := row{what: "4 KiB downloads, clients: 16", unit: "1/s", reference: restServer, targets: []target{ratioAtLeast(1.1)}}
	err = p.compareDownloads(ctx, &r, p.ours, p.theirs, files)
	return []row{r}, err
}

// memoryWatch polls the memory of two processes.
type memoryWatch struct {
	pids      [2]int
	anonymous [2]float64 // the greatest RssAnon seen, in MiB
	end       context.CancelFunc
	polling   sync.WaitGroup
}

func watchMemory(ctx context.Context, ours, theirs int) *memoryWatch {
	ctx, end := context.WithCancel(ctx)
	m := &memoryWatch{pids: [2]int{ours, theirs}, end: end}
	if !onLinux {
		return m
	}
	m.polling.Go(func() {
		poll := time.NewTicker(peakPoll)
		defer poll.Stop()
		for {
			for i, pid := range m.pids {
				if now, err := memoryOf(pid, "RssAnon"); err == nil {
					m.anonymous[i] = max(m.anonymous[i], now)
				}
			}
			select {
			case <-poll.C:
			case <-ctx.Done():
				return
			}
		}
	})
	return m
}

func (m *memoryWatch) stop() {
	m.end()
	m.polling.Wait()
}

// rows ends the watch and returns the peaks of resident and anonymous memory.
func (m *memoryWatch) rows() ([]row, error) {
	m.stop()
	resident := row{what: "peak memory during all rows", unit: "MiB", reference: restServer, worst: true, targets: []target{ratioAtMost(4)}}
	anonymous := row{what: "of which anonymous", unit: "MiB", reference: restServer, worst: true, targets: []target{figureAtMost(40)}}
	var peak [2]float64
	for i, pid := range m.pids {
		var err error
		if peak[i], err = memoryOf(pid, "VmHWM"); err != nil {
			return nil, err
		}
	}
	resident.add(peak[0], peak[1])
	anonymous.add(m.anonymous[0], m.anonymous[1])
	return []row{resident, anonymous}, nil
}
