// Package cutproxy is what stands between a client and a service and fails: a proxy of TCP that
// ends connections in the middle. Tests use it.
package cutproxy

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
)

// Limit is when, and how, a Proxy ends a connection.
type Limit struct {
	Bytes int64 // that it passes on before, of both directions together
	How   Ending
}

// Ending is how a Proxy ends a connection.
type Ending uint8

// The endings.
const (
	Never Ending = iota // it passes on whatever comes
	Close               // by FIN, as a side that has sent everything
	Reset               // as a router does that has forgotten it; what is under way is lost
	Hold                // nothing is passed on any more, and neither side is notified
)

// Proxy passes TCP connections on to a service, as what stands between it and its clients, and ends
// them in the middle. It counts what it does. It is safe for concurrent use.
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

// Start passes connections to a free port of loopback on to an address. It calls limit for each
// connection, the first of which is 0, from one goroutine at a time. The caller closes the Proxy.
func Start(to string, limit func(connection int) Limit) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: listener, to: to, limit: limit, closed: make(chan struct{}), held: make(chan struct{})}
	p.running.Go(p.accept)
	return p, nil
}

// Addr returns where it listens.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Connections returns how many connections there were, and how many of them it has closed, reset or
// held.
func (p *Proxy) Connections() (all, ended int64) { return p.connections.Load(), p.ended.Load() }

// Held is closed once it holds a connection.
func (p *Proxy) Held() <-chan struct{} { return p.held }

// Close ends all connections, and returns when nothing is passed on any more. It may be called more
// than once.
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

// pass passes a connection on until it ends.
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
	for range 2 { // one direction may end before the other
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

// end ends a connection in its way.
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

// copyUpTo copies until one side ends, or the limit is reached, which it reports. The end of one
// direction is passed on, too.
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
