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
)

// thing is what must be true of one resource or set. It has one writer, who sends one request at a time: so at most one
// change is not known to have happened or not.
type thing struct {
	want      record // the facts, see factsOf
	etag      string // "" where a step of its container changed it: nobody was told the stamp
	set       *thing // of a resource
	taken     bool   // its set's deletion took it along
	purgeable bool   // it was deleted since it was last known to have its bytes, so that a purge may have found it
	touched   bool   // since the last verification
	history   []string
}

// change is a request, written down before it is sent.
type change struct {
	what   string
	on     *thing // what it changes; nil in a creation
	after  record // the facts afterwards
	set    *thing // of a new resource
	effect func() // what is then true of other things
}

// violation is a broken promise.
type violation struct{ error }

func (v violation) Unwrap() error { return v.error }

func violated(th *thing, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if th != nil {
		err = fmt.Errorf("%w\n  wanted  %+v, tag %q\n  history %s", err, th.want, th.etag, strings.Join(th.history, "; "))
	}
	return violation{err}
}

// factsOf leaves of a record what a writer decides. The addresses are the service's own, and the time is in the tag.
func factsOf(r record) record {
	r.URL, r.DataURL, r.Modified, r.DataspaceID = "", "", "", ""
	return r
}

// isSet tells sets from resources.
func (th *thing) isSet() bool { return th.set == nil }

func (th *thing) path() string {
	if th.isSet() {
		return "/sets/" + th.want.ID
	}
	return "/resources/" + th.want.ID
}

func (th *thing) note(format string, args ...any) {
	th.touched = true
	th.history = append(th.history, fmt.Sprintf(format, args...))
}

// done makes a change true. The tag is that of the answer, or "".
func (w *writer) done(c *change, etag string) *thing {
	th := c.on
	if th == nil {
		th = &thing{set: c.set}
		if c.set == nil {
			w.sets = append(w.sets, th)
		} else {
			w.resources = append(w.resources, th)
		}
	}
	th.want, th.etag = c.after, etag
	th.purgeable = th.purgeable && th.want.State == "active" || th.want.State == "deleted"
	th.note("%s: tag %s", c.what, etag)
	if c.effect != nil {
		c.effect()
	}
	return th
}

// seen is everything that a service shows after a restart.
type seen struct {
	byID   map[string]record
	byName map[string][]string // ids
}

// look reads the listings of sets and resources, deleted ones too.
func look(ctx context.Context, c *caller) (s seen, err error) {
	s = seen{byID: map[string]record{}, byName: map[string][]string{}}
	for _, url := range []string{"/sets?state=all&limit=1000", "/resources?state=all&limit=1000"} {
		_, err := c.walk(ctx, url, func(r record) error {
			if _, twice := s.byID[r.ID]; twice {
				return violated(nil, "%s stands twice in %s, and nobody writes", r.ID, url)
			}
			s.byID[r.ID] = r
			s.byName[r.Name] = append(s.byName[r.Name], r.ID)
			return nil
		})
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// settle finds out whether the change that was under way has happened, and whether all of it is as it must be.
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
			return nil
		case 1:
			c.after.ID = ids[0]
			th := w.done(c, "")
			th.note("nobody was told")
			w.told(th)
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
		// A purge came after it, or instead of it; verify looks whether it may have.
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
	w.told(w.done(c, ""))
	// The state may be the same before and after, as of a file that replaces an equal one: then the tag says which it is.
	return w.adopt(ctx, c.on, tag)
}

// tombstone is what a purge leaves.
func tombstone(r record) record {
	r.State, r.Purged = "deleted", true
	return r
}

// adopt takes over the tag of a thing whose last change was not answered. It must not be of an older version.
func (w *writer) adopt(ctx context.Context, th *thing, before string) error {
	a, err := w.call(ctx, http.MethodGet, th.path(), nil)
	if err != nil {
		return err
	}
	th.etag = a.header.Get("ETag")
	if a.status != http.StatusOK || before != "" && stampOf(th.etag) < stampOf(before) {
		return violated(th, "its tag was %s, and is %s", before, th.etag)
	}
	return nil
}

// verify compares everything of a writer with what the service shows, and takes it out of s.
func (w *writer) verify(ctx context.Context, s seen) error {
	for _, th := range append(append([]*thing(nil), w.sets...), w.resources...) {
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
		if err := w.verifyWhole(ctx, th, got); err != nil {
			return err
		}
	}
	return nil
}

// verifyWhole fetches a thing, and the bytes of a resource.
func (w *writer) verifyWhole(ctx context.Context, th *thing, listed record) error {
	a, err := w.call(ctx, http.MethodGet, th.path(), nil)
	if err != nil {
		return err
	}
	tag := a.header.Get("ETag")
	th.etag = cmp.Or(th.etag, tag)
	if a.status != http.StatusOK || tag != th.etag || listed.Modified != modifiedOf(tag) {
		return violated(th, "LOST: %s has the tag %s and was listed as modified %s; %w", th.path(), tag, listed.Modified, a.refusal())
	}
	if th.isSet() {
		return nil
	}
	a, err = w.call(ctx, http.MethodGet, th.path()+"/data", nil)
	switch {
	case err != nil:
		return err
	case th.want.State == "deleted" && a.status == http.StatusGone:
		return nil
	case th.want.State == "deleted" || a.status != http.StatusOK:
		return violated(th, "LOST: %s/data: %w", th.path(), a.refusal())
	case int64(len(a.body)) != th.want.Bytes || digestOf(a.body) != th.want.SHA256:
		return violated(th, "LOST: %s/data has %d bytes with the digest %s", th.path(), len(a.body), digestOf(a.body))
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

// broken tells a broken promise from a harness that could not do its work.
func broken(err error) bool { return errors.As(err, new(violation)) }
