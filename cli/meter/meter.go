// Package meter shows the progress of a long command on a terminal.
package meter

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/rivo/uniseg"

	"labshelf/cli/display"
)

const (
	// meterDelay is the time before the bar appears, so that it does not flash for short commands.
	meterDelay = time.Second
	// meterStep is the time between two updates of the bar.
	meterStep = 200 * time.Millisecond
	// meterBar is the width of the bar in columns, which leaves room for the figures in 80 columns.
	meterBar = 12
)

// stalledAfter is the time without progress after which the line shows the stall instead of rate
// and time left.
const stalledAfter = 5 * time.Second

// Meter shows the progress of a command: bytes, files, rate and time left. It is safe for
// concurrent use.
type Meter struct {
	out              io.Writer
	done, wantBytes  atomic.Int64 // bytes
	files, wantFiles atomic.Int64
	transferred      atomic.Int64  // bytes sent or received; monotonic
	readHere         atomic.Int64  // bytes read on this machine only; monotonic
	stop, stopped    chan struct{} // nil: the meter is silent
	onTerminal       *atomic.Int64 // number of meters on the terminal; may be nil

	mu           sync.Mutex // guards the fields below, and writes to out
	what         string
	estimate     estimate
	rate         rate
	lastProgress time.Time // time of the last update that saw progress
	before       work      // the totals at that time
	there        int64     // bytes of Skip
	drawn        int       // width of the line on the terminal
}

// New returns a meter for work called what, a word such as "put". It is silent unless out is a
// terminal. The caller closes it. Until then the caller writes to out only with Say and Write.
func New(out io.Writer, what string) *Meter { return NewShared(out, what, nil) }

// NewShared is like New for several meters on one terminal. onTerminal counts these meters.
func NewShared(out io.Writer, what string, onTerminal *atomic.Int64) *Meter {
	m := &Meter{what: what, out: out, onTerminal: onTerminal}
	file, ok := out.(*os.File)
	if !ok || !isatty.IsTerminal(file.Fd()) && !isatty.IsCygwinTerminal(file.Fd()) {
		return m
	}
	m.stop, m.stopped = make(chan struct{}), make(chan struct{})
	if onTerminal != nil {
		onTerminal.Add(1)
	}
	go m.watch(time.Now().Add(meterDelay))
	return m
}

// Expect adds to the total.
func (m *Meter) Expect(files int, bytes int64) {
	m.wantFiles.Add(int64(files))
	m.wantBytes.Add(bytes)
}

// Moved counts bytes sent or received.
func (m *Meter) Moved(bytes int64) {
	m.done.Add(bytes)
	m.transferred.Add(bytes)
}

// Read counts bytes that were read on this machine only.
func (m *Meter) Read(bytes int64) {
	m.done.Add(bytes)
	m.readHere.Add(bytes)
}

// Counts are totals of bytes.
type Counts struct {
	Done  int64 // moved, compared or skipped
	Moved int64 // sent or received
}

// Counts returns the current totals.
func (m *Meter) Counts() Counts {
	return Counts{m.done.Load(), m.transferred.Load()}
}

// Skipped counts bytes that took no time, such as those that an earlier run moved. They are not
// part of any rate. A negative number takes back bytes that must move again.
func (m *Meter) Skipped(bytes int64) { m.done.Add(bytes) }

// Finished adds to the number of finished files.
func (m *Meter) Finished(files int) { m.files.Add(int64(files)) }

// Set sets the progress of one part of the work to done of total bytes. A new name begins a new
// part. A total of 0 means unknown and shows nothing.
func (m *Meter) Set(what string, done, total int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.begin(what)
	m.wantBytes.Store(total)
	m.done.Store(done)
	m.transferred.Store(done - m.there)
}

// Skip announces bytes that took no time, and that the next Set of this part includes in done.
func (m *Meter) Skip(what string, bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.begin(what)
	m.there += bytes
}

// begin begins a part of the work, unless it is the current one.
func (m *Meter) begin(what string) {
	if m.what != what {
		m.what, m.there, m.estimate, m.rate, m.before = what, 0, estimate{}, rate{}, work{}
		m.transferred.Store(0)
	}
}

// Say writes a line above the bar.
func (m *Meter) Say(line string) {
	m.WithoutBar(func() { _, _ = io.WriteString(m.out, line+"\n") }) // a closed output does not stop the work
}

