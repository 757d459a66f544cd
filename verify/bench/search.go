package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"labshelf/verify/e2e"
)

// search measures whether the duration of a search reveals objects that the caller may not read,
// and how soon a new file is found.
func (b *bench) search(ctx context.Context) (rows []row, err error) {
	var open closers
	defer open.close(&err)
	s, err := b.start(ctx, &open, "search")
	if err != nil {
		return nil, err
	}
	foreign, err := b.foreignWord(ctx, s)
	if err != nil {
		return nil, err
	}
	fresh, err := b.freshness(ctx, s)
	return append(fresh, foreign), err
}

// Words in file names: ownWord in the caller's files, and foreignWord in files that only others may
// read.
const ownWord, foreignWord = "basalt", "quartz"

// foreignWord measures a search for a word of many files that the caller may not read, compared
// with a search for a word of no file.
func (b *bench) foreignWord(ctx context.Context, s *subject) (row, error) {
	r := row{what: "search for a word only in unreadable files", unit: "µs", reference: "search for a word in no file",
		targets: []target{ratioAtMost(1.1), ratioAtLeast(0.9)}}
	key, err := b.reader(ctx, s)
	if err != nil {
		return r, err
	}
	w, err := dial(ctx, peerAt(s.Base(), key))
	if err != nil {
		return r, err
	}
	defer w.close()
	at := peerAt(s.Base(), key)
	requests := [2][]byte{}
	for i, word := range []string{foreignWord, "gneiss"} {
		requests[i] = at.get("/search?counts=true&q=" + word)
	}
	for round := range b.moreRounds {
		b.say("%s, round %d", r.what, round+1)
		var took [2][]float64
		for n := range 2 * b.pages {
			i := (n + n/2) % 2 // the order alternates
			begin := time.Now()
			if _, err := w.want(http.StatusOK, requests[i]); err != nil {
				return r, err
			}
			took[i] = append(took[i], float64(time.Since(begin).Nanoseconds())/1000)
		}
		r.add(median(took[0]), median(took[1]))
	}
	return r, nil
}

// reader creates files with ownWord in a dataspace that a user may read, and files with foreignWord
// in another one. It returns the user's key as soon as search finds the last file.
func (b *bench) reader(ctx context.Context, s *subject) (string, error) {
	var key struct{ Key string }
	user, err := s.Make(ctx, "/users", map[string]string{"username": "reader"})
	if err == nil {
		err = s.Call(ctx, http.MethodPost, "/users/"+user+"/keys", nil, &key)
	}
	if err == nil {
		_, err = s.Make(ctx, "/privileges", map[string]string{"userId": user, "dataspaceId": s.dataspace, "role": "member"})
	}
	_, other, otherErr := s.MakeSet(ctx, "foreign")
	if err := errors.Join(err, otherErr); err != nil {
		return "", err
	}
	for i := range b.files {
		for set, word := range map[string]string{s.set: ownWord, other: foreignWord} {
			if err := b.uploadNamed(ctx, s, set, fmt.Sprintf("%s-%d", word, i)); err != nil {
				return "", err
			}
		}
	}
	_, err = s.findable(ctx, fmt.Sprintf("%s-%d", foreignWord, b.files-1))
	return key.Key, err
}

// uploadNamed uploads a small file with a name.
func (b *bench) uploadNamed(ctx context.Context, s *subject, set, name string) error {
	_, err := s.Upload(ctx, http.MethodPost, "/resources", e2e.File{
		SetID: set, Name: name, Filename: "file.dat", Body: strings.NewReader(name), Size: int64(len(name)),
	})
	return err
}

// findLimit is the maximum time until a file is found.
const findLimit = time.Minute

// findable searches until it finds a file by its name, and returns the elapsed time.
func (s *subject) findable(ctx context.Context, name string) (time.Duration, error) {
	begin := time.Now()
	for {
		var page e2e.Page
		if err := s.Get(ctx, "/search?limit=1&q=name:"+url.QueryEscape(name), &page); err != nil {
			return 0, err
		}
		if took := time.Since(begin); len(page.Data) > 0 {
			return took, nil
		} else if took > findLimit {
			return 0, fmt.Errorf("%s was not found after %v", name, took)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// mostPause is the longest pause of the client before an upload.
const mostPause = 300 * time.Millisecond

// freshness measures how soon a new file is found while 16 clients upload.
func (b *bench) freshness(ctx context.Context, s *subject) ([]row, error) {
	const what = "findable after its upload, with 16 writers"
	middle := row{what: what + ": median", unit: "ms", targets: []target{figureAtMost(200)}}
	longest := row{what: what + ": longest", unit: "ms", worst: true, targets: []target{figureAtMost(1000)}}
	wires, err := dials(ctx, s.peer, manyClients)
	if err != nil {
		return nil, err
	}
	defer closeAll(wires)
	var took []float64
	workers := []func() error{func() error {
		time.Sleep(rand.N(mostPause)) // to upload at a random moment between two updates of the index
		name := fmt.Sprintf("fresh-%d", b.number())
		err := b.uploadNamed(ctx, s, s.set, name)
		if err == nil {
			var after time.Duration
			after, err = s.findable(ctx, name)
			took = append(took, milliseconds(after))
		}
		return err
	}}
	for _, w := range wires {
		workers = append(workers, newUploader(w, s.peer, s.set, smallFile, b.number).upload)
	}
	for round := range b.moreRounds {
		b.say("%s, round %d", what, round+1)
		took = nil
		if _, err := work(workers, b.load); err != nil {
			return nil, err
		}
		middle.add(median(took), 0)
		longest.add(slices.Max(took), 0)
	}
	return []row{middle, longest}, nil
}
