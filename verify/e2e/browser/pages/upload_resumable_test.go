package pages

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// offsets records the offset of each chunk that the page sends.
func offsets(v *browser.Visitor) func() []string {
	v.T.Helper()
	var mu sync.Mutex
	var all []string
	v.Listen(func(event any) {
		if e, is := event.(*network.EventRequestWillBeSent); is && e.Request.Method == "PATCH" {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, fmt.Sprint(e.Request.Headers["Upload-Offset"]))
		}
	})
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

// upload is a resumable upload of a large file to an empty set.
type upload struct {
	*browser.Visitor
	site      *browser.Site
	set, path string
	sent      func() []string
}

// halfway starts an upload over a slow connection and waits until half of it is stored.
func halfway(t *testing.T) *upload {
	t.Helper()
	s := browser.Open(t)
	_, set := s.NewSet(t)
	h := &upload{Visitor: s.Visit(t), site: s, set: set, path: filepath.Join(browser.Folder(t, "x", map[string]int{"large.bin": 48 << 20}), "large.bin")}
	h.Expect("ERR_CONNECTION_REFUSED", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET", "ERR_CONNECTION_CLOSED", "ERR_SOCKET_NOT_CONNECTED", "ERR_CONNECTION_ABORTED")
	h.Expect("status of 409") // Chromium automatically repeats a request after a connection error, with the offset from before the restart
	h.At("/sets/" + set)
	h.SignIn(s.Key())
	h.Sees("This set is empty")
	h.sent = offsets(h.Visitor)
	h.Slow(3<<20, 0)
	h.Pick("Files to upload", h.path)
	h.Submit()
	s.Arrives(t, 24<<20) // beyond the first checkpoint of the service
	return h
}

// resumed checks that the upload has completed with two chunks, and that the second chunk resumed
// the first one.
func (h *upload) resumed() {
	h.T.Helper()
	h.Sees("All done", "1 sent")
	h.site.HoldsFile(h.T, h.set, h.path)
	if got := h.sent(); len(got) != 2 || got[0] != "0" || got[1] == "0" {
		h.T.Errorf("the offsets of the chunks are %v", got)
	}
}

// A resumable upload resumes automatically when the service restarts.
func TestResumeAfterRestart(t *testing.T) {
	t.Parallel()
	h := halfway(t)
	h.site.Kill()
	h.site.Restart(t)
	h.Slow(-1, 0)
	h.resumed()
}

// An error of a proxy during a restart of the service does not make the upload start again.
func TestResumeBehindProxy(t *testing.T) {
	t.Parallel()
	h := halfway(t)
	h.Expect("status of 502")
	heads := 0
	h.Answer("*/v1/uploads/*", 502, func(r *network.Request) bool { // like a proxy
		if r.Method == "HEAD" {
			heads++
		}
		return r.Method == "HEAD" && heads == 1
	})
	h.site.Kill()
	h.site.Restart(t)
	h.Slow(-1, 0)
	h.resumed()
}

// If the answer to a completed upload was lost, and the resource was deleted, the file is uploaded
// again.
func TestResumeAfterLostAnswer(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	path := filepath.Join(browser.Folder(t, "x", map[string]int{"large.bin": 17 << 20}), "large.bin")
	v := s.SignedIn(t, s.Key(), "/sets/"+sid)
	v.Sees("This set is empty")
	v.AnswerDialogs(true)
	sent := offsets(v)
	answered := make(chan bool, 1)
	v.Listen(func(event any) {
		if e, is := event.(*fetch.EventRequestPaused); is && e.Request.Method == "PATCH" {
			answered <- true // the answer is never delivered to the page
		}
	})
	patterns := []*fetch.RequestPattern{{URLPattern: "*/v1/uploads/*", RequestStage: fetch.RequestStageResponse}}
	if _, err := chromedp.Call(v.Context, fetch.Enable, fetch.EnableParams{Patterns: patterns}); err != nil {
		v.Fail(err)
	}
	v.Pick("Files to upload", path)
	v.Submit()
	select {
	case <-answered:
	case <-time.After(browser.StepTimeout):
		t.Fatal("the upload was not answered")
	}
	v.Do(chromedp.Navigate("about:blank"))
	if _, err := chromedp.Call(v.Context, fetch.Disable, cdp.Empty{}); err != nil {
		v.Fail(err)
	}
	var page struct{ Data []struct{ ID string } }
	if err := s.Call(t.Context(), "GET", s.Base()+"/sets/"+sid+"/resources", nil, &page); err != nil || len(page.Data) != 1 {
		t.Fatalf("%v, %v", page, err)
	}
	s.Do(t, "DELETE", "/resources/"+page.Data[0].ID, nil)
	v.At("/sets/" + sid)
	v.Sees("This set is empty")
	v.Pick("Files to upload", path)
	v.Submit()
	v.Sees("All done", "1 sent")
	s.HoldsFile(t, sid, path)
	if got := sent(); !slices.Equal(got, []string{"0", "0"}) {
		t.Errorf("the offsets of the chunks are %v", got)
	}
}

// An upload also resumes after the page was closed, when the user selects the same file again.
func TestResumeAfterReload(t *testing.T) {
	t.Parallel()
	h := halfway(t)
	h.AnswerDialogs(true)
	h.site.Kill()
	h.Do(chromedp.Navigate("about:blank")) // ends all activity of the page
	h.site.Restart(t)
	h.Slow(-1, 0)
	h.At("/sets/" + h.set)
	h.Sees("This set is empty")
	h.Pick("Files to upload", h.path)
	h.Submit()
	h.resumed()
}
