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

// object is the expected state of one resource or set. It has one writer, which sends one request
// at a time. So at most one change has an unknown result.
type object struct {
	want      record           // the expected fields, see factsOf
	versions  []record         // the state before each replacement, oldest first
	etag      string           // "" if a cascade of the container changed the object: no answer contained the stamp
	set       *object          // set of a resource
	links     map[string]*link // links of a set, by kind
	cascaded  bool             // deleted by the deletion of its set
	purgeable bool             // deleted since the content was last read, so that a purge may have removed it
	touched   bool             // changed since the last verification
	history   []string
}

// change is a request, recorded before it is sent.
type change struct {
	what   string
	on     *object // the changed object; nil for a creation
	after  record  // the fields after the change
	set    *object // set of a new resource
	effect func()  // applies the change to other objects

	replaces bool // replaces the file, so that the previous file becomes a version

	link     *link // the link through which a new resource is uploaded
	answered bool  // the answer was received, but the id is not known yet
}

// violation is a broken guarantee.
type violation struct{ error }

func (v violation) Unwrap() error { return v.error }

func violated(th *object, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if th != nil {
		err = fmt.Errorf("%w\n  want    %+v, tag %q\n  history %s", err, th.want, th.etag, strings.Join(th.history, "; "))
	}
	return violation{err}
}

// factsOf returns the fields of a record that a writer sets. It clears the URLs, which the service
// sets, and the time, which is in the tag.
func factsOf(r record) record {
	r.URL, r.DataURL, r.Modified, r.DataspaceID = "", "", "", ""
	return r
}

// isSet reports whether the object is a set.
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

// done applies a change. etag is the tag of the answer, or "".
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

// seen holds all objects that a service lists after a restart.
type seen struct {
	byID   map[string]record
	byName map[string][]string // ids
}

// readListings reads the listings of sets and resources, including deleted ones.
func readListings(ctx context.Context, c *e2e.Client) (s seen, err error) {
	s = seen{byID: map[string]record{}, byName: map[string][]string{}}
	for _, url := range []string{"/sets?state=all&limit=1000", "/resources?state=all&limit=1000"} {
		_, err := c.Walk(ctx, url, func(p e2e.Page) error {
			for _, r := range p.Data {
				if _, twice := s.byID[r.ID]; twice {
					return violated(nil, "%s appears twice in %s, without concurrent writes", r.ID, url)
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

// settle determines whether the change without an answer was made, and checks its result.
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
		return violated(nil, "%s was sent once, but created %q", c.what, ids)
	}
	c.on.note("%s was sent, without an answer", c.what)
	got, ok := s.byID[c.on.want.ID]
	if !ok {
		return violated(c.on, "the object is missing after %s", c.what)
	}
	before, after := c.on.want, c.after
	if got = factsOf(got); got.Purged && !before.Purged {
		// A purge came after the change, or before it. verify checks whether the purge was allowed.
		before, after = tombstone(before), tombstone(after)
	}
	switch got {
	case after:
	case before:
		return nil
	default:
		return violated(c.on, "after %s, which was not answered, the object has neither the old nor the new state: %+v", c.what, got)
	}
	tag := c.on.etag
	w.observe(w.done(c, ""))
	// The state may be the same before and after, for example if a file replaces an equal file.
	// Then the tag identifies the state.
	return w.adopt(ctx, c.on, tag)
}

// tombstone returns the state after a purge.
func tombstone(r record) record {
	r.State, r.Purged = "deleted", true
	return r
}

// adopt reads the tag of an object whose last change was not answered. The tag must not be older
// than before.
func (w *writer) adopt(ctx context.Context, th *object, before string) error {
	a, err := w.SendJSON(ctx, http.MethodGet, th.path(), nil)
	if err != nil {
		return err
	}
	th.etag = a.Header.Get("ETag")
	if a.Status != http.StatusOK || before != "" && stampOf(th.etag) < stampOf(before) {
		return violated(th, "the tag was %s, but is now %s", before, th.etag)
	}
	return nil
}

// verify compares all objects of a writer with the service's listings, and removes them from s.
func (w *writer) verify(ctx context.Context, s seen) error {
	for _, th := range append(append([]*object(nil), w.sets...), w.resources...) {
		got, ok := s.byID[th.want.ID]
		if !ok {
			return violated(th, "LOST: %s is missing in the listings", th.path())
		}
		delete(s.byID, th.want.ID)
		if got.Purged && !th.want.Purged {
			if !th.purgeable {
				return violated(th, "%s was purged, but was not deleted", th.path())
			}
			th.note("purged")
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

// verifyObject fetches an object, and the content of a resource.
func (w *writer) verifyObject(ctx context.Context, th *object, listed record) error {
	a, err := w.SendJSON(ctx, http.MethodGet, th.path(), nil)
	if err != nil {
		return err
	}
	tag := a.Header.Get("ETag")
	th.etag = cmp.Or(th.etag, tag)
	if a.Status != http.StatusOK || tag != th.etag || listed.Modified != modifiedOf(tag) {
		return violated(th, "LOST: %s has the tag %s, but its listing has the time %s; %w", th.path(), tag, listed.Modified, a.Problem())
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

// verifyVersions fetches the versions of a resource with their content.
func (w *writer) verifyVersions(ctx context.Context, th *object) error {
	a, err := w.SendJSON(ctx, http.MethodGet, th.path()+"/versions?limit=1000", nil)
	if err != nil {
		return err
	}
	if th.want.State == "deleted" {
		if a.Status != http.StatusGone {
			return violated(th, "%s is deleted, but its versions can be read: status %d", th.path(), a.Status)
		}
		return nil
	}
	var listed struct{ Data []record }
	if err := a.Decode(&listed); err != nil || len(listed.Data) != len(th.versions)+1 || th.want.Version != len(listed.Data) {
		return violated(th, "LOST: %s has %d versions, want %d (%v)", th.path(), len(listed.Data), len(th.versions)+1, err)
	}
	for n, want := range th.versions {
		got := listed.Data[len(th.versions)-n]
		if got.Version != n+1 || got.SHA256 != want.SHA256 || got.Bytes != want.Bytes || got.Name != want.Name || got.Description != want.Description {
			return violated(th, "LOST: version %d of %s is %+v, want %+v", n+1, th.path(), got, want)
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

// stampOf returns the stamp of a tag, in microseconds. A tag consists of an id, a stamp in base 36
// and a state.
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

// modifiedOf returns the time of a tag in the format of records.
func modifiedOf(etag string) string {
	return time.UnixMicro(stampOf(etag)).UTC().Format("2006-01-02T15:04:05.000Z")
}

// broken reports whether the error is a violation, and not an error of the test itself.
func broken(err error) bool { return errors.As(err, new(violation)) }
