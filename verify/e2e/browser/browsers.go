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

// chromium is a browser. It is started when a test first needs it, and shared: each test has a
// profile of its own in it.
type chromium struct {
	names []string // of its program, the best first
	once  sync.Once
	ctx   context.Context
	err   error // why it is missing
	stop  func()
}

// shell renders pages and runs their scripts as Chromium does, without the user interface around
// them, for less than half of the work. To it all tabs of a window are visible: tests with several
// use whole. Where it is not installed, Chromium takes its place.
var (
	shell = &chromium{names: []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}}
	whole = &chromium{names: shell.names[1:]}
)

// Need skips a test where there is no Chromium; in CI it fails.
func Need(t *testing.T) {
	t.Helper()
	shell.need(t)
}

// need returns the context of the browser. It skips the test where there is none; in CI it fails.
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
		chromedp.Flag("force-prefers-reduced-motion", true)) // a page that waits draws frames all the time otherwise
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
