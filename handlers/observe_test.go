package handlers_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"labshelf/handlers"
	"labshelf/metadata"
	"labshelf/repository"
)

// observer keeps what it hears.
type observer struct {
	mu    sync.Mutex
	heard []handlers.Observation
}

func (o *observer) hear(one handlers.Observation) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.heard = append(o.heard, one)
}

// last returns what was heard of the only request since the last call.
func (o *observer) last(t *testing.T) (one handlers.Observation) {
	t.Helper()
	eventually(t, "the request is over", func() bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		if len(o.heard) == 0 {
			return false
		}
		if len(o.heard) > 1 {
			t.Errorf("heard of %+v instead of one request", o.heard)
		}
		one, o.heard = o.heard[0], nil
		return true
	})
	return one
}

// TestObserve: what is told of a request names its route and never its address, and counts the bytes of the bodies.
func TestObserve(t *testing.T) {
	t.Parallel()
	heard := &observer{}
	c := sysadmin(t).configured(handlers.Config{Observe: heard.hear})
	s := sysadmin(t).newSpace(nil)
	set := s.newSet()
	content := strings.Repeat("0123456789", 50_000)
	data := "/resources/" + s.upload(set, "big", content).text("id") + "/data"
	next := sysadmin(t).get("/sets/" + set + "/resources").want(http.StatusOK).object().text("nextPage")
	token := next[strings.LastIndex(next, "/"):]
	upload := form(text("setId", set), file("a", content))
	for _, tc := range []struct {
		method, path, key string
		body              any
		want              handlers.Observation
	}{
		{"GET", "/status", c.key, nil, handlers.Observation{Method: "GET", Route: "/v1/status", Status: 200}},
		{"HEAD", "/users/me/", c.key, nil, handlers.Observation{Method: "HEAD", Route: "/v1/users/:id", Status: 200}},
		{"GET", "/sets/" + set + "/resources/query/results" + token, c.key, nil, handlers.Observation{Method: "GET", Route: "/v1/sets/:id/resources", Status: 200}},
		{"GET", data, c.key, nil, handlers.Observation{Method: "GET", Route: "/v1/resources/:id/data", Status: 200, Sent: int64(len(content))}},
		{"GET", data, "unknown", nil, handlers.Observation{Method: "GET", Route: "/v1/resources/:id/data", Status: 401}},
		{"POST", "/resources", c.key, upload, handlers.Observation{Method: "POST", Route: "/v1/resources", Status: 201, Received: int64(len(upload.body))}},
		{"POST", "/sets", c.key, raw{"application/json", []byte(`{"name"`)}, handlers.Observation{Method: "POST", Route: "/v1/sets", Status: 400, Received: 7}},
		{"GET", "/nothing/" + set, c.key, nil, handlers.Observation{Method: "other", Route: "other", Status: 404}},
		{"BREW", "/sets", c.key, nil, handlers.Observation{Method: "other", Route: "other", Status: 405}},
		{"OPTIONS", "/sets", c.key, nil, handlers.Observation{Method: "other", Route: "other", Status: 204}},
		{"GET", c.server.URL + "/resources/" + set, "", nil, handlers.Observation{Method: "GET", Route: "/", Status: 200}},
	} {
		a := c.withKey(tc.key).bad(tc.method, tc.path, tc.body)
		got, want := heard.last(t), tc.want
		if got.Took <= 0 || got.Own <= 0 || got.Own > got.Took {
			t.Errorf("%s: %s in all, %s of its own", a.what, got.Took, got.Own)
		}
		if want.Sent == 0 {
			want.Sent = int64(len(a.body))
		}
		got.Took, got.Own = 0, 0
		same(t, a.what, got, want)
	}
}

// tooLong is longer than a busy machine takes for a request of its own.
const tooLong = 2 * time.Second

// TestSlowRequest: a request is slow by what the service took for it, not by what its client did, and the line in the log about
// it holds nothing that came from outside.
func TestSlowRequest(t *testing.T) {
	t.Parallel()
	s := ownGateway(t, repository.Config{}, handlers.Config{}).newSpace(nil)
	set := s.newSet()
	big := s.upload(set, "big", strings.Repeat("x", 16<<20)).text("id")
	t.Run("slow upload", func(t *testing.T) {
		t.Parallel()
		c := s.on(t).configured(handlers.Config{Slow: tooLong, Stall: 5 * tooLong})
		body := form(text("setId", set), file("a", strings.Repeat("x", 10_000)))
		begun := time.Now()
		dripped := &drip{rest: body.body, piece: len(body.body)/8 + 1, pause: tooLong / 4}
		c.bad("POST", "/resources", dripped, "Content-Type: "+body.contentType).want(http.StatusCreated)
		same(t, "the client was slow", time.Since(begun) > tooLong, true)
		same(t, "lines", len(c.slowLines(1)), 0)
	})
	t.Run("slow download", func(t *testing.T) {
		t.Parallel()
		c := s.on(t).configured(handlers.Config{Slow: tooLong, Stall: 5 * tooLong})
		conn, reader := c.dial("GET /v1/resources/%s/data HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: %s\r\n\r\n", big, c.key)
		same(t, "small buffer", conn.(*net.TCPConn).SetReadBuffer(64<<10), nil)
		time.Sleep(tooLong + tooLong/4)
		if _, err := io.Copy(io.Discard, reader); err != nil {
			t.Fatal(err)
		}
		same(t, "lines", len(c.slowLines(1)), 0)
	})
	t.Run("slow service", func(t *testing.T) {
		t.Parallel()
		own := ownGateway(t, repository.Config{}, handlers.Config{}).newSpace(nil)
		resource := own.newResource()
		for hold := tooLong + tooLong/4; !testSlowService(own.client, resource, hold); hold *= 2 {
			if hold > time.Minute {
				t.Fatal("nobody waits for a change of somebody else")
			}
		}
	})
}

