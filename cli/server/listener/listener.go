// Package listener accepts the TCP connections of the service: no more than there are file
// descriptors for, each with a bound on what the system buffers unsent.
package listener

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
)

// spareDescriptors are reserved for the database, the log and files, whatever the number of
// connections.
const spareDescriptors = 64

// maxConnections bounds connections where the system sets no limit.
const maxConnections = 1 << 20

// maxUnsent is how many bytes of an answer the system may buffer unsent, for each connection. With
// more, it would take long to see whether a slow client still reads; with less, a fast client waits
// for the service.
const maxUnsent = 64 << 10

// ErrAddressInUse means that another process listens on the address.
var ErrAddressInUse = errors.New("the address is in use")

// Listener accepts no more connections than its limit. Further clients wait in the system's queue
// of connections. Safe for concurrent use.
type Listener struct {
	net.Listener
	slots  chan struct{} // one for each connection, and perhaps one for the next
	open   atomic.Int64
	closed chan struct{}
	close  func() error
}

// limit returns a listener with at most so many open connections of the other one.
func limit(listener net.Listener, connections int) *Listener {
	l := &Listener{Listener: listener, slots: make(chan struct{}, connections), closed: make(chan struct{})}
	l.close = sync.OnceValue(func() error {
		close(l.closed)
		return listener.Close()
	})
	return l
}

// Accept waits until there are fewer connections than the limit, then for a connection.
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
		return nil, fmt.Errorf("%T is no TCP connection (%w)", conn, conn.Close())
	}
	limitUnsent(tcp, maxUnsent)
	l.open.Add(1)
	return &Conn{TCPConn: tcp, release: sync.OnceFunc(func() { l.open.Add(-1); <-l.slots })}, nil
}

// Count returns the number of open connections.
func (l *Listener) Count() int { return int(l.open.Load()) }

// Close stops listening, also while Accept waits; connections stay open. A second call returns what
// the first one did.
func (l *Listener) Close() error { return l.close() }

// MaxConnections returns how many connections the file descriptors of this process allow.
func MaxConnections() int { return connections(descriptors()) }

// connections is how many connections so many descriptors allow; 0 descriptors: no limit.
func connections(descriptors uint64) int {
	switch {
	case descriptors == 0 || descriptors > maxConnections:
		return maxConnections
	case descriptors <= 2*spareDescriptors:
		return max(1, int(descriptors/2))
	}
	return int(descriptors - spareDescriptors)
}

// Listen opens an address for so many connections at a time; flag is the one that sets the address,
// without its dashes. The caller closes the listener. Error: ErrAddressInUse.
func Listen(address, flag string, connections int) (*Listener, error) {
	listener, err := net.Listen("tcp", address)
	switch {
	case err == nil:
		return limit(listener, connections), nil
	case addressInUse(err):
		return nil, fmt.Errorf("%w: another process listens on %s; stop that, or take another address with --%s (%w)",
			ErrAddressInUse, address, flag, err)
	}
	return nil, fmt.Errorf("cannot listen on %s: %w", address, err)
}
