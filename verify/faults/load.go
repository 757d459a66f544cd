package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
)

// writer changes things of its own, one request at a time, and remembers what it was told.
type writer struct {
	*caller
	n         int
	space     string // dataspace
	random    *rand.Rand
	ended     *atomic.Bool // set before the service is killed: from then on an answer may be missing
	sets      []*thing
	resources []*thing
	full      bool // the first set holds more than one step of its deletion moves
	made      int  // names given out
	pending   *change
	parts     bool        // some files are sent in parts
	underway  *underway   // the one that is
	completed []*underway // since the last verification
	inPieces  partsCount
	revoked   []string // keys, since the last verification
	answered  int64
	told      func(*thing) // called after each change of a thing
}

// errEnded: the service was killed while, or before, a request was under way.
var errEnded = errors.New("the service was killed")

// work sends requests until the service is killed, or something is wrong.
func (w *writer) work(ctx context.Context) error {
	for !w.ended.Load() {
		if err := w.step(ctx); err != nil {
			if errors.Is(err, errEnded) {
				return nil
			}
			return fmt.Errorf("writer %d: %w", w.n, err)
		}
	}
	return nil
}

// step sends one request of a random kind.
func (w *writer) step(ctx context.Context) error {
	if w.underway != nil {
		return w.sendPiece(ctx)
	}
	at := w.random.IntN(100)
	if len(w.sets) == 0 || at < 3 {
		return w.makeSet(ctx)
	}
	set := w.sets[w.random.IntN(len(w.sets))]
	if w.full && at < 10 {
		set = w.sets[0]
	}
	switch {
	case at < 6:
		return w.editSet(ctx, set)
	case at < 10:
		return w.switchSet(ctx, set)
	case at < 11:
		return w.makeAndRevokeKey(ctx)
	case len(w.resources) == 0 || at < 45:
		return w.create(ctx, set)
	}
	th := w.resources[w.random.IntN(len(w.resources))]
	switch {
	case th.set.want.State == "deleted" || th.want.Purged:
		return w.create(ctx, set)
	case th.want.State == "deleted":
		return w.restore(ctx, th)
	case at < 65:
		return w.replace(ctx, th)
	case at < 85:
		return w.edit(ctx, th)
	}
	return w.remove(ctx, th)
}

// stepObjects is how many resources a deletion or restoration of a set moves in one commit.
const stepObjects = 200

// fill makes the first set one whose deletion takes several steps.
func (w *writer) fill(ctx context.Context) error {
	if err := w.makeSet(ctx); err != nil {
		return err
	}
	for range stepObjects + stepObjects/4 {
		if err := w.create(ctx, w.sets[0]); err != nil {
			return err
		}
	}
	w.full = true
	return nil
}

// try writes down a change, sends it, and makes it true when the answer says so.
func (w *writer) try(c *change, want int, send func() (answer, error)) error {
	w.pending = c
	a, err := w.heard(c, send)
	if err != nil {
		return err
	}
	w.pending = nil
	if a.status != want {
		return w.refused(c, a)
	}
	if a.status != http.StatusNoContent {
		var got record
		if err := json.Unmarshal(a.body, &got); err != nil {
			return violated(c.on, "%s: %v", c.what, err)
		}
		if c.on == nil {
			c.after.ID = got.ID
		}
		if factsOf(got) != c.after {
			return violated(c.on, "%s was answered with %+v, not %+v", c.what, got, c.after)
		}
	}
	w.answered++
	w.told(w.done(c, a.header.Get("ETag")))
	return nil
}

// heard sends a request. The error is errEnded where the service was killed before it answered: then it has acknowledged nothing.
func (w *writer) heard(c *change, send func() (answer, error)) (answer, error) {
	a, err := send()
	switch {
	case err == nil && a.status < 500:
		return a, nil
	case w.ended.Load():
		return a, errEnded
	case err == nil:
		err = a.refusal()
	}
	return a, violated(c.on, "%s: no answer, but the service was not killed: %v", c.what, err)
}

