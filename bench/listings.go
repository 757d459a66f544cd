package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"labshelf/e2e"
)

const pageSize = 100

// listings measures a walk through all pages of a repository, beside nginx with the same pages as files, and single pages of
// every kind.
func (b *bench) listings(ctx context.Context) (rows []row, err error) {
	var open closers
	defer open.close(&err)
	many, err := b.shelf(ctx, &open, "many", b.many, 0)
	if err != nil {
		return nil, err
	}
	walked, err := many.walk(ctx, "/resources", b.many)
	if err != nil {
		return nil, err
	}
	walk, err := b.walks(ctx, &open, many, walked)
	if err != nil {
		return nil, err
	}
	kinds, err := b.kindsOfPages(ctx, &open, many, walked)
	if err != nil {
		return nil, err
	}
	sizes, err := b.pagesOfMany(ctx, &open, many)
	return slices.Concat(walk, kinds, sizes), err
}

// shelf makes a repository of n resources, all in one set, and runs the service over it until open is closed. Of every so many, if
// that is not 0, one is deleted.
func (b *bench) shelf(ctx context.Context, open *closers, name string, n, deleteEach int) (*subject, error) {
	b.say("listings: a repository of %d resources", n)
	return b.filled(ctx, open, name, func(ctx context.Context, s *subject) ([]string, error) { return []string{s.set}, nil }, n, deleteEach)
}

// filled is shelf, with the resources in the sets that makeSets makes.
func (b *bench) filled(ctx context.Context, open *closers, name string,
	makeSets func(context.Context, *subject) ([]string, error), n, deleteEach int) (s *subject, err error) {
	var made closers
	s, err = b.start(ctx, &made, name)
	var sets []string
	if err == nil {
		sets, err = makeSets(ctx, s)
	}
	made.close(&err)
	if err == nil {
		err = fill(ctx, s.data, sets, n, deleteEach)
	}
	if err == nil {
		err = s.run(ctx, open, b.program)
	}
	return s, err
}

// walked is a listing from its beginning to its end.
type walked struct {
	pages [][]byte // the bodies, the last of which is the end
	urls  []string // of the same
}

// walk reads a listing of n resources, page by page, and sees that each of them is there once.
func (s *subject) walk(ctx context.Context, listing string, n int) (*walked, error) {
	w, err := dial(ctx, s.peer)
	if err != nil {
		return nil, err
	}
	defer w.close()
	all, ids := &walked{}, map[string]bool{}
	for next := listing; next != ""; {
		page, err := w.want(200, s.get(next))
		if err != nil {
			return nil, err
		}
		all.pages, all.urls = append(all.pages, bytes.Clone(page)), append(all.urls, next)
		next = member(page, "nextPage")
		for _, item := range bytes.Split(page, []byte("\n    {"))[1:] {
			ids[member(item, "id")] = true
		}
	}
	if len(ids) != n || len(all.pages) != n/pageSize+1 {
		return nil, fmt.Errorf("%s has %d resources on %d pages instead of %d in full pages and an end", listing, len(ids), len(all.pages), n)
	}
	return all, nil
}

// walks measures a walk through all pages, by one client over one connection.
func (b *bench) walks(ctx context.Context, open *closers, s *subject, known *walked) ([]row, error) {
	what := fmt.Sprintf("walk of %d resources, %d a page", b.many, pageSize)
	folder := filepath.Join(b.folder, "pages")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, err
	}
	web, err := b.startNginx(ctx, open, folder)
	if errors.Is(err, errNoNginx) {
		b.say("%v: %s is left out", err, what)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	copied, err := known.write(folder, web.peer)
	if err != nil {
		return nil, err
	}
	const beside = "nginx, the same pages as files"
	rows := []row{
		{what: what + ", by Go's client", unit: "records/s", beside: beside, targets: []target{ratioAtLeast(0.7)}},
		{what: what + ", by the bare client", unit: "records/s", beside: beside},
	}
	for i, client := range []func(context.Context, peer) (getter, func(), error){ordinaryClient, bareClient} {
		for round := range b.rounds {
			b.say("%s, round %d", rows[i].what, round+1)
			ours, err := b.walkAgain(ctx, s.peer, known, client)
			if err != nil {
				return nil, err
			}
			theirs, err := b.walkAgain(ctx, web.peer, copied, client)
			if err != nil {
				return nil, fmt.Errorf("nginx: %w", err)
			}
			rows[i].add(ours, theirs)
		}
	}
	return rows, nil
}

