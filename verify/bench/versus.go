package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"time"
)

// versusOf returns the measurement that compares this program with another labshelf, such as one of
// the commit before a change.
func versusOf(programs []string) ([]measurement, error) {
	if len(programs) != 1 {
		return nil, errors.New("versus takes the file of another labshelf")
	}
	return []measurement{{"versus", func(b *bench, ctx context.Context) ([]row, error) { return b.versus(ctx, programs[0]) }}}, nil
}

// versusRounds is the number of rounds of each program. It is larger than for other rows, because
// the programs differ little.
const versusRounds = 8

// versus measures uploads, downloads and starts of both programs. Each program is first in every
// other round.
func (b *bench) versus(ctx context.Context, other string) (rows []row, err error) {
	var open closers
	defer open.close(&err)
	ours, err := b.start(ctx, &open, "ours")
	if err != nil {
		return nil, err
	}
	mine := b.program
	b.program = other
	theirs, err := b.start(ctx, &open, "theirs")
	if b.program = mine; err != nil {
		return nil, err
	}
	sent := map[*subject]*int{ours: new(int), theirs: new(int)}
	for _, clients := range []int{1, manyClients} {
		r := versusRow(fmt.Sprintf("4 KiB uploads, clients: %d", clients), "1/s", ratioAtLeast(0.95))
		err := b.alternate(&r, ours, theirs, func(order []*subject) (map[*subject]float64, error) {
			speed := map[*subject]float64{}
			return speed, b.uploadEach(ctx, order, clients, sent, speed)
		})
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	downloads, err := b.versusDownloads(ctx, ours, theirs, sent)
	if err != nil {
		return nil, err
	}
	err = errors.Join(ours.holds(ctx, ours.dataspace, counters{ActiveFiles: *sent[ours]}),
		theirs.holds(ctx, theirs.dataspace, counters{ActiveFiles: *sent[theirs]}))
	if open.close(&err); err != nil {
		return nil, err
	}
	starts, err := b.versusStarts(ctx, other, ours, theirs)
	return append(append(rows, downloads), starts...), err
}

// versusRow returns an empty row that compares with the other program.
func versusRow(what, unit string, aim target) row {
	return row{what: what, unit: unit, reference: "the other program", targets: []target{aim}}
}

// alternate adds the rounds of a row. measure measures the programs in the given order and returns
// the result of each.
func (b *bench) alternate(r *row, ours, theirs *subject, measure func(order []*subject) (map[*subject]float64, error)) error {
	for round := range max(b.rounds, min(versusRounds, b.moreRounds*b.rounds)) {
		b.say("%s, round %d", r.what, round+1)
		order := []*subject{ours, theirs}
		if round%2 == 1 {
			slices.Reverse(order)
		}
		figures, err := measure(order)
		if err != nil {
			return err
		}
		r.add(figures[ours], figures[theirs])
	}
	return nil
}

// versusDownloads measures downloads of small files from both programs.
func (b *bench) versusDownloads(ctx context.Context, ours, theirs *subject, sent map[*subject]*int) (row, error) {
	files := map[*subject]*small{}
	for _, s := range []*subject{ours, theirs} {
		var err error
		if files[s], err = b.sendFiles(ctx, s); err != nil {
			return row{}, err
		}
		*sent[s] += len(files[s].bodies)
	}
	r := versusRow("4 KiB downloads, clients: 16", "1/s", ratioAtLeast(0.95))
	return r, b.alternate(&r, ours, theirs, func(order []*subject) (map[*subject]float64, error) {
		speed := map[*subject]float64{}
		for _, s := range order {
			done, err := b.download(ctx, s.peer, files[s].paths, files[s].bodies)
			if err != nil {
				return nil, err
			}
			speed[s] = done.perSecond()
		}
		return speed, nil
	})
}

// versusStarts measures the starts of both programs with the repositories that they have filled,
// and the duration of "labshelf version".
func (b *bench) versusStarts(ctx context.Context, other string, ours, theirs *subject) ([]row, error) {
	programs := map[*subject]string{ours: b.program, theirs: other}
	start := versusRow("start to first answer", "ms", ratioAtMost(1.1))
	err := b.alternate(&start, ours, theirs, func(order []*subject) (map[*subject]float64, error) {
		took := map[*subject]float64{}
		for _, s := range order {
			of := &starts{bench: b, data: s.data, key: s.Key()}
			times, err := of.times(ctx, func() launch {
				l := of.old()
				l.program = programs[s]
				return l
			})
			if err != nil {
				return nil, err
			}
			took[s] = times[0]
		}
		return took, nil
	})
	if err != nil {
		return nil, err
	}
	short := versusRow("labshelf version", "ms", ratioAtMost(1.1))
	err = b.alternate(&short, ours, theirs, func(order []*subject) (map[*subject]float64, error) {
		took := map[*subject]float64{}
		for _, s := range order {
			times := make([]float64, b.starts)
			for i := range times {
				begin := time.Now()
				if err := exec.CommandContext(ctx, programs[s], "version").Run(); err != nil {
					return nil, err
				}
				times[i] = milliseconds(time.Since(begin))
			}
			took[s] = median(times)
		}
		return took, nil
	})
	return []row{start, short}, err
}

// uploadEach runs clients that upload small files to one service after the other, and stores the
// uploads per second of each service in speed. Each service has flushed the bodies before the next
// one begins.
func (b *bench) uploadEach(ctx context.Context, order []*subject, clients int, sent map[*subject]*int, speed map[*subject]float64) error {
	for _, s := range order {
		done, err := b.uploadTo(ctx, s, clients, smallFile, sent[s])
		if err != nil {
			return err
		}
		speed[s] = done.perSecond()
	}
	return nil
}
