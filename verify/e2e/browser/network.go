package browser

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// Listen calls a function for every event of the window. The function must not block.
func (v *Visitor) Listen(handle func(event any)) {
	v.T.Helper()
	if err := chromedp.Listen(v.Context, handle); err != nil {
		v.Fail(err)
	}
}

// AnswerDialogs accepts or dismisses the dialogs of the browser, and returns them.
func (v *Visitor) AnswerDialogs(accept bool) <-chan *page.EventJavascriptDialogOpening {
	v.T.Helper()
	opened := make(chan *page.EventJavascriptDialogOpening, 100)
	v.Listen(func(event any) {
		if e, is := event.(*page.EventJavascriptDialogOpening); is {
			opened <- e
			go func() {
				_, _ = chromedp.Call(v.Context, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: accept})
			}()
		}
	})
	return opened
}

// Outcome returns a function that waits for the end of the first request with a method, and reports
// whether it was cancelled or never sent.
func (v *Visitor) Outcome(method string) (cancelled func() bool) {
	v.T.Helper()
	var sent atomic.Bool
	var request network.RequestID
	ended := make(chan bool, 1)
	v.Listen(func(event any) {
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if e.Request.Method == method && sent.CompareAndSwap(false, true) {
				request = e.RequestID
			}
		case *network.EventLoadingFinished:
			if sent.Load() && e.RequestID == request {
				ended <- false
			}
		case *network.EventLoadingFailed:
			if sent.Load() && e.RequestID == request {
				ended <- e.Canceled
			}
		}
	})
	return func() bool {
		v.T.Helper()
		if !sent.Load() {
			return true
		}
		select {
		case is := <-ended:
			return is
		case <-time.After(StepTimeout):
			v.Fail(fmt.Errorf("the %s request did not end", method))
			return false
		}
	}
}

// Slow limits uploads to the given bytes per second (-1: no limit) and delays each answer.
func (v *Visitor) Slow(bytes float64, wait time.Duration) {
	v.T.Helper()
	rule := &network.Conditions{URLPattern: "", Latency: float64(wait.Milliseconds()), DownloadThroughput: -1, UploadThroughput: bytes}
	_, err := chromedp.Call(v.Context, network.EmulateNetworkConditionsByRule,
		network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{rule}})
	if err != nil {
		v.Fail(err)
	}
}

// Cut blocks requests to a URL pattern; "" unblocks all requests.
func (v *Visitor) Cut(address string) {
	v.T.Helper()
	var patterns []*network.BlockPattern
	if address != "" {
		patterns = append(patterns, &network.BlockPattern{URLPattern: address, Block: true})
	}
	if _, err := chromedp.Call(v.Context, network.SetBlockedURLs, network.SetBlockedURLsParams{URLPatterns: patterns}); err != nil {
		v.Fail(err)
	}
}

// Answer answers requests with a status, if their URL matches the pattern and chosen returns true.
// chosen is called for one request at a time.
func (v *Visitor) Answer(pattern string, status int64, chosen func(*network.Request) bool) {
	v.T.Helper()
	var mu sync.Mutex
	v.Listen(func(event any) {
		e, is := event.(*fetch.EventRequestPaused)
		if !is {
			return
		}
		mu.Lock()
		selected := chosen(e.Request)
		mu.Unlock()
		go func() {
			if selected {
				_, _ = chromedp.Call(v.Context, fetch.FulfillRequest, fetch.FulfillRequestParams{RequestID: e.RequestID, ResponseCode: status})
				return
			}
			_, _ = chromedp.Call(v.Context, fetch.ContinueRequest, fetch.ContinueRequestParams{RequestID: e.RequestID})
		}()
	})
	patterns := []*fetch.RequestPattern{{URLPattern: pattern}}
	if _, err := chromedp.Call(v.Context, fetch.Enable, fetch.EnableParams{Patterns: patterns}); err != nil {
		v.Fail(err)
	}
}

// Downloads returns a folder in which the window saves files.
func (v *Visitor) Downloads() string {
	v.T.Helper()
	folder := v.T.TempDir()
	if _, err := chromedp.CallBrowser(v.Context, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: folder,
		BrowserContextID: chromedp.FromContext(v.Context).BrowserContextID}); err != nil {
		v.T.Fatal(err)
	}
	return folder
}
