package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync/atomic"

	"labshelf/verify/e2e"
)

// writer changes its own objects, one request at a time, and records the acknowledged state.
type writer struct {
	*e2e.Client
	n             int
	space         string // dataspace
	random        *rand.Rand
	ended         *atomic.Bool // set before the service is killed: from then on an answer may be missing
	sets          []*object
	resources     []*object
	full          bool // the deletion of the first set takes more than one batch
	made          int  // number of created names
	pending       *change
	uploads       bool             // some files are sent as resumable uploads
	pendingUpload *pendingUpload   // the running one
	completed     []*pendingUpload // completed since the last verification
	chunks        chunkCount
	driven        *atomic.Int64 // answered requests to the drive, of all writers
	visited       *atomic.Int64 // answered requests of visitors of links, of all writers
	revoked       []string      // keys revoked since the last verification
	answered      int64
	logged        []acknowledged // with the stamps from the answers
	observe       func(*object)  // called after each change of an object
}

// errEnded is returned if the service was killed before or during a request.
var errEnded = errors.New("the service was killed")

// work sends requests until the service is killed or an error occurs.
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
	if w.pendingUpload != nil {
		return w.sendChunk(ctx)
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
	case at >= 97 && w.uploads && !th.purgeable:
		return w.visit(ctx, th)
	case at < 48 && len(th.versions) > 0:
		return w.restoreVersion(ctx, th)
	case at < 65:
		return w.replace(ctx, th)
	case at < 85:
		return w.edit(ctx, th)
	}
	return w.remove(ctx, th)
}

// cascadeBatch is the number of resources that a deletion or restoration of a set changes in one
// commit.
const cascadeBatch = 200

// fill creates a first set whose deletion takes several batches.
func (w *writer) fill(ctx context.Context) error {
	if err := w.makeSet(ctx); err != nil {
		return err
	}
	for range cascadeBatch + cascadeBatch/4 {
		if err := w.create(ctx, w.sets[0]); err != nil {
			return err
		}
	}
	w.full = true
	return nil
}

// try records a change, sends it, and applies it if the answer is a success.
func (w *writer) try(c *change, want int, send func() (e2e.Answer, error)) error {
	w.pending = c
	a, err := w.heard(c, send)
	if err != nil {
		return err
	}
	w.pending = nil
	if a.Status != want {
		return w.refused(c, a)
	}
	if a.Status != http.StatusNoContent {
		var got record
		if err := json.Unmarshal(a.Body, &got); err != nil {
			return violated(c.on, "%s: %v", c.what, err)
		}
		if c.on == nil {
			c.after.ID = got.ID
		}
		if factsOf(got) != c.after {
			return violated(c.on, "%s: got the answer %+v, want %+v", c.what, got, c.after)
		}
	}
	w.answered++
	th := w.done(c, a.Header.Get("ETag"))
	if stamp := stampOf(th.etag); stamp != 0 {
		w.logged = append(w.logged, acknowledged{th.want.ID, stamp})
	}
	w.observe(th)
	return nil
}

// heard sends a request. It returns errEnded if the service was killed before it answered, so that
// nothing was acknowledged.
func (w *writer) heard(c *change, send func() (e2e.Answer, error)) (e2e.Answer, error) {
	a, err := send()
	switch {
	case err == nil && a.Status < 500:
		return a, nil
	case w.ended.Load():
		return a, errEnded
	case err == nil:
		err = a.Problem()
	}
	return a, violated(c.on, "%s: no answer, but the service was not killed: %v", c.what, err)
}

// refused handles an answer that is not a success. Only a purge may cause one.
func (w *writer) refused(c *change, a e2e.Answer) error {
	code := a.Problem().Code
	if c.on != nil && c.on.purgeable && (code == "purged" || code == "deleted" || code == "resource_deleted") {
		// "deleted" means that the set was restored without the purged resource. verify compares
		// its visible fields later.
		c.on.note("%s: refused, code %s", c.what, code)
		c.on.want.Purged, c.on.want.State, c.on.etag = true, "deleted", ""
		return nil
	}
	return violated(c.on, "%s was refused: %w", c.what, a.Problem())
}

