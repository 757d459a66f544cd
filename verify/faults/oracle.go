package faults

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"labshelf/verify/e2e"
)

// object is what must be true of one resource or set. It has one writer, which sends one request at
// a time: so of at most one change it is unknown whether it happened.
type object struct {
	want      record           // the facts, see factsOf
	versions  []record         // its state before each replacement, the oldest first
	etag      string           // "" where a cascade of its container changed it: the stamp was in no answer
	set       *object          // of a resource
	links     map[string]*link // of a set, by kind
	cascaded  bool             // deleted by the deletion of its set
	purgeable bool             // it was deleted since its bytes were last seen, so that a purge may have removed them
	touched   bool             // since the last verification
	history   []string
}

// change is a request, recorded before it is sent.
type change struct {
	what   string
	on     *object // the changed object; nil for a creation
	after  record  // the facts afterwards
	set    *object // of a new resource
	effect func()  // on other objects

	replaces bool // the file, so that what was becomes a version

	link     *link // the link through which a new resource is uploaded
	answered bool  // it has come, and only its id is not known yet
}

// violation is a broken guarantee.
type violation struct{ error }

func (v violation) Unwrap() error { return v.error }

func violated(th *object, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if th != nil {
		err = fmt.Errorf("%w\n  wanted  %+v, tag %q\n  history %s", err, th.want, th.etag, strings.Join(th.history, "; "))
	}
	return violation{err}
}

// factsOf returns the fields of a record that a writer decides. The addresses are the service's
// own, and the time is in the tag.
func factsOf(r record) record {
	r.URL, r.DataURL, r.Modified, r.DataspaceID = "", "", "", ""
	return r
}

// isSet distinguishes sets from resources.
func (th *object) isSet() bool { return th.set == nil }

func (th *object) path() string {
	if th.isSet() {
		return "/sets/" + th.want.ID
	}
	return "/resources/" + th.want.ID
}

func (th *object) note(format string, args ...any) {
	th.touched = true
	th.history = append(th.history, fmt.Sprintf(format, args...))
}

// done applies a change. The tag is that of the answer, or "".
func (w *writer) done(c *change, etag string) *object {
	th := c.on
	if th == nil {
		th = &object{set: c.set}
		if c.set == nil {
			w.sets = append(w.sets, th)
		} else {
			w.resources = append(w.resources, th)
		}
	}
	c.countDrop()
	if c.replaces {
		th.versions = append(th.versions, th.want)
	}
	th.want, th.etag = c.after, etag
	th.purgeable = th.purgeable && th.want.State == "active" || th.want.State == "deleted"
	th.note("%s: tag %s", c.what, etag)
	if c.effect != nil {
		c.effect()
	}
	return th
}

// seen is everything that a service lists after a restart.
type seen struct {
	byID   map[string]record
	byName map[string][]string // ids
}

