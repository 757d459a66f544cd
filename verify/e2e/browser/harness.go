// Package browser opens the pages of the real program in Chromium, for the tests of pages and
// viewers. It starts services and windows, performs the actions of users, and creates data.
package browser

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"labshelf/internal/testhome"
	"labshelf/verify/e2e"
)

// StepTimeout is the maximum duration of a step, such as a click that waits for its button.
const StepTimeout = 2 * time.Minute

// showTimeout returns the maximum time until a page shows its content. The larger sizes of
// docs/reference/long-runs.md need SHOW_TIMEOUT=10m.
func showTimeout() time.Duration {
	if limit, err := time.ParseDuration(os.Getenv("SHOW_TIMEOUT")); err == nil {
		return limit
	}
	return 40 * time.Second
}

// poll calls check until it succeeds, and returns its last error after showTimeout. Its pauses grow
// with the elapsed time, because each check costs time in the browser.
func poll(check func() error) error {
	for began := time.Now(); ; {
		err := check()
		passed := time.Since(began)
		if err == nil || passed > showTimeout() {
			return err
		}
		time.Sleep(min(10*time.Millisecond+passed/16, 100*time.Millisecond))
	}
}

// Program is labshelf, built once.
var Program string

// Main runs the tests of a package, and ends the process with their exit code.
func Main(m *testing.M) {
	// Tests often wait, and two packages run in parallel. Flags of the command line override this.
	if err := flag.Set("test.parallel", "3"); err != nil {
		panic(err)
	}
	os.Exit(func() int {
		defer func() { _ = testhome.Remove() }()
		folder, err := os.MkdirTemp("", "labshelf-browser")
		if err != nil {
			panic(err)
		}
		defer func() { _ = os.RemoveAll(folder) }()
		if Program, err = e2e.Build(context.Background(), folder); err != nil {
			panic(err)
		}
		defer shell.close()
		defer whole.close()
		defer func() {
			if err := closeBehind(); err != nil {
				panic(err)
			}
		}()
		return m.Run()
	}())
}

// Site is a running service with its data directory.
type Site struct {
	*e2e.Service
	t       *testing.T
	Data    string
	Origin  string // such as http://127.0.0.1:1234
	browser *chromium
}

// InTabs uses the complete browser, in which only the front tab of a window is visible.
func (s *Site) InTabs(t *testing.T) *Site {
	t.Helper()
	whole.need(t)
	s.browser = whole
	return s
}

// Open starts a service, which stops at the end of the test.
func Open(t *testing.T, flags ...string) *Site {
	t.Helper()
	if onCluster() {
		return openCluster(t, flags...)
	}
	return OpenAt(t, filepath.Join(t.TempDir(), "data"), flags...)
}

// OpenAt starts a service with a data directory. The service stops at the end of the test.
func OpenAt(t *testing.T, data string, flags ...string) *Site {
	t.Helper()
	OneNode(t)
	shell.need(t)
	service, err := e2e.Start(context.WithoutCancel(t.Context()), Program, data, flags...)
	if err != nil {
		t.Fatal(err)
	}
	s := &Site{Service: service, t: t, Data: data, Origin: strings.TrimSuffix(service.Base(), "/v1"), browser: shell}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// NewSite returns the site of a service that the test itself runs.
func NewSite(origin string) *Site { return &Site{Origin: origin, browser: shell} }

// Restart starts a stopped or killed service again, with the same data and address.
func (s *Site) Restart(t *testing.T, flags ...string) {
	t.Helper()
	address := strings.TrimPrefix(s.Origin, "http://")
	service, err := e2e.Start(context.WithoutCancel(t.Context()), Program, s.Data, append(flags, "--listen", address)...)
	if err != nil {
		t.Fatal(err)
	}
	s.Service = service
}

// Visitor is a browser window with a separate profile. The test fails if a script of the pages
// fails, if the browser reports a violation of the content security policy, or if a request goes to
// another origin.
type Visitor struct {
	T       *testing.T
	Context context.Context
	Origin  string
	browser *chromium
	plain   bool // scripts are off, so no listener can detect whether a click hit its target

	mu       sync.Mutex
	expected []string // ignored complaints
}

// Visit opens an empty window of 1280 by 800 pixels.
func (s *Site) Visit(t *testing.T) *Visitor {
	t.Helper()
	v := &Visitor{T: t, Origin: s.Origin, browser: s.browser}
	ctx, cancel := chromedp.NewContext(s.browser.need(t), chromedp.WithNewBrowserContext(), chromedp.WithListener(v.watch))
	t.Cleanup(cancel)
	v.Context = ctx
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1280, 800)); err != nil { // the window closes with this context
		t.Fatal(err)
	}
	return v
}

