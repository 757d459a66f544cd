// Package listener accepts the TCP connections of the service. Their number stays below the limit
// of file descriptors, and the system buffers a bounded number of unsent bytes for each.
package listener

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
)

// spareDescriptors is the number of descriptors that are reserved for the database, the log and
// files.
const spareDescriptors = 64

// maxConnections bounds the connections if the system sets no limit.
const maxConnections = 1 << 20

// maxUnsent is how many bytes of a response the system may buffer unsent for each connection. A
// larger buffer hides slow clients for longer; with a smaller one fast clients wait for the
// service.
const maxUnsent = 64 << 10

// ErrAddressInUse means that another process listens on the address.
var ErrAddressInUse = errors.New("the address is in use")

// Listener accepts connections up to its limit. Further clients wait in the system's queue of
// connections. It is safe for concurrent use.
type Listener struct {
	net.Listener
	slots  chan struct{} // one for each connection, and one for an Accept that waits
	open   atomic.Int64
	closed chan struct{}
	close  func() error
}

// limit wraps a listener so that at most the given number of its connections are open.
func limit(listener net.Listener, connections int) *Listener {
	l := &Listener{Listener: listener, slots: make(chan struct{}, connections), closed: make(chan struct{})}
	l.close = sync.OnceValue(func() error {
		close(l.closed)
		return listener.Close()
	})
	return l
}

// Accept waits until the number of connections is below the limit, then for a connection.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	conn, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		<-l.slots
		return nil, fmt.Errorf("%T is not a TCP connection (%w)", conn, conn.Close())
	}
	limitUnsent(tcp, maxUnsent)
	l.open.Add(1)
	return &Conn{TCPConn: tcp, release: sync.OnceFunc(func() { l.open.Add(-1); <-l.slots })}, nil
}

// Count returns the number of open connections.
func (l *Listener) Count() int { return int(l.open.Load()) }

// Close stops listening, also while Accept waits; connections stay open. A second call returns the
// result of the first one.
func (l *Listener) Close() error { return l.close() }

// MaxConnections returns how many connections this process can open with its file descriptors.
func MaxConnections() int { return connections(descriptors()) }

// connections returns how many connections fit into the given number of descriptors; 0 descriptors
// means no limit.
func connections(descriptors uint64) int {
	switch {
	case descriptors == 0 || descriptors > maxConnections:
		return maxConnections
	case descriptors <= 2*spareDescriptors:
		return max(1, int(descriptors/2))
	}
	return int(descriptors - spareDescriptors)
}

// Listen opens an address for at most the given number of connections at a time. flag is the flag
// for the address, without its dashes. The caller closes the listener. Error: ErrAddressInUse.
func Listen(address, flag string, connections int) (*Listener, error) {
	listener, err := net.Listen("tcp", address)
	switch {
	case err == nil:
		return limit(listener, connections), nil
	case addressInUse(err):
		return nil, fmt.Errorf("%w: another process listens on %s; stop that process, or use another address with --%s (%w)",
			ErrAddressInUse, address, flag, err)
	}
	return nil, fmt.Errorf("cannot listen on %s: %w", address, err)
}
