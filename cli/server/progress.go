package server

import (
	"io"
	"sync"

	"labshelf/cli/meter"
)

// progress shows on a terminal how far a long command is. It is safe for concurrent use.
type progress struct {
	mu    sync.Mutex
	meter *meter.Meter // nil: closed
}

// newProgress returns a progress that is silent unless stderr is a terminal. The caller closes it
// before it writes there.
func newProgress(stderr io.Writer) *progress {
	return &progress{meter: meter.New(stderr, "")}
}

// set says that done of total bytes are done of the part of the work called what; total is 0 where
// it is not known.
func (p *progress) set(what string, done, total int64) {
	p.with(func(m *meter.Meter) { m.Set(what, done, total) })
}

// skip says that so many bytes of that part need no work. It precedes the set that counts them.
func (p *progress) skip(what string, bytes int64) {
	p.with(func(m *meter.Meter) { m.Skip(what, bytes) })
}

// say writes a text above the bar, to an output that may be the same terminal.
func (p *progress) say(out io.Writer, text string) {
	if !p.with(func(m *meter.Meter) { m.Write(out, text) }) {
		_, _ = io.WriteString(out, text) // where the output is closed, the work still goes on
	}
}

// close removes the bar.
func (p *progress) close() {
	p.with(func(m *meter.Meter) { m.Close() })
	p.mu.Lock()
	defer p.mu.Unlock()
	p.meter = nil
}

// with calls do with the meter; false: it is closed.
func (p *progress) with(do func(*meter.Meter)) bool {
	p.mu.Lock()
	m := p.meter
	p.mu.Unlock()
	if m == nil {
		return false
	}
	do(m)
	return true
}
