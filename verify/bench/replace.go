package main

import (
	"context"
	"fmt"
)

// replacements measures replacing small files, whose versions are kept, compared with uploading as
// many new files to the same service.
func (b *bench) replacements(ctx context.Context) (rows []row, err error) {
	var open closers
	defer open.close(&err)
	s, err := b.start(ctx, &open, "replacements")
	if err != nil {
		return nil, err
	}
	sent, uploaded := 0, 0 // sent counts all bodies
	for _, clients := range []int{1, manyClients} {
		what := fmt.Sprintf("4 KiB replacements, clients: %d", clients)
		r := row{what: what, unit: "1/s", reference: "uploads", targets: []target{ratioAtLeast(0.95)}}
		for round := range b.moreRounds {
			b.say("%s, round %d", what, round+1)
			before := sent
			theirs, made, err := b.uploadBy(ctx, s, clients, &sent, func(_ int, w *wire) *uploader { return newUploader(w, s.peer, s.set, smallFile, b.number) })
			if err != nil {
				return nil, err
			}
			uploaded += sent - before
			if err := b.atRest(ctx); err != nil {
				return nil, err
			}
			ours, _, err := b.uploadBy(ctx, s, clients, &sent, func(i int, w *wire) *uploader { return newReplacer(w, s.peer, made[i], smallFile, b.number) })
			if err != nil {
				return nil, err
			}
			r.add(ours.perSecond(), theirs.perSecond())
			if err := b.atRest(ctx); err != nil {
				return nil, err
			}
		}
		rows = append(rows, r)
	}
	return rows, s.holds(ctx, s.dataspace, counters{ActiveFiles: uploaded, OldVersions: sent - uploaded})
}
