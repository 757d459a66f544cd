package faults

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"labshelf/verify/e2e"
)

// receiver receives the messages of one webhook. It fails with some of them at the first try, in
// its own way.
type receiver struct {
	name   string
	fail   func(w http.ResponseWriter, r *http.Request) // nil: it never fails
	often  uint64                                       // it fails with each message whose number is a multiple
	server *httptest.Server
	secret string
	first  uint64 // number of the first entry that it must receive

	mu      sync.Mutex
	seen    map[uint64]string // received id and body, by the number of the entry
	failed  map[uint64]bool
	next    uint64 // the entry after the last accepted one
	wrong   []string
	await   string // the id of the object of the last message
	arrived chan struct{}
	counts  struct{ messages, failures, again int64 }
}

// newReceivers returns a receiver without failures, and one for each kind of failure.
func newReceivers(often uint64) []*receiver {
	drop := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	stall := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	status := func(code int, header ...string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) {
			if len(header) > 0 {
				w.Header().Set(header[0], header[1])
			}
			w.WriteHeader(code)
		}
	}
	all := []*receiver{
		{name: "works"}, {name: "drops", fail: drop}, {name: "stalls", fail: stall}, {name: "answers 429", fail: status(429, "Retry-After", "6")},
		{name: "answers 500", fail: status(500)},
	}
	for _, r := range all {
		r.often, r.seen, r.failed, r.arrived = often, map[uint64]string{}, map[uint64]bool{}, make(chan struct{})
		r.server = httptest.NewServer(r)
	}
	return all
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return // the service was killed
	}
	if r.take(request.Header, body) {
		r.fail(w, request)
	}
}

// take records a message, and reports whether to fail with it.
func (r *receiver) take(header http.Header, body []byte) (fails bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var m struct {
		Data struct {
			Number uint64
			Object struct{ ID string }
		}
	}
	if err := json.Unmarshal(body, &m); err != nil || !r.verified(header, body) {
		r.wrong = append(r.wrong, fmt.Sprintf("a message without a valid signature: %s", body))
		return false
	}
	r.counts.messages++
	n, what := m.Data.Number, header.Get("webhook-id")+string(body)
	before, known := r.seen[n]
	switch {
	case known && before != what:
		r.wrong = append(r.wrong, fmt.Sprintf("entry %d was received as %s and as %s", n, before, what))
	case known:
		r.counts.again++
	case n != r.next:
		r.wrong = append(r.wrong, fmt.Sprintf("entry %d was received after %d", n, int64(r.next)-1))
	}
	r.seen[n] = what
	if r.fail != nil && n%r.often == 0 && !r.failed[n] {
		r.failed[n] = true
		r.counts.failures++
		return true
	}
	r.next = max(r.next, n+1)
	if r.await != "" && m.Data.Object.ID == r.await {
		r.await = ""
		close(r.arrived)
	}
	return false
}

// verified reports whether the signature is correct according to Standard Webhooks.
func (r *receiver) verified(header http.Header, body []byte) bool {
	secret, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(r.secret, "whsec_"))
	mac := hmac.New(sha256.New, secret)
	_, _ = fmt.Fprintf(mac, "%s.%s.%s", header.Get("webhook-id"), header.Get("webhook-timestamp"), body)
	at, malformed := strconv.ParseInt(header.Get("webhook-timestamp"), 10, 64)
	return err == nil && malformed == nil && time.Since(time.Unix(at, 0)).Abs() < 5*time.Minute &&
		slices.Contains(strings.Fields(header.Get("webhook-signature")), "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}

// expect sets the object of the last message, which may have arrived already.
func (r *receiver) expect(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for n, what := range r.seen {
		if strings.Contains(what, `"id":"`+id+`"`) && n < r.next {
			close(r.arrived)
			return
		}
	}
	r.await = id
}

const (
	leastOften = 50               // each failure costs a pause of the schedule
	killEvery  = 50               // number of changes between two kills
	webhookEnd = 10 * time.Minute // maximum wait for the messages that remain after the last change
)

// webhooks makes changes while the service is killed repeatedly, and compares the messages of
// receivers that fail in every way.
func webhooks(ctx context.Context, t *trial) (err error) {
	program, err := t.build(ctx)
	if err != nil {
		return err
	}
	data := filepath.Join(t.dir, "data")
	start := func() (*e2e.Service, error) { return e2e.Start(ctx, program, data, "--webhook-hosts", "127.0.0.1") }
	service, err := start()
	if err != nil {
		return err
	}
	defer func() { service.Kill() }()
	receivers := newReceivers(uint64(max(leastOften, min(t.size/4, 1000))))
	defer func() {
		for _, r := range receivers {
			r.server.CloseClientConnections()
			r.server.Close()
		}
	}()
	_, set, err := service.MakeSet(ctx, "set")
	if err != nil {
		return err
	}
	for _, r := range receivers {
		if err := r.register(ctx, service); err != nil {
			return err
		}
	}
	last, random, kills := "", t.random(0), 0
	for i := range t.units(ctx, t.size) {
		text := fmt.Sprint(i)
		made, err := service.Upload(ctx, http.MethodPost, "/resources", e2e.File{SetID: set, Filename: text, Body: strings.NewReader(text), Size: int64(len(text))})
		if err != nil {
			return err
		}
		if last = made.ID; i%killEvery == killEvery-1 || t.size < killEvery && i == t.size/2 {
			time.Sleep(time.Duration(random.IntN(20)) * time.Millisecond) // at any time between two changes
			service.Kill()
			kills++
			if service, err = start(); err != nil {
				return err
			}
		}
	}
	t.add("kills", int64(kills))
	return concludeWebhooks(ctx, t, receivers, last)
}

// register creates the webhook of a receiver.
func (r *receiver) register(ctx context.Context, s *e2e.Service) error {
	r.mu.Lock() // a message may come before the answer
	defer r.mu.Unlock()
	var made struct {
		Secret   string
		Position uint64
	}
	if err := s.Call(ctx, http.MethodPost, "/webhooks", map[string]string{"url": r.server.URL}, &made); err != nil {
		return err
	}
	r.secret, r.first, r.next = made.Secret, made.Position, made.Position
	return nil
}

// concludeWebhooks waits until the receivers have received the last change, and compares the
// messages.
func concludeWebhooks(ctx context.Context, t *trial, receivers []*receiver, last string) error {
	limit := time.After(webhookEnd)
	for _, r := range receivers {
		r.expect(last)
		select {
		case <-r.arrived:
		case <-limit:
			return violated(nil, "the receiver that %s has not received the last change; its next entry is %d", r.name, r.next)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	lost := int64(0)
	for _, r := range receivers {
		r.mu.Lock()
		defer r.mu.Unlock()
		for n := r.first; n < r.next; n++ {
			if r.seen[n] == "" {
				lost++
			}
		}
		t.add("messages", r.counts.messages)
		t.add("failures", r.counts.failures)
		t.add("came again", r.counts.again)
		t.add("out of order or changed", int64(len(r.wrong)))
		if len(r.wrong) > 0 {
			return violated(nil, "the receiver that %s: %s", r.name, strings.Join(r.wrong, "; "))
		}
	}
	if t.add("lost", lost); lost > 0 {
		return violated(nil, "%d messages were lost", lost)
	}
	return nil
}
