package server

import (
	"io"
	"sync"

	"labshelf/cli/meter"
)

// progress shows the progress of a long command on a terminal. It is safe for concurrent use.
type progress struct {
	mu    sync.Mutex
	meter *meter.Meter // nil: closed
}

// newProgress returns a progress. It is silent unless stderr is a terminal. The caller closes it
// before writing to stderr.
func newProgress(stderr io.Writer) *progress {
	return &progress{meter: meter.New(stderr, "")}
}

// set reports that done of total bytes of the part called what are done; total is 0 if unknown.
func (p *progress) set(what string, done, total int64) {
	p.with(func(m *meter.Meter) { m.Set(what, done, total) })
}

// skip reports that n bytes of that part need no work. The caller calls it before the set that
// counts them.
func (p *progress) skip(what string, bytes int64) {
	p.with(func(m *meter.Meter) { m.Skip(what, bytes) })
}

// say writes a text above the bar, to an output that may be the same terminal.
func (p *progress) say(out io.Writer, text string) {
	if !p.with(func(m *meter.Meter) { m.Write(out, text) }) {
		_, _ = io.WriteString(out, text) // a closed output does not stop the work
	}
}

// close removes the bar.
func (p *progress) close() {
	p.with(func(m *meter.Meter) { m.Close() })
	p.mu.Lock()
	defer p.mu.Unlock()
	p.meter = nil
}

// with calls do with the meter. It returns false if the progress is closed.
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