// Tab opens another tab with the same profile, in front of this one.
func (v *Visitor) Tab() *Visitor {
	v.T.Helper()
	if v.browser != whole {
		v.T.Fatal("a test with several tabs must call InTabs")
	}
	other := &Visitor{T: v.T, Origin: v.Origin, browser: v.browser, expected: v.expected}
	ctx, cancel := chromedp.NewContext(v.Context, chromedp.WithListener(other.watch), chromedp.WithNewWindow(false))
	v.T.Cleanup(cancel)
	other.Context = ctx
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1280, 800)); err != nil { // the tab closes with this context
		v.T.Fatal(err)
	}
	return other
}

// Window opens another tab with the same profile at a path.
func (v *Visitor) Window(path string) *Visitor {
	v.T.Helper()
	other := v.Tab()
	other.At(path)
	return other
}

// Front brings this tab to the front.
func (v *Visitor) Front() {
	v.T.Helper()
	params := target.ActivateTargetParams{TargetID: chromedp.FromContext(v.Context).Target.TargetID}
	if _, err := chromedp.Call(v.Context, target.ActivateTarget, params); err != nil {
		v.Fail(err)
	}
	v.Until(`document.visibilityState === "visible"`)
}

// Expect ignores complaints that contain one of the texts, such as "status of 403". Browsers report
// refused requests on the console.
func (v *Visitor) Expect(texts ...string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.expected = append(v.expected, texts...)
}

// watch converts events of the browser to complaints.
func (v *Visitor) watch(event any) {
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
		v.complain("a script failed: " + text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" {
			v.complain(fmt.Sprintf("a script logged: %v", e.Args))
		}
	case *log.EventEntryAdded:
		cut := strings.HasPrefix(e.Entry.Text, "Failed to load resource: net::ERR_") && strings.Contains(e.Entry.URL, "/v1/events")
		if e.Entry.Level == log.EntryLevelError && !cut { // the page reopens an event stream after the service has stopped
			v.complain("the browser reports: " + e.Entry.Text + " " + e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		address, err := url.Parse(e.Request.URL)
		if err != nil || address.Scheme+"://"+address.Host != v.Origin && address.Scheme != "blob" && address.Scheme != "data" {
			v.complain("a request leaves the origin: " + e.Request.URL)
		}
	}
}

func (v *Visitor) complain(what string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, text := range append(v.expected, "status of 401") { // the answer without a session
		if strings.Contains(what, text) {
			return
		}
	}
	v.T.Errorf("%s", what)
}

// Do runs steps, each within StepTimeout.
func (v *Visitor) Do(steps ...chromedp.Action[chromedp.Void]) {
	v.T.Helper()
	for _, step := range steps {
		if _, err := Run(v, step); err != nil {
			v.Fail(err)
		}
	}
}

// Run runs one step within StepTimeout.
func Run[T any](v *Visitor, step chromedp.Action[T]) (T, error) {
	ctx, cancel := context.WithTimeout(v.Context, StepTimeout)
	defer cancel()
	return chromedp.Run(ctx, step)
}

// Get runs a step and returns its result.
func Get[T any](v *Visitor, step chromedp.Action[T]) T {
	v.T.Helper()
	found, err := Run(v, step)
	if err != nil {
		v.Fail(err)
	}
	return found
}

// Fail ends the test. The message contains the text of the page.
func (v *Visitor) Fail(err error) {
	v.T.Helper()
	shown, _ := Run(v, chromedp.Evaluate[string](`location.pathname + "\n" + document.body.innerText`))
	v.Shot("failed-" + strings.ReplaceAll(v.T.Name(), "/", "-"))
	v.T.Fatalf("%v; the page shows:\n%s", err, shown)
}