// name returns an unused name.
func (w *writer) name(kind string) string {
	w.made++
	return fmt.Sprintf("%s-%d-%d", kind, w.n, w.made)
}

// content returns a random body. Some bodies are empty, some are large, and many are also uploaded
// by other writers.
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

// content returns random bytes, which depend only on the seed and the size.
func content(seed uint64, size int) []byte {
	source, body := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16), byte(seed >> 24), byte(seed >> 32)}), make([]byte, size)
	_, _ = source.Read(body) // never fails
	return body
}

func (w *writer) makeSet(ctx context.Context) error {
	after := record{Name: w.name("set"), Title: "a set", State: "active"}
	return w.try(&change{what: "make " + after.Name, after: after}, http.StatusCreated, func() (e2e.Answer, error) {
		return w.SendJSON(ctx, http.MethodPost, "/sets",
			map[string]string{"name": after.Name, "title": after.Title, "dataspaceId": w.space})
	})
}

func (w *writer) editSet(ctx context.Context, th *object) error {
	if th.want.State == "deleted" {
		return w.switchSet(ctx, th)
	}
	after := th.want
	after.Title = w.name("title")
	return w.try(&change{what: "title " + after.Title, on: th, after: after}, http.StatusOK, func() (e2e.Answer, error) {
		return w.SendJSON(ctx, http.MethodPut, th.path(), map[string]string{"title": after.Title})
	})
}

// switchSet deletes an active set with its content, or restores a deleted one.
func (w *writer) switchSet(ctx context.Context, th *object) error {
	after := th.want
	if th.want.State == "active" {
		after.State = "deleted"
		return w.try(&change{what: "delete", on: th, after: after, effect: func() { w.cascadeDeleted(th) }}, http.StatusNoContent,
			func() (e2e.Answer, error) { return w.SendJSON(ctx, http.MethodDelete, th.path(), nil) })
	}
	after.State = "active"
	return w.try(&change{what: "restore", on: th, after: after, effect: func() { w.cascadeRestored(th) }}, http.StatusOK,
		func() (e2e.Answer, error) { return w.SendJSON(ctx, http.MethodPost, th.path()+"/restore", nil) })
}

// cascadeDeleted applies the deletion of a set to its active resources.
func (w *writer) cascadeDeleted(set *object) {
	for _, th := range w.resources {
		if th.set == set && th.want.State == "active" {
			th.want.State, th.etag, th.cascaded, th.purgeable = "deleted", "", true, true
			th.note("the set was deleted")
			w.observe(th)
		}
	}
}

// cascadeRestored applies the restoration of a set to the resources that its deletion had deleted.
func (w *writer) cascadeRestored(set *object) {
	for _, th := range w.resources {
		if th.set == set && th.cascaded {
			th.cascaded = false
			if th.want.Purged {
				continue
			}
			th.want.State, th.etag = "active", "" // the resource stays purgeable, because it may have been purged before
			th.note("the set was restored")
			w.observe(th)
		}
	}
}

func (w *writer) create(ctx context.Context, set *object) error {
	if set.want.State == "deleted" {
		return w.switchSet(ctx, set)
	}
	if w.uploads && w.random.IntN(5) == 0 {
		return w.drop(ctx, set)
	}
	body, resumable := w.file()
	after := record{
		Name: w.name("file"), Description: "version 1", Format: "BIN", SetID: set.want.ID, State: "active",
		SHA256: digestOf(body), Bytes: int64(len(body)), Version: 1,
	}
	c := &change{what: "create " + after.Name, after: after, set: set}
	fields := map[string]string{
		"setId": after.SetID, "name": after.Name, "description": after.Description, "format": after.Format,
	}
	if resumable {
		return w.announce(ctx, c, fields, body)
	}
	return w.try(c, http.StatusCreated, func() (e2e.Answer, error) { return upload(ctx, w.Client, http.MethodPost, "/resources", fields, body) })
}

