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

// Verdict is what a Proxy does with a message.
type Verdict uint8

// The verdicts.
const (
	Pass Verdict = iota

	// CutBefore loses the message: both sides find the connection broken.
	CutBefore

	// CutAfter passes the message on and then ends the connection. Who gets the message can read it
	// before it finds the end. Who sent it finds the connection broken, and gets nothing that was
	// sent to it since.
	CutAfter
)

// Proxy passes connections on to a PostgreSQL server, message by message, and can break them
// between two. Those that are under TLS it cannot read: its clients are to connect without. It is
// safe for concurrent use.
type Proxy struct {
	listener net.Listener
	running  sync.WaitGroup

	mu          sync.Mutex
	target      string
	rule        func(Message) Verdict
	passing     chan struct{} // closed while messages are passed on
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

// NewProxy passes connections to a free port of loopback on to an address, until it is closed.
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

// StartProxy is NewProxy for a test, which closes it at its end.
func StartProxy(tb testing.TB, target string) *Proxy {
	tb.Helper()
	p, err := NewProxy(target)
	need(tb, err)
	closing(tb, p)
	return p
}

// Addr returns where it listens.
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

// Rule sets who decides about each message from now on; nil: all of them pass. It is asked by one
// goroutine at a time, and must call no method of the proxy.
func (p *Proxy) Rule(rule func(Message) Verdict) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rule = rule
}

// CutAt cuts one connection at the nth message, from 0, of those of all connections from now on
// that match; nil: all. What follows passes.
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

// Cuts returns how many connections it has cut by a rule.
func (p *Proxy) Cuts() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cuts
}

// Redirect passes connections that are made from now on to another address.
func (p *Proxy) Redirect(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
}

// Pause passes no message on until Resume. Connections stay open, and new ones are taken.
func (p *Proxy) Pause() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.paused {
		p.paused, p.passing = true, make(chan struct{})
	}
}

// Resume passes on what has come meanwhile, and all that comes.
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

// CutAll breaks all connections that are open.
func (p *Proxy) CutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.open {
		l.reset()
	}
}

// Close breaks all connections, and returns when nothing is passed on any more.
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

// connect passes a connection on until it ends.
func (p *Proxy) connect(client *net.TCPConn) {
	p.mu.Lock()
	target := p.target
	p.mu.Unlock()
	dialled, err := net.Dial("tcp", target)
	if err != nil {
		_ = client.Close() // as a port that nothing listens on does
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
	single := make(chan bool, 4) // requests without a session: for TLS, for GSS, and one more at most
	var both sync.WaitGroup
	both.Go(func() { p.pass(l, Client, &messages{from: bufio.NewReader(client), asked: single}) })
	both.Go(func() { p.pass(l, Server, &messages{from: bufio.NewReader(l.server), single: single}) })
	both.Wait()
	_ = errors.Join(l.client.Close(), l.server.Close()) // closed already, or nobody is there any more
	p.mu.Lock()
	delete(p.open, l)
	p.mu.Unlock()
}

// pass passes on what one side sends, until it ends, or the connection is cut.
func (p *Proxy) pass(l *link, from Side, r *messages) {
	to, source := l.server, l.client
	if from == Server {
		to, source = l.client, l.server
	}
	for n := 0; ; n++ {
		m, err := r.next()
		if err != nil {
			_ = to.CloseWrite() // the end, passed on
			return
		}
		m.Connection, m.Number, m.From = l.number, n, from
		verdict := p.decide(m)
		if verdict == CutBefore {
			l.reset()
			return
		}
		if _, err := to.Write(m.Text); err != nil {
			_, _ = io.Copy(io.Discard, source) // until it ends: broken before, it might not have read all that was passed on to it
			return
		}
		if verdict == CutAfter {
			l.end(to, source)
			return
		}
	}
}

// decide waits while the proxy is paused, and returns what is to be done with a message.
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

// reset breaks both connections: what is under way is lost.
func (l *link) reset() {
	l.once.Do(func() {
		_ = errors.Join(l.client.SetLinger(0), l.server.SetLinger(0), l.client.Close(), l.server.Close())
	})
}

// end breaks the connection to one side, and ends that to the other behind what was sent to it.
func (l *link) end(orderly, broken *net.TCPConn) {
	l.once.Do(func() {
		_ = errors.Join(broken.SetLinger(0), broken.Close(), orderly.CloseWrite())
	})
}
