package browser

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e"
)

// offsets notes where each piece of an upload began that the page has sent.
func (v *visitor) offsets() func() []string {
	v.t.Helper()
	var mu sync.Mutex
	var all []string
	err := chromedp.Listen(v.ctx, func(event any) {
		if e, is := event.(*network.EventRequestWillBeSent); is && e.Request.Method == "PATCH" {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, fmt.Sprint(e.Request.Headers["Upload-Offset"]))
		}
	})
	if err != nil {
		v.fail(err)
	}
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

// leaves lets the visitor go when the page asks them to stay.
func (v *visitor) leaves() {
	v.t.Helper()
	err := chromedp.Listen(v.ctx, func(event any) {
		if _, is := event.(*page.EventJavascriptDialogOpening); is {
			go func() {
				_, _ = chromedp.Call(v.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
			}()
		}
	})
	if err != nil {
		v.fail(err)
	}
}

// upload is a large file that somebody sends into an empty set.
type upload struct {
	*visitor
	site      *site
	set, path string
	sent      func() []string
}

// halfway is an upload of which half has come, over a slow line.
func halfway(t *testing.T) *upload {
	t.Helper()
	s := open(t)
	_, set := s.place(t)
	h := &upload{visitor: s.visit(t), site: s, set: set, path: filepath.Join(folder(t, "x", map[string]int{"large.bin": 48 << 20}), "large.bin")}
	h.expect("ERR_CONNECTION_REFUSED", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET", "ERR_CONNECTION_CLOSED", "ERR_SOCKET_NOT_CONNECTED", "ERR_CONNECTION_ABORTED")
	h.at("/sets/" + set)
	h.signIn(s.Key())
	h.sees("This set is empty")
	h.sent = h.offsets()
	h.slow(3<<20, 0)
	h.pick("Files to upload", h.path)
	h.submit()
	s.arrives(t, 24<<20) // longer than the service waits with a mark
	return h
}

// wentOn wants the file to be there, and its second piece to have begun where the first one ended.
func (h *upload) wentOn() {
	h.t.Helper()
	h.sees("All done", "1 sent")
	h.site.same(h.t, h.set, h.path)
	if got := h.sent(); len(got) != 2 || got[0] != "0" || got[1] == "0" {
		h.t.Errorf("pieces began at %v", got)
	}
}

// A large file goes on where it stopped by itself when the service comes back.
func TestLargeFileGoesOn(t *testing.T) {
	t.Parallel()
	h := halfway(t)
	h.site.Kill()
	h.site.again(t)
	h.slow(-1, 0)
	h.wentOn()
}

// answersFor lets somebody in between answer the first question how far an upload is.
func (v *visitor) answersFor(status int64) {
	v.t.Helper()
	var once sync.Once
	err := chromedp.Listen(v.ctx, func(event any) {
		e, is := event.(*fetch.EventRequestPaused)
		if !is {
			return
		}
		first := false
		if e.Request.Method == "HEAD" {
			once.Do(func() { first = true })
		}
		go func() {
			if first {
				_, _ = chromedp.Call(v.ctx, fetch.FulfillRequest, fetch.FulfillRequestParams{RequestID: e.RequestID, ResponseCode: status})
				return
			}
			_, _ = chromedp.Call(v.ctx, fetch.ContinueRequest, fetch.ContinueRequestParams{RequestID: e.RequestID})
		}()
	})
	if err != nil {
		v.fail(err)
	}
	patterns := []*fetch.RequestPattern{{URLPattern: "*/v1/uploads/*"}}
	if _, err := chromedp.Call(v.ctx, fetch.Enable, fetch.EnableParams{Patterns: patterns}); err != nil {
		v.fail(err)
	}
}

// Nor is it begun anew where a proxy answers for a service that is on its way.
func TestLargeFileBehindProxy(t *testing.T) {
	t.Parallel()
	h := halfway(t)
	h.expect("status of 502")
	h.answersFor(502)
	h.site.Kill()
	h.site.again(t)
	h.slow(-1, 0)
	h.wentOn()
}

// What a page has made that was closed before it heard of it does not count once it is deleted: the file is sent again.
func TestLargeFileMadeUnheard(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.place(t)
	path := filepath.Join(folder(t, "x", map[string]int{"large.bin": 17 << 20}), "large.bin")
	v := s.visit(t)
	v.at("/sets/" + sid)
	v.signIn(s.Key())
	v.sees("This set is empty")
	v.leaves()
	sent := v.offsets()
	answered := make(chan bool, 1)
	err := chromedp.Listen(v.ctx, func(event any) {
		if e, is := event.(*fetch.EventRequestPaused); is && e.Request.Method == "PATCH" {
			answered <- true // and the page never hears of it
		}
	})
	if err != nil {
		v.fail(err)
	}
	patterns := []*fetch.RequestPattern{{URLPattern: "*/v1/uploads/*", RequestStage: fetch.RequestStageResponse}}
	if _, err := chromedp.Call(v.ctx, fetch.Enable, fetch.EnableParams{Patterns: patterns}); err != nil {
		v.fail(err)
	}
	v.pick("Files to upload", path)
	v.submit()
	select {
	case <-answered:
	case <-time.After(patience):
		t.Fatal("the upload was not answered")
	}
	v.do(chromedp.Navigate("about:blank"))
	if _, err := chromedp.Call(v.ctx, fetch.Disable, cdp.Empty{}); err != nil {
		v.fail(err)
	}
	var page struct{ Data []struct{ ID string } }
	if err := s.Call(t.Context(), "GET", s.Base()+"/sets/"+sid+"/resources", nil, &page); err != nil || len(page.Data) != 1 {
		t.Fatalf("%v, %v", page, err)
	}
	s.call(t, "DELETE", "/resources/"+page.Data[0].ID, nil)
	v.at("/sets/" + sid)
	v.sees("This set is empty")
	v.pick("Files to upload", path)
	v.submit()
	v.sees("All done", "1 sent")
	s.same(t, sid, path)
	if got := sent(); !slices.Equal(got, []string{"0", "0"}) {
		t.Errorf("pieces began at %v", got)
	}
}

// It also goes on after the page was closed, once the same file is chosen again.
func TestLargeFileChosenAgain(t *testing.T) {
	t.Parallel()
	h := halfway(t)
	h.leaves()
	h.site.Kill()
	h.do(chromedp.Navigate("about:blank")) // all of the page goes, and what it was doing
	h.site.again(t)
	h.slow(-1, 0)
	h.at("/sets/" + h.set)
	h.sees("This set is empty")
	h.pick("Files to upload", h.path)
	h.submit()
	h.wentOn()
}

// same wants a set to hold one file, with the bytes of the one at path.
func (s *site) same(t *testing.T, set, path string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	var found []string
	_, err = s.Walk(t.Context(), s.Base()+"/sets/"+set+"/resources", func(p e2e.Page) error {
		for _, r := range p.Data {
			found = append(found, r.SHA256)
		}
		return nil
	})
	if err != nil || !slices.Equal(found, []string{hex.EncodeToString(sum[:])}) {
		t.Errorf("the set holds %v, %v", found, err)
	}
}

// arrives waits until so many bytes of a file that comes in parts are in the service's folder.
func (s *site) arrives(t *testing.T, bytes int64) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		files, err := filepath.Glob(filepath.Join(s.data, "parts", "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if info, err := os.Stat(file); err == nil && info.Size() >= bytes {
				return
			}
		}
	}
	t.Fatalf("%d bytes have not come", bytes)
}
