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

// listen calls a function for every event of the window. The function must not block.
func (v *visitor) listen(handle func(event any)) {
	v.t.Helper()
	if err := chromedp.Listen(v.ctx, handle); err != nil {
		v.fail(err)
	}
}

// answerDialogs accepts or dismisses the dialogs of the browser, and returns them.
func (v *visitor) answerDialogs(accept bool) <-chan *page.EventJavascriptDialogOpening {
	v.t.Helper()
	opened := make(chan *page.EventJavascriptDialogOpening, 100)
	v.listen(func(event any) {
		if e, is := event.(*page.EventJavascriptDialogOpening); is {
			opened <- e
			go func() {
				_, _ = chromedp.Call(v.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: accept})
			}()
		}
	})
	return opened
}

// outcome returns a function that waits for the end of the first request with a method, and returns
// whether it was cancelled; also where none has been sent by then.
func (v *visitor) outcome(method string) (cancelled func() bool) {
	v.t.Helper()
	var sent atomic.Bool
	var request network.RequestID
	ended := make(chan bool, 1)
	v.listen(func(event any) {
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
		v.t.Helper()
		if !sent.Load() {
			return true
		}
		select {
		case is := <-ended:
			return is
		case <-time.After(stepTimeout):
			v.fail(fmt.Errorf("no %s request has ended", method))
			return false
		}
	}
}

// slow limits uploads to that many bytes per second (-1: no limit) and delays each answer.
func (v *visitor) slow(bytes float64, wait time.Duration) {
	v.t.Helper()
	rule := &network.Conditions{URLPattern: "", Latency: float64(wait.Milliseconds()), DownloadThroughput: -1, UploadThroughput: bytes}
	_, err := chromedp.Call(v.ctx, network.EmulateNetworkConditionsByRule,
		network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{rule}})
	if err != nil {
		v.fail(err)
	}
}

// cut blocks requests to an address; "" unblocks all.
func (v *visitor) cut(address string) {
	v.t.Helper()
	var patterns []*network.BlockPattern
	if address != "" {
		patterns = append(patterns, &network.BlockPattern{URLPattern: address, Block: true})
	}
	if _, err := chromedp.Call(v.ctx, network.SetBlockedURLs, network.SetBlockedURLsParams{URLPatterns: patterns}); err != nil {
		v.fail(err)
	}
}

// answer answers the requests that chosen selects, of those with a URL like the pattern, with a
// status. chosen is called for one at a time.
func (v *visitor) answer(pattern string, status int64, chosen func(*network.Request) bool) {
	v.t.Helper()
	var mu sync.Mutex
	v.listen(func(event any) {
		e, is := event.(*fetch.EventRequestPaused)
		if !is {
			return
		}
		mu.Lock()
		selected := chosen(e.Request)
		mu.Unlock()
		go func() {
			if selected {
				_, _ = chromedp.Call(v.ctx, fetch.FulfillRequest, fetch.FulfillRequestParams{RequestID: e.RequestID, ResponseCode: status})
				return
			}
			_, _ = chromedp.Call(v.ctx, fetch.ContinueRequest, fetch.ContinueRequestParams{RequestID: e.RequestID})
		}()
	})
	patterns := []*fetch.RequestPattern{{URLPattern: pattern}}
	if _, err := chromedp.Call(v.ctx, fetch.Enable, fetch.EnableParams{Patterns: patterns}); err != nil {
		v.fail(err)
	}
}

// downloads returns a folder into which the window saves files.
func (v *visitor) downloads() string {
	v.t.Helper()
	folder := v.t.TempDir()
	if _, err := chromedp.CallBrowser(v.ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: folder,
		BrowserContextID: chromedp.FromContext(v.ctx).BrowserContextID}); err != nil {
		v.t.Fatal(err)
	}
	return folder
}
