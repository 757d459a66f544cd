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

// listings measures a walk through all pages of a repository, and compares it with nginx, which
// serves the same pages as files. It also measures single pages of every kind.
func (b *bench) listings(ctx context.Context) (rows []row, err error) {
	var open closers
	defer open.close(&err)
	many, err := b.filledSet(ctx, &open, "many", b.many, 0)
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
	return slices.Concat(walk, kinds), err
}

// filledSet creates a repository of n resources in one set, and runs the service on it until open
// is closed. If deleteEach is not 0, each deleteEach-th resource is deleted.
func (b *bench) filledSet(ctx context.Context, open *closers, name string, n, deleteEach int) (*subject, error) {
	b.say("a repository of %d resources", n)
	return b.filled(ctx, open, name, func(ctx context.Context, s *subject) ([]string, error) { return []string{s.set}, nil }, n, deleteEach)
}

// filled is like filledSet, but uses the sets that makeSets creates.
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
	pages [][]byte // the bodies; the last page is the end of the listing
	urls  []string // the URLs of pages
}

// walk reads a listing of n resources, page by page, and checks that it contains all of them.
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
		next = textField(page, "nextPage")
		for _, item := range bytes.Split(page, []byte("\n    {"))[1:] {
			ids[textField(item, "id")] = true
		}
	}
	if len(ids) != n || len(all.pages) != n/pageSize+1 {
		return nil, fmt.Errorf("%s has %d resources on %d pages, want %d resources on full pages and an end page", listing, len(ids), len(all.pages), n)
	}
	return all, nil
}

// walks measures a walk through all pages, by one client.
func (b *bench) walks(ctx context.Context, open *closers, s *subject, known *walked) ([]row, error) {
	what := fmt.Sprintf("walk of %d resources, %d a page", b.many, pageSize)
	folder := filepath.Join(b.folder, "pages")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, err
	}
	web, err := b.startNginx(ctx, open, folder)
	if errors.Is(err, errNoNginx) {
		b.say("%v: %s is skipped", err, what)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	copied, err := known.write(folder, web.peer)
	if err != nil {
		return nil, err
	}
	r := row{what: what, unit: "records/s", reference: "nginx, the same pages as files", targets: []target{ratioAtLeast(0.7)}}
	for round := range b.rounds {
		b.say("%s, round %d", r.what, round+1)
		ours, err := b.walkAgain(ctx, s.peer, known)
		if err != nil {
			return nil, err
		}
		theirs, err := b.walkAgain(ctx, web.peer, copied)
		if err != nil {
			return nil, fmt.Errorf("nginx: %w", err)
		}
		r.add(ours, theirs)
	}
	return []row{r}, nil
}

// write writes the pages to files, each with the URL of the next file. It returns the expected
// result of a walk through these files.
func (k *walked) write(folder string, at peer) (*walked, error) {
	urls := make([]string, len(k.pages))
	for i := range urls {
		urls[i] = fmt.Sprintf("http://%s/%08d", at.address, i)
	}
	copied := &walked{pages: make([][]byte, len(k.pages)), urls: urls}
	for i, page := range k.pages {
		if next := textField(page, "nextPage"); next != "" {
			page = bytes.Replace(page, []byte(next), []byte(urls[i+1]), 1)
		}
		copied.pages[i] = page
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%08d", i)), page, 0o600); err != nil {
			return nil, err
		}
	}
	return copied, nil
}

// walkAgain walks through a listing for the duration of a load, with Go's own client, as most
// harvesters would. It returns the number of records received per second. Each page must have the
// same records as in known.
func (b *bench) walkAgain(ctx context.Context, p peer, known *walked) (perSecond float64, err error) {
	client := e2e.NewClient("http://"+p.address+p.path, p.key)
	defer client.CloseIdle()
	var page bytes.Buffer
	walks := 0
	begin := time.Now()
	for ; walks == 0 || time.Since(begin) < b.load; walks++ {
		next := known.urls[0]
		for i, want := range known.pages {
			page.Reset()
			if err := client.Download(ctx, next, &page); err != nil {
				return 0, err
			}
			if !bytes.Equal(records(page.Bytes()), records(want)) {
				return 0, fmt.Errorf("page %d has changed: %.1000q", i+1, page.Bytes())
			}
			next = textField(page.Bytes(), "nextPage")
		}
		if next != "" {
			return 0, errors.New("the last page has a next page")
		}
	}
	return float64(walks*b.many) / time.Since(begin).Seconds(), nil
}

// records returns the records of a page, without the URLs of this page and the next one. It returns
// a page without "data" unchanged.
func records(page []byte) []byte {
	if _, data, found := bytes.Cut(page, []byte(`"data":`)); found {
		return data
	}
	return page
}
