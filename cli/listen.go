package cli

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
)

// spareDescriptors are kept for the database, the log and files, whatever the number of connections.
const spareDescriptors = 64

// maxConnections bounds connections where the system sets no limit that matters.
const maxConnections = 1 << 20

// maxUnsent is how many bytes of an answer the system may hold back unsent, for each connection. With more, it would take long
// to see whether a slow client still takes anything; with less, a fast one waits for the service.
const maxUnsent = 64 << 10

// gate lets no more connections in than there are descriptors for. Whoever comes then waits in the queue of the system.
type gate struct {
	net.Listener
	inside chan struct{} // as many as there are connections, and perhaps one to come
	open   atomic.Int64
	closed chan struct{}
	close  func() error
}

// newGate returns a listener that holds at most so many connections of the other one.
func newGate(listener net.Listener, connections int) *gate {
	g := &gate{Listener: listener, inside: make(chan struct{}, connections), closed: make(chan struct{})}
	g.close = sync.OnceValue(func() error {
		close(g.closed)
		return listener.Close()
	})
	return g
}

// Accept waits until there is room, then for a connection.
func (g *gate) Accept() (net.Conn, error) {
	select {
	case g.inside <- struct{}{}:
	case <-g.closed:
		return nil, net.ErrClosed
	}
	conn, err := g.Listener.Accept()
	if err != nil {
		<-g.inside
		return nil, err
	}
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		<-g.inside
		return nil, fmt.Errorf("%T is no TCP connection (%w)", conn, conn.Close())
	}
	holdBack(tcp, maxUnsent)
	g.open.Add(1)
	return &admitted{TCPConn: tcp, leave: sync.OnceFunc(func() { g.open.Add(-1); <-g.inside })}, nil
}

// count returns how many connections there are.
func (g *gate) count() int { return int(g.open.Load()) }

func (g *gate) Close() error { return g.close() }

// admitted is a connection that makes room when it is closed. It is a TCPConn so that files go out by sendfile.
type admitted struct {
	*net.TCPConn
	leave     func()
	gathering bool // the goroutine that writes has these two
	gathered  []byte
}

// Gather is part of handlers.Line.
func (c *admitted) Gather(room []byte) { c.gathering, c.gathered = true, room }

// Write keeps what is gathered.
func (c *admitted) Write(p []byte) (int, error) {
	if !c.gathering {
		return c.TCPConn.Write(p)
	}
	c.gathered = append(c.gathered, p...)
	return len(p), nil
}

// Release is part of handlers.Line.
func (c *admitted) Release() (err error) {
	if _, err = c.TCPConn.Write(c.gathered); err != nil {
		err = errors.Join(err, c.Close())
	}
	c.gathering, c.gathered = false, nil
	return err
}

func (c *admitted) Close() error {
	defer c.leave()
	return c.TCPConn.Close()
}

// connections is how many connections so many descriptors allow; 0 descriptors: as many as one likes.
func connections(descriptors uint64) int {
	switch {
	case descriptors == 0 || descriptors > maxConnections:
		return maxConnections
	case descriptors <= 2*spareDescriptors:
		return max(1, int(descriptors/2))
	}
	return int(descriptors - spareDescriptors)
}

// listen opens the port that a setting names, for so many connections at a time.
func listen(address, setting string, connections int) (*gate, error) {
	listener, err := net.Listen("tcp", address)
	switch {
	case err == nil:
		return newGate(listener, connections), nil
	case addressInUse(err):
		return nil, fmt.Errorf("%w: another process listens on %s; stop that, or take another address with --%s (%w)",
			errAddressInUse, address, flagName(setting), err)
	}
	return nil, fmt.Errorf("cannot listen on %s: %w", address, err)
}
