package pages

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"labshelf/verify/e2e/browser"
)

// receiver starts a receiver of webhook messages, and passes them to messages.
func receiver(t *testing.T) (url string, messages <-chan string) {
	t.Helper()
	got := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // the test waits for a complete message
		_, _ = io.WriteString(w, "thanks <b>a lot</b>")
		got <- r.Header.Get("webhook-id") + " " + string(body)
	}))
	t.Cleanup(server.Close)
	return server.URL, got
}

// reloadUntil presses Reload until the page shows a text.
func reloadUntil(v *browser.Visitor, text string) {
	v.T.Helper()
	v.Until(fmt.Sprintf(`document.body.innerText.includes(%q) || [...document.querySelectorAll("button")].find((b) => b.innerText.trim() === "Reload")?.click()`, text))
}

// An admin creates a webhook, whose secret is shown once, receives a message about a change made in
// the pages, and repeats it.
func TestWebhookInPages(t *testing.T) {
	t.Parallel()
	s := browser.Open(t, "--webhook-hosts", "127.0.0.1")
	url, messages := receiver(t)
	did, _ := s.NewSet(t)
	script := browser.Axe(t)
	accessible := func(v *browser.Visitor) {
		v.T.Helper()
		v.Loaded()
		for _, f := range v.Audit(script) {
			t.Errorf("%s: %s: %s\n\t%s", f.Impact, f.ID, f.Help, f.Where)
		}
	}
	v := s.SignedIn(t, s.Person(t, "mara", "admin", did).Key, "/dataspaces/"+did+"/history", "status of 400")
	v.Follow("Webhooks")
	v.IsAt("/webhooks")
	v.Sees("No webhooks")
	v.Press("New webhook")
	v.Fill("URL", "https://10.1.2.3/hook")
	v.Submit()
	v.Sees("webhook_hosts")
	v.Fill("URL", url)
	v.Fill("Kinds", "dataspace.*, set.create")
	v.Fill("Label", "pipeline")
	accessible(v)
	v.Submit()
	v.Sees("Secret of pipeline", "whsec_")
	v.Press("I have stored it")
	v.SeesNot("whsec_")
	v.Sees("dataspace.* set.create", "active", url, "Laser lab")
	accessible(v)
	v.Shots("webhooks")

	v.Follow("Laser lab")
	v.Press("New set")
	v.Types("name", "runs-2027")
	v.Submit()
	v.Until(`!document.querySelector("dialog")`)
	first := <-messages
	if !strings.Contains(first, `"set.create"`) {
		t.Fatalf("the receiver received %s", first)
	}
	v.At("/webhooks")
	v.Follow("Deliveries pipeline")
	reloadUntil(v, "answer 200")
	v.Sees("set.create", "delivered", "thanks <b>a lot</b>", "1 try")
	accessible(v)
	v.Shots("webhook-deliveries")
	v.Press("Repeat message 0")
	if again := <-messages; again != first {
		t.Errorf("the repeated message is %s\nwant %s", again, first)
	}
	v.Sees("2 tries")

	v.At("/webhooks")
	v.Press("Rotate secret pipeline")
	v.Submit()
	v.Sees("Secret of pipeline", "whsec_", "signed with the former secret, too")
	v.Press("I have stored it")
	v.Press("Change pipeline")
	v.Fill("Label", "index")
	v.Submit()
	v.Press("Remove index")
	v.Submit()
	v.Sees("No webhooks")
}

// A webhook that its receiver rejects is shown as paused, with the reason, until a user resumes it.
func TestPausedWebhookInPages(t *testing.T) {
	t.Parallel()
	s := browser.Open(t, "--webhook-hosts", "127.0.0.1")
	called := make(chan struct{}, 100)
	var ended atomic.Bool
	gone := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if ended.CompareAndSwap(false, true) { // the receiver accepts later messages, which include the entry of the resumption
			w.WriteHeader(http.StatusGone)
		}
		called <- struct{}{}
	}))
	t.Cleanup(gone.Close)
	s.Create(t, "/webhooks", map[string]string{"url": gone.URL, "label": "old"})
	s.NewSet(t)
	<-called
	v := s.SignedIn(t, s.Key(), "/")
	v.Follow("Webhooks")
	reloadUntil(v, "rejected further messages (410)")
	v.Press("Skip all old")
	v.Submit()
	v.Until(`!document.querySelector("dialog")`)
	v.Press("Resume old")
	v.Sees("active")
	v.SeesNot("paused")
}
