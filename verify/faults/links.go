package faults

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"time"

	"labshelf/verify/e2e"
)

// link is a link of a set, with the requests of its visitors.
type link struct {
	id, address string
	sent        int64 // requests that the service should count
	counted     int64 // of these, the answered ones
	bytes       int64 // of the received files
}

// label is the label of all request links.
const label = "load"

// linkOf returns the link of a set, and creates it if necessary.
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
		return nil, violated(set, "creating a link: no answer, but the service was not killed: %v", err)
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

// asVisitor sends a request to a path below the address of a link, without a key.
func (w *writer) asVisitor(ctx context.Context, l *link, method, path string, body []byte) (e2e.Answer, error) {
	stranger := e2e.NewClient(w.Base(), "")
	defer stranger.CloseIdle()
	a, err := stranger.Exchange(ctx, method, "http://"+w.Address()+l.address+path, http.Header{}, bytes.NewReader(body))
	if err == nil && a.Status < 500 {
		w.visited.Add(1)
	}
	return a, err
}

// drop uploads a file through a request link of a set, and then reads the fields that the response
// does not contain. In between, the file is treated as acknowledged, and must exist.
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
		return violated(nil, "%s: got the answer %s, %w", c.what, a.Body, a.Problem())
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
		return violated(nil, "LOST: %s was acknowledged, but is not the newest file: %s", c.what, newest.Body)
	}
	w.pending = nil
	c.after.ID = page.Data[0].ID
	w.observe(w.done(c, ""))
	return nil
}

// visit fetches a file through a share link of its set. The service counts the request before it
// sends the file.
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
// response may be counted or not. An upload is counted in the commit that creates the file, so its
// count is exact.
func (w *writer) verifyLinks(ctx context.Context) error {
	for _, set := range w.sets {
		for kind, l := range set.links {
			var now struct{ Uses, BytesReceived int64 }
			if err := w.Get(ctx, "/links/"+l.id, &now); err != nil {
				return violated(set, "LOST: a link: %v", err)
			}
			if kind == "request" && (now.Uses != l.counted || now.BytesReceived != l.bytes) {
				return violated(set, "a link has counted %d files with %d bytes, but %d files with %d bytes exist", now.Uses, now.BytesReceived, l.counted, l.bytes)
			}
			if now.Uses < l.counted || now.Uses > l.sent {
				return violated(set, "LOST: a link has %d uses; %d requests were answered, and %d sent", now.Uses, l.counted, l.sent)
			}
			l.sent, l.counted = now.Uses, now.Uses
		}
	}
	return nil
}

// countDrop counts a file that was uploaded through a link.
func (c *change) countDrop() {
	if c.link != nil {
		c.link.counted++
		c.link.bytes += c.after.Bytes
	}
}

// lostAnswered returns the error for an acknowledged file that does not exist.
func (c *change) lostAnswered() error {
	if c.answered {
		return violated(nil, "LOST: %s was acknowledged, but does not exist", c.what)
	}
	return nil
}
