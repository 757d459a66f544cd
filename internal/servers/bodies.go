package servers

import (
	"context"
	"io"
	"net/http"
	"time"
)

// withFault returns the context of a request with the fault for its response.
func withFault(r *http.Request, fault Fault) context.Context {
	return context.WithValue(r.Context(), faultKey{}, fault)
}

// cutBody is the body of a request that is cut off.
type cutBody struct {
	io.ReadCloser
	left int64
}

func (b *cutBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, http.ErrAbortHandler
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// spoiledBody is the body of a response that is cut off, slow or wrong.
type spoiledBody struct {
	io.ReadCloser
	fault Fault
	at    int64
}

// Read panics at the cut, because a handler breaks its connection with a panic. The bytes before
// the cut have been forwarded.
func (b *spoiledBody) Read(p []byte) (int, error) {
	if cut := b.fault.CutAnswer; cut != nil {
		if b.at >= *cut {
			panic(http.ErrAbortHandler)
		}
		p = p[:min(int64(len(p)), *cut-b.at)]
	}
	if b.fault.Rate > 0 {
		p = p[:min(len(p), max(1, b.fault.Rate/10))]
		time.Sleep(time.Duration(len(p)) * time.Second / time.Duration(b.fault.Rate))
	}
	n, err := b.ReadCloser.Read(p)
	if flip := b.fault.Flip; flip != nil && *flip >= b.at && *flip < b.at+int64(n) {
		p[*flip-b.at] ^= 0xff
	}
	b.at += int64(n)
	return n, err
}
