package browser

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
)

// A sysadmin sees how the service is, now and after it has come back, with commands that are filled in.
func TestServicePage(t *testing.T) {
	t.Parallel()
	s := open(t)
	v := s.visit(t)
	v.at("/")
	v.signIn(s.Key())
	v.follow("Service")
	v.sees("OK", "It reads and writes.", "Damaged files", "none known", "Reading all files", "Started",
		"labshelf check --server "+s.Base()+" --key-file my.key", "labshelf purge --older-than 90d --dry-run")
	pictures(v, "service")

	// It looks again by itself: somebody finds that a file is gone.
	laser := holding(t, s, "laser", "Laser lab", 200_000)
	damage(t, s, laser.files[0])
	v.until(`[...document.querySelectorAll(".told .bad")].some((l) => l.innerText.trim() === "1 file")`)
}

// damage takes the only blob off the disk, and has the service find out.
func damage(t *testing.T, s *site, resourceID string) {
	t.Helper()
	blobs, err := filepath.Glob(filepath.Join(s.data, "blobs", "??", "*"))
	if err != nil || len(blobs) != 1 {
		t.Fatalf("blobs %v, error %v", blobs, err)
	}
	if err := os.Remove(blobs[0]); err != nil {
		t.Fatal(err)
	}
	if err := s.Download(t.Context(), "/resources/"+resourceID+"/data", io.Discard); err == nil {
		t.Fatal("a file that is gone was downloaded")
	}
}

// An answer that takes longer than the time between two looks is waited for, and shown; nothing is asked meanwhile.
func TestServicePageOfASlowService(t *testing.T) {
	t.Parallel()
	s := open(t)
	laser := holding(t, s, "laser", "Laser lab", 200_000)
	v := s.visit(t)
	v.at("/service")
	v.signIn(s.Key())
	v.sees("It reads and writes.", "none known")
	var mu sync.Mutex
	open := map[network.RequestID]bool{}
	asked, most := 0, 0
	err := chromedp.Listen(v.ctx, func(event any) {
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
	if err != nil {
		t.Fatal(err)
	}
	v.slow(-1, 6*time.Second)
	damage(t, s, laser.files[0])
	v.until(`[...document.querySelectorAll(".told .bad")].some((l) => l.innerText.trim() === "1 file")`)
	mu.Lock()
	defer mu.Unlock()
	if asked == 0 || most > 1 {
		t.Errorf("it asked %d times, and %d times at once", asked, most)
	}
}

// What is wrong is told with what to do about it, and what this page does not know is shown as it comes.
func TestServicePageInTrouble(t *testing.T) {
	t.Parallel()
	s := open(t)
	v := s.visit(t)
	v.at("/")
	v.signIn(s.Key())
	// Only a failing disk brings this status, and only a later service what this page does not know: so the real answer is
	// changed on its way to the page.
	v.do(chromedp.Evaluate[chromedp.Void](`{
		const real = fetch;
		window.fetch = async (address, init) => {
			const answer = await real(address, init);
			if (!String(address).endsWith("/status")) return answer;
			const status = await answer.json();
			status.status = "READ-ONLY";
			Object.assign(status.detail, { readOnly: "sync: input/output error", damaged: 2, novelty: { depth: 7 } });
			status.detail.background = { "moving small files out of the metadata": "no space left on device" };
			return new Response(JSON.stringify(status), { status: 200 });
		};
	}`))
	v.follow("Service")
	v.sees("READ-ONLY", "Reading goes on; changes are refused", "Restart the service, then run labshelf check.",
		"sync: input/output error", "2 files", "moving small files out of the metadata: no space left on device", "novelty.depth", "7")
	pictures(v, "service-trouble")
}

// Users that are not sysadmins find no way to the page, and are told whom it is for when they go there by hand.
func TestServicePageIsForSysadmins(t *testing.T) {
	t.Parallel()
	s := open(t)
	var mary struct{ ID string }
	if err := s.Call(t.Context(), http.MethodPost, "/users", map[string]string{"username": "mary"}, &mary); err != nil {
		t.Fatal(err)
	}
	var hers struct{ Key string }
	if err := s.Call(t.Context(), http.MethodPost, "/users/"+mary.ID+"/keys", nil, &hers); err != nil {
		t.Fatal(err)
	}
	v := s.visit(t)
	v.at("/service")
	v.signIn(hers.Key)
	v.sees("This page is for sysadmins")
	v.seesNot("From a terminal")
	v.until(`![...document.querySelectorAll("nav a")].some((a) => a.innerText.trim() === "Service" || a.innerText.trim() === "Users")`)
}
