package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/internal/servers"
)

// chromium is a browser. It is started when a test first needs it, and shared: each test uses a
// separate profile.
type chromium struct {
	names []string // names of its program, the best first
	once  sync.Once
	ctx   context.Context
	err   error // why it is missing
	stop  func()
}

// shell renders pages and runs their scripts like Chromium, but without its user interface, for
// less than half of the work. It treats all tabs of a window as visible, so tests with several tabs
// use whole. If the headless shell is not installed, shell uses Chromium.
var (
	shell = &chromium{names: []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}}
	whole = &chromium{names: shell.names[1:]}
)

// Need skips a test without Chromium; in CI it fails the test.
func Need(t *testing.T) {
	t.Helper()
	shell.need(t)
}

// need returns the context of the browser. Without Chromium it skips the test; in CI it fails the
// test.
func (b *chromium) need(t *testing.T) context.Context {
	t.Helper()
	b.once.Do(b.start)
	if b.err == nil {
		return b.ctx
	}
	servers.Missing(t, fmt.Errorf("no Chromium: %w", b.err))
	return nil
}

func (b *chromium) start() {
	var path string
	for _, name := range b.names {
		if path, b.err = exec.LookPath(name); b.err == nil {
			break
		}
	}
	if b.err != nil {
		return
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path),
		chromedp.Flag("disable-gpu", true), chromedp.Flag("disable-quic", true), chromedp.Flag("font-render-hinting", "none"),
		chromedp.Flag("force-prefers-reduced-motion", true)) // otherwise a waiting page draws frames continuously
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium refuses to sandbox for root
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	b.ctx, b.stop = ctx, func() {
		cancel()
		stop()
	}
	b.err = chromedp.Do(ctx)
}

// close ends the browser, if it was started.
func (b *chromium) close() {
	if b.stop != nil {
		b.stop()
	}
}