// refused takes an answer that is no success: only a purge may cause one.
func (w *writer) refused(c *change, a answer) error {
	code := a.problem().Code
	if c.on != nil && c.on.purgeable && (code == "purged" || code == "deleted") {
		// Deleted: its set came back without it. What there is to be seen of it is compared later.
		c.on.note("%s: it is %s", c.what, code)
		c.on.want.Purged, c.on.want.State, c.on.etag = true, "deleted", ""
		return nil
	}
	return violated(c.on, "%s was refused: %w", c.what, a.refusal())
}

// name returns one that nobody has had.
func (w *writer) name(kind string) string {
	w.made++
	return fmt.Sprintf("%s-%d-%d", kind, w.n, w.made)
}

// content returns a body: sometimes empty, sometimes large, and often one that others upload too.
func (w *writer) content() []byte {
	seed, size := w.random.Uint64(), w.random.IntN(4<<10)
	switch w.random.IntN(16) {
	case 0:
		size = 0
	case 1:
		size = w.random.IntN(512 << 10)
	case 2, 3, 4, 5:
		seed = w.random.Uint64N(8)
		size = 1000 + int(seed)
	}
	return content(seed, size)
}

// content returns bytes that are the same for the same seed and size.
func content(seed uint64, size int) []byte {
	source, body := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16), byte(seed >> 24), byte(seed >> 32)}), make([]byte, size)
	_, _ = source.Read(body) // never fails
	return body
}

func (w *writer) makeSet(ctx context.Context) error {
	after := record{Name: w.name("set"), Title: "a set", State: "active"}
	return w.try(&change{what: "make " + after.Name, after: after}, http.StatusCreated, func() (answer, error) {
		return w.call(ctx, http.MethodPost, "/sets",
			map[string]string{"name": after.Name, "title": after.Title, "dataspaceId": w.space})
	})
}

func (w *writer) editSet(ctx context.Context, th *thing) error {
	if th.want.State == "deleted" {
		return w.switchSet(ctx, th)
	}
	after := th.want
	after.Title = w.name("title")
	return w.try(&change{what: "title " + after.Title, on: th, after: after}, http.StatusOK, func() (answer, error) {
		return w.call(ctx, http.MethodPut, th.path(), map[string]string{"title": after.Title})
	})
}

// switchSet deletes a set with all that is in it, or restores it.
func (w *writer) switchSet(ctx context.Context, th *thing) error {
	after := th.want
	if th.want.State == "active" {
		after.State = "deleted"
		return w.try(&change{what: "delete", on: th, after: after, effect: func() { w.takeAlong(th) }}, http.StatusNoContent,
			func() (answer, error) { return w.call(ctx, http.MethodDelete, th.path(), nil) })
	}
	after.State = "active"
	return w.try(&change{what: "restore", on: th, after: after, effect: func() { w.bringBack(th) }}, http.StatusOK,
		func() (answer, error) { return w.call(ctx, http.MethodPost, th.path()+"/restore", nil) })
}

// takeAlong makes the deletion of a set true for what was active in it.
func (w *writer) takeAlong(set *thing) {
	for _, th := range w.resources {
		if th.set == set && th.want.State == "active" {
			th.want.State, th.etag, th.taken, th.purgeable = "deleted", "", true, true
			th.note("its set was deleted")
			w.told(th)
		}
	}
}

// bringBack makes the restoration of a set true for what its deletion took.
func (w *writer) bringBack(set *thing) {
	for _, th := range w.resources {
		if th.set == set && th.taken {
			th.taken = false
			if th.want.Purged {
				continue
			}
			th.want.State, th.etag = "active", "" // and purgeable it stays: a purge may have been faster
			th.note("its set was restored")
			w.told(th)
		}
	}
}

