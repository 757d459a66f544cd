package pages

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// A sysadmin sees the status, and commands with the address of the service.
func TestServicePage(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	v := s.SignedIn(t, s.Key(), "/")
	v.Follow("Service")
	v.Sees("OK", "Reading and writing work.", "Damaged files", "none known", "Scrub", "Started",
		"labshelf check --server "+s.Base()+" --key-file my.key", "labshelf purge --older-than 90d --dry-run")
	v.Shots("service")

	// The page polls the status, so it shows a damaged file that another client detects.
	laser := browser.DataspaceWith(t, s, "laser", "Laser lab", 200_000)
	damage(t, s, laser.Files[0])
	v.Until(`[...document.querySelectorAll(".status-details .bad")].some((l) => l.innerText.trim() === "1 file")`)
}

// damage deletes the only blob from the disk and lets the service detect it.
func damage(t *testing.T, s *browser.Site, resourceID string) {
	t.Helper()
	browser.OneNode(t)
	blobs, err := filepath.Glob(filepath.Join(s.Data, "blobs", "??", "*"))
	if err != nil || len(blobs) != 1 {
		t.Fatalf("blobs %v, error %v", blobs, err)
	}
	if err := os.Remove(blobs[0]); err != nil {
		t.Fatal(err)
	}
	if err := s.Download(t.Context(), "/resources/"+resourceID+"/data", io.Discard); err == nil {
		t.Fatal("a file without its blob was downloaded")
	}
}

// The page waits for an answer that takes longer than the polling interval, and sends one request
// at a time.
func TestServicePageWaitsForSlowAnswer(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	laser := browser.DataspaceWith(t, s, "laser", "Laser lab", 200_000)
	v := s.SignedIn(t, s.Key(), "/service")
	v.Sees("Reading and writing work.", "none known")
	var mu sync.Mutex
	open := map[network.RequestID]bool{}
	asked, most := 0, 0
	v.Listen(func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if strings.HasSuffix(e.Request.URL, "/v1/status") {
				open[e.RequestID] = true
				asked++
			}
		case *network.EventLoadingFinished:
			delete(open, e.RequestID)
		}
		most = max(most, len(open))
	})
	v.Slow(-1, 6*time.Second)
	damage(t, s, laser.Files[0])
	v.Until(`[...document.querySelectorAll(".status-details .bad")].some((l) => l.innerText.trim() === "1 file")`)
	mu.Lock()
	defer mu.Unlock()
	if asked == 0 || most > 1 {
		t.Errorf("the page sent %d requests, %d of them in parallel", asked, most)
	}
}

// Errors are shown with instructions, and unknown fields are shown unformatted.
func TestServicePageShowsErrors(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	v := s.SignedIn(t, s.Key(), "/")
	// Only a failing disk causes this status, and only a later version has unknown fields.
	// Therefore the script changes the answer before the page receives it.
	v.Do(chromedp.Evaluate[chromedp.Void](`{
		const real = fetch;
		window.fetch = async (address, init) => {
			const answer = await real(address, init);
			if (!String(address).endsWith("/status")) return answer;
			const status = await answer.json();
			status.status = "READ-ONLY";
			Object.assign(status.detail, { readOnly: "sync: input/output error", damaged: 2, novelty: { depth: 7 } });
			status.detail.background = { "flushing inline files": "no space left on device" };
			return new Response(JSON.stringify(status), { status: 200 });
		};
	}`))
	v.Follow("Service")
	v.Sees("READ-ONLY", "Reading works, but changes are refused", "Restart the service, then run labshelf check.",
		"sync: input/output error", "2 files", "flushing inline files: no space left on device", "novelty.depth", "7")
	v.Shots("service-errors")
}

// Users who are not sysadmins see no link to the page. Its address shows that it is for sysadmins.
func TestServicePageIsForSysadmins(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	var mary struct{ ID string }
	if err := s.Call(t.Context(), http.MethodPost, "/users", map[string]string{"username": "mary"}, &mary); err != nil {
		t.Fatal(err)
	}
	var hers struct{ Key string }
	if err := s.Call(t.Context(), http.MethodPost, "/users/"+mary.ID+"/keys", nil, &hers); err != nil {
		t.Fatal(err)
	}
	v := s.SignedIn(t, hers.Key, "/service")
	v.Sees("This page is for sysadmins")
	v.SeesNot("Commands")
	v.Until(`![...document.querySelectorAll("nav a")].some((a) => a.innerText.trim() === "Service" || a.innerText.trim() === "Users")`)
}
