// Package browser tests the pages in Chromium, against the real program and with real files. It
// contains only tests: harness_test.go starts services and windows, visitor_test.go has what a user
// does and sees, fixtures_test.go the data.
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

// stepTimeout is how long a step may take: a click, or until the page shows something.
const stepTimeout = 2 * time.Minute

// poll calls check until it succeeds, and returns its last error after stepTimeout. Its pauses grow
// with the time that has passed: each check costs the browser something.
func poll(check func() error) error {
	for began := time.Now(); ; {
		err := check()
		passed := time.Since(began)
		if err == nil || passed > stepTimeout {
			return err
		}
		time.Sleep(min(10*time.Millisecond+passed/16, 100*time.Millisecond))
	}
}

// program is labshelf, built once.
var program string

func TestMain(m *testing.M) {
	// The tests mostly wait. Flags of the command line override this one.
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	os.Exit(func() int {
		defer func() { _ = testhome.Remove() }()
		folder, err := os.MkdirTemp("", "labshelf-browser")
		if err != nil {
			panic(err)
		}
		defer func() { _ = os.RemoveAll(folder) }()
		if program, err = e2e.Build(context.Background(), folder); err != nil {
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

// site is a running service with its data directory.
type site struct {
	*e2e.Service
	t       *testing.T
	data    string
	origin  string // such as http://127.0.0.1:1234
	browser *chromium
}

// inTabs has windows opened in the whole browser, where of the tabs of a window only the front one
// is visible.
func (s *site) inTabs(t *testing.T) *site {
	t.Helper()
	whole.need(t)
	s.browser = whole
	return s
}

// open starts a service, which ends with the test.
func open(t *testing.T, flags ...string) *site {
	t.Helper()
	if onCluster() {
		return openCluster(t, flags...)
	}
	return openAt(t, filepath.Join(t.TempDir(), "data"), flags...)
}

// openAt starts a service over a data directory, which ends with the test.
func openAt(t *testing.T, data string, flags ...string) *site {
	t.Helper()
	oneNode(t)
	shell.need(t)
	service, err := e2e.Start(context.WithoutCancel(t.Context()), program, data, flags...)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{Service: service, t: t, data: data, origin: strings.TrimSuffix(service.Base(), "/v1"), browser: shell}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// restart starts a stopped or killed service again, with the same data and address.
func (s *site) restart(t *testing.T, flags ...string) {
	t.Helper()
	address := strings.TrimPrefix(s.origin, "http://")
	service, err := e2e.Start(context.WithoutCancel(t.Context()), program, s.data, append(flags, "--listen", address)...)
	if err != nil {
		t.Fatal(err)
	}
	s.Service = service
}

// visitor is a browser window with a profile of its own. The test fails if a script of the pages
// fails, if the browser reports a violation of the content security policy, or if a request goes to
// another origin.
type visitor struct {
	t       *testing.T
	ctx     context.Context
	origin  string
	browser *chromium
	plain   bool // scripts are off, so that no listener says whether a click met what it was for

	mu       sync.Mutex
	expected []string // complaints that are ignored
}

// visit opens an empty window of 1280 by 800 pixels.
func (s *site) visit(t *testing.T) *visitor {
	t.Helper()
	v := &visitor{t: t, origin: s.origin, browser: s.browser}
	ctx, cancel := chromedp.NewContext(s.browser.need(t), chromedp.WithNewBrowserContext(), chromedp.WithListener(v.watch))
	t.Cleanup(cancel)
	v.ctx = ctx
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1280, 800)); err != nil { // the window lasts as long as this context
		t.Fatal(err)
	}
	return v
}

// tab opens another tab with the same profile, in front of this one.
func (v *visitor) tab() *visitor {
	v.t.Helper()
	if v.browser != whole {
		v.t.Fatal("a test with several tabs wants inTabs")
	}
	other := &visitor{t: v.t, origin: v.origin, browser: v.browser, expected: v.expected}
	ctx, cancel := chromedp.NewContext(v.ctx, chromedp.WithListener(other.watch), chromedp.WithNewWindow(false))
	v.t.Cleanup(cancel)
	other.ctx = ctx
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1280, 800)); err != nil { // the tab lasts as long as this context
		v.t.Fatal(err)
	}
	return other
}

// window opens another tab with the same profile at a path.
func (v *visitor) window(path string) *visitor {
	v.t.Helper()
	other := v.tab()
	other.at(path)
	return other
}

// front brings this tab to the front.
func (v *visitor) front() {
	v.t.Helper()
	params := target.ActivateTargetParams{TargetID: chromedp.FromContext(v.ctx).Target.TargetID}
	if _, err := chromedp.Call(v.ctx, target.ActivateTarget, params); err != nil {
		v.fail(err)
	}
	v.until(`document.visibilityState === "visible"`)
}

// expect ignores complaints that contain a text, such as "status of 403": browsers report refused
// requests on the console.
func (v *visitor) expect(texts ...string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.expected = append(v.expected, texts...)
}

// watch turns events of the browser into complaints.
func (v *visitor) watch(event any) {
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
		v.complain("a script failed: " + text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" {
			v.complain(fmt.Sprintf("a script says: %v", e.Args))
		}
	case *log.EventEntryAdded:
		cut := strings.HasPrefix(e.Entry.Text, "Failed to load resource: net::ERR_") && strings.Contains(e.Entry.URL, "/v1/events")
		if e.Entry.Level == log.EntryLevelError && !cut { // a stream of events that a service has left behind is connected again
			v.complain("the browser says: " + e.Entry.Text + " " + e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		address, err := url.Parse(e.Request.URL)
		if err != nil || address.Scheme+"://"+address.Host != v.origin && address.Scheme != "blob" && address.Scheme != "data" {
			v.complain("a request leaves the origin: " + e.Request.URL)
		}
	}
}

func (v *visitor) complain(what string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, text := range append(v.expected, "status of 401") { // the answer without a session
		if strings.Contains(what, text) {
			return
		}
	}
	v.t.Errorf("%s", what)
}

// do runs steps, each within stepTimeout.
func (v *visitor) do(steps ...chromedp.Action[chromedp.Void]) {
	v.t.Helper()
	for _, step := range steps {
		if _, err := run(v, step); err != nil {
			v.fail(err)
		}
	}
}

// run runs one step within stepTimeout.
func run[T any](v *visitor, step chromedp.Action[T]) (T, error) {
	ctx, cancel := context.WithTimeout(v.ctx, stepTimeout)
	defer cancel()
	return chromedp.Run(ctx, step)
}

// get runs a step and returns its result.
func get[T any](v *visitor, step chromedp.Action[T]) T {
	v.t.Helper()
	found, err := run(v, step)
	if err != nil {
		v.fail(err)
	}
	return found
}

// fail ends the test with the text of the page.
func (v *visitor) fail(err error) {
	v.t.Helper()
	shown, _ := run(v, chromedp.Evaluate[string](`location.pathname + "\n" + document.body.innerText`))
	v.shot("failed-" + strings.ReplaceAll(v.t.Name(), "/", "-"))
	v.t.Fatalf("%v; the page shows:\n%s", err, shown)
}
