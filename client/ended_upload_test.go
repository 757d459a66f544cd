package client_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"labshelf/client"
)

// stuck is a file whose reads block until the test ends.
type stuck struct {
	reads atomic.Int64
	begun chan struct{} // closed by the first read
	over  <-chan struct{}
}

func (b *stuck) ReadAt(p []byte, _ int64) (int, error) {
	if b.reads.Add(1) == 1 {
		close(b.begun)
	}
	<-b.over
	return len(p), nil
}

// TestUploadEndsWithContext: a blocking read of the file does not delay the call beyond the end of
// the context, and is the last read. The same applies if the service has answered before it has
// received the chunk.
func TestUploadEndsWithContext(t *testing.T) {
	t.Parallel()
	const last = 64 << 10
	for what, size := range map[string]int64{"the last chunk": last, "a chunk that is answered early": last + 1<<20} {
		over := make(chan struct{})
		defer close(over)
		b := &stuck{begun: make(chan struct{}), over: over}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			offset := int64(0)
			if r.Method == http.MethodPatch {
				offset = size - last
			}
			w.Header().Set("Upload-Offset", strconv.FormatInt(offset, 10))
			w.Header().Set("Upload-Length", strconv.FormatInt(size, 10))
			w.WriteHeader(http.StatusNoContent)
		}))
		defer server.Close()
		defer server.CloseClientConnections()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := client.New(server.URL, "").Uploads.Continue(ctx, "01M81DEBP8F5TDPQKMMPKZ1SSS", b, size)
			ended <- err
		}()
		<-b.begun
		time.Sleep(200 * time.Millisecond) // so that the response arrives; without this delay, less is tested
		cancel()
		select {
		case err := <-ended:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", what, err)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%s: the call waits for the file", what)
		}
		if n := b.reads.Load(); n != 1 {
			t.Errorf("%s: %d reads", what, n)
		}
	}
}
