package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"labshelf/e2e"
)

const (
	pageLimit = 1.3 // how much longer a page of the large repository may take than one of the small
	pageSize  = 100
)

// shelf is a repository to read pages from.
type shelf struct {
	service  *e2e.Service
	listings []string // of all its resources: of all, of their dataspace, of their set
	pages    []string // of each listing the first page and the last full one
}

// readPages measures the time per page, first and deep, from many resources beside few.
func (b *bench) readPages(ctx context.Context) (rows []row, err error) {
	var shelves []*shelf
	defer func() {
		for _, s := range shelves {
			err = errors.Join(err, s.service.Stop())
		}
	}()
	for _, n := range []int{b.many, b.few} {
		b.say("pages: a repository of %d resources", n)
		s, err := b.shelf(ctx, n)
		if err != nil {
			return nil, err
		}
		shelves = append(shelves, s)
		if err := s.find(ctx, n); err != nil {
			return nil, err
		}
	}
	for _, listing := range []string{"all resources", "of a dataspace", "of a set"} {
		for _, place := range []string{"first", "deep"} {
			rows = append(rows, row{what: fmt.Sprintf("page of %d, %s, %s, from %d", pageSize, listing, place, b.many),
				unit: "µs", beside: fmt.Sprintf("from %d", b.few), limit: pageLimit})
		}
	}
	for round := range b.rounds {
		b.say("pages, round %d", round+1)
		for i := range rows {
			many, few, err := b.compare(ctx, shelves[0], shelves[1], i)
			if err != nil {
				return nil, err
			}
			rows[i].ours, rows[i].theirs = append(rows[i].ours, many), append(rows[i].theirs, few)
		}
	}
	return rows, nil
}

// find finds the pages of each listing, n resources deep.
func (s *shelf) find(ctx context.Context, n int) error {
	for _, listing := range s.listings {
		total, deep := 0, ""
		_, err := s.service.Walk(ctx, listing, func(page e2e.Page) error {
			total += len(page.Data)
			deep = page.CurrentPage
			return nil
		})
		if err != nil {
			return err
		}
		if total != n || n%pageSize != 0 {
			return fmt.Errorf("%s has %d resources instead of %d in full pages", listing, total, n)
		}
		s.pages = append(s.pages, listing, deep)
	}
	return nil
}

// compare reads the same page of both shelves in turn, and returns the median time of each, in µs.
func (b *bench) compare(ctx context.Context, first, second *shelf, page int) (ours, theirs float64, err error) {
	var times [2][]float64
	const warmUp = 5
	for i := range warmUp + b.pages {
		for j, s := range []*shelf{first, second} {
			begin := time.Now()
			if err := s.service.Download(ctx, s.pages[page], io.Discard); err != nil {
				return 0, 0, err
			}
			if i >= warmUp {
				times[j] = append(times[j], float64(time.Since(begin).Nanoseconds())/1e3)
			}
		}
	}
	return median(times[0]), median(times[1]), nil
}
