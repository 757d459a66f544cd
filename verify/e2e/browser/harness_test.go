// Package browser uses the built-in pages as a person does: in a real Chromium, against the real program, with real files. There is
// nothing here but tests. harness_test.go holds what they share.
package browser

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e"
)

// patience is how long a step may take: a click, or until something is there to be seen.
const patience = 2 * time.Minute

// program is labshelf, built once; browserContext is that of one browser for all tests, each of which gets a profile of its own.
var (
	program        string
	browserContext context.Context
	browserMissing error
)

func TestMain(m *testing.M) {
	// The tests wait more than they compute. The flag comes before those of the command line.
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	os.Exit(func() int {
		folder, err := os.MkdirTemp("", "labshelf-browser")
		if err != nil {
			panic(err)
		}
		defer func() { _ = os.RemoveAll(folder) }()
		if program, err = e2e.Build(context.Background(), folder); err != nil {
			panic(err)
		}
		var chromium string
		if chromium, browserMissing = findChromium(); browserMissing == nil {
			options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium),
				chromedp.Flag("disable-gpu", true), chromedp.Flag("disable-quic", true), chromedp.Flag("font-render-hinting", "none"))
			if os.Geteuid() == 0 {
				options = append(options, chromedp.NoSandbox) // Chromium refuses to sandbox for root
			}
			allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
			defer stop()
			var cancel context.CancelFunc
			browserContext, cancel = chromedp.NewContext(allocator)
			defer cancel()
			browserMissing = chromedp.Do(browserContext)
		}
		return m.Run()
	}())
}

func findChromium() (path string, err error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err = exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", err
}

// site is a service of its own, over a new data directory.
type site struct {
	*e2e.Service
	data   string
	origin string // such as http://127.0.0.1:1234
}

// open starts a service, which ends with the test.
func open(t *testing.T, flags ...string) *site {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "data"), flags...)
}

// openAt starts a service over a data directory, which ends with the test.
func openAt(t *testing.T, data string, flags ...string) *site {
	t.Helper()
	needBrowser(t)
	service, err := e2e.Start(context.WithoutCancel(t.Context()), program, data, flags...)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{Service: service, data: data, origin: strings.TrimSuffix(service.Base(), "/v1")}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// needBrowser skips the test where there is no browser to run it in; not in CI.
func needBrowser(t *testing.T) {
	t.Helper()
	if browserMissing == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("no Chromium: %v", browserMissing)
	}
	t.Skipf("no Chromium to look at pages with: %v", browserMissing)
}

// visitor is a person with a browser profile of their own. Whatever the pages do wrong meanwhile fails the test: an error in a
// script, a breach of the policy, a request to somewhere else.
type visitor struct {
	t      *testing.T
	ctx    context.Context
	origin string

	mu       sync.Mutex
	expected []string // what may be complained of
}

// visit opens a window of 1280 by 800 that shows nothing yet.
func (s *site) visit(t *testing.T) *visitor {
	t.Helper()
	v := &visitor{t: t, origin: s.origin}
	ctx, cancel := chromedp.NewContext(browserContext, chromedp.WithNewBrowserContext(), chromedp.WithListener(v.watch))
	t.Cleanup(cancel)
	v.ctx = ctx
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1280, 800)); err != nil { // the window lasts as long as this context
		t.Fatal(err)
	}
	return v
}

// expect lets the visitor see complaints that contain a text, such as "status of 403": browsers write refused requests to the console.
func (v *visitor) expect(texts ...string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.expected = append(v.expected, texts...)
}

// watch looks at what the browser tells while the pages run.
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
		if e.Entry.Level == log.EntryLevelError {
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
	for _, text := range append(v.expected, "status of 401") { // who is not signed in is told so
		if strings.Contains(what, text) {
			return
		}
	}
	v.t.Errorf("%s", what)
}

// do runs steps, within patience for all of them.
func (v *visitor) do(steps ...chromedp.Action[chromedp.Void]) {
	v.t.Helper()
	for _, step := range steps {
		if _, err := run(v, step); err != nil {
			v.fail(err)
		}
	}
}

