package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"labshelf/verify/e2e"
)

// scaleOf returns the measurement that compares filled repositories with the first one.
func scaleOf(folders []string) ([]measurement, error) {
	if len(folders) < 2 {
		return nil, errors.New("scale takes a small data directory and those to compare with it; fill creates them")
	}
	return []measurement{{"scale", func(b *bench, ctx context.Context) ([]row, error) { return b.scale(ctx, folders) }}}, nil
}

// filledRepository is a repository created by fill, on which the service runs.
type filledRepository struct {
	*subject
	resources int
	sets      []string
	dataspace string
	starts    []float64 // ms to the first answer, without metadata in memory
}

// manyResources is the size from which uploads spread over all sets may be slower.
const manyResources = 5_000_000

// scale compares each repository with the first one. Their size may change the results only a
// little.
func (b *bench) scale(ctx context.Context, folders []string) (rows []row, err error) {
	var open closers
	defer open.close(&err)
	b.numbers.Store(uint64(time.Now().UnixNano())) // no body was stored by fill or an earlier run
	var small *filledRepository
	for _, folder := range folders {
		s, err := b.openFilled(ctx, &open, folder)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", folder, err)
		}
		if small == nil {
			small = s
			continue
		}
		more, err := b.scaleOne(ctx, s, small)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", folder, err)
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// openFilled runs the service on a repository, and reads its size and its sets.
func (b *bench) openFilled(ctx context.Context, open *closers, folder string) (*filledRepository, error) {
	data, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	s := &filledRepository{subject: &subject{data: data}}
	if s.starts, err = b.coldStarts(ctx, data); err != nil {
		return nil, err
	}
	if err := warm(filepath.Join(data, "meta.db")); err != nil {
		return nil, err
	}
	if err := s.run(ctx, open, b.program); err != nil {
		return nil, err
	}
	var usage struct{ ActiveFiles int }
	if err := s.Get(ctx, "/usage", &usage); err != nil {
		return nil, err
	}
	s.resources = usage.ActiveFiles
	w, err := dial(ctx, s.peer)
	if err != nil {
		return nil, err
	}
	defer w.close()
	page, err := w.want(http.StatusOK, s.get("/sets?limit=1000"))
	if err != nil {
		return nil, err
	}
	for _, item := range bytes.Split(page, []byte("\n    {"))[1:] {
		s.sets = append(s.sets, textField(item, "id"))
		s.dataspace = textField(item, "dataspaceId")
	}
	if len(s.sets) == 0 {
		return nil, errors.New("no sets: create the directory with fill")
	}
	return s, nil
}

// coldStarts measures starts of the service on a data directory whose metadata are not in memory.
func (b *bench) coldStarts(ctx context.Context, data string) (times []float64, err error) {
	key, err := os.ReadFile(filepath.Join(data, e2e.KeyFile))
	if err != nil {
		return nil, err
	}
	s := &starts{bench: b, key: strings.TrimSpace(string(key))}
	for range b.rounds {
		if err := evict(filepath.Join(data, "meta.db")); err != nil {
			return nil, err
		}
		took, _, err := s.launch(ctx, s.serve(data), 0)
		if err != nil {
			return nil, err
		}
		times = append(times, took)
	}
	return times, nil
}

// scaleOne measures one repository and the small one, in alternation.
func (b *bench) scaleOne(ctx context.Context, s, small *filledRepository) (rows []row, err error) {
	of, reference := fmt.Sprintf("%d resources", s.resources), fmt.Sprintf("%d", small.resources)
	start := row{what: of + ": start to first answer, metadata not in memory", unit: "ms", reference: reference,
		ours: s.starts, theirs: small.starts, targets: []target{figureAtMost(100)}}
	room := row{what: of + ": metadata for each", unit: "bytes", reference: reference, targets: []target{figureAtMost(1331)}}
	ours, err := s.metadata()
	theirs, failed := small.metadata()
	if err := errors.Join(err, failed); err != nil {
		return nil, err
	}
	room.add(ours, theirs)
	pages, err := b.scalePages(ctx, s, small)
	if err != nil {
		return nil, err
	}
	uploads, err := b.scaleUploads(ctx, s, small)
	if err != nil {
		return nil, err
	}
	rows = slices.Concat([]row{start, room}, pages, uploads)
	if !onLinux {
		return rows, nil
	}
	memory := row{what: of + ": anonymous memory", unit: "MiB", reference: reference, worst: true, targets: []target{differenceAtMost(16)}}
	ours, err = memoryOf(s.PID(), "RssAnon")
	theirs, failed = memoryOf(small.PID(), "RssAnon")
	memory.add(ours, theirs)
	return append(rows, memory), errors.Join(err, failed)
}

// metadata returns the size of the metadata in bytes per resource. It uses the allocated size,
// because the file is extended in advance.
func (s *filledRepository) metadata() (float64, error) {
	used, err := allocated(filepath.Join(s.data, "meta.db"))
	return float64(used) / float64(s.resources), err
}

// scalePages reads pages of each listing.
func (b *bench) scalePages(ctx context.Context, s, small *filledRepository) (rows []row, err error) {
	var kinds []*kind
	for _, listing := range []struct {
		what string
		path func(*filledRepository) string
	}{
		{"oldest of all", func(*filledRepository) string { return "/resources" }},
		{"newest of all", func(*filledRepository) string { return "/resources?order=newest" }},
		{"of a dataspace", func(s *filledRepository) string { return "/dataspaces/" + s.dataspace + "/resources" }},
	} {
		rows = append(rows, row{
			what: fmt.Sprintf("%d resources: page of 100, %s", s.resources, listing.what), unit: "µs",
			reference: fmt.Sprint(small.resources), targets: []target{ratioAtMost(1.3)},
		})
		for _, filledSet := range []*filledRepository{s, small} {
			kinds = append(kinds, &kind{what: listing.what, of: filledSet.peer, url: listing.path(filledSet)})
		}
	}
	return rows, b.comparePages(ctx, fmt.Sprintf("pages of %d resources", s.resources), rows, kinds)
}

// scaleUploads measures uploads into one set, and into all sets in turn.
func (b *bench) scaleUploads(ctx context.Context, s, small *filledRepository) ([]row, error) {
	slower := 1.3
	if s.resources >= manyResources {
		slower = 2.5
	}
	rows := []row{
		{what: "uploads of 4 KiB into one set", targets: []target{ratioAtLeast(1 / 1.3)}},
		{what: "uploads of 4 KiB into all sets", targets: []target{ratioAtLeast(1 / slower)}},
	}
	for i := range rows {
		rows[i].what = fmt.Sprintf("%d resources: %s", s.resources, rows[i].what)
		rows[i].unit, rows[i].reference = "1/s", fmt.Sprint(small.resources)
	}
	for round := range b.rounds {
		b.say("uploads with %d resources, round %d", s.resources, round+1)
		for i, into := range []func(*filledRepository) []string{func(s *filledRepository) []string { return s.sets[:1] }, func(s *filledRepository) []string { return s.sets }} {
			ours, err := b.uploadInto(ctx, s, into(s))
			if err != nil {
				return nil, err
			}
			theirs, err := b.uploadInto(ctx, small, into(small))
			if err != nil {
				return nil, err
			}
			rows[i].add(ours, theirs)
		}
	}
	return rows, nil
}

// uploadInto runs clients that upload into the sets in turn, and returns the uploads per second. It
// waits until the service has stopped writing bodies to files.
func (b *bench) uploadInto(ctx context.Context, s *filledRepository, sets []string) (perSecond float64, err error) {
	wires, err := dials(ctx, s.peer, manyClients)
	if err != nil {
		return 0, err
	}
	defer closeAll(wires)
	workers := make([]func() error, manyClients)
	var all []*uploader
	for i, w := range wires {
		each := make([]*uploader, len(sets))
		for j, set := range sets {
			each[j] = newUploader(w, s.peer, set, smallFile, b.number)
		}
		all = append(all, each...)
		next := i * len(sets) / manyClients
		workers[i] = func() error {
			next++
			return each[next%len(each)].upload()
		}
	}
	done, err := work(workers, b.load)
	for i := 0; err == nil && i < len(all); i++ {
		err = all[i].verify()
	}
	for files, before := 0, -1; err == nil && files != before; {
		time.Sleep(b.idle)
		before = files
		files, err = countFiles(s.data)
	}
	return done.perSecond(), err
}
