package commands

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rivo/uniseg"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

const (
	// meterDelay is how long a command may take without a word: a bar that only flashes up is a nuisance.
	meterDelay = time.Second
	// meterStep is the time between two pictures of a bar.
	meterStep = 200 * time.Millisecond
	// meterBar is the width of the bar itself, which leaves room for the figures in 80 columns.
	meterBar = 12
)

// meter shows on a terminal how far a long command is: bytes, rate, time left and files. It is safe for concurrent use.
type meter struct {
	what             string
	out              io.Writer
	bytes, wantBytes atomic.Int64
	files, wantFiles atomic.Int64
	hashing          atomic.Int64  // bytes read of files that are sent after that
	stop, stopped    chan struct{} // nil: nobody is watching
	turn             sync.Mutex    // held by who writes
	bar              *progressbar.ProgressBar
	drawn            int // columns of the line on the terminal
	others           *atomic.Int64
}

// newMeter returns a meter of what is done, in a word such as "put". It is silent unless stderr is a terminal. The caller closes
// it, and until then writes to stderr only by say.
func (p Process) newMeter(what string) *meter {
	m := &meter{what: what, out: p.Err}
	if file, ok := p.Err.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		m.stop, m.stopped, m.others = make(chan struct{}), make(chan struct{}), p.meters
		m.others.Add(1)
		go m.watch(time.Now().Add(meterDelay))
	}
	return m
}

// expect adds to what is to be done.
func (m *meter) expect(files int, bytes int64) {
	m.wantFiles.Add(int64(files))
	m.wantBytes.Add(bytes)
}

// moved adds to what is done; a negative number takes back what has to be done again.
func (m *meter) moved(bytes int64) { m.bytes.Add(bytes) }

// finished adds to the files that are done.
func (m *meter) finished(files int) { m.files.Add(int64(files)) }

// say writes a line above the bar.
func (m *meter) say(line string) {
	m.aside(func() { _, _ = io.WriteString(m.out, line+"\n") }) // who closes the output still wants the work done
}

// aside writes something where the bar may be in the way.
func (m *meter) aside(write func()) {
	m.turn.Lock()
	defer m.turn.Unlock()
	m.clear()
	write()
}

// close takes the bar away. It may be called more than once.
func (m *meter) close() {
	if m.stop == nil {
		return
	}
	close(m.stop)
	<-m.stopped
	m.stop = nil
	m.others.Add(-1)
}

// watch draws until the meter is closed.
func (m *meter) watch(from time.Time) {
	defer close(m.stopped)
	step := time.NewTicker(meterStep)
	defer step.Stop()
	for {
		select {
		case now := <-step.C:
			m.turn.Lock()
			m.draw(now.After(from), widthOf(m.out))
			m.turn.Unlock()
		case <-m.stop:
			m.turn.Lock()
			m.clear()
			m.turn.Unlock()
			return
		}
	}
}

// draw brings the bar up to date and, where it is to be seen, the line on a terminal of so many columns.
func (m *meter) draw(seen bool, columns int) {
	if m.bar == nil {
		m.bar = progressbar.NewOptions64(1, progressbar.OptionSetWriter(io.Discard), progressbar.OptionSetWidth(meterBar),
			progressbar.OptionShowBytes(true), progressbar.OptionUseIECUnits(true), progressbar.OptionShowCount(),
			progressbar.OptionShowDescriptionAtLineEnd())
		m.bar.StartWithoutRender()
	}
	// A bar that has come to its end stays there, but more may be expected at any time: the last byte waits for close.
	done, want := m.bytes.Load(), max(m.wantBytes.Load(), 1)
	if m.bar.GetMax64() != want {
		m.bar.ChangeMax64(want)
	}
	m.bar.Describe(m.description())
	_ = m.bar.Set64(min(done, want-1))
	if columns == unlimited { // a terminal that does not say
		columns = 80
	}
	if seen {
		text := cut(m.what+strings.TrimLeft(m.bar.String(), "\r"), columns-1)
		width := uniseg.StringWidth(text)
		_, _ = fmt.Fprintf(m.out, "\r%s%s", text, strings.Repeat(" ", max(0, m.drawn-width)))
		m.drawn = width
	}
}

// description is what stands behind the bar.
func (m *meter) description() string {
	text := fmt.Sprintf("%d/%d files", m.files.Load(), m.wantFiles.Load())
	if read := m.hashing.Load(); read > 0 {
		text += ", hashing " + FormatBytes(read)
	}
	return text
}

// clear takes the line away until it is drawn again.
func (m *meter) clear() {
	if m.drawn > 0 {
		_, _ = fmt.Fprintf(m.out, "\r%s\r", strings.Repeat(" ", m.drawn))
		m.drawn = 0
	}
}
