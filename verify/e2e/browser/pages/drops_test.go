package pages

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e"
	"labshelf/verify/e2e/browser"
)

// newRequest creates a request link of a set, and returns its path and its id.
func newRequest(t *testing.T, s *browser.Site, setID string) (path, id string) {
	t.Helper()
	var made struct{ ID, Address string }
	if err := s.Call(t.Context(), "POST", "/links", map[string]string{"kind": "request", "setId": setID, "label": "Field notes"}, &made); err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(made.Address, s.Origin), made.ID
}

// digests returns the digests of the files uploaded through a link, by their names below its label
// and the date.
func digests(t *testing.T, s *browser.Site, setID string) (all map[string][]string) {
	t.Helper()
	all = map[string][]string{}
	_, err := s.Walk(t.Context(), s.Base()+"/sets/"+setID+"/resources", func(p e2e.Page) error {
		for _, r := range p.Data {
			if parts := strings.SplitN(r.Name, "/", 3); len(parts) == 3 {
				all[parts[2]] = append(all[parts[2]], r.SHA256)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// holdsOnce checks that exactly the files of a folder were uploaded through a link, each once and
// complete.
func holdsOnce(t *testing.T, s *browser.Site, setID, root string) {
	t.Helper()
	got, want := digests(t, s, setID), 0
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		want++
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(filepath.Dir(root), path) // path is always below the folder
		sum := sha256.Sum256(content)
		if there := got[filepath.ToSlash(name)]; !slices.Equal(there, []string{hex.EncodeToString(sum[:])}) {
			t.Errorf("%s was received with the digests %q", name, there)
		}
		return err
	})
	if err != nil || len(got) != want {
		t.Errorf("%d of %d files were received, %v", len(got), want, err)
	}
}

// asks records the requests of the page, and the headers of the answers.
func asks(v *browser.Visitor) (all func() string) {
	var mu sync.Mutex
	var text strings.Builder
	v.Listen(func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			fmt.Fprintln(&text, e.Request.Method, e.Request.URL)
		case *network.EventResponseReceived:
			fmt.Fprintln(&text, e.Response.Headers)
		}
	})
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		return text.String()
	}
}

