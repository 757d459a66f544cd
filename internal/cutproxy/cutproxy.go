// Package cutproxy provides a TCP proxy for tests that ends connections in the middle.
package cutproxy

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
)

// Limit determines when and how a Proxy ends a connection.
type Limit struct {
	Bytes int64 // forwarded before the end, in both directions together
	How   Ending
}

// Ending is the way in which a Proxy ends a connection.
type Ending uint8

// The endings.
const (
	Never Ending = iota // forwards everything
	Close               // by FIN, like a side that has sent everything
	Reset               // by RST, like a router that has lost its state; data in flight is lost
	Hold                // forwards nothing more, and notifies neither side
)

// Proxy forwards TCP connections to a service and ends them in the middle. It counts connections
// and endings. It is safe for concurrent use.
type Proxy struct {
	listener net.Listener
	to       string
	limit    func(connection int) Limit
	running  sync.WaitGroup
	closed   chan struct{}
	closing  sync.Once

	connections, ended atomic.Int64
	held               chan struct{}
	holding            sync.Once
}

// Start forwards connections from a free loopback port to an address. It calls limit for each
// connection, numbered from 0, from one goroutine at a time. The caller closes the Proxy.
func Start(to string, limit func(connection int) Limit) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: listener, to: to, limit: limit, closed: make(chan struct{}), held: make(chan struct{})}
	p.running.Go(p.accept)
	return p, nil
}

// Addr returns the address of its listener.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Connections returns the number of connections, and of those that it has closed, reset or held.
func (p *Proxy) Connections() (all, ended int64) { return p.connections.Load(), p.ended.Load() }

// Held returns a channel that is closed once the proxy holds a connection.
func (p *Proxy) Held() <-chan struct{} { return p.held }

// Close ends all connections, and returns when forwarding has stopped. It can be called more than
// once.
func (p *Proxy) Close() (err error) {
	p.closing.Do(func() {
		close(p.closed)
		err = p.listener.Close()
	})
	p.running.Wait()
	return err
}

func (p *Proxy) accept() {
	for n := 0; ; n++ {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.connections.Add(1)
		limit := p.limit(n)
		p.running.Go(func() { p.pass(client.(*net.TCPConn), limit) })
	}
}

// pass forwards a connection until it ends.
func (p *Proxy) pass(client *net.TCPConn, limit Limit) {
	defer func() { _ = client.Close() }() // at the latest
	dialled, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	service := dialled.(*net.TCPConn)
	defer func() { _ = service.Close() }()
	over := make(chan bool, 2) // whether the limit is reached
	var left atomic.Int64
	left.Store(limit.Bytes)
	var both sync.WaitGroup
	for _, way := range [][2]*net.TCPConn{{client, service}, {service, client}} {
		both.Go(func() { over <- copyUpTo(way[1], way[0], limit, &left) })
	}
	reached := false
	for range 2 { // one direction can end before the other
		select {
		case reached = <-over:
		case <-p.closed:
			reached = true
		}
		if reached {
			break
		}
	}
	if reached {
		p.end(client, service, limit.How)
	}
	_, _ = client.Close(), service.Close()
	both.Wait()
}

// end ends a connection in the given way.
func (p *Proxy) end(client, service *net.TCPConn, how Ending) {
	select {
	case <-p.closed:
		return
	default:
	}
	p.ended.Add(1)
	switch how {
	case Reset:
		_ = errors.Join(client.SetLinger(0), service.SetLinger(0))
	case Hold:
		p.holding.Do(func() { close(p.held) })
		<-p.closed
	}
}

// copyUpTo copies until one side ends or the limit is reached. It reports whether the limit was
// reached, and forwards the end of a direction.
func copyUpTo(to, from *net.TCPConn, limit Limit, left *atomic.Int64) bool {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if limit.How != Never {
			rest := left.Add(-int64(n))
			if rest <= 0 {
				_, _ = to.Write(buffer[:max(0, int64(n)+rest)])
				return true
			}
		}
		if _, wrong := to.Write(buffer[:n]); wrong != nil {
			_ = from.CloseRead() // there is no reader for what it sends
			return false
		}
		if err != nil {
			_ = to.CloseWrite()
			return false
		}
	}
}
