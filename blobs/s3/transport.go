package s3

import (
	"context"
	"net"
	"net/http"
	"time"
)

// How long a server may keep a connection waiting: to be made, and without a byte in either
// direction. A server that puts a large object together says nothing for a while.
const (
	dialLimit = 10 * time.Second
	idleLimit = 2 * time.Minute
)

// newTransport returns what requests are sent by. The caller closes its idle connections.
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
		DisableCompression:  true, // a body is what was stored
	}
}

// idleConn is a connection that fails when nothing has moved for a while. Each byte in one
// direction extends the time of both: a server is silent while it receives.
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
