package faults

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"

	"labshelf/verify/e2e"
)

// onDrive reports whether the next change of a resource uses the drive. It returns false for a
// resource that a purge may have removed, because a PUT on the drive would create it again.
func (w *writer) onDrive(th *object) bool { return w.uploads && !th.purgeable && w.random.IntN(3) == 0 }

// drive sends a request to the path of a resource on the drive. It removes the ETag from the
// answer: on the drive, the ETag is the digest and does not identify the record.
func (w *writer) drive(ctx context.Context, method string, th *object, body []byte) (e2e.Answer, error) {
	path := url.URL{Scheme: "http", Host: w.Address(), Path: fmt.Sprintf("/dav/space-%d/%s/%s", w.n, th.set.want.Name, th.want.Name)}
	a, err := w.Exchange(ctx, method, path.String(), http.Header{}, bytes.NewReader(body))
	if err == nil {
		w.driven.Add(1)
		a.Header.Del("ETag")
	}
	return a, err
}

// put replaces a file through the drive, which keeps the file's metadata.
func (w *writer) put(ctx context.Context, th *object, body []byte) error {
	after := th.want
	after.SHA256, after.Bytes = digestOf(body), int64(len(body))
	after.Version++
	c := &change{what: w.name("put on the drive"), on: th, after: after, replaces: true}
	return w.try(c, http.StatusNoContent, func() (e2e.Answer, error) { return w.drive(ctx, http.MethodPut, th, body) })
}