// A visitor without an account uploads a folder of 300 files from a phone, while the service is
// killed and restarted. The page resumes automatically, and each file is stored once and complete.
// The page and its requests reveal no other content of the set.
func TestDropThroughLink(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid := s.NewSet(t)
	hidden := s.Put(t, sid, "secret plan.txt")
	files := map[string]int{"large.bin": 3 << 20, "deep/er/large.bin": 2 << 20}
	for i := range 298 {
		files[fmt.Sprintf("scan %03d.dat", i)] = 100 + i
	}
	root := browser.Folder(t, "run 7", files)
	path, _ := newRequest(t, s, sid)
	v := s.Visit(t)
	v.Expect("ERR_CONNECTION_REFUSED", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET", "ERR_CONNECTION_CLOSED", "ERR_SOCKET_NOT_CONNECTED", "ERR_CONNECTION_ABORTED")
	v.Expect("status of 409") // Chromium automatically repeats a request after a connection error
	v.Size(360, 740)
	asked := asks(v)
	v.At(path)
	v.Sees("Field notes", "Select files", "Select a folder", "curl -T")
	script := browser.Axe(t)
	looks(v, "drop-empty", script)
	v.Size(360, 740)
	v.Slow(1<<20, 40*time.Millisecond)
	v.Pick("Folder to send", root)
	v.Sees("of 300 files sent", "waiting")
	v.Shot("drop-sending-360")
	v.Until(`[...document.querySelectorAll("summary")].some((s) => parseInt(s.innerText) > 99 && s.innerText.includes("sent"))`)
	s.Kill()
	v.Sees("The connection is lost")
	looks(v, "drop-lost", script)
	v.Size(360, 740)
	s.Restart(t)
	v.Slow(-1, 0)
	v.Sees("All sent: 300 files")
	v.SeesNot("The connection is lost")
	looks(v, "drop-sent", script)
	holdsOnce(t, s, sid, root)
	page := browser.Get(v, chromedp.Evaluate[string](`document.documentElement.outerHTML`)) + asked()
	for _, secret := range append(hidden, did, sid, "secret plan", "/v1/") {
		if strings.Contains(page, secret) {
			t.Errorf("the page or an answer contains %q", secret)
		}
	}
	v.Until(`document.querySelector("[aria-live]").textContent === "All sent: 300 files."`)
	v.Until(`Object.keys(localStorage).every((key) => !key.startsWith("tus::"))`)
	v.Pick("Folder to send", root)
	v.Sees("300 files already sent from this browser, and left out")
	holdsOnce(t, s, sid, root)
}

// After a reload during the upload, selecting the same files again resumes them. After the link is
// revoked, the page reports it for each file.
func TestDropAfterReload(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	root := browser.Folder(t, "x", map[string]int{"large.bin": 48 << 20, "small.txt": 5})
	path, id := newRequest(t, s, sid)
	v := s.Visit(t)
	v.Expect("status of 410", "ERR_", "beforeunload")
	v.AnswerDialogs(true)
	v.At(path)
	v.Sees("Select files")
	sent := offsets(v)
	v.Slow(3<<20, 0)
	v.Pick("Folder to send", root)
	s.Arrives(t, 24<<20)                   // beyond the first checkpoint of the service
	v.Do(chromedp.Navigate("about:blank")) // ends all activity of the page
	v.Slow(-1, 0)
	v.At(path)
	v.Sees("Select files")
	v.Pick("Folder to send", root)
	v.Sees("All sent: 2 files", "1 file already sent")
	holdsOnce(t, s, sid, root)
	got := sent()
	slices.Sort(got)
	if len(got) != 3 || got[2] == "0" || got[1] != "0" {
		t.Errorf("the offsets of the chunks are %v", got)
	}
	s.Do(t, "DELETE", "/links/"+id, nil)
	other := browser.Folder(t, "y", map[string]int{"a.txt": 1, "b.txt": 2, "c.txt": 3, "d.txt": 4, "e.txt": 5, "f.txt": 6})
	v.Pick("Folder to send", other)
	v.Sees("6 files not sent", "this link has ended")
	v.Press("Try again")
	v.Sees("6 files not sent")
	v.Shot("drop-ended")
}

// The owner of a link sees a visitor's unfinished upload and ends it. It no longer uses space, and
// the visitor uploads the complete file again.
func TestEndUploadsOfLink(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	root := browser.Folder(t, "x", map[string]int{"large.bin": 48 << 20})
	path, id := newRequest(t, s, sid)
	v := s.Visit(t)
	v.Expect("ERR_", "beforeunload", "status of 404", "status of 410")
	v.AnswerDialogs(true)
	v.At(path)
	v.Sees("Select files")
	v.Slow(3<<20, 0)
	v.Pick("Folder to send", root)
	s.Arrives(t, 24<<20)
	v.Do(chromedp.Navigate("about:blank")) // ends all activity of the page
	v.Slow(-1, 0)

	owner := s.SignedIn(t, s.Key(), "/links")
	owner.Sees("Field notes", "1 unfinished upload, ")
	owner.Press("End uploads Field notes")
	owner.Sees("End the unfinished uploads?", "Complete files stay")
	looks(owner, "links-end-uploads", browser.Axe(t))
	owner.Size(1280, 800)
	owner.Press("Cancel")
	owner.Sees("1 unfinished upload, ")
	owner.Press("End uploads Field notes")
	owner.Submit()
	owner.SeesNot("unfinished upload")
	owner.Until(`![...document.querySelectorAll("button")].some((b) => b.textContent.startsWith("End uploads"))`)
	var link struct {
		State                              string
		UnfinishedUploads, UnfinishedBytes int64
	}
	if err := s.Call(t.Context(), "GET", "/links/"+id, nil, &link); err != nil || link.UnfinishedUploads != 0 || link.UnfinishedBytes != 0 || link.State != "active" {
		t.Errorf("the link has the state %+v, %v", link, err)
	}

	v.At(path)
	v.Sees("Select files")
	v.Pick("Folder to send", root)
	v.Sees("All sent: 1 file")
	holdsOnce(t, s, sid, root)
	owner.At("/links")
	owner.Sees("Field notes", "1 file")
	owner.SeesNot("unfinished upload")
}

// A visitor who exceeds the rate limit for uploads waits, and the page does not report a lost
// connection.
func TestDropIsThrottled(t *testing.T) {
	t.Parallel()
	s := browser.Open(t, "--anonymous-per-minute", "120")
	_, sid := s.NewSet(t)
	root, _ := browser.Many(t, 70)
	path, _ := newRequest(t, s, sid)
	v := s.Visit(t)
	v.Expect("status of 429")
	v.At(path)
	v.Sees("Select files")
	v.Pick("Folder to send", root)
	v.UntilNever(browser.Visible("All sent: 70 files"), browser.Visible("The connection is lost"))
	holdsOnce(t, s, sid, root)
}
