package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
)

// sender discards bodies, and returns the error with which one ended.
type sender struct{}

func (sender) RoundTrip(r *http.Request) (*http.Response, error) {
	_, err := io.Copy(io.Discard, r.Body)
	return nil, err
}

// TestCallReturnsContextError: if the body detects the end of the context first, the call returns
// the error of the context.
func TestCallReturnsContextError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := New("http://127.0.0.1:1/v1", "")
		c.http.Transport = sender{}
		ctx, cancel := context.WithCancel(t.Context())
		body, source := io.Pipe()
		ended := make(chan error, 1)
		go func() {
			_, err := c.Resources.Create(ctx, NewResource{SetID: "s", Name: "n"}, body, -1)
			ended <- err
		}()
		synctest.Wait() // wait for the body
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		_ = source.Close() // never fails
	})
}
