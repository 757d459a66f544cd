package browser

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e"
)

// looker is a visitor who looks at files of one set.
type looker struct {
	*visitor
	site *site
	set  string

	reads sync.Mutex
	open  map[network.RequestID]string // requests for bytes of files that are under way
	asked []string                     // the addresses of those, in turn
	bytes int64                        // received of them
}

// look opens a service with one set, and signs in.
func look(t *testing.T, flags ...string) *looker {
	t.Helper()
	s := open(t, flags...)
	dataspace, err := s.Make(t.Context(), "/dataspaces", map[string]string{"name": "lab"})
	if err != nil {
		t.Fatal(err)
	}
	set, err := s.Make(t.Context(), "/sets", map[string]string{"name": "runs", "dataspaceId": dataspace})
	if err != nil {
		t.Fatal(err)
	}
	l := &looker{visitor: s.visit(t), site: s, set: set, open: map[network.RequestID]string{}}
	if err := chromedp.Listen(l.ctx, l.count); err != nil {
		t.Fatal(err)
	}
	l.at("/account")
	l.signIn(s.Key())
	return l
}

// count adds up what is fetched of files.
func (l *looker) count(event any) {
	l.reads.Lock()
	defer l.reads.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if strings.Contains(e.Request.URL, "/data") && strings.Contains(e.Request.URL, "/v1/resources/") {
			l.open[e.RequestID] = e.Request.URL
			l.asked = append(l.asked, e.Request.URL)
		}
	case *network.EventDataReceived:
		if l.open[e.RequestID] != "" {
			l.bytes += e.DataLength
		}
	case *network.EventLoadingFinished:
		delete(l.open, e.RequestID)
	case *network.EventLoadingFailed:
		delete(l.open, e.RequestID)
	}
}

// fetched returns how many bytes of files have come since it was called last, and starts anew.
func (l *looker) fetched() (bytes int64, requests []string) {
	l.reads.Lock()
	defer l.reads.Unlock()
	bytes, requests = l.bytes, l.asked
	l.bytes, l.asked = 0, nil
	return bytes, requests
}

// settled waits until nothing has been under way for a while.
func (l *looker) settled() {
	l.t.Helper()
	deadline := time.Now().Add(patience)
	for quiet := 0; quiet < 10; quiet++ {
		time.Sleep(30 * time.Millisecond)
		l.reads.Lock()
		if len(l.open) > 0 {
			quiet = 0
		}
		l.reads.Unlock()
		if time.Now().After(deadline) {
			l.fail(errors.New("something goes on being fetched"))
		}
	}
}

// file puts a file in and goes to its page.
func (l *looker) file(name, content string) e2e.Resource {
	l.t.Helper()
	r := l.put(name, content)
	l.at("/resources/" + r.ID)
	return r
}

func (l *looker) put(name, content string) e2e.Resource {
	l.t.Helper()
	r, err := l.site.Upload(l.t.Context(), http.MethodPost, "/resources",
		e2e.File{SetID: l.set, Filename: name, Body: strings.NewReader(content), Size: int64(len(content))})
	if err != nil {
		l.t.Fatal(err)
	}
	return r
}

// sample returns a file of the demo.
func sample(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile("../../../demo/files/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// shows waits for a preview of that kind, and for an element in it.
func (l *looker) shows(kind, selector string) {
	l.t.Helper()
	l.until(fmt.Sprintf(`document.querySelector('[data-preview=%q] %s')`, kind, selector))
}

// eventually waits for what no page shows.
func (l *looker) eventually(what string, is func() bool) {
	l.t.Helper()
	for deadline := time.Now().Add(patience); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			l.fail(errors.New("in vain waited until " + what))
		}
	}
}

// shots takes pictures in both colours, wide and narrow, and ends with a wide one in light.
func (l *looker) shots(name string) {
	l.t.Helper()
	if os.Getenv("LABSHELF_SHOTS") == "" {
		return
	}
	for _, width := range []int64{360, 1280} {
		l.do(chromedp.EmulateViewport(width, 800))
		for _, scheme := range []string{"dark", "light"} {
			l.until(fmt.Sprintf(`document.documentElement.dataset.theme = %q`, scheme))
			l.do(chromedp.Sleep(300 * time.Millisecond)) // pictures are for people; no test waits like this
			l.shot(fmt.Sprintf("preview-%s-%d-%s", name, width, scheme))
		}
	}
}

// Each kind of file that a lab keeps is shown as what it is.
func TestPreviewOfSamples(t *testing.T) {
	t.Parallel()
	l := look(t)
	for _, c := range []struct{ file, kind, selector string }{
		{"cells-40x.png", "image", "img"},
		{"analysis.py", "text", ".lines .text"},
		{"protocol.txt", "text", ".lines .text"},
		{"chamber-3.csv", "table", ".cells [role=cell]"},
		{"silicon-reference.tsv", "table", ".cells [role=cell]"},
		{"lifetime-rhodamine.csv", "table", ".cells [role=cell]"},
		{"instrument.json", "json", ".tree .leaf"},
		{"README.md", "markdown", ".markdown table"},
		{"ring-down.ipynb", "notebook", ".cell img"},
		{"bat-call-slowed.wav", "audio", "audio[controls]"},
		{"acceptance-D2.pdf", "pdf", "*"},
		{"lockin-trace.raw", "bytes", ".hex"},
	} {
		l.file(c.file, sample(t, c.file))
		l.shows(c.kind, c.selector)
		l.shots(c.file)
	}
}

// Text is shown as text whatever it is called; what turns out to be none is shown as bytes, in both cases with what it is.
func TestPreviewOfStrangers(t *testing.T) {
	t.Parallel()
	l := look(t)
	for _, c := range []struct{ name, content, kind, selector, says string }{
		{"scan.dat", "# angle counts\n10 5\n", "bytes", ".lines .text", "its bytes are text"},
		{"notes.txt", "begins as text\n" + strings.Repeat("x", 12000) + "\x00\x01\x02", "text", ".hex", "This is not only text"},
		{"scan.h5", "\x89HDF\r\n\x1a\n" + strings.Repeat("\x00\xff", 2000), "bytes", ".hex", "this is an HDF5 file"},
		{"broken.png", "\x89PNG\r\n\x1a\n" + strings.Repeat("\x00\xff", 2000), "image", ".hex", "cannot show this image"},
		{"broken.json", `{"a": 1,`, "json", ".lines .text", "no JSON that can be read"},
		{"deep.json", strings.Repeat("[", 200000) + strings.Repeat("]", 200000), "json", ".lines .text", "no JSON that can be read"},
		{"exact.json", `{"id": 12345678901234567890, "x": 1.10}`, "json", ".tree", "12345678901234567890"},
		{"broken.ipynb", `{"cells": 3}`, "notebook", ".lines .text", "no notebook that can be read"},
		{"deep.md", strings.Repeat("> ", 20000) + "x", "markdown", "*", ""},
	} {
		t.Log(c.name)
		l.file(c.name, c.content)
		l.shows(c.kind, c.selector)
		l.sees(c.says)
		l.sees("SHA-256") // the rest of the page stands
	}
}
