package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"labshelf/client"
)

// waits records the waits of a client, which does not really wait.
type waits struct {
	mu  sync.Mutex
	all []time.Duration
}

// alone runs a fault without a service.
func alone(f fault) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { f(w, r, nil) }
}

// hasty returns a client that does not wait.
func hasty(c *client.Client, r client.Retries) (*client.Client, *waits) {
	w := &waits{}
	r.Wait = func(ctx context.Context, d time.Duration) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.all = append(w.all, d)
		return ctx.Err()
	}
	return c.WithRetries(r), w
}

// fault handles a request before the service, or instead of it.
type fault func(w http.ResponseWriter, r *http.Request, service http.Handler)

// unseen breaks the connection before the service has seen the request.
func unseen(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }

// lost makes the service handle the request, and breaks the connection before the response.
func lost(_ http.ResponseWriter, r *http.Request, service http.Handler) {
	service.ServeHTTP(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

// answers responds instead of the service, or like a proxy if code is "".
func answers(status int, code, retryAfter string) fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		w.WriteHeader(status)
		if code != "" {
			_, _ = fmt.Fprintf(w, `{"code": %q, "detail": "told"}`, code)
		}
	}
}

// then returns a fault that handles the first request with f, and the others with next.
func (f fault) then(next fault) fault {
	var count atomic.Int64
	return func(w http.ResponseWriter, r *http.Request, service http.Handler) {
		if count.Add(1) == 1 {
			f(w, r, service)
			return
		}
		next(w, r, service)
	}
}

// at returns a fault for the first times requests. It counts all requests.
func (f fault) at(times int, count *atomic.Int64) fault {
	return func(w http.ResponseWriter, r *http.Request, service http.Handler) {
		if count.Add(1) <= int64(times) {
			f(w, r, service)
			return
		}
		service.ServeHTTP(w, r)
	}
}

