package slowclient_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"

	"labshelf/handlers/internal/pipetest"
	"labshelf/handlers/internal/slowclient"
)

// limited gives each request of next a Writer.
func limited(limits slowclient.Limits, next http.HandlerFunc) http.Handler {
	buffers := &slowclient.Buffers{}
	return http.HandlerFunc(func(plain http.ResponseWriter, r *http.Request) {
		w := &slowclient.Writer{}
		r = w.Begin(plain, r, limits, buffers)
		defer w.End()
		next(w, r)
	})
}

// conn is a connection that reports a configurable number of unacknowledged bytes, and counts
// calls.
type conn struct {
	net.Conn
	pending, perPoll atomic.Int64 // unacknowledged bytes, and how many each poll acknowledges
	unlimited        atomic.Bool
	corked           atomic.Int64 // number of calls
}

func (c *conn) Unacknowledged() (int64, error) { return c.pending.Add(-c.perPoll.Load()), nil }
func (c *conn) BufferUnsent(unlimited bool)    { c.unlimited.Store(unlimited) }
func (c *conn) Cork([]byte)                    { c.corked.Add(1) }
func (c *conn) Uncork() error                  { return nil }

// connect returns the client's end of a connection to a new server in the bubble of t. known is the
// server's Conn for it, or nil.
func connect(t *testing.T, known *conn, handler http.Handler) (client net.Conn) {
	t.Helper()
	return pipetest.Serve(t, &http.Server{Handler: handler, ConnContext: func(ctx context.Context, plain net.Conn) context.Context {
		if known == nil {
			return slowclient.ConnContext(ctx, plain)
		}
		return slowclient.ConnContext(ctx, known)
	}}).Dial(t)
}

// ask sends a request and reads the header of the answer.
func ask(t *testing.T, client net.Conn) *http.Response {
	t.Helper()
	if _, err := io.WriteString(client, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(client), nil)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}