func (w *writer) replace(ctx context.Context, th *object) error {
	body, resumable := w.file()
	if !resumable && w.onDrive(th) {
		return w.put(ctx, th, body)
	}
	after := th.want
	after.Description, after.SHA256, after.Bytes = w.name("replaced"), digestOf(body), int64(len(body))
	after.Version++
	c := &change{what: after.Description, on: th, after: after, replaces: true}
	fields := map[string]string{"name": after.Name, "description": after.Description, "format": after.Format}
	if resumable {
		fields["resourceId"] = th.want.ID
		return w.announce(ctx, c, fields, body)
	}
	return w.try(c, http.StatusOK, func() (e2e.Answer, error) { return upload(ctx, w.Client, http.MethodPut, th.path(), fields, body) })
}

// restoreVersion restores an earlier version. Restoring an equal version would change nothing, so
// it edits the resource instead.
func (w *writer) restoreVersion(ctx context.Context, th *object) error {
	n := w.random.IntN(len(th.versions))
	was, after := th.versions[n], th.want
	if was.Description == after.Description {
		return w.edit(ctx, th)
	}
	after.Description, after.SHA256, after.Bytes = was.Description, was.SHA256, was.Bytes
	after.Version++
	c := &change{what: fmt.Sprintf("restore version %d", n+1), on: th, after: after, replaces: true}
	return w.try(c, http.StatusOK, func() (e2e.Answer, error) {
		return w.SendJSON(ctx, http.MethodPost, fmt.Sprintf("%s/versions/%d/restore", th.path(), n+1), nil)
	})
}

func (w *writer) edit(ctx context.Context, th *object) error {
	after := th.want
	after.Description = w.name("edited")
	return w.try(&change{what: after.Description, on: th, after: after}, http.StatusOK, func() (e2e.Answer, error) {
		return w.SendJSON(ctx, http.MethodPatch, th.path(), map[string]string{"description": after.Description})
	})
}

func (w *writer) remove(ctx context.Context, th *object) error {
	after := th.want
	after.State = "deleted"
	drive := w.onDrive(th)
	return w.try(&change{what: "delete", on: th, after: after}, http.StatusNoContent, func() (e2e.Answer, error) {
		if drive {
			return w.drive(ctx, http.MethodDelete, th, nil)
		}
		return w.SendJSON(ctx, http.MethodDelete, th.path(), nil)
	})
}

func (w *writer) restore(ctx context.Context, th *object) error {
	after := th.want
	after.State = "active"
	return w.try(&change{what: "restore", on: th, after: after}, http.StatusOK, func() (e2e.Answer, error) {
		return w.SendJSON(ctx, http.MethodPost, th.path()+"/restore", nil)
	})
}

// makeAndRevokeKey creates a key of the caller, and revokes it. The key must never be accepted
// again.
func (w *writer) makeAndRevokeKey(ctx context.Context) error {
	var made struct{ ID, Key string }
	a, err := w.SendJSON(ctx, http.MethodPost, "/users/me/keys", map[string]string{"label": w.name("key")})
	if err == nil && a.Status == http.StatusCreated {
		err = json.Unmarshal(a.Body, &made)
	}
	if err == nil && made.Key != "" {
		a, err = w.SendJSON(ctx, http.MethodDelete, "/users/me/keys/"+made.ID, nil)
	}
	switch {
	case (err != nil || a.Status >= 500) && w.ended.Load():
		return errEnded
	case err != nil:
		return violated(nil, "creating or revoking a key: no answer, but the service was not killed: %v", err)
	case a.Status != http.StatusNoContent:
		return violated(nil, "revoking a key: %w", a.Problem())
	}
	w.answered += 2
	w.revoked = append(w.revoked, made.Key)
	return nil
}

// verifyKeys checks that revoked keys stay revoked.
func (w *writer) verifyKeys(ctx context.Context) error {
	for _, key := range w.revoked {
		stranger := e2e.NewClient(w.Base(), key)
		a, err := stranger.SendJSON(ctx, http.MethodGet, "/users/me", nil)
		stranger.CloseIdle()
		if err != nil {
			return err
		}
		if a.Status != http.StatusUnauthorized && a.Status != http.StatusTooManyRequests {
			return violated(nil, "LOST: a revoked key is accepted again: %w", a.Problem())
		}
	}
	w.revoked = nil
	return nil
}
