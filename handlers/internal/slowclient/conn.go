package slowclient

import (
	"context"
	"net"
	"net/http"
)

// Conn is a connection that knows how much the client has received, and how much of a write that
// its deadline has interrupted was accepted. Over any other connection the client is assumed to
// have what the system has accepted, chunk by chunk.
type Conn interface {
	// Unacknowledged returns how many of the bytes written the client has not acknowledged.
	Unacknowledged() (bytes int64, err error)
	// BufferUnsent sets whether the system may buffer any number of unsent bytes, or as few as at
	// the beginning.
	BufferUnsent(unlimited bool)
	// Cork collects what is written from now on, in buffer as far as that goes, until Uncork sends
	// all of it by one call. After an error of Uncork the connection is closed, since it is unknown
	// what was sent. Both are for the goroutine that writes.
	Cork(buffer []byte)
	Uncork() error
}

type connKey struct{}

// ConnContext passes a connection to its requests, if it is a [Conn]. It is for the field of that
// name of http.Server.
func ConnContext(ctx context.Context, conn net.Conn) context.Context {
	if known, ok := conn.(Conn); ok {
		return context.WithValue(ctx, connKey{}, known)
	}
	return ctx
}

// connOf returns the connection of a request, nil where what is written does not go there
// unchanged: over TLS and HTTP/2.
func connOf(r *http.Request) Conn {
	conn, _ := r.Context().Value(connKey{}).(Conn)
	if r.TLS != nil || r.ProtoMajor != 1 {
		return nil
	}
	return conn
}
