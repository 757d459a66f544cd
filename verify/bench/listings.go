package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"labshelf/verify/e2e"
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
	b.say("a repository of %d resources", n)
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
