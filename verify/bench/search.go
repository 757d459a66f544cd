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

// search measures what a search tells of what its caller may not read: the time; and how soon a
// file is found after it was acknowledged.
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

// The words of file names: that of the files of the caller, and one that only others have.
const ownWord, foreignWord = "basalt", "quartz"

// foreignWord measures a search for a word that many files have, but none that the caller may read,
// beside one for a word that nobody uses.
func (b *bench) foreignWord(ctx context.Context, s *subject) (row, error) {
	r := row{what: "search for a word of foreign records alone", unit: "µs", reference: "for one that nobody holds",
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
			i := (n + n/2) % 2 // each is first in turn
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

// reader makes files with a word each, in a dataspace that a user may read and in another one, and
// returns the user's key when they are found.
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

// findLimit is how long a file may not be found.
const findLimit = time.Minute

// findable asks until a file is found by its name, and returns how long that took.
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
			return 0, fmt.Errorf("%s is not found after %v", name, took)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// mostPause is the longest pause of a client that looks for what it has uploaded.
const mostPause = 300 * time.Millisecond

// freshness measures how soon a file is found, while 16 clients upload.
func (b *bench) freshness(ctx context.Context, s *subject) ([]row, error) {
	const what = "findable after its upload, beside 16 writers"
	middle := row{what: what + ": median", unit: "ms", targets: []target{figureAtMost(200)}}
	longest := row{what: what + ": longest", unit: "ms", worst: true, targets: []target{figureAtMost(1000)}}
	wires, err := dials(ctx, s.peer, manyClients)
	if err != nil {
		return nil, err
	}
	defer closeAll(wires)
	var took []float64
	workers := []func() error{func() error {
		time.Sleep(rand.N(mostPause)) // so that it comes at any moment between two of what follows the log
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