// Write writes text above the bar, to an output that may be the same terminal.
func (m *Meter) Write(to io.Writer, text string) {
	m.WithoutBar(func() { _, _ = io.WriteString(to, text) }) // a closed output does not stop the work
}

// WithoutBar clears the bar, and calls write before the bar is drawn again.
func (m *Meter) WithoutBar(write func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clear()
	write()
}

// Close clears the bar. It may be called several times.
func (m *Meter) Close() {
	if m.stop == nil {
		return
	}
	close(m.stop)
	<-m.stopped
	m.stop = nil
	if m.onTerminal != nil {
		m.onTerminal.Add(-1)
	}
}

// watch draws until the meter is closed.
func (m *Meter) watch(from time.Time) {
	defer close(m.stopped)
	step := time.NewTicker(meterStep)
	defer step.Stop()
	for {
		select {
		case now := <-step.C:
			m.mu.Lock()
			m.draw(now, now.After(from), display.Width(m.out))
			m.mu.Unlock()
		case <-m.stop:
			m.mu.Lock()
			m.clear()
			m.mu.Unlock()
			return
		}
	}
}

// draw observes the progress. If visible is set, it writes the line to a terminal with that many
// columns.
func (m *Meter) draw(now time.Time, visible bool, columns int) {
	done := work{float64(m.files.Load()), float64(m.transferred.Load()), float64(m.readHere.Load())}
	if done[bytesMoved] == m.before[bytesMoved] && done[bytesCompared] > m.before[bytesCompared] {
		m.rate = rate{} // while files are only read locally, the network is idle
	}
	if m.lastProgress.IsZero() || done != m.before {
		m.lastProgress, m.before = now, done
	}
	m.estimate.observe(now, done)
	m.rate.observe(now, m.transferred.Load())
	if columns == display.Unlimited { // the terminal does not report its width
		columns = 80
	}
	if !visible || m.wantBytes.Load()+m.wantFiles.Load() == 0 {
		return
	}
	text := m.line(now, columns-1)
	width := uniseg.StringWidth(text)
	_, _ = fmt.Fprintf(m.out, "\r%s%s", text, strings.Repeat(" ", max(0, m.drawn-width)))
	m.drawn = width
}

// line returns the text for a terminal with that many columns. If they are too few, it omits the
// bar, then the end of the line.
func (m *Meter) line(now time.Time, columns int) string {
	// The total may still grow, so the line never shows 100 %.
	done, want := m.done.Load(), m.wantBytes.Load()
	part, of := done, max(want, 1)
	if want == 0 { // only empty files
		part, of = m.files.Load(), max(m.wantFiles.Load(), 1)
	}
	part = max(0, min(part, of))
	percent := min(99, int(100*float64(part)/float64(of)))
	begin := fmt.Sprintf("%s %3d%%", m.what, percent)
	full := meterBar * percent / 100
	bar := " |" + strings.Repeat("█", full) + strings.Repeat(" ", meterBar-full) + "|"
	rest := " " + m.details(now)
	if uniseg.StringWidth(begin+bar+rest) > columns {
		bar = ""
	}
	return display.Cut(begin+bar+rest, columns)
}

// details is the text after the bar.
func (m *Meter) details(now time.Time) string {
	done, want := max(0, m.done.Load()), m.wantBytes.Load()
	parts := []string{display.Bytes(min(done, max(want, 0))) + " of " + display.Bytes(want)}
	if files := m.wantFiles.Load(); files > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s", m.files.Load(), display.Files(int(files))))
	}
	if idle := now.Sub(m.lastProgress); idle >= stalledAfter {
		return strings.Join(append(parts, "stalled for "+display.Duration(idle)), ", ")
	}
	if speed := m.rate.perSecond(); speed > 0 {
		parts = append(parts, display.Bytes(speed)+"/s")
	}
	if left, known := m.estimate.left(m.wantFiles.Load()-m.files.Load(), want-done); known {
		parts = append(parts, display.Duration(max(left, time.Second))+" left")
	}
	return strings.Join(parts, ", ")
}

// clear removes the line until the next update.
func (m *Meter) clear() {
	if m.drawn > 0 {
		_, _ = fmt.Fprintf(m.out, "\r%s\r", strings.Repeat(" ", m.drawn))
		m.drawn = 0
	}
}
