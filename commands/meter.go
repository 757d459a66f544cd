package commands

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
)

const (
	// meterDelay is how long a command may take without a word: a bar that only flashes up is a nuisance.
	meterDelay = time.Second
	// meterStep is the time between two pictures of a bar.
	meterStep = 200 * time.Millisecond
	// meterBar is the width of the bar itself, which leaves room for the figures in 80 columns.
	meterBar = 12
)

// stalledAfter is how long nothing may move before the line says so in place of a rate and a time.
const stalledAfter = 5 * time.Second

// Meter shows on a terminal how far a long command is: bytes, files, rate and time left. It is safe for concurrent use.
type Meter struct {
	out              io.Writer
	done, wantBytes  atomic.Int64 // bytes
	files, wantFiles atomic.Int64
	transferred      atomic.Int64  // bytes that went over the network; never less
	read             atomic.Int64  // bytes that were only read here; never less
	hashing          atomic.Int64  // bytes read of files that are sent after that
	stop, stopped    chan struct{} // nil: nothing is shown
	others           *atomic.Int64 // meters on the terminal; may be nil

	mu       sync.Mutex // of what follows, and of writing to out
	what     string
	estimate estimate
	rate     rate
	moving   time.Time // when something was done last, as far as it was seen
	before   work      // what was done until then
	there    int64     // bytes of Skip
	drawn    int       // columns of the line on the terminal
}

// NewMeter returns a meter of what is done, in a word such as "put". It is silent unless out is a terminal. The caller closes it, and
// until then writes to out only by Say.
func NewMeter(out io.Writer, what string) *Meter { return newMeter(out, what, nil) }

// newMeter is NewMeter that counts the meters on the terminal in others.
func newMeter(out io.Writer, what string, others *atomic.Int64) *Meter {
	m := &Meter{what: what, out: out, others: others}
	file, ok := out.(*os.File)
	if !ok || !isatty.IsTerminal(file.Fd()) && !isatty.IsCygwinTerminal(file.Fd()) {
		return m
	}
	m.stop, m.stopped = make(chan struct{}), make(chan struct{})
	if others != nil {
		others.Add(1)
	}
	go m.watch(time.Now().Add(meterDelay))
	return m
}

func (p Process) newMeter(what string) *Meter { return newMeter(p.Err, what, p.meters) }

// expect adds to what is to be done.
func (m *Meter) expect(files int, bytes int64) {
	m.wantFiles.Add(int64(files))
	m.wantBytes.Add(bytes)
}

// moved adds bytes that went over the network to what is done.
func (m *Meter) moved(bytes int64) {
	m.done.Add(bytes)
	m.transferred.Add(bytes)
}

// compared adds bytes to what is done that were only read here.
func (m *Meter) compared(bytes int64) {
	m.done.Add(bytes)
	m.read.Add(bytes)
}

// skipped adds bytes to what is done that took no time, such as those that an earlier run has moved. They are part of no rate. A
// negative number takes back what has to be done again.
func (m *Meter) skipped(bytes int64) { m.done.Add(bytes) }

// finished adds to the files that are done.
func (m *Meter) finished(files int) { m.files.Add(int64(files)) }

// Set says that done of total bytes of a part of the work are through. A part with another name begins anew. A total of 0 is one that
// is not known, and shows nothing.
func (m *Meter) Set(what string, done, total int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.begin(what)
	m.wantBytes.Store(total)
	m.done.Store(done)
	m.transferred.Store(done - m.there)
}

// Skip says that so many bytes of a part of the work, which the next Set counts as done, took no time because they were there already.
func (m *Meter) Skip(what string, bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.begin(what)
	m.there += bytes
}

// begin begins a part of the work, unless it is under way.
func (m *Meter) begin(what string) {
	if m.what != what {
		m.what, m.there, m.estimate, m.rate, m.before = what, 0, estimate{}, rate{}, work{}
		m.transferred.Store(0)
	}
}

