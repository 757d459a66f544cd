package cli

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/schollz/progressbar/v3"
)

// progressDelay is how long a command may take without a word: a bar that only flashes up is a nuisance.
const progressDelay = time.Second

// progress shows on a terminal how far a long command is. It is safe for concurrent use.
type progress struct {
	out io.Writer // nil: nobody is watching

	mu   sync.Mutex
	what string // the part of the work that bar stands for
	bar  *progressbar.ProgressBar
}

// newProgress returns a progress that is silent unless stderr is a terminal. The caller closes it before it writes there.
func newProgress(stderr io.Writer) *progress {
	file, ok := stderr.(*os.File)
	if !ok || !isatty.IsTerminal(file.Fd()) && !isatty.IsCygwinTerminal(file.Fd()) {
		return &progress{}
	}
	return &progress{out: &lateWriter{Writer: stderr, from: time.Now().Add(progressDelay)}}
}

// set says that done of total bytes are through in the part of the work called what. A total of 0 is one that is not known.
func (p *progress) set(what string, done, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.out == nil || total <= 0 {
		return
	}
	if p.bar == nil || p.what != what || p.bar.GetMax64() != total {
		p.clear()
		p.what, p.bar = what, progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(p.out), progressbar.OptionSetDescription(what), progressbar.OptionShowBytes(true),
			progressbar.OptionUseIECUnits(true), progressbar.OptionShowCount(), progressbar.OptionSetWidth(20),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	}
	_ = p.bar.Set64(min(done, total)) // a terminal that takes nothing is no reason to end the work
}

// say writes a line above the bar.
func (p *progress) say(out io.Writer, line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	_, _ = io.WriteString(out, line) // who closes the output still wants the work done
}

// close takes the bar away.
func (p *progress) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	p.out = nil
}

func (p *progress) clear() {
	if p.bar != nil && !p.bar.IsFinished() {
		_ = p.bar.Clear()
	}
	p.bar = nil
}

// lateWriter drops what comes too early.
type lateWriter struct {
	io.Writer
	from time.Time
}

func (w *lateWriter) Write(text []byte) (int, error) {
	if time.Now().Before(w.from) {
		return len(text), nil
	}
	return w.Writer.Write(text)
}
