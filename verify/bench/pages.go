package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// kind is a page that is read repeatedly.
type kind struct {
	what    string
	of      peer
	url     string
	within  float64 // maximum time, as a multiple of the fastest simple page
	wire    *wire
	request []byte
	length  int
}

// simplePages is the number of kinds that read one range. They come first.
const simplePages = 4

// kindsOfPages measures single pages: their time, and their time compared with the fastest simple
// page.
func (b *bench) kindsOfPages(ctx context.Context, open *closers, many *subject, known *walked) (rows []row, err error) {
	half, err := b.filledSet(ctx, open, "half", b.many, 2)
	if err != nil {
		return nil, err
	}
	b.say("a caller with %d dataspaces", dataspaces)
	caller, err := b.spread(ctx, open)
	if err != nil {
		return nil, err
	}
	replaced, versions, err := b.replaced(ctx, open)
	if err != nil {
		return nil, err
	}
	at := len(known.pages) * 9 / 10
	kinds := []*kind{
		{what: "first page", of: many.peer, url: "/resources", within: 1.3},
		{what: "page at 90 % depth", of: many.peer, url: known.urls[at], within: 1.3},
		{what: "since at 90 %", of: many.peer, url: "/resources?since=" + url.QueryEscape(textField(known.pages[at], "modified")), within: 1.3},
		{what: "first page by name", of: many.peer, url: "/sets/" + many.set + "/resources?order=name", within: 1.3},
		{what: "state=all, half deleted", of: half.peer, url: "/resources?state=all", within: 1.5},
		{what: fmt.Sprintf("caller with %d dataspaces", dataspaces), of: caller, url: "/resources", within: 1.5},
		{what: "versions of one resource", of: replaced, url: versions, within: 1.5},
	}
	for _, k := range kinds {
		rows = append(rows, row{what: "page of 100: " + k.what, unit: "µs", reference: "the fastest of the first four",
			targets: []target{figureAtMost(350), ratioAtMost(k.within)}})
	}
	for round := range b.rounds {
		b.say("pages of every kind, round %d", round+1)
		medians, err := b.readPages(ctx, kinds)
		if err != nil {
			return nil, err
		}
		for i, m := range medians {
			rows[i].add(m, slices.Min(medians[:simplePages]))
		}
	}
	return rows, nil
}

// dataspaces is the number of dataspaces in which the caller has a role. A page of the caller
// merges as many ranges.
const dataspaces = 50

// spread creates a repository whose resources are spread over the dataspaces, and returns the peer
// for a caller who may read these dataspaces.
func (b *bench) spread(ctx context.Context, open *closers) (peer, error) {
	var key struct{ Key string }
	s, err := b.filled(ctx, open, "spread", func(ctx context.Context, s *subject) (sets []string, err error) {
		user, err := s.Make(ctx, "/users", map[string]string{"username": "reader"})
		if err == nil {
			err = s.Call(ctx, http.MethodPost, "/users/"+user+"/keys", nil, &key)
		}
		for i := 0; i < dataspaces && err == nil; i++ {
			var dataspace, set string
			if dataspace, set, err = s.MakeSet(ctx, fmt.Sprintf("wide-%d", i)); err != nil {
				break
			}
			sets = append(sets, set)
			_, err = s.Make(ctx, "/privileges", map[string]string{"userId": user, "dataspaceId": dataspace, "role": "member"})
		}
		return sets, err
	}, b.many, 0)
	if err != nil {
		return peer{}, err
	}
	return peerAt(s.Base(), key.Key), nil
}

// replaced creates a repository with one resource that was replaced many times, and returns the URL
// of the listing of its versions.
func (b *bench) replaced(ctx context.Context, open *closers) (of peer, url string, err error) {
	b.say("a resource of %d versions", b.many)
	var made closers
	s, err := b.start(ctx, &made, "replaced")
	made.close(&err)
	var id string
	if err == nil {
		id, err = fillVersions(ctx, s.data, s.set, b.many)
	}
	if err == nil {
		err = s.run(ctx, open, b.program)
	}
	if err != nil {
		return peer{}, "", err
	}
	return s.peer, "/resources/" + id + "/versions", nil
}

// inARow is the number of consecutive reads of a page. With fewer reads, the caches of the
// processor would hold the other pages.
const inARow = 5

// readPages reads the pages repeatedly, in turn, and returns the median time of each page in µs. It
// ignores the first rounds.
func (b *bench) readPages(ctx context.Context, kinds []*kind) ([]float64, error) {
	for _, k := range kinds {
		w, err := dial(ctx, k.of)
		if err != nil {
			return nil, err
		}
		defer w.close()
		k.wire, k.request = w, k.of.get(k.url)
		page, err := w.want(200, k.request)
		if err != nil {
			return nil, err
		}
		if items := bytes.Count(page, []byte("\n    {")); items != pageSize {
			return nil, fmt.Errorf("%s: the page has %d resources", k.what, items)
		}
		k.length = len(page)
	}
	times := make([][]float64, len(kinds))
	const warmUp = 10 * inARow
	for done := 0; done < warmUp+b.pages; done += inARow {
		for i, k := range kinds {
			took, err := k.read()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", k.what, err)
			}
			if done >= warmUp {
				times[i] = append(times[i], took...)
			}
		}
	}
	medians := make([]float64, len(kinds))
	for i := range medians {
		medians[i] = median(times[i])
	}
	return medians, nil
}

// read reads the page inARow times and returns the time of each read, in µs.
func (k *kind) read() (took []float64, err error) {
	for range inARow {
		begin := time.Now()
		page, err := k.wire.want(200, k.request)
		took = append(took, milliseconds(time.Since(begin))*1e3)
		if err == nil && len(page) != k.length {
			err = fmt.Errorf("the page has %d bytes instead of %d", len(page), k.length)
		}
		if err != nil {
			return nil, err
		}
	}
	return took, nil
}

// comparePages adds, for each round, the median times of the two kinds of each row: first ours,
// then the reference.
func (b *bench) comparePages(ctx context.Context, what string, rows []row, kinds []*kind) error {
	for round := range b.rounds {
		b.say("%s, round %d", what, round+1)
		medians, err := b.readPages(ctx, kinds)
		if err != nil {
			return err
		}
		for i := range rows {
			rows[i].add(medians[2*i], medians[2*i+1])
		}
	}
	return nil
}