// TestRetriedCalls tests which calls are repeated if the first requests fail.
func TestRetriedCalls(t *testing.T) {
	t.Parallel()
	type world struct {
		c  *client.Client
		d  client.Dataspace
		me string
	}
	calls := map[string]func(ctx context.Context, w world) error{
		"read": func(ctx context.Context, w world) error { _, err := w.c.Dataspaces.Get(ctx, w.d.ID); return err },
		"list": func(ctx context.Context, w world) error {
			_, err := client.FetchPage[client.Dataspace](ctx, w.c, w.c.Base()+"/dataspaces")
			return err
		},
		"create": func(ctx context.Context, w world) error {
			_, err := w.c.Dataspaces.Create(ctx, client.NewDataspace{Name: w.d.Name + "-second"})
			return err
		},
		"edit": func(ctx context.Context, w world) error {
			_, err := w.c.Dataspaces.Edit(ctx, w.d.ID, client.DataspaceEdit{Title: new("New")})
			return err
		},
		"edit if": func(ctx context.Context, w world) error {
			_, err := w.c.Dataspaces.Edit(ctx, w.d.ID, client.DataspaceEdit{Title: new("New")}, client.IfMatch(w.d.ETag))
			return err
		},
		"delete":  func(ctx context.Context, w world) error { return w.c.Dataspaces.Delete(ctx, w.d.ID) },
		"restore": func(ctx context.Context, w world) error { _, err := w.c.Dataspaces.Restore(ctx, w.d.ID); return err },
		"grant": func(ctx context.Context, w world) error {
			_, err := w.c.Privileges.Grant(ctx, client.NewPrivilege{UserID: w.me, DataspaceID: w.d.ID, Role: client.Editor})
			return err
		},
		"key": func(ctx context.Context, w world) error {
			_, err := w.c.Keys.Create(ctx, client.Me, client.NewKey{})
			return err
		},
	}
	tests := []struct {
		call  string
		fault fault
		times int // number of failing requests
		tries int // expected number of requests
		want  int // status of the error; 0 for no error; -1 for an error that is not from the service
		words string
	}{
		{"read", unseen, 4, 5, 0, ""},
		{"read", unseen, 9, 5, -1, "(tried 5 times)"},
		{"read", answers(502, "", ""), 2, 3, 0, ""},
		{"read", answers(503, "", ""), 1, 2, 0, ""},
		{"read", answers(504, "", ""), 1, 2, 0, ""},
		{"read", answers(504, "", ""), 9, 5, 504, "(tried 5 times)"},
		{"read", answers(429, "too_many_failures", "2"), 1, 2, 0, ""},
		{"read", answers(500, "data_damaged", ""), 1, 1, 500, "told"},
		{"read", answers(404, "dataspace_not_found", ""), 1, 1, 404, "told"},
		{"read", answers(507, "no_space", ""), 1, 1, 507, "told"},
		{"list", lost, 3, 4, 0, ""},
		{"create", unseen, 1, 1, -1, "does not answer"},
		{"create", lost, 1, 1, -1, "does not answer"},
		{"create", answers(502, "", ""), 1, 1, 502, ""},
		{"create", answers(503, "", ""), 1, 1, 503, ""},
		{"create", answers(504, "", ""), 1, 1, 504, ""},
		{"create", answers(503, "unavailable", "1"), 1, 2, 0, ""},
		{"create", answers(429, "", ""), 1, 2, 0, ""},
		{"create", answers(500, "outcome_unknown", ""), 1, 1, 500, ""},
		{"key", lost, 1, 1, -1, ""},
		{"edit", lost, 2, 3, 0, ""},
		{"edit if", unseen, 2, 3, 0, ""},
		{"edit if", lost, 1, 2, 412, "an earlier attempt may have succeeded"},
		{"delete", fault(lost).then(answers(409, "busy", "1")), 9, 5, 409, "an earlier attempt may have succeeded"},
		{"delete", fault(lost).then(answers(423, "locked", "1")), 9, 2, 423, "an earlier attempt may have succeeded"},
		{"delete", fault(lost).then(answers(503, "unavailable", "1")), 9, 5, 503, "an earlier attempt may have succeeded"},
		{"delete", fault(lost).then(answers(403, "forbidden", "")), 9, 2, 403, "an earlier attempt may have succeeded"},
		{"delete", answers(500, "outcome_unknown", ""), 1, 1, 500, "outcome_unknown"},
		{"delete", lost, 1, 2, 0, ""},
		{"delete", answers(409, "busy", "1"), 2, 3, 0, ""},
		{"delete", answers(409, "busy", "3600"), 1, 1, 409, ""},
		{"delete", answers(409, "last_sysadmin", "1"), 1, 1, 409, ""},
		{"restore", lost, 1, 2, 0, ""},
		{"grant", lost, 1, 2, 0, ""},
	}
	s, c := start(t)
	me := must[client.User](t)(c.Users.Me(t.Context())).ID
	for i, tt := range tests {
		t.Run(fmt.Sprint(i, " ", tt.call), func(t *testing.T) {
			t.Parallel()
			name := fmt.Sprint("first-", i)
			w := world{me: me, d: must[client.Dataspace](t)(c.Dataspaces.Create(t.Context(), client.NewDataspace{Name: name}))}
			var tries atomic.Int64
			w.c, _ = hasty(s.behind(t, tt.fault.at(tt.times, &tries)), client.Retries{})
			err := calls[tt.call](t.Context(), w)
			got := 0
			if p, ok := errors.AsType[*client.Problem](err); ok {
				got = p.Status
			} else if err != nil {
				got = -1
			}
			if got != tt.want || tries.Load() != int64(tt.tries) || err != nil && !strings.Contains(err.Error(), tt.words) {
				t.Errorf("%d tries, %v; want %d and %d", tries.Load(), err, tt.tries, tt.want)
			}
		})
	}
}

// TestWaitsDouble: waits double up to the maximum, minus a random part. A delay demanded by the
// service is a lower bound.
func TestWaitsDouble(t *testing.T) {
	t.Parallel()
	tests := []struct {
		retryAfter string
		r          client.Retries
		want       [][2]time.Duration
	}{
		{"", client.Retries{}, between(250*ms, 500*ms, 500*ms, 1000*ms, 1000*ms, 2000*ms, 2000*ms, 4000*ms)},
		{"", client.Retries{Tries: 6, First: 100 * ms, Longest: 300 * ms},
			between(50*ms, 100*ms, 100*ms, 200*ms, 150*ms, 300*ms, 150*ms, 300*ms, 150*ms, 300*ms)},
		{"", client.Retries{Tries: 2, First: time.Hour, Longest: ms}, between(ms/2, ms)},
		{"", client.Retries{Tries: 1}, nil},
		{"7", client.Retries{Tries: 3, First: ms}, between(7000*ms, 7000*ms, 7000*ms, 7000*ms)},
		{time.Now().Add(time.Hour).UTC().Format(http.TimeFormat), client.Retries{Tries: 2, Longest: 2 * time.Hour}, between(time.Hour/2, time.Hour)},
		{"31", client.Retries{}, nil},
		{"soon", client.Retries{Tries: 2, First: ms}, between(ms/2, ms)},
	}
	for _, tt := range tests {
		t.Run(tt.retryAfter, func(t *testing.T) {
			t.Parallel()
			c, w := hasty(server(t, alone(answers(503, "unavailable", tt.retryAfter))), tt.r)
			if _, err := c.Users.Me(t.Context()); err == nil {
				t.Error("no error")
			}
			fits := len(w.all) == len(tt.want)
			for i := 0; fits && i < len(tt.want); i++ {
				fits = w.all[i] >= tt.want[i][0] && w.all[i] <= tt.want[i][1]
			}
			if !fits {
				t.Errorf("waits %v, want %v", w.all, tt.want)
			}
		})
	}
}

