package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"labshelf/verify/e2e"
)

// putting is what is sent, from files on the disk that is measured.
type putting struct {
	*bench
	rivals []rival
	folder string            // of what is sent
	sums   map[string]string // the SHA-256 of each file, by its path in the folder
}

// sending lets a program send all files to a service.
type sending func(ctx context.Context, p *putting, s *subject) (sentBy, error)

// sentBy is how a program sent files.
type sentBy struct {
	took  time.Duration
	peak  float64 // resident memory at its greatest, in MiB; on Linux only
	files int
}

// put measures "labshelf put" with many small files and with a large one, beside other programs that send the same files.
func (b *bench) put(ctx context.Context) ([]row, error) {
	p := &putting{bench: b, rivals: b.rivals()}
	small, err := p.small(ctx)
	if err != nil {
		return nil, err
	}
	large, err := p.large(ctx)
	return append(small, large...), err
}

// turns is what the programs did in one round.
type turns struct {
	ours   []sentBy // of put, called again and again
	theirs []sentBy // of the rivals
}

// inTurns lets put send the files, so many times, and then each of the rivals, in every round.
func (p *putting) inTurns(ctx context.Context, what string, ours ...sending) (all []turns, err error) {
	for round := range p.rounds {
		p.say("%s, round %d", what, round+1)
		var t turns
		if err := p.atRest(ctx); err != nil {
			return nil, err
		}
		if t.ours, err = p.to(ctx, "put-ours", ours...); err != nil {
			return nil, err
		}
		for _, r := range p.rivals {
			if err := p.atRest(ctx); err != nil {
				return nil, err
			}
			sent, err := r.send(ctx, p)
			if err != nil {
				return nil, err
			}
			t.theirs = append(t.theirs, sent)
		}
		all = append(all, t)
	}
	return all, nil
}

func (p *putting) small(ctx context.Context) (rows []row, err error) {
	if err := p.fill("put-small", p.putFiles, smallFile); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(p.folder)) }()
	what := fmt.Sprintf("put of %d files of 4 KiB", p.putFiles)
	all, err := p.inTurns(ctx, what, byPut, byPut)
	if err != nil {
		return nil, err
	}
	perSecond := func(s sentBy) float64 { return float64(s.files) / s.took.Seconds() }
	for i, r := range p.rivals {
		speed := row{what: what, unit: "files/s", beside: r.withMany, targets: r.targets}
		for _, t := range all {
			speed.add(perSecond(t.ours[0]), perSecond(t.theirs[i]))
		}
		rows = append(rows, speed)
	}
	again := row{what: what + ", again, where nothing is sent", unit: "files/s", beside: "the first time"}
	for _, t := range all {
		again.add(perSecond(t.ours[1]), perSecond(t.ours[0]))
	}
	return append(rows, again), nil
}

func (p *putting) large(ctx context.Context) (rows []row, err error) {
	if err := p.fill("put-large", 1, p.putBody); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(p.folder)) }()
	what := fmt.Sprintf("put of a file of %.3g GiB", float64(p.putBody)/(1<<30))
	all, err := p.inTurns(ctx, what, byPut)
	if err != nil {
		return nil, err
	}
	perSecond := func(s sentBy) float64 { return float64(p.putBody) / mib / s.took.Seconds() }
	for i, r := range p.rivals {
		speed := row{what: what, unit: "MiB/s", beside: r.withOne}
		for _, t := range all {
			speed.add(perSecond(t.ours[0]), perSecond(t.theirs[i]))
		}
		rows = append(rows, speed)
	}
	if !onLinux {
		p.say("only Linux tells the peak of another process: the rows of the memory are left out")
		return rows, nil
	}
	for i, r := range p.rivals {
		peak := row{what: what + ", peak memory", unit: "MiB", beside: r.program, worst: true}
		if i == 0 { // the figure is the same in each of the rows
			peak.targets = []target{figureAtMost(64)}
		}
		for _, t := range all {
			peak.add(t.ours[0].peak, t.theirs[i].peak)
		}
		rows = append(rows, peak)
	}
	return rows, nil
}

// fill makes a folder of so many files that are all different, a hundred in each of its folders.
func (p *putting) fill(name string, files int, size int64) error {
	p.folder, p.sums = filepath.Join(p.bench.folder, name), map[string]string{}
	for i := range files {
		within := filepath.Join(strconv.Itoa(i/100), filenameOf(p.number()))
		path := filepath.Join(p.folder, within)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		sum, err := writeBody(path, size, p.number())
		if err != nil {
			return err
		}
		p.sums[filepath.ToSlash(within)] = sum
	}
	return nil
}

// writeBody writes a file of a size unlike that of another number, and returns its SHA-256.
func writeBody(path string, size int64, n uint64) (digest string, err error) {
	if size < blockSize {
		made := body(int(size), n)
		sum := sha256.Sum256(made)
		return hex.EncodeToString(sum[:]), os.WriteFile(path, made, 0o600)
	}
	file, err := os.Create(path)
	if err != nil {
		return "", err
	}
	err = newLarge(size).send(file)
	return newLarge(size).digest(sha256.New()), errors.Join(err, file.Sync(), file.Close())
}

// to lets programs send the files one after the other to a new service, whose data are removed afterwards, and sees that all of it
// has arrived.
func (p *putting) to(ctx context.Context, name string, send ...sending) (did []sentBy, err error) {
	var open closers
	defer open.close(&err)
	open.later(func() error { return os.RemoveAll(filepath.Join(p.bench.folder, name)) })
	service, err := p.start(ctx, &open, name)
	if err != nil {
		return nil, err
	}
	for _, one := range send {
		sent, err := one(ctx, p, service)
		if err != nil {
			return nil, err
		}
		did = append(did, sent)
		if err := p.arrived(ctx, service); err != nil {
			return nil, err
		}
	}
	return did, nil
}

// arrived returns an error unless the set of the service has exactly the files, and waits until they are files there, so that this
// work does not fall into the time of what comes next.
func (p *putting) arrived(ctx context.Context, s *subject) error {
	got := map[string]string{}
	_, err := s.Walk(ctx, "/sets/"+s.set+"/resources?limit=1000", func(page e2e.Page) error {
		for _, r := range page.Data {
			if _, twice := got[r.Name]; twice {
				return fmt.Errorf("%s is there twice", r.Name)
			}
			got[r.Name] = r.SHA256
		}
		return nil
	})
	if err == nil && !maps.Equal(got, p.sums) {
		err = fmt.Errorf("%d files arrived, not the %d that were sent", len(got), len(p.sums))
	}
	if err == nil {
		_, err = settled(ctx, s.data, len(p.sums))
	}
	return err
}
