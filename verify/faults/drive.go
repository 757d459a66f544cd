package faults

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"

	"labshelf/verify/e2e"
)

// onDrive tells whether the next change of a resource goes through the drive. One that a purge may
// have taken does not: where the drive finds no file it makes one.
func (w *writer) onDrive(th *object) bool { return w.uploads && !th.purgeable && w.random.IntN(3) == 0 }

// drive sends a request to the path of a resource on the drive. Its answer has no tag: that of the
// drive is the digest, and not of the record.
func (w *writer) drive(ctx context.Context, method string, th *object, body []byte) (e2e.Answer, error) {
	path := url.URL{Scheme: "http", Host: w.Address(), Path: fmt.Sprintf("/dav/space-%d/%s/%s", w.n, th.set.want.Name, th.want.Name)}
	a, err := w.Exchange(ctx, method, path.String(), http.Header{}, bytes.NewReader(body))
	if err == nil {
		w.driven.Add(1)
		a.Header.Del("ETag")
	}
	return a, err
}

// put replaces a file through the drive, which keeps what is said about it.
func (w *writer) put(ctx context.Context, th *object, body []byte) error {
	after := th.want
	after.SHA256, after.Bytes = digestOf(body), int64(len(body))
	after.Version++
	c := &change{what: w.name("put on the drive"), on: th, after: after, replaces: true}
	return w.try(c, http.StatusNoContent, func() (e2e.Answer, error) { return w.drive(ctx, http.MethodPut, th, body) })
}
