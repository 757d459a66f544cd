package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"labshelf/blobs"
	"labshelf/client"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server starts a server that gives the same response to every request.
func server(t *testing.T, answer http.HandlerFunc) *client.Client {
	t.Helper()
	s := httptest.NewServer(answer)
	c := client.New(s.URL+"/v1/", "lsk_canary")
	t.Cleanup(func() {
		c.Close()
		s.Close()
	})
	return c
}

// all makes every call, and reads each response to its end.
func all(ctx context.Context, c *client.Client) map[string]error {
	errs := map[string]error{}
	_, errs["Status"] = c.Status(ctx)
	_, errs["Check"] = c.Maintenance.Check(ctx, client.CheckRequest{}, client.CheckEvents{})
	_, errs["Purge"] = c.Maintenance.Purge(ctx, client.PurgeRequest{})
	snapshot, _, err := c.Maintenance.Snapshot(ctx)
	errs["Snapshot"] = drain(snapshot, err)
	blob, err := c.Maintenance.Blob(ctx, blobs.Digest{})
	errs["Blob"] = drain(blob, err)
	return errs
}

func drain(d *client.Download, err error) error {
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, d)
	return errors.Join(err, d.Close())
}

func TestProblems(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		answer http.HandlerFunc
		want   client.Problem
		words  string
	}{
		{"problem", problem(http.StatusForbidden, `{"status": 1, "code": "forbidden", "detail": "not you", "field": "x"}`),
			client.Problem{Status: 403, Code: "forbidden", Detail: "not you", Field: "x"}, "the service answered 403 forbidden: not you"},
		{"proxy", problem(http.StatusBadGateway, "<html>"), client.Problem{Status: 502}, "the server answered 502 Bad Gateway, and the response does not come from labshelf"},
		{"endless", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			for range 1000 {
				_, _ = w.Write(make([]byte, 1000))
			}
		}, client.Problem{Status: 500}, "500"},
		{"elsewhere", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/v2", http.StatusFound) }, client.Problem{Status: 302}, "302"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for call, err := range all(t.Context(), server(t, tt.answer)) {
				var got *client.Problem
				if !errors.As(err, &got) || *got != tt.want || !strings.Contains(err.Error(), tt.words) || strings.Contains(err.Error(), "canary") {
					t.Errorf("%s: %v", call, err)
				}
			}
		})
	}
}

