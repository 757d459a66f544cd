package browser

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// receiver takes the messages of webhooks, and tells of each.
func receiver(t *testing.T) (url string, messages <-chan string) {
	t.Helper()
	got := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // an incomplete message is not the one that is waited for
		_, _ = io.WriteString(w, "thanks <b>a lot</b>")
		got <- r.Header.Get("webhook-id") + " " + string(body)
	}))
	t.Cleanup(server.Close)
	return server.URL, got
}

// reloadUntil presses Reload until the page shows a text.
func (v *visitor) reloadUntil(text string) {
	v.t.Helper()
	v.until(fmt.Sprintf(`document.body.innerText.includes(%q) || [...document.querySelectorAll("button")].find((b) => b.innerText.trim() === "Reload")?.click()`, text))
}

// An admin makes a webhook, whose secret is shown once, gets a message about a change made in the
// pages, and repeats it.
func TestWebhookInPages(t *testing.T) {
	t.Parallel()
	s := open(t, "--webhook-hosts", "127.0.0.1")
	url, messages := receiver(t)
	did, _ := s.makeSet(t)
	script := axe(t)
	accessible := func(v *visitor) {
		v.t.Helper()
		v.loaded()
		for _, f := range v.audit(script) {
			t.Errorf("%s: %s: %s\n\t%s", f.Impact, f.ID, f.Help, f.Where)
		}
	}
	v := s.signedIn(t, s.person(t, "mara", "admin", did).key, "/dataspaces/"+did+"/history", "status of 400")
	v.follow("Webhooks")
	v.isAt("/webhooks")
	v.sees("No webhooks")
	v.press("New webhook")
	v.fill("URL", "https://10.1.2.3/hook")
	v.submit()
	v.sees("webhook_hosts")
	v.fill("URL", url)
	v.fill("Kinds", "dataspace.*, set.create")
	v.fill("Label", "pipeline")
	accessible(v)
	v.submit()
	v.sees("Secret of pipeline", "whsec_")
	v.press("I have stored it")
	v.seesNot("whsec_")
	v.sees("dataspace.* set.create", "active", url, "Laser lab")
	accessible(v)
	v.shots("webhooks")

	v.follow("Laser lab")
	v.press("New set")
	v.types("name", "runs-2027")
	v.submit()
	v.until(`!document.querySelector("dialog")`)
	first := <-messages
	if !strings.Contains(first, `"set.create"`) {
		t.Fatalf("the receiver got %s", first)
	}
	v.at("/webhooks")
	v.follow("Deliveries pipeline")
	v.reloadUntil("answer 200")
	v.sees("set.create", "delivered", "thanks <b>a lot</b>", "1 try")
	accessible(v)
	v.shots("webhook-deliveries")
	v.press("Repeat message 0")
	if again := <-messages; again != first {
		t.Errorf("repeated: %s\nbefore: %s", again, first)
	}
	v.sees("2 tries")

	v.at("/webhooks")
	v.press("Rotate secret pipeline")
	v.submit()
	v.sees("Secret of pipeline", "whsec_", "signed with the former secret, too")
	v.press("I have stored it")
	v.press("Change pipeline")
	v.fill("Label", "index")
	v.submit()
	v.press("Remove index")
	v.submit()
	v.sees("No webhooks")
}

// A webhook that its receiver ends is shown as paused, with the reason, and goes on when somebody
// says so.
func TestPausedWebhookInPages(t *testing.T) {
	t.Parallel()
	s := open(t, "--webhook-hosts", "127.0.0.1")
	called := make(chan struct{}, 100)
	var ended atomic.Bool
	gone := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if ended.CompareAndSwap(false, true) { // it takes what follows, of which the resumption is an entry, too
			w.WriteHeader(http.StatusGone)
		}
		called <- struct{}{}
	}))
	t.Cleanup(gone.Close)
	s.create(t, "/webhooks", map[string]string{"url": gone.URL, "label": "old"})
	s.makeSet(t)
	<-called
	v := s.signedIn(t, s.Key(), "/")
	v.follow("Webhooks")
	v.reloadUntil("rejected further messages (410)")
	v.press("Skip all old")
	v.submit()
	v.until(`!document.querySelector("dialog")`)
	v.press("Resume old")
	v.sees("active")
	v.seesNot("paused")
}
