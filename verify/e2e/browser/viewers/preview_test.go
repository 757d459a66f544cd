package viewers

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e"
	"labshelf/verify/e2e/browser"
)

// viewer is a visitor who opens files of one set. It records the requests for their content.
type viewer struct {
	*browser.Visitor
	site *browser.Site
	set  string

	reads sync.Mutex
	open  map[network.RequestID]string // pending requests
	asked []string                     // the addresses of all requests
	bytes int64                        // bytes received for them
}

// openViewer opens a service with one set, and signs in.
func openViewer(t *testing.T, flags ...string) *viewer {
	t.Helper()
	s := browser.Open(t, flags...)
	dataspace := s.Create(t, "/dataspaces", map[string]string{"name": "lab"})
	set := s.Create(t, "/sets", map[string]string{"name": "runs", "dataspaceId": dataspace})
	l := &viewer{Visitor: s.SignedIn(t, s.Key(), "/account"), site: s, set: set, open: map[network.RequestID]string{}}
	if err := chromedp.Listen(l.Context, l.count); err != nil {
		t.Fatal(err)
	}
	return l
}

// count records requests for the content of files.
func (l *viewer) count(event any) {
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

// fetched returns the received bytes and the requests since its last call.
func (l *viewer) fetched() (bytes int64, requests []string) {
	l.reads.Lock()
	defer l.reads.Unlock()
	bytes, requests = l.bytes, l.asked
	l.bytes, l.asked = 0, nil
	return bytes, requests
}

// idle waits until no content is being fetched and the rendered page fetches no more.
func (l *viewer) idle() {
	l.T.Helper()
	state := func() (open, asked int) {
		l.reads.Lock()
		defer l.reads.Unlock()
		return len(l.open), len(l.asked)
	}
	l.WaitFor(func() error {
		_, before := state()
		l.Rendered()
		if open, asked := state(); open > 0 || asked > before {
			return fmt.Errorf("%d requests are pending", open)
		}
		return nil
	})
}

// file uploads a file and opens its page.
func (l *viewer) file(name, content string) e2e.Resource {
	l.T.Helper()
	r := l.put(name, content)
	l.GoTo("/resources/" + r.ID)
	return r
}

func (l *viewer) put(name, content string) e2e.Resource {
	l.T.Helper()
	r, err := l.site.Upload(l.T.Context(), http.MethodPost, "/resources",
		e2e.File{SetID: l.set, Filename: name, Body: strings.NewReader(content), Size: int64(len(content))})
	if err != nil {
		l.T.Fatal(err)
	}
	return r
}

// shortTimeout reduces the limit of decoders from 20 s to 1 s, in all documents opened from now on.
func (l *viewer) shortTimeout() {
	l.T.Helper()
	l.BeforeScripts(`{
		const wait = window.setTimeout;
		window.setTimeout = (f, ms, ...rest) => wait(f, ms === 20_000 ? 1000 : ms, ...rest);
	}`)
}

// sample returns a file of the demo.
func sample(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile("../../../../cli/server/demo/files/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// shows waits for a preview of this kind, and for an element in it.
func (l *viewer) shows(kind, selector string) {
	l.T.Helper()
	l.Until(fmt.Sprintf(`document.querySelector('[data-preview=%q] %s')`, kind, selector))
}

// Each type of file in the demo has a preview.
func TestPreviewOfSamples(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
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
		l.Shots(c.file)
	}
}

// Text of an unknown type is shown as text. Files that do not match their type are shown as text or
// bytes, with the reason.
func TestPreviewFallsBack(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	for _, c := range []struct{ name, content, kind, selector, says string }{
		{"scan.pkl", "# angle counts\n10 5\n", "bytes", ".lines .text", "its bytes are text"},
		{"notes.dat", "These are notes of a run.\n", "table", ".lines .text", "not a valid table"},
		{"binary.dat", "begins as text\n\x00\x01\x02", "table", ".hex", "This is not plain text"},
		{"notes.txt", "begins as text\n" + strings.Repeat("x", 12000) + "\x00\x01\x02", "text", ".hex", "This is not plain text"},
		{"scan.h5", "\x89HDF\r\n\x1a\n" + strings.Repeat("\x00\xff", 2000), "bytes", ".hex", "this is an HDF5 file"},
		{"broken.png", "\x89PNG\r\n\x1a\n" + strings.Repeat("\x00\xff", 2000), "image", ".hex", "cannot show this image"},
		{"broken.json", `{"a": 1,`, "json", ".lines .text", "not valid JSON"},
		{"deep.json", strings.Repeat("[", 200000) + strings.Repeat("]", 200000), "json", ".lines .text", "not valid JSON"},
		{"exact.json", `{"id": 12345678901234567890, "x": 1.10}`, "json", ".tree", "12345678901234567890"},
		{"broken.ipynb", `{"cells": 3}`, "notebook", ".lines .text", "not a valid notebook"},
		{"deep.md", strings.Repeat("> ", 20000) + "x", "markdown", "*", ""},
	} {
		t.Log(c.name)
		l.file(c.name, c.content)
		l.shows(c.kind, c.selector)
		l.Sees(c.says)
		l.Sees("For programs") // the rest of the page is rendered
	}
}

// For types that programs send for any file, the pages show the file by its content.
func TestPreviewOfVagueTypes(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	prose, utf16 := "These are the notes of a run.\n", ""
	for _, r := range "\ufeff" + prose {
		utf16 += string([]byte{byte(r), byte(r >> 8)})
	}
	var cases []struct{ media, name, content, selector, says string }
	for _, media := range []string{"application/octet-stream", "application/vnd.ms-excel"} {
		for _, c := range []struct{ name, content, selector, says string }{
			{"notes.dat", prose, ".lines .text", "notes of a run"},
			{"columns.dat", "angle counts\n10 5\n20 7\n", ".cells [role=cell]", "angle"},
			{"latin.dat", "Messung bei 20 \xb0C in L\xfcbeck\n", ".lines .text", "20 °C in Lübeck"},
			{"wide.dat", utf16, ".lines .text", "notes of a run"},
			{"binary.dat", "\x00\x01\x02\xff" + prose, ".hex", ""},
		} {
			cases = append(cases, struct{ media, name, content, selector, says string }{media, c.name, c.content, c.selector, c.says})
		}
	}
	for _, media := range []string{"application/octet-stream", "application/vnd.ms-excel", "application/x-www-form-urlencoded",
		"application/x-download", "application/force-download", "application/binary", "binary/octet-stream"} {
		cases = append(cases, struct{ media, name, content, selector, says string }{media, "NOTES", prose, ".lines .text", "notes of a run"})
	}
	for _, c := range cases {
		t.Log(c.media, c.name)
		r, err := l.site.Upload(t.Context(), http.MethodPost, "/resources",
			e2e.File{SetID: l.set, Filename: c.name, Type: c.media, Body: strings.NewReader(c.content), Size: int64(len(c.content))})
		if err != nil {
			t.Fatal(err)
		}
		l.GoTo("/resources/" + r.ID)
		l.Until(fmt.Sprintf(`document.querySelector('[data-preview] %s')`, c.selector))
		l.Sees(c.says)
	}
}