// write makes files of the pages, each of which names the next one. It returns what a walk through these must be.
func (k *walked) write(folder string, at peer) (*walked, error) {
	urls := make([]string, len(k.pages))
	for i := range urls {
		urls[i] = fmt.Sprintf("http://%s/%08d", at.address, i)
	}
	copied := &walked{pages: make([][]byte, len(k.pages)), urls: urls}
	for i, page := range k.pages {
		if next := member(page, "nextPage"); next != "" {
			page = bytes.Replace(page, []byte(next), []byte(urls[i+1]), 1)
		}
		copied.pages[i] = page
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%08d", i)), page, 0o600); err != nil {
			return nil, err
		}
	}
	return copied, nil
}

// getter returns the page at a URL, valid until the next call.
type getter func(url string) ([]byte, error)

// bareClient gets pages over a connection of our own.
func bareClient(ctx context.Context, p peer) (getter, func(), error) {
	w, err := dial(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	return func(url string) ([]byte, error) { return w.want(200, p.get(url)) }, w.close, nil
}

// ordinaryClient gets pages with Go's own client, as most harvesters would.
func ordinaryClient(ctx context.Context, p peer) (getter, func(), error) {
	client := e2e.NewClient("http://"+p.address+p.path, p.key)
	var page bytes.Buffer
	return func(url string) ([]byte, error) {
		page.Reset()
		err := client.Download(ctx, url, &page)
		return page.Bytes(), err
	}, client.CloseIdle, nil
}

// walkAgain walks through a listing for as long as a load goes on, and returns how many records per second came. Each page must
// have the records of the known one.
func (b *bench) walkAgain(ctx context.Context, p peer, known *walked,
	client func(context.Context, peer) (getter, func(), error)) (perSecond float64, err error) {
	get, end, err := client(ctx, p)
	if err != nil {
		return 0, err
	}
	defer end()
	walks := 0
	begin := time.Now()
	for ; walks == 0 || time.Since(begin) < b.load; walks++ {
		next := known.urls[0]
		for i, want := range known.pages {
			page, err := get(next)
			if err != nil {
				return 0, err
			}
			if !bytes.Equal(records(page), records(want)) {
				return 0, fmt.Errorf("page %d is not what it was: %.1000q", i+1, page)
			}
			next = member(page, "nextPage")
		}
		if next != "" {
			return 0, errors.New("the walk does not end where it did")
		}
	}
	return float64(walks*b.many) / time.Since(begin).Seconds(), nil
}

// records returns what a page says of its resources, without where it and the next one are; of an end all.
func records(page []byte) []byte {
	if _, data, found := bytes.Cut(page, []byte(`"data":`)); found {
		return data
	}
	return page
}

// kind is one page that is read again and again.
type kind struct {
	what    string
	of      peer
	url     string
	within  float64 // of the fastest simple page
	wire    *wire
	request []byte
	length  int
}

// simplePages is how many of the kinds have one range; they come first.
const simplePages = 4

// kindsOfPages measures single pages: each against the clock, and beside the fastest of the simple ones.
func (b *bench) kindsOfPages(ctx context.Context, open *closers, many *subject, known *walked) (rows []row, err error) {
	half, err := b.shelf(ctx, open, "half", b.many, 2)
	if err != nil {
		return nil, err
	}
	b.say("listings: a caller with %d dataspaces", dataspaces)
	caller, err := b.wide(ctx, open)
	if err != nil {
		return nil, err
	}
	at := len(known.pages) * 9 / 10
	kinds := []*kind{
		{what: "first page", of: many.peer, url: "/resources", within: 1.3},
		{what: "page at 90 % depth", of: many.peer, url: known.urls[at], within: 1.3},
		{what: "since at 90 %", of: many.peer, url: "/resources?since=" + url.QueryEscape(member(known.pages[at], "modified")), within: 1.3},
		{what: "first page by name", of: many.peer, url: "/sets/" + many.set + "/resources?order=name", within: 1.3},
		{what: "state=all, half deleted", of: half.peer, url: "/resources?state=all", within: 1.5},
		{what: fmt.Sprintf("caller with %d dataspaces", dataspaces), of: caller, url: "/resources", within: 1.5},
	}
	for _, k := range kinds {
		rows = append(rows, row{what: "page of 100: " + k.what, unit: "µs", beside: "the fastest of the first four",
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

// dataspaces is how many the caller has a role in whose pages merge as many ranges.
const dataspaces = 50

// wide makes a repository whose resources are spread over the dataspaces, and returns it as a caller who may read these.
func (b *bench) wide(ctx context.Context, open *closers) (peer, error) {
	var key struct{ Key string }
	s, err := b.filled(ctx, open, "wide", func(ctx context.Context, s *subject) (sets []string, err error) {
		user, err := s.Make(ctx, "/users", map[string]string{"username": "reader"})
		if err == nil {
			err = s.Call(ctx, http.MethodPost, "/users/"+user+"/keys", nil, &key)
		}
		for i := 0; i < dataspaces && err == nil; i++ {
			var dataspace, set string
			if dataspace, set, err = s.makeSet(ctx, fmt.Sprintf("wide-%d", i)); err != nil {
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

// readPages reads pages again and again, in turn, and returns the median time of each in µs.
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
	warmUp := b.pages / 10
	for i := range warmUp + b.pages {
		for j, k := range kinds {
			begin := time.Now()
			page, err := k.wire.want(200, k.request)
			if err == nil && len(page) != k.length {
				err = fmt.Errorf("%s: the page has %d bytes instead of %d", k.what, len(page), k.length)
			}
			if err != nil {
				return nil, err
			}
			if i >= warmUp {
				times[j] = append(times[j], milliseconds(time.Since(begin))*1e3)
			}
		}
	}
	medians := make([]float64, len(kinds))
	for i := range medians {
		medians[i] = median(times[i])
	}
	return medians, nil
}

// pagesOfMany measures the first and the last full page of each listing, of many resources beside few.
func (b *bench) pagesOfMany(ctx context.Context, open *closers, many *subject) (rows []row, err error) {
	few, err := b.shelf(ctx, open, "few", b.few, 0)
	if err != nil {
		return nil, err
	}
	var kinds []*kind
	for _, listing := range []struct{ name, many, few string }{
		{"all resources", "/resources", "/resources"},
		{"of a dataspace", "/dataspaces/" + many.dataspace + "/resources", "/dataspaces/" + few.dataspace + "/resources"},
		{"of a set", "/sets/" + many.set + "/resources", "/sets/" + few.set + "/resources"},
	} {
		manyWalked, err := many.walk(ctx, listing.many, b.many)
		if err != nil {
			return nil, err
		}
		fewWalked, err := few.walk(ctx, listing.few, b.few)
		if err != nil {
			return nil, err
		}
		for i, place := range []string{"first", "deep"} {
			what := fmt.Sprintf("page of 100, %s, %s, from %d", listing.name, place, b.many)
			rows = append(rows, row{what: what, unit: "µs", beside: fmt.Sprintf("from %d", b.few), targets: []target{ratioAtMost(1.3)}})
			kinds = append(kinds,
				&kind{what: what, of: many.peer, url: manyWalked.urls[i*(len(manyWalked.urls)-2)]},
				&kind{what: what, of: few.peer, url: fewWalked.urls[i*(len(fewWalked.urls)-2)]})
		}
	}
	for round := range b.rounds {
		b.say("pages of many beside few, round %d", round+1)
		medians, err := b.readPages(ctx, kinds)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			rows[i].add(medians[2*i], medians[2*i+1])
		}
	}
	return rows, nil
}
