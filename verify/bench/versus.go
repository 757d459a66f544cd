package main

import (
	"context"
	"errors"
	"fmt"
)

// versusOf returns the measurement of this program beside another one of labshelf, such as that of the commit before a change.
func versusOf(programs []string) ([]measurement, error) {
	if len(programs) != 1 {
		return nil, errors.New("versus takes the file of another labshelf")
	}
	return []measurement{{"versus", func(b *bench, ctx context.Context) ([]row, error) { return b.versus(ctx, programs[0]) }}}, nil
}

// versusRounds is how often each of the two has its turn: more than elsewhere, as they differ by little.
const versusRounds = 8

// versus measures uploads of small files to both programs, by rounds; of two rounds each one is first in one.
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
		what := fmt.Sprintf("4 KiB uploads, clients: %d", clients)
		r := row{what: what, unit: "1/s", reference: "the other program", targets: []target{ratioAtLeast(0.95)}}
		for round := range max(b.rounds, min(versusRounds, b.moreRounds*b.rounds)) {
			b.say("%s, round %d", what, round+1)
			order, speed := []*subject{ours, theirs}, map[*subject]float64{}
			if round%2 == 1 {
				order[0], order[1] = theirs, ours
			}
			if err := b.uploadEach(ctx, order, clients, sent, speed); err != nil {
				return nil, err
			}
			r.add(speed[ours], speed[theirs])
		}
		rows = append(rows, r)
	}
	return rows, errors.Join(
		ours.holds(ctx, ours.dataspace, counters{ActiveFiles: *sent[ours]}), theirs.holds(ctx, theirs.dataspace, counters{ActiveFiles: *sent[theirs]}))
}

// uploadEach has clients upload small files to one service after the other, and says how many each took per second. Each has flushed what
// it took before the next one begins.
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
