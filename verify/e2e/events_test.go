package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// place is the address of a service and a key for it.
type place struct{ base, key string }

// reader reads server-sent events according to their specification, without code of the product.
type reader struct {
	at   *atomic.Pointer[place]
	last string // id
	made chan string
}

// follow reconnects until ctx is done, and sends the ids of created resources to r.made. It returns
// an error if the stream violates its rules.
func (r *reader) follow(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := r.once(ctx); err != nil {
			return err
		}
		time.Sleep(10 * time.Millisecond) // a killed service needs time to start
	}
	return nil
}

// once reads one connection to its end.
func (r *reader) once(ctx context.Context) error {
	at := r.at.Load()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.base+"/events", nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", at.key)
	if r.last != "" {
		request.Header.Set("Last-Event-ID", r.last)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil
	}
	defer func() { _ = answer.Body.Close() }() // the connection was aborted
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", answer.StatusCode)
	}
	id, event, data := r.last, "", ""
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "id":
			id = value
		case "event":
			event = value
		case "data":
			data += value
		}
		if lines.Text() != "" {
			continue
		}
		if err := r.dispatch(id, event, data); err != nil {
			return err
		}
		event, data = "", ""
	}
	return nil
}

func (r *reader) dispatch(id, event, data string) error {
	before := r.last
	r.last = id
	if before == "" {
		r.made <- "begun"
	}
	if data == "" {
		return nil
	}
	var e struct {
		Kind   string
		Object struct{ ID string }
	}
	if err := json.Unmarshal([]byte(data), &e); err != nil || event != "change" {
		return fmt.Errorf("event %q with %s (%w)", event, data, err)
	}
	if number(id) <= number(before) {
		return fmt.Errorf("event %s comes after %s", id, before)
	}
	if e.Kind == "resource.create" {
		r.made <- e.Object.ID
	}
	return nil
}

// number returns the number of the entry in the id of an event.
func number(id string) uint64 {
	_, text, _ := strings.Cut(id, ".")
	n, _ := strconv.ParseUint(text, 10, 64)
	return n
}

// TestEventsThroughKills tests that a reader that reconnects receives each file once, in order,
// while the service is killed. EVENTS is the number of files.
func TestEventsThroughKills(t *testing.T) {
	t.Parallel()
	const perKill = 100
	size := 3 * perKill
	if text := os.Getenv("EVENTS"); text != "" {
		n, err := strconv.Atoi(text)
		check(t, err)
		size = n
	}
	path, err := program()
	check(t, err)
	data := filepath.Join(t.TempDir(), "data")
	start := func() *Service {
		service, err := Start(context.WithoutCancel(t.Context()), path, data)
		check(t, err)
		return service
	}
	service := start()
	defer func() { service.Kill() }()
	var at atomic.Pointer[place]
	at.Store(&place{service.Base(), service.Key()})
	_, set, err := service.MakeSet(t.Context(), "set")
	check(t, err)
	r := &reader{at: &at, made: make(chan string, size+1)}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.follow(ctx) }()
	next := func() string {
		select {
		case id := <-r.made:
			return id
		case err := <-ended:
			t.Fatal(err)
		case <-time.After(time.Minute):
			t.Fatal("no event was received within a minute")
		}
		return ""
	}
	next()
	var want, got []string
	for i := range size {
		text := fmt.Sprint(i)
		made, err := service.Upload(t.Context(), http.MethodPost, "/resources", File{SetID: set, Filename: text, Body: strings.NewReader(text), Size: int64(len(text))})
		check(t, err)
		if want = append(want, made.ID); i%perKill == perKill/2 {
			service.Kill()
			service = start()
			at.Store(&place{service.Base(), service.Key()})
		}
	}
	for range size {
		got = append(got, next())
	}
	cancel()
	check(t, <-ended)
	if !slices.Equal(got, want) || len(r.made) > 0 {
		t.Errorf("of %d files, %d were received, and %d further events; some are missing or in another order", len(want), len(got), len(r.made))
	}
}