// readListings reads the listings of sets and resources, deleted ones too.
func readListings(ctx context.Context, c *e2e.Client) (s seen, err error) {
	s = seen{byID: map[string]record{}, byName: map[string][]string{}}
	for _, url := range []string{"/sets?state=all&limit=1000", "/resources?state=all&limit=1000"} {
		_, err := c.Walk(ctx, url, func(p e2e.Page) error {
			for _, r := range p.Data {
				if _, twice := s.byID[r.ID]; twice {
					return violated(nil, "%s is twice in %s, while nothing is written", r.ID, url)
				}
				s.byID[r.ID] = r
				s.byName[r.Name] = append(s.byName[r.Name], r.ID)
			}
			return nil
		})
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// settle determines whether the change that was under way has happened, and checks its result.
func (w *writer) settle(ctx context.Context, s seen) error {
	c := w.pending
	w.pending = nil
	if c == nil {
		return nil
	}
	if c.on == nil {
		ids := s.byName[c.after.Name]
		switch len(ids) {
		case 0:
			return c.lostAnswered()
		case 1:
			c.after.ID = ids[0]
			th := w.done(c, "")
			th.note("the answer was lost")
			w.observe(th)
			return nil
		}
		return violated(nil, "%s was sent once, and is there as %q", c.what, ids)
	}
	c.on.note("%s was sent, without an answer", c.what)
	got, ok := s.byID[c.on.want.ID]
	if !ok {
		return violated(c.on, "it is gone after %s", c.what)
	}
	before, after := c.on.want, c.after
	if got = factsOf(got); got.Purged && !before.Purged {
		// A purge came after it, or instead of it; verify checks whether it was allowed.
		before, after = tombstone(before), tombstone(after)
	}
	switch got {
	case after:
	case before:
		return nil
	default:
		return violated(c.on, "after %s, which was not answered, it is neither as before nor as it would be then, but %+v", c.what, got)
	}
	tag := c.on.etag
	w.observe(w.done(c, ""))
	// The state may be the same before and after, as of a file that replaces an equal one: then the
	// tag says which one it is.
	return w.adopt(ctx, c.on, tag)
}

// tombstone is what a purge leaves.
func tombstone(r record) record {
	r.State, r.Purged = "deleted", true
	return r
}

// adopt takes over the tag of an object whose last change was not answered. It must not be of an
// older version.
func (w *writer) adopt(ctx context.Context, th *object, before string) error {
	a, err := w.SendJSON(ctx, http.MethodGet, th.path(), nil)
	if err != nil {
		return err
	}
	th.etag = a.Header.Get("ETag")
	if a.Status != http.StatusOK || before != "" && stampOf(th.etag) < stampOf(before) {
		return violated(th, "its tag was %s, and is %s", before, th.etag)
	}
	return nil
}

// verify compares everything of a writer with what the service shows, and takes it out of s.
func (w *writer) verify(ctx context.Context, s seen) error {
	for _, th := range append(append([]*object(nil), w.sets...), w.resources...) {
		got, ok := s.byID[th.want.ID]
		if !ok {
			return violated(th, "LOST: %s is in no listing", th.path())
		}
		delete(s.byID, th.want.ID)
		if got.Purged && !th.want.Purged {
			if !th.purgeable {
				return violated(th, "%s was purged, and was not deleted", th.path())
			}
			th.note("a purge found it")
			th.want.Purged, th.want.State, th.etag = true, "deleted", ""
		}
		if facts := factsOf(got); facts != th.want {
			return violated(th, "LOST: %s is %+v", th.path(), facts)
		}
		if !th.touched {
			continue
		}
		th.touched = false
		if err := w.verifyObject(ctx, th, got); err != nil {
			return err
		}
	}
	return nil
}

// verifyObject fetches an object, and the bytes of a resource.
func (w *writer) verifyObject(ctx context.Context, th *object, listed record) error {
	a, err := w.SendJSON(ctx, http.MethodGet, th.path(), nil)
	if err != nil {
		return err
	}
	tag := a.Header.Get("ETag")
	th.etag = cmp.Or(th.etag, tag)
	if a.Status != http.StatusOK || tag != th.etag || listed.Modified != modifiedOf(tag) {
		return violated(th, "LOST: %s has the tag %s and was listed as modified %s; %w", th.path(), tag, listed.Modified, a.Problem())
	}
	if th.isSet() {
		return nil
	}
	if err := w.verifyVersions(ctx, th); err != nil {
		return err
	}
	a, err = w.SendJSON(ctx, http.MethodGet, th.path()+"/data", nil)
	switch {
	case err != nil:
		return err
	case th.want.State == "deleted" && a.Status == http.StatusGone:
		return nil
	case th.want.State == "deleted" || a.Status != http.StatusOK:
		return violated(th, "LOST: %s/data: %w", th.path(), a.Problem())
	case int64(len(a.Body)) != th.want.Bytes || digestOf(a.Body) != th.want.SHA256:
		return violated(th, "LOST: %s/data has %d bytes with the digest %s", th.path(), len(a.Body), digestOf(a.Body))
	}
	return nil
}

// verifyVersions fetches the versions of a resource, and the bytes of each.
func (w *writer) verifyVersions(ctx context.Context, th *object) error {
	a, err := w.SendJSON(ctx, http.MethodGet, th.path()+"/versions?limit=1000", nil)
	if err != nil {
		return err
	}
	if th.want.State == "deleted" {
		if a.Status != http.StatusGone {
			return violated(th, "%s is deleted, and its versions are there: status %d", th.path(), a.Status)
		}
		return nil
	}
	var listed struct{ Data []record }
	if err := a.Decode(&listed); err != nil || len(listed.Data) != len(th.versions)+1 || th.want.Version != len(listed.Data) {
		return violated(th, "LOST: %s has %d versions listed, and had %d (%v)", th.path(), len(listed.Data), len(th.versions)+1, err)
	}
	for n, want := range th.versions {
		got := listed.Data[len(th.versions)-n]
		if got.Version != n+1 || got.SHA256 != want.SHA256 || got.Bytes != want.Bytes || got.Name != want.Name || got.Description != want.Description {
			return violated(th, "LOST: version %d of %s is %+v, and was %+v", n+1, th.path(), got, want)
		}
		a, err := w.SendJSON(ctx, http.MethodGet, fmt.Sprintf("%s/versions/%d/data", th.path(), n+1), nil)
		if err != nil {
			return err
		}
		if a.Status != http.StatusOK || digestOf(a.Body) != want.SHA256 {
			return violated(th, "LOST: version %d of %s has %d bytes with the digest %s: %w", n+1, th.path(), len(a.Body), digestOf(a.Body), a.Problem())
		}
	}
	return nil
}

func digestOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// stampOf reads the stamp, in microseconds, out of a tag: id, stamp in base 36, state.
func stampOf(etag string) int64 {
	var stamp int64
	parts := strings.Split(strings.Trim(etag, `"`), ".")
	if len(parts) != 3 {
		return 0
	}
	for _, c := range parts[1] {
		stamp = stamp*36 + int64(strings.IndexRune("0123456789abcdefghijklmnopqrstuvwxyz", c))
	}
	return stamp
}

// modifiedOf is the time in a tag as records show it.
func modifiedOf(etag string) string {
	return time.UnixMicro(stampOf(etag)).UTC().Format("2006-01-02T15:04:05.000Z")
}

// broken distinguishes a violation from an error of the harness.
func broken(err error) bool { return errors.As(err, new(violation)) }