// testSlowService keeps everybody who wants to change something waiting. It returns false where the request came so late, as it does
// on a busy machine, that it was not slow.
func testSlowService(c *client, resource string, hold time.Duration) bool {
	t, seen := c.t, &observer{}
	c = c.configured(handlers.Config{Slow: tooLong, Observe: seen.hear})
	entered, done := make(chan struct{}), make(chan error, 1)
	go func() {
		done <- c.meta.Update(context.Background(), func(*metadata.Tx) error {
			close(entered)
			time.Sleep(hold)
			return nil
		})
	}()
	<-entered
	made := c.send("PATCH", "/resources/"+resource, object{"description": "secret4711"})
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	found := c.slowLines(1)
	if seen.last(t).Took < tooLong+tooLong/8 {
		return false
	}
	if len(found) != 1 {
		t.Fatalf("%d lines of one slow request:\n%s", len(found), c.log)
	}
	for _, part := range []string{
		`"level":"warn"`, `"method":"PATCH"`, `"route":"/v1/resources/:id"`, `"status":200`, `"bytes":` + fmt.Sprint(len(made.body)),
		`"received":`, `"ms":`, `"own_ms":`, `"request":"` + made.header.Get("X-Request-Id") + `"`,
	} {
		same(t, part+" in "+found[0], strings.Contains(found[0], part), true)
	}
	for _, secret := range []string{"secret4711", resource, c.key, "127.0.0.1", "admin"} {
		same(t, secret+" in "+found[0], strings.Contains(found[0], secret), false)
	}
	return true
}

// slowLines waits until the log has so many requests, and returns the lines about slow ones.
func (c *client) slowLines(requests int) (found []string) {
	c.t.Helper()
	eventually(c.t, "the request is over", func() bool { return strings.Count(c.log.String(), `"message":"request"`) >= requests })
	c.server.Close() // waits for whatever is still going on
	for line := range strings.SplitSeq(c.log.String(), "\n") {
		if strings.Contains(line, "slow request") {
			found = append(found, line)
		}
	}
	return found
}

// TestMetricsAddress: what is measured is for sysadmins, and is there only where it is to be.
func TestMetricsAddress(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	shown := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "measured") })
	on := sysadmin(t).configured(handlers.Config{Metrics: shown})
	for _, tc := range []struct {
		key    string
		status int
	}{{on.key, 200}, {"Bearer " + on.key, 200}, {s.newMember("admin").key, 403}, {"unknown", 401}, {"", 401}} {
		a := on.withKey(tc.key).bad("GET", on.server.URL+"/metrics", nil).want(tc.status)
		same(t, fmt.Sprintf("%d: the figures are shown", a.status), strings.Contains(string(a.body), "measured"), tc.status == 200)
	}
	on.bad("POST", on.server.URL+"/metrics", nil).problem(http.StatusMethodNotAllowed, "method_not_allowed", "")
	on.bad("GET", on.server.URL+"/metrics?x=1", nil).problem(http.StatusBadRequest, "invalid_parameter", "x")
	off := sysadmin(t)
	off.bad("GET", off.server.URL+"/metrics", nil).problem(http.StatusNotFound, "not_found", "")
}

// TestBeside: what has an address of its own answers for the same hosts as the interface, and lets nothing be changed.
func TestBeside(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(handlers.Beside(handlers.Config{AllowedHosts: []string{"lab"}},
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "beside") })))
	t.Cleanup(server.Close)
	for _, tc := range []struct {
		method, host string
		status       int
	}{
		{"GET", "", 200}, {"HEAD", "", 200}, {"GET", "lab:9", 200}, {"GET", "localhost", 200}, {"GET", "evil.example.org", 421},
		{"POST", "", 405}, {"DELETE", "lab", 405}, {"PUT", "evil.example.org", 421},
	} {
		request, err := http.NewRequest(tc.method, server.URL+"/x", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = tc.host
		response, err := httpClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		what := tc.method + " " + tc.host
		same(t, what, response.StatusCode, tc.status)
		same(t, what+": it is shown", string(body) == "beside", tc.method == "GET" && tc.status == 200)
		same(t, what+": not kept", slices.Contains(response.Header.Values("Cache-Control"), "no-store"), tc.status == 200)
		_ = response.Body.Close()
	}
}