func (w *writer) create(ctx context.Context, set *thing) error {
	if set.want.State == "deleted" {
		return w.switchSet(ctx, set)
	}
	body, inParts := w.file()
	after := record{
		Name: w.name("file"), Description: "version 1", Format: "BIN", SetID: set.want.ID, State: "active",
		SHA256: digestOf(body), Bytes: int64(len(body)),
	}
	c := &change{what: "create " + after.Name, after: after, set: set}
	fields := map[string]string{
		"setId": after.SetID, "name": after.Name, "description": after.Description, "format": after.Format,
	}
	if inParts {
		return w.announce(ctx, c, fields, body)
	}
	return w.try(c, http.StatusCreated, func() (answer, error) { return w.upload(ctx, http.MethodPost, "/resources", fields, body) })
}

func (w *writer) replace(ctx context.Context, th *thing) error {
	body, inParts := w.file()
	after := th.want
	after.Description, after.SHA256, after.Bytes = w.name("replaced"), digestOf(body), int64(len(body))
	c := &change{what: after.Description, on: th, after: after}
	fields := map[string]string{"name": after.Name, "description": after.Description, "format": after.Format}
	if inParts {
		fields["resourceId"] = th.want.ID
		return w.announce(ctx, c, fields, body)
	}
	return w.try(c, http.StatusOK, func() (answer, error) { return w.upload(ctx, http.MethodPut, th.path(), fields, body) })
}

func (w *writer) edit(ctx context.Context, th *thing) error {
	after := th.want
	after.Description = w.name("edited")
	return w.try(&change{what: after.Description, on: th, after: after}, http.StatusOK, func() (answer, error) {
		return w.call(ctx, http.MethodPatch, th.path(), map[string]string{"description": after.Description})
	})
}

func (w *writer) remove(ctx context.Context, th *thing) error {
	after := th.want
	after.State = "deleted"
	return w.try(&change{what: "delete", on: th, after: after}, http.StatusNoContent, func() (answer, error) {
		return w.call(ctx, http.MethodDelete, th.path(), nil)
	})
}

func (w *writer) restore(ctx context.Context, th *thing) error {
	after := th.want
	after.State = "active"
	return w.try(&change{what: "restore", on: th, after: after}, http.StatusOK, func() (answer, error) {
		return w.call(ctx, http.MethodPost, th.path()+"/restore", nil)
	})
}

// makeAndRevokeKey makes a key of the caller's, and revokes it. It must never count again.
func (w *writer) makeAndRevokeKey(ctx context.Context) error {
	var made struct{ ID, Key string }
	a, err := w.call(ctx, http.MethodPost, "/users/me/keys", map[string]string{"label": w.name("key")})
	if err == nil && a.status == http.StatusCreated {
		err = json.Unmarshal(a.body, &made)
	}
	if err == nil && made.Key != "" {
		a, err = w.call(ctx, http.MethodDelete, "/users/me/keys/"+made.ID, nil)
	}
	switch {
	case (err != nil || a.status >= 500) && w.ended.Load():
		return errEnded
	case err != nil:
		return violated(nil, "a key: no answer, but the service was not killed: %v", err)
	case a.status != http.StatusNoContent:
		return violated(nil, "a key: %w", a.refusal())
	}
	w.answered += 2
	w.revoked = append(w.revoked, made.Key)
	return nil
}

// verifyKeys sees that what was revoked stays revoked.
func (w *writer) verifyKeys(ctx context.Context) error {
	for _, key := range w.revoked {
		stranger := *w.caller
		stranger.key = key
		a, err := stranger.call(ctx, http.MethodGet, "/users/me", nil)
		if err != nil {
			return err
		}
		if a.status != http.StatusUnauthorized && a.status != http.StatusTooManyRequests {
			return violated(nil, "LOST: a key was revoked, and counts again: %w", a.refusal())
		}
	}
	w.revoked = nil
	return nil
}