// run runs one step within patience.
func run[T any](v *visitor, step chromedp.Action[T]) (T, error) {
	ctx, cancel := context.WithTimeout(v.ctx, patience)
	defer cancel()
	return chromedp.Run(ctx, step)
}

// get runs a step that brings something.
func get[T any](v *visitor, step chromedp.Action[T]) T {
	v.t.Helper()
	found, err := run(v, step)
	if err != nil {
		v.fail(err)
	}
	return found
}

// fail ends the test with what the page showed.
func (v *visitor) fail(err error) {
	v.t.Helper()
	shown, _ := run(v, chromedp.Evaluate[string](`location.pathname + "\n" + document.body.innerText`))
	v.shot("failed-" + strings.ReplaceAll(v.t.Name(), "/", "-"))
	v.t.Fatalf("%v; the page shows:\n%s", err, shown)
}

// at goes to a path, as by the address bar.
func (v *visitor) at(path string) {
	v.t.Helper()
	v.do(chromedp.Navigate(v.origin + path))
}

// signIn signs in with a key, on whatever page asks for it.
func (v *visitor) signIn(key string) {
	v.t.Helper()
	v.fill("Your API key", key)
	v.press("Sign in")
	v.sees("Sign out")
}

// sees waits until the page shows a text.
func (v *visitor) sees(texts ...string) {
	v.t.Helper()
	for _, text := range texts {
		v.until(fmt.Sprintf("document.body.innerText.includes(%q)", text))
	}
}

// seesNot waits until the page does not show a text.
func (v *visitor) seesNot(text string) {
	v.t.Helper()
	v.until(fmt.Sprintf("!document.body.innerText.includes(%q)", text))
}

// until waits until an expression is true.
func (v *visitor) until(expression string) {
	v.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		is, err := run(v, chromedp.Evaluate[bool]("!!("+expression+")"))
		if err == nil && is {
			return
		}
		if time.Now().After(deadline) {
			v.fail(fmt.Errorf("in vain waited for %s (%w)", expression, err))
		}
	}
}

// press presses the button with that label, with the mouse.
func (v *visitor) press(label string) {
	v.t.Helper()
	click(v, xpath("button", label))
}

// follow follows the link with that label, with the mouse.
func (v *visitor) follow(label string) {
	v.t.Helper()
	click(v, xpath("a", label))
}

// xpath finds the first element in sight that is called so, by what it says or by its aria-label.
func xpath(element, label string) chromedp.Search {
	quoted := `"` + label + `"`
	return chromedp.Search(fmt.Sprintf(`//%s[normalize-space()=%s or @aria-label=%s]`, element, quoted, quoted))
}

// field finds a control by its label.
func field(label string) chromedp.Search {
	return chromedp.Search(fmt.Sprintf(`//*[@id=//label[normalize-space()=%[1]q]/@for or @aria-label=%[1]q]`, label))
}

// fill types a text into the control with that label, in place of what is there.
func (v *visitor) fill(label, text string) {
	v.t.Helper()
	v.do(chromedp.Focus(field(label)), chromedp.Evaluate[chromedp.Void](`void document.activeElement.select()`), chromedp.SendKeys(field(label), text))
}

// shot takes pictures of the window, in light and in dark colours, to the folder that LABSHELF_SHOTS names, if it does.
func (v *visitor) shot(name string) {
	v.t.Helper()
	folder := os.Getenv("LABSHELF_SHOTS")
	if folder == "" {
		return
	}
	before := get(v, chromedp.Evaluate[string](`document.documentElement.dataset.theme ?? ""`))
	for _, theme := range []string{"dark", "light"} {
		v.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`void (document.documentElement.dataset.theme = %q)`, theme)))
		picture, err := run(v, chromedp.CaptureScreenshot())
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name+"-"+theme+".png"), picture, 0o600)
		}
		if err != nil {
			v.t.Error(err)
		}
	}
	v.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`void ((set) => %[1]q ? set.theme = %[1]q : delete set.theme)(document.documentElement.dataset)`, before)))
}
