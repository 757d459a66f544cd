package handlers_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"labshelf/handlers"
)

// observer collects observations.
type observer struct {
	mu    sync.Mutex
	heard []handlers.Observation
}

func (o *observer) hear(one handlers.Observation) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.heard = append(o.heard, one)
}

// last returns the only observation since the last call.
func (o *observer) last(t *testing.T) (one handlers.Observation) {
	t.Helper()
	eventually(t, "the request is over", func() bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		if len(o.heard) == 0 {
			return false
		}
		if len(o.heard) > 1 {
			t.Errorf("observed %+v instead of one request", o.heard)
		}
		one, o.heard = o.heard[0], nil
		return true
	})
	return one
}

// TestObservationHasRouteAndBytes tests that an observation names the route, never the path, and
// counts the bytes of the bodies.
func TestObservationHasRouteAndBytes(t *testing.T) {
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
			t.Errorf("%s: %s in total, %s in the service", a.what, got.Took, got.Own)
		}
		if want.Sent == 0 {
			want.Sent = int64(len(a.body))
		}
		got.Took, got.Own = 0, 0
		same(t, a.what, got, want)
	}
}

// TestWaitingForClientIsNotSlow tests that a request is logged as slow only because of the
// service's own time, and that the log line contains nothing from the client.
func TestWaitingForClientIsNotSlow(t *testing.T) {
	t.Parallel()
	const tooLong = 2 * time.Second
	config := handlers.Config{Slow: tooLong, Stall: 5 * tooLong}
	t.Run("slow upload", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b, _ := newBubble(t, config)
			begun, body := time.Now(), form(text("setId", b.set), file("a", strings.Repeat("x", 10_000)))
			b.drip("POST", "/resources", body, len(body.body)/8+1, tooLong/4).want(http.StatusCreated)
			same(t, "the client was slow", time.Since(begun) > tooLong, true)
			same(t, "lines", len(b.slowLines()), 0)
		})
	})
	t.Run("slow download", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b, _ := newBubble(t, config)
			path := "/resources/" + b.upload(strings.Repeat("x", 1<<20)) + "/data"
			conn := b.Dial(t)
			_, err := io.WriteString(conn, b.head("GET", path)+"\r\n")
			same(t, "the request", err, nil)
			time.Sleep(tooLong + tooLong/4)
			same(t, "bytes", len(b.read("GET", bufio.NewReader(conn)).want(http.StatusOK).body), 1<<20)
			synctest.Wait()
			same(t, "lines", len(b.slowLines()), 0)
		})
	})
	t.Run("large file", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b, meta := newBubble(t, config)
			meta.delay = tooLong + tooLong/4
			b.upload("content")
			synctest.Wait()
			same(t, "lines of a small file", len(b.slowLines()), 1)
			b.upload(strings.Repeat("x", 96<<20))
			synctest.Wait()
			same(t, "lines with a large one", len(b.slowLines()), 1)
		})
	})
	t.Run("slow service", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b, meta := newBubble(t, config)
			resource := b.upload("content")
			meta.delay = tooLong + tooLong/4
			made := b.send("PATCH", "/resources/"+resource, raw{"application/json", []byte(`{"description": "secret4711"}`)}).want(http.StatusOK)
			synctest.Wait()
			found := b.slowLines()
			if len(found) != 1 {
				t.Fatalf("%d lines for one slow request:\n%s", len(found), b.log)
			}
			for _, part := range []string{
				`"level":"warn"`, `"method":"PATCH"`, `"route":"/v1/resources/:id"`, `"status":200`, `"bytes":` + fmt.Sprint(len(made.body)),
				`"received":29`, `"ms":2500`, `"own_ms":2500`, `"request":"` + made.header.Get("X-Request-Id") + `"`,
			} {
				same(t, part+" in "+found[0], strings.Contains(found[0], part), true)
			}
			for _, secret := range []string{"secret4711", resource, b.key, "localhost", "admin"} {
				same(t, secret+" in "+found[0], strings.Contains(found[0], secret), false)
			}
		})
	})
}

// TestMetricsAreForSysadmins tests that metrics are only for sysadmins, and only exist if
// configured.
func TestMetricsAreForSysadmins(t *testing.T) {
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

// TestAdminListenerIsReadOnly tests that an admin listener answers for the same hosts as the HTTP
// API, and is read-only.
func TestAdminListenerIsReadOnly(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(handlers.Admin(handlers.Config{AllowedHosts: []string{"lab"}},
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "metrics") })))
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
		same(t, what+": it is shown", string(body) == "metrics", tc.method == "GET" && tc.status == 200)
		same(t, what+": not cached", slices.Contains(response.Header.Values("Cache-Control"), "no-store"), tc.status == 200)
		_ = response.Body.Close()
	}
}
