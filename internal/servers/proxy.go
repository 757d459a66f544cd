package servers

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// Verdict is the action of a Proxy on a message.
type Verdict uint8

// The verdicts.
const (
	Pass Verdict = iota

	// CutBefore drops the message. Both sides see a broken connection.
	CutBefore

	// CutAfter forwards the message and then ends the connection. The receiver can read the message
	// before the end. The sender sees a broken connection, and receives no later response.
	CutAfter
)

// Proxy forwards connections to a PostgreSQL server message by message, and can break them between
// messages. It cannot read TLS, so clients must connect without TLS. It is safe for concurrent use.
type Proxy struct {
	listener net.Listener
	running  sync.WaitGroup

	mu          sync.Mutex
	target      string
	rule        func(Message) Verdict
	passing     chan struct{} // closed while messages are forwarded
	paused      bool
	open        map[*link]struct{}
	connections int
	cuts        int
	closed      bool
}

// link is one connection through a proxy.
type link struct {
	number         int
	client, server *net.TCPConn
	once           sync.Once
}

// NewProxy forwards connections from a free loopback port to an address, until it is closed.
func NewProxy(target string) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	passing := make(chan struct{})
	close(passing)
	p := &Proxy{listener: listener, target: target, passing: passing, open: make(map[*link]struct{})}
	p.running.Go(p.accept)
	return p, nil
}

// StartProxy is like NewProxy, and closes the proxy when the test ends.
func StartProxy(tb testing.TB, target string) *Proxy {
	tb.Helper()
	p, err := NewProxy(target)
	need(tb, err)
	closing(tb, p)
	return p
}

// Addr returns the address of the proxy.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Route returns the address of a database through the proxy.
func (p *Proxy) Route(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		panic(err)
	}
	u.Host = p.Addr()
	return u.String()
}

// Rule sets the function that decides about later messages. With nil, all messages are forwarded.
// The function is called by one goroutine at a time, and must not call methods of the proxy.
func (p *Proxy) Rule(rule func(Message) Verdict) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rule = rule
}

// CutAt cuts one connection at the nth matching message, from 0, counted over all connections. If
// match is nil, all messages match. Later messages pass.
func (p *Proxy) CutAt(n int, verdict Verdict, match func(Message) bool) {
	seen := 0
	p.Rule(func(m Message) Verdict {
		if match != nil && !match(m) {
			return Pass
		}
		seen++
		if seen-1 == n {
			return verdict
		}
		return Pass
	})
}

// Cuts returns the number of connections cut by a rule.
func (p *Proxy) Cuts() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cuts
}

// Redirect forwards later connections to another address.
func (p *Proxy) Redirect(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
}

// Pause stops forwarding until Resume. Connections stay open, and new ones are accepted.
func (p *Proxy) Pause() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.paused {
		p.paused, p.passing = true, make(chan struct{})
	}
}

// Resume forwards the delayed messages and all later ones.
func (p *Proxy) Resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.resume()
}

func (p *Proxy) resume() {
	if p.paused {
		p.paused = false
		close(p.passing)
	}
}

// CutAll breaks all open connections.
func (p *Proxy) CutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.open {
		l.reset()
	}
}

// Close breaks all connections, and returns when forwarding has stopped.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	p.resume()
	err := p.listener.Close()
	p.mu.Unlock()
	p.CutAll()
	p.running.Wait()
	return err
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.running.Go(func() { p.connect(client.(*net.TCPConn)) })
	}
}

// connect forwards a connection until it ends.
func (p *Proxy) connect(client *net.TCPConn) {
	p.mu.Lock()
	target := p.target
	p.mu.Unlock()
	dialled, err := net.Dial("tcp", target)
	if err != nil {
		_ = client.Close() // like a port without a listener
		return
	}
	l := &link{client: client, server: dialled.(*net.TCPConn)}
	p.mu.Lock()
	l.number = p.connections
	p.connections++
	p.open[l] = struct{}{}
	if p.closed {
		l.reset()
	}
	p.mu.Unlock()
	single := make(chan bool, 4) // requests before a session: TLS, GSS, and at most one more
	var both sync.WaitGroup
	both.Go(func() { p.pass(l, Client, &messages{from: bufio.NewReader(client), asked: single}) })
	both.Go(func() { p.pass(l, Server, &messages{from: bufio.NewReader(l.server), single: single}) })
	both.Wait()
	_ = errors.Join(l.client.Close(), l.server.Close()) // already closed, or without a peer
	p.mu.Lock()
	delete(p.open, l)
	p.mu.Unlock()
}

// pass forwards the messages of one side until it ends or the connection is cut.
func (p *Proxy) pass(l *link, from Side, r *messages) {
	to, source := l.server, l.client
	if from == Server {
		to, source = l.client, l.server
	}
	for n := 0; ; n++ {
		m, err := r.next()
		if err != nil {
			_ = to.CloseWrite() // forwards the end
			return
		}
		m.Connection, m.Number, m.From = l.number, n, from
		verdict := p.decide(m)
		if verdict == CutBefore {
			l.reset()
			return
		}
		if _, err := to.Write(m.Text); err != nil {
			// until the sender ends; otherwise the peer may not read everything that was forwarded
			_, _ = io.Copy(io.Discard, source)
			return
		}
		if verdict == CutAfter {
			l.end(to, source)
			return
		}
	}
}

// decide waits while the proxy is paused, and returns the verdict for a message.
func (p *Proxy) decide(m Message) Verdict {
	for {
		p.mu.Lock()
		passing, rule := p.passing, p.rule
		if p.paused {
			p.mu.Unlock()
			<-passing
			continue
		}
		verdict := Pass
		if rule != nil {
			verdict = rule(m)
		}
		if verdict != Pass {
			p.cuts++
		}
		p.mu.Unlock()
		return verdict
	}
}

// reset breaks both connections. Data in flight are lost.
func (l *link) reset() {
	l.once.Do(func() {
		_ = errors.Join(l.client.SetLinger(0), l.server.SetLinger(0), l.client.Close(), l.server.Close())
	})
}

// end breaks the connection to one side. It ends the connection to the other side after the pending
// data.
func (l *link) end(orderly, broken *net.TCPConn) {
	l.once.Do(func() {
		_ = errors.Join(broken.SetLinger(0), broken.Close(), orderly.CloseWrite())
	})
}
