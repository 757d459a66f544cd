package s3

import (
	"context"
	"net"
	"net/http"
	"time"
)

// Timeouts for establishing a connection, and for a connection without traffic in either direction.
// A server that assembles a large object is silent for a while.
const (
	dialLimit = 10 * time.Second
	idleLimit = 2 * time.Minute
)

// newTransport returns the transport of the requests. The caller closes its idle connections.
func newTransport(idle time.Duration) *http.Transport {
	dialer := &net.Dialer{Timeout: dialLimit, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return idleConn{conn, idle}, nil
		},
		MaxIdleConns:        64,
		MaxIdleConnsPerHost: 64,
		IdleConnTimeout:     time.Minute,
		TLSHandshakeTimeout: dialLimit,
		WriteBufferSize:     64 << 10,
		ReadBufferSize:      64 << 10,
		DisableCompression:  true, // the body is returned as stored
	}
}

// idleConn is a connection that fails after a time without traffic. Each byte extends the deadline
// of both directions, since a server is silent while it receives.
type idleConn struct {
	net.Conn
	limit time.Duration
}

// Read implements [net.Conn].
func (c idleConn) Read(p []byte) (int, error) {
	if err := c.SetDeadline(time.Now().Add(c.limit)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

// Write implements [net.Conn].
func (c idleConn) Write(p []byte) (int, error) {
	if err := c.SetDeadline(time.Now().Add(c.limit)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}