const ms = time.Millisecond

func between(bounds ...time.Duration) (pairs [][2]time.Duration) {
	for pair := range slices.Chunk(bounds, 2) {
		pairs = append(pairs, [2]time.Duration{pair[0], pair[1]})
	}
	return pairs
}

// TestDefaultWait: by default, a client really waits, but not after its context has
// ended.
func TestDefaultWait(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	c := server(t, func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) < 3 {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		_, _ = io.WriteString(w, `{"id": "I", "username": "mary"}`)
	})
	begun := time.Now()
	user, err := c.WithRetries(client.Retries{First: 20 * ms}).Users.Me(t.Context())
	if err != nil || user.Username != "mary" || time.Since(begun) < 30*ms {
		t.Errorf("%+v, %v after %v", user, err, time.Since(begun))
	}

	down := server(t, alone(answers(502, "", "")))
	for limit := 50 * ms; ; limit *= 2 { // on a busy machine the response may arrive after the end of the context
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		_, err = down.WithRetries(client.Retries{First: time.Hour, Longest: time.Hour}).Users.Me(ctx)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		if p, ok := errors.AsType[*client.Problem](err); ok && p.Status == 502 {
			return
		}
		if limit > time.Minute {
			t.Fatalf("%v, without the error before the wait", err)
		}
	}
}

// TestUnsentCallsAreRetried: a call that could not connect is repeated, even if it is not
// idempotent.
func TestUnsentCallsAreRetried(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	d := must[client.Dataspace](t)(c.Dataspaces.Create(t.Context(), client.NewDataspace{Name: "lab"}))
	set := must[client.Set](t)(c.Sets.Create(t.Context(), client.NewSet{Name: "set", DataspaceID: d.ID}))
	for name, call := range map[string]func(late *client.Client) error{
		"create": func(late *client.Client) error {
			_, err := late.Dataspaces.Create(t.Context(), client.NewDataspace{Name: "late"})
			return err
		},
		"upload": func(late *client.Client) error {
			body := io.MultiReader(strings.NewReader("cannot be read twice"))
			_, err := late.Resources.Create(t.Context(), client.NewResource{SetID: set.ID, Name: "n"}, body, -1)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			address := unused(t)
			proxy := httptest.NewUnstartedServer(s.handler)
			late := client.New("http://"+address+"/v1", s.key).WithRetries(client.Retries{Wait: func(context.Context, time.Duration) error {
				again, err := net.Listen("tcp", address)
				if err == nil {
					check(t, proxy.Listener.Close())
					proxy.Listener = again
					proxy.Start()
				}
				return err
			}})
			err := call(late)
			late.Close()
			proxy.Close()
			check(t, err)
		})
	}
}

// unused returns an address without a listener. Its port is outside the range that a system assigns
// automatically. Otherwise another test could get the port, or the client, which would then be
// connected to itself.
func unused(t *testing.T) string {
	t.Helper()
	for port := 20_000 + rand.N(10_000); ; port++ {
		address := fmt.Sprint("127.0.0.1:", port)
		if listener, err := net.Listen("tcp", address); err == nil {
			check(t, listener.Close())
			return address
		}
	}
}

// TestFinalFailuresAreNotRetried: a failure that would recur is not retried.
func TestFinalFailuresAreNotRetried(t *testing.T) {
	t.Parallel()
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(200) }))
	defer secure.Close()
	secure.Config.ErrorLog = silent
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	for _, tt := range []struct{ base, words string }{
		{secure.URL + "/v1", "certificate"},
		{strings.Replace(plain.URL, "http:", "https:", 1) + "/v1", "HTTP response to HTTPS client"},
		{"data.example.org/v1", "it looks like https://data.example.org/v1"},
		{"ftp://data.example.org/v1", "it looks like https://data.example.org/v1"},
		{"http://[::1/v1", "missing ']'"},
	} {
		t.Run(tt.base, func(t *testing.T) {
			c, w := hasty(client.New(tt.base, "lsk_canary"), client.Retries{})
			defer c.Close()
			if _, err := c.Users.Me(t.Context()); err == nil || !strings.Contains(err.Error(), tt.words) || strings.Contains(err.Error(), "canary") || len(w.all) > 0 {
				t.Errorf("%v, after waits %v", err, w.all)
			}
		})
	}
}