// say writes a line above the bar.
func (m *Meter) say(line string) {
	m.aside(func() { _, _ = io.WriteString(m.out, line+"\n") }) // where the output is closed, the work still goes on
}

// Write writes something above the bar, to another output that may be the same terminal.
func (m *Meter) Write(to io.Writer, text string) {
	m.aside(func() { _, _ = io.WriteString(to, text) }) // where the output is closed, the work still goes on
}

// aside writes something where the bar may be in the way.
func (m *Meter) aside(write func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clear()
	write()
}

// Close takes the bar away. It may be called more than once.
func (m *Meter) Close() {
	if m.stop == nil {
		return
	}
	close(m.stop)
	<-m.stopped
	m.stop = nil
	if m.others != nil {
		m.others.Add(-1)
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
			m.draw(now, now.After(from), widthOf(m.out))
			m.mu.Unlock()
		case <-m.stop:
			m.mu.Lock()
			m.clear()
			m.mu.Unlock()
			return
		}
	}
}

// draw learns from what was done until now and, where it is to be seen, writes the line on a terminal of so many columns.
func (m *Meter) draw(now time.Time, seen bool, columns int) {
	done := work{float64(m.files.Load()), float64(m.transferred.Load()), float64(m.read.Load() + m.hashing.Load())}
	if done[bytesMoved] == m.before[bytesMoved] && done[bytesCompared] > m.before[bytesCompared] {
		m.rate = rate{} // time in which files are only read here is no time of the network
	}
	if m.moving.IsZero() || done != m.before {
		m.moving, m.before = now, done
	}
	m.estimate.observe(now, done)
	m.rate.observe(now, m.transferred.Load())
	if columns == unlimited { // a terminal that does not say
		columns = 80
	}
	if !seen || m.wantBytes.Load()+m.wantFiles.Load() == 0 {
		return
	}
	text := m.line(now, columns-1)
	width := uniseg.StringWidth(text)
	_, _ = fmt.Fprintf(m.out, "\r%s%s", text, strings.Repeat(" ", max(0, m.drawn-width)))
	m.drawn = width
}

// line is what a terminal shows, in so many columns. Where that is not enough, the bar goes first, and then the end of the line.
func (m *Meter) line(now time.Time, columns int) string {
	// More may be expected at any time: the last hundredth waits for Close.
	done, want := m.done.Load(), m.wantBytes.Load()
	part, of := done, max(want, 1)
	if want == 0 { // files without bytes
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
	return cut(begin+bar+rest, columns)
}

// details is what comes after the bar.
func (m *Meter) details(now time.Time) string {
	done, want := max(0, m.done.Load()), m.wantBytes.Load()
	parts := []string{FormatBytes(min(done, max(want, 0))) + " of " + FormatBytes(want)}
	if files := m.wantFiles.Load(); files > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s", m.files.Load(), fileCount(int(files))))
	}
	hashing := m.hashing.Load()
	if hashing > 0 {
		parts = append(parts, "hashing "+FormatBytes(hashing))
	}
	if idle := now.Sub(m.moving); idle >= stalledAfter {
		return strings.Join(append(parts, "stalled for "+FormatDuration(idle)), ", ")
	}
	if speed := m.rate.perSecond(); speed > 0 {
		parts = append(parts, FormatBytes(speed)+"/s")
	}
	if left, known := m.estimate.left(m.wantFiles.Load()-m.files.Load(), want-done); known && hashing == 0 {
		parts = append(parts, FormatDuration(max(left, time.Second))+" left")
	}
	return strings.Join(parts, ", ")
}

// clear takes the line away until it is drawn again.
func (m *Meter) clear() {
	if m.drawn > 0 {
		_, _ = fmt.Fprintf(m.out, "\r%s\r", strings.Repeat(" ", m.drawn))
		m.drawn = 0
	}
}