func problem(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// TestOtherServersAreRecognised: a server that answers 200 but is not labshelf causes an error.
func TestOtherServersAreRecognised(t *testing.T) {
	t.Parallel()
	for call, err := range all(t.Context(), server(t, problem(http.StatusOK, "<html>welcome</html>"))) {
		if err == nil && call != "Blob" { // the caller compares the digest
			t.Errorf("%s: no error", call)
		}
	}
}

// TestBrokenAnswersAreErrors: a truncated response is an error.
func TestBrokenAnswersAreErrors(t *testing.T) {
	t.Parallel()
	c := server(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Labshelf-Stamp", "7")
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, `{"progress": {"done": 1, "total": 2}}`)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	for call, err := range all(t.Context(), c) {
		switch {
		case call == "Status" || call == "Purge": // these calls return one object, which is complete or missing
		case !errors.Is(err, client.ErrIncomplete):
			t.Errorf("%s: %v", call, err)
		}
	}
}

func TestNoServiceDoesNotAnswer(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(nil)
	s.Close()
	c := client.New(s.URL+"/v1", "")
	for call, err := range all(t.Context(), c) {
		if err == nil || !strings.Contains(err.Error(), s.URL+"/v1 does not answer") {
			t.Errorf("%s: %v", call, err)
		}
	}
}

func TestCallEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	c := server(t, func(w http.ResponseWriter, r *http.Request) {
		cancel()
		select {
		case <-r.Context().Done():
		case <-time.After(time.Minute):
		}
	})
	if _, _, err := c.Maintenance.Snapshot(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestRequestForm(t *testing.T) {
	t.Parallel()
	var got []string
	c := server(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Header.Get("Authorization") != "lsk_canary" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		got = append(got, fmt.Sprintf("%s %s %s %s", r.Method, r.URL, r.Header.Get("Content-Type"), body))
		switch r.URL.Path {
		case "/v1/status":
			_, _ = io.WriteString(w, `{"status": "OK", "hostname": "h", "version": "1", "detail": {"a": 1}}`)
		case "/v1/admin/snapshot":
			w.Header().Set("Labshelf-Stamp", "1234567")
			_, _ = io.WriteString(w, "metadata")
		case "/v1/admin/check":
			_, _ = io.WriteString(w, `{"violation": {"part": "blobs", "kind": "resource", "id": "I", "name": "N", "wrong": "W"}}`+"\n"+
				`{"progress": {"done": 1, "total": 2}}`+"\n"+`{"end": {"stamp": 5, "resources": 1, "blobs": 2, "bytes": 3, "violations": 1, `+
				`"unreferenced": 6, "unreferencedBytes": 7}}`+"\n")
		case "/v1/admin/purge":
			_, _ = io.WriteString(w, `{"dryRun": true, "resources": 1, "resourceBytes": 2, "trashFiles": 3, "recent": 4, "recentBytes": 5}`)
		default:
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"code": "blob_not_found", "detail": "no"}`)
		}
	})
	ctx := t.Context()
	s, err := c.Status(ctx)
	want(t, err, s.Status+s.Hostname+s.Version+string(s.Detail), `OKh1{"a": 1}`)
	d, stamp, err := c.Maintenance.Snapshot(ctx)
	want(t, errors.Join(err, drain(d, err)), fmt.Sprint(stamp, d.Bytes), "1234567 8")
	_, err = c.Maintenance.Blob(ctx, blobs.Digest{0xab})
	if p, ok := errors.AsType[*client.Problem](err); !ok || p.Code != "blob_not_found" {
		t.Errorf("got %v", err)
	}
	var reported []string
	result, err := c.Maintenance.Check(ctx, client.CheckRequest{NoData: true, Subset: "1/3"}, client.CheckEvents{
		Violation: func(v client.Violation) { reported = append(reported, v.Part+v.Kind+v.ID+v.Name+v.Wrong) },
		Progress:  func(done, total int64) { reported = append(reported, fmt.Sprint(done, "/", total)) },
	})
	want(t, err, fmt.Sprint(result, reported), "{5 1 2 3 1 6 7} [blobsresourceINW 1/2]")
	purged, err := c.Maintenance.Purge(ctx, client.PurgeRequest{OlderThan: "2160h0m0s", DryRun: true, Grace: "1h0m0s"})
	want(t, err, fmt.Sprint(purged.Resources, purged.ResourceBytes, purged.TrashFiles, purged.Recent, purged.RecentBytes), "1 2 3 4 5")
	want(t, nil, strings.Join(got, "\n"), "GET /v1/status  \nGET /v1/admin/snapshot  \nGET /v1/admin/blobs/ab"+strings.Repeat("00", 31)+"  \n"+
		`POST /v1/admin/check application/json {"noData":true,"subset":"1/3"}`+"\n"+
		`POST /v1/admin/purge application/json {"olderThan":"2160h0m0s","dryRun":true,"grace":"1h0m0s"}`)
}

func want(t *testing.T, err error, got, want string) {
	t.Helper()
	if err != nil || got != want {
		t.Errorf("%v: got %s, want %s", err, got, want)
	}
}

// TestStatusOfFailingService: Status returns the status of a failing service without an error.
func TestStatusOfFailingService(t *testing.T) {
	t.Parallel()
	c := server(t, problem(http.StatusServiceUnavailable, `{"status": "FAILING"}`))
	if s, err := c.Status(t.Context()); err != nil || s.Status != "FAILING" {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestCheckWithoutEndIsIncomplete: a check without its last line is an error.
func TestCheckWithoutEndIsIncomplete(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{"", `{"progress": {"done": 1, "total": 2}}`, `{"error": {"code": "internal", "detail": "reported"}}`, "[1"} {
		_, err := server(t, problem(http.StatusOK, answer)).Maintenance.Check(t.Context(), client.CheckRequest{}, client.CheckEvents{})
		if !errors.Is(err, client.ErrIncomplete) || strings.Contains(answer, "reported") != strings.Contains(err.Error(), "reported") {
			t.Errorf("%s: %v", answer, err)
		}
	}
}
