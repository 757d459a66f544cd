package handlers_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"labshelf/handlers"
)

func TestPanicIsLoggedAndAnswered(t *testing.T) {
	t.Parallel()
	log := &journal{}
	handler := handlers.Middleware(handlers.Config{Log: zerolog.New(log)}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/half":
			w.Header().Set("Content-Length", "10")
			_, _ = w.Write([]byte("half"))
		case "/header":
			w.WriteHeader(http.StatusOK)
		case "/abort":
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("ETag", `"x"`)
		panic("secret cause")
	}))
	server := httptest.NewServer(handler)
	defer server.Close()
	response, err := httpClient.Get(server.URL + "/v1/sets")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil || response.Body.Close() != nil {
		t.Fatal(err)
	}
	a := &answer{t: t, what: "GET", status: response.StatusCode, header: response.Header, body: body}
	a.problem(http.StatusInternalServerError, "internal", "")
	if strings.Contains(string(body), "secret") || a.header.Get("ETag") != "" || !strings.Contains(log.String(), "secret cause") {
		t.Errorf("%s\n%s", a.short(), log)
	}
	if id := a.header.Get("X-Request-Id"); strings.Count(log.String(), id) != 2 || !strings.Contains(log.String(), "middleware_test.go") {
		t.Errorf("the log has neither request id nor stack: %s", log)
	}
	for _, path := range []string{"/half", "/header", "/abort"} {
		response, err := httpClient.Get(server.URL + path)
		if err == nil {
			_, err = io.ReadAll(response.Body)
			_ = response.Body.Close() // the test only checks where the body ends
		}
		if err == nil {
			t.Errorf("%s: the client cannot detect that the answer is incomplete", path)
		}
	}
}

func TestBaseURLFollowsTheRequest(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	set := s.newSet()
	s.upload(set, "a", "1")
	base, err := url.Parse("https://data.example.org/lab/v1/")
	if err != nil {
		t.Fatal(err)
	}
	fixed := s.configured(handlers.Config{BaseURL: base, ViewDataURL: "https://catalogue.example.org/{dataspaceId}/{setId}?r={id}"})
	fixed.base = fixed.server.URL + "/lab/v1"
	page := fixed.get("/sets/" + set + "/resources").want(http.StatusOK).object()
	resource := object(page["data"].([]any)[0].(map[string]any))
	id := resource.text("id")
	same(t, "url", resource.text("url"), "https://data.example.org/lab/v1/resources/"+id)
	same(t, "viewDataUrl", resource.text("viewDataUrl"), "https://catalogue.example.org/"+s.dataspace+"/"+set+"?r="+id)
	if next := page["nextPage"].(string); !strings.HasPrefix(next, "https://data.example.org/lab/v1/sets/"+set+"/resources/query/results/") {
		t.Errorf("nextPage %s", next)
	}
	fixed.bad("GET", fixed.server.URL+"/v1/sets", nil).problem(http.StatusNotFound, "not_found", "")

	headers := []string{"X-Forwarded-Proto: https, http", "X-Forwarded-Host: outside.example.org, inner"}
	near := s.configured(handlers.Config{TrustedProxies: loopback(), AllowedHosts: []string{"outside.example.org"}})
	same(t, "behind a proxy", near.get("/sets/"+set, headers...).object().text("url"), "https://outside.example.org/v1/sets/"+set)
	same(t, "a proxy that sends nonsense", near.get("/sets/"+set, "X-Forwarded-Proto: javascript").object().text("url"), near.base+"/sets/"+set)
	_, reader := near.dial("GET /v1/sets/%s HTTP/1.0\r\nAuthorization: %s\r\n\r\n", set, s.key)
	same(t, "without a Host", near.readRaw(reader, "GET", "/sets/"+set).object().text("url"), near.base+"/sets/"+set)
	far := s.configured(handlers.Config{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}})
	same(t, "not behind a proxy", far.get("/sets/"+set, headers...).object().text("url"), far.base+"/sets/"+set)
}

// dial opens a connection and writes to it.
func (c *client) dial(text string, args ...any) (net.Conn, *bufio.Reader) {
	c.t.Helper()
	conn, err := net.Dial("tcp", c.server.Listener.Addr().String())
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = conn.Close() }) // most are closed by then
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		c.t.Fatal(err)
	}
	if _, err := fmt.Fprintf(conn, text, args...); err != nil {
		c.t.Fatal(err)
	}
	return conn, bufio.NewReader(conn)
}
