package slowclient

import (
	"context"
	"net"
	"net/http"
)

// Conn is a connection that knows how much the client has received, and how much of an interrupted
// write the system accepted. On any other connection the service assumes that the client has
// received whatever the system accepted, chunk by chunk.
type Conn interface {
	// Unacknowledged returns the number of written bytes that the client has not acknowledged.
	Unacknowledged() (bytes int64, err error)
	// BufferUnsent sets whether the system may buffer any number of unsent bytes, or only the
	// initial limit.
	BufferUnsent(unlimited bool)
	// Cork collects later writes in buffer, as far as they fit, until Uncork sends them with one
	// call. An error of Uncork closes the connection, since it is unknown how much was sent. Only
	// the writing goroutine may call Cork and Uncork.
	Cork(buffer []byte)
	Uncork() error
}

type connKey struct{}

// ConnContext adds conn to the context of its requests if it is a [Conn]. Assign it to
// http.Server.ConnContext.
func ConnContext(ctx context.Context, conn net.Conn) context.Context {
	if known, ok := conn.(Conn); ok {
		return context.WithValue(ctx, connKey{}, known)
	}
	return ctx
}

// connOf returns the connection of a request. It returns nil for TLS and HTTP/2, where the bytes on
// the connection differ from the written ones.
func connOf(r *http.Request) Conn {
	conn, _ := r.Context().Value(connKey{}).(Conn)
	if r.TLS != nil || r.ProtoMajor != 1 {
		return nil
	}
	return conn
}
