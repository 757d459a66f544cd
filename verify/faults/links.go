package faults

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"time"

	"labshelf/verify/e2e"
)

// link is one of a set, with what its visitors have done.
type link struct {
	id, address string
	sent        int64 // requests that were to be counted
	counted     int64 // of these, those whose answers came
	bytes       int64 // of the files that were received
}

// label is that of all request links.
const label = "load"

// linkOf returns a link of a set, and creates it if necessary.
func (w *writer) linkOf(ctx context.Context, set *object, kind string) (*link, error) {
	if l := set.links[kind]; l != nil {
		return l, nil
	}
	var made struct{ ID, Address string }
	a, err := w.SendJSON(ctx, http.MethodPost, "/links", map[string]string{"kind": kind, "setId": set.want.ID, "label": label})
	if (err != nil || a.Status >= 500) && w.ended.Load() {
		return nil, errEnded
	}
	if err == nil && a.Status != http.StatusCreated {
		err = a.Problem()
	}
	if err == nil {
		err = a.Decode(&made)
	}
	if err != nil {
		return nil, violated(set, "a link: no answer, but the service was not killed: %v", err)
	}
	at, err := url.Parse(made.Address)
	if err != nil {
		return nil, err
	}
	if set.links == nil {
		set.links = map[string]*link{}
	}
	set.links[kind] = &link{id: made.ID, address: at.Path}
	w.answered++
	return set.links[kind], nil
}

// asVisitor sends a request below the address of a link, without a key.
func (w *writer) asVisitor(ctx context.Context, l *link, method, path string, body []byte) (e2e.Answer, error) {
	stranger := e2e.NewClient(w.Base(), "")
	defer stranger.CloseIdle()
	a, err := stranger.Exchange(ctx, method, "http://"+w.Address()+l.address+path, http.Header{}, bytes.NewReader(body))
	if err == nil && a.Status < 500 {
		w.visited.Add(1)
	}
	return a, err
}

// drop uploads a file through a request link of a set. Fields that the response does not contain
// are read afterwards. Meanwhile the file counts as acknowledged, and must exist.
func (w *writer) drop(ctx context.Context, set *object) error {
	l, err := w.linkOf(ctx, set, "request")
	if err != nil {
		return err
	}
	body, name := w.content(), w.name("dropped")+".bin"
	c := &change{what: "drop " + name, set: set, link: l, after: record{
		Name: label + "/" + time.Now().UTC().Format(time.DateOnly) + "/" + name, SetID: set.want.ID, Format: "BIN", State: "active", SHA256: digestOf(body), Bytes: int64(len(body)), Version: 1,
	}}
	w.pending = c
	l.sent++
	a, err := w.heard(c, func() (e2e.Answer, error) { return w.asVisitor(ctx, l, http.MethodPut, "/"+name, body) })
	if err != nil {
		return err
	}
	var got struct{ Name, SHA256 string }
	if err := a.Decode(&got); err != nil || a.Status != http.StatusCreated || got.SHA256 != c.after.SHA256 {
		return violated(nil, "%s was answered with %s, %w", c.what, a.Body, a.Problem())
	}
	c.answered = true
	w.answered++
	var page e2e.Page
	newest, err := w.heard(c, func() (e2e.Answer, error) {
		return w.SendJSON(ctx, http.MethodGet, "/sets/"+set.want.ID+"/resources?order=newest&limit=1", nil)
	})
	if err != nil {
		return err
	}
	if err := newest.Decode(&page); err != nil || len(page.Data) != 1 || page.Data[0].Name != c.after.Name {
		return violated(nil, "LOST: %s was answered, and is not the newest: %s", c.what, newest.Body)
	}
	w.pending = nil
	c.after.ID = page.Data[0].ID
	w.observe(w.done(c, ""))
	return nil
}

// visit fetches a file through a share link of its set, which is counted before the file is sent.
func (w *writer) visit(ctx context.Context, th *object) error {
	l, err := w.linkOf(ctx, th.set, "share")
	if err != nil {
		return err
	}
	l.sent++
	a, err := w.heard(&change{what: "visit", on: th}, func() (e2e.Answer, error) { return w.asVisitor(ctx, l, http.MethodGet, "/files/"+th.want.ID, nil) })
	if err != nil {
		return err
	}
	if a.Status != http.StatusOK || digestOf(a.Body) != th.want.SHA256 {
		return violated(th, "a visitor got %d bytes with the digest %s: %w", len(a.Body), digestOf(a.Body), a.Problem())
	}
	l.counted++
	return nil
}

// verifyLinks compares the counters of links with the acknowledged requests. Requests without a
// response may have counted. An upload is counted in the commit that creates the file, so its count
// is exact.
func (w *writer) verifyLinks(ctx context.Context) error {
	for _, set := range w.sets {
		for kind, l := range set.links {
			var now struct{ Uses, BytesReceived int64 }
			if err := w.Get(ctx, "/links/"+l.id, &now); err != nil {
				return violated(set, "LOST: a link: %v", err)
			}
			if kind == "request" && (now.Uses != l.counted || now.BytesReceived != l.bytes) {
				return violated(set, "a link has received %d files with %d bytes, and there are %d with %d", now.Uses, now.BytesReceived, l.counted, l.bytes)
			}
			if now.Uses < l.counted || now.Uses > l.sent {
				return violated(set, "LOST: a link has %d uses; %d were answered, and %d sent", now.Uses, l.counted, l.sent)
			}
			l.sent, l.counted = now.Uses, now.Uses
		}
	}
	return nil
}

// countDrop notes a file that has come by a link.
func (c *change) countDrop() {
	if c.link != nil {
		c.link.counted++
		c.link.bytes += c.after.Bytes
	}
}

// lostAnswered is the error of a file that was answered and is not there.
func (c *change) lostAnswered() error {
	if c.answered {
		return violated(nil, "LOST: %s was answered, and is not there", c.what)
	}
	return nil
}
