package webhooks_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"labshelf/repository/webhooks"
)

// receive starts a receiver on 127.0.0.1 and returns its URL.
func receive(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return server.URL
}

// message returns a message to a URL.
func message(to string) webhooks.Message {
	return webhooks.Message{URL: to, ID: "1.2", Secrets: []string{webhooks.NewSecret()}, Body: []byte(`{"type":"resource.create"}`)}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	in := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(http.TimeFormat) }
	for name, c := range map[string]struct {
		status    int
		after     string
		delivered bool
		gone      bool
		atLeast   time.Duration
		atMost    time.Duration
	}{
		"ok":                      {status: 200, delivered: true},
		"no content":              {status: 204, delivered: true, after: "7"},
		"gone":                    {status: 410, gone: true},
		"too many":                {status: 429, after: "120", atLeast: 2 * time.Minute, atMost: 2 * time.Minute},
		"unavailable until":       {status: 503, after: in(time.Hour), atLeast: 50 * time.Minute, atMost: time.Hour},
		"unavailable until long":  {status: 503, after: in(1000 * time.Hour), atLeast: 24 * time.Hour, atMost: 24 * time.Hour},
		"unavailable since":       {status: 503, after: in(-time.Hour)},
		"too many, for years":     {status: 429, after: "99999999999", atLeast: 24 * time.Hour, atMost: 24 * time.Hour},
		"too many, says nonsense": {status: 429, after: "soon"},
		"broken":                  {status: 500, after: "120"},
		"not found":               {status: 404},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := receive(t, func(w http.ResponseWriter, _ *http.Request) {
				if c.after != "" {
					w.Header().Set("Retry-After", c.after)
				}
				w.WriteHeader(c.status)
			})
			a := newSender(t, webhooks.Config{}, "127.0.0.1").Send(t.Context(), message(to))
			if a.Status != c.status || a.Delivered() != c.delivered || a.Gone() != c.gone || a.RetryAfter < c.atLeast || a.RetryAfter > c.atMost {
				t.Errorf("answer %+v", a)
			}
		})
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	var followed atomic.Bool
	other := receive(t, func(http.ResponseWriter, *http.Request) { followed.Store(true) })
	to := receive(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other, http.StatusTemporaryRedirect) })
	a := newSender(t, webhooks.Config{}, "127.0.0.1").Send(t.Context(), message(to))
	if a.Status != http.StatusTemporaryRedirect || a.Delivered() || followed.Load() || !strings.Contains(a.Err, "redirect") {
		t.Errorf("answer %+v, followed: %t", a, followed.Load())
	}
}

// TestProxyOfTheEnvironmentIsNotUsed cannot run in parallel, because it sets environment variables.
// net/http reads them once, so a proxy for everything would also show in other tests of this
// package.
func TestProxyOfTheEnvironmentIsNotUsed(t *testing.T) {
	var used atomic.Bool
	proxy := receive(t, func(http.ResponseWriter, *http.Request) { used.Store(true) })
	for _, name := range []string{"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"} {
		t.Setenv(name, proxy)
	}
	s := newSender(t, webhooks.Config{Resolver: resolver(t, func() netip.Addr { return netip.MustParseAddr("127.0.0.9") })}, "hooks.example.org", "127.0.0.0/8")
	a := s.Send(t.Context(), message("http://hooks.example.org:1/"))
	if used.Load() || a.Status != 0 || a.Err == "" {
		t.Errorf("answer %+v, proxy used: %t", a, used.Load())
	}
}

func TestAnswersAreReadInPart(t *testing.T) {
	t.Parallel()
	to := receive(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "\xff\x00begin")
		for range 1 << 10 {
			if _, err := w.Write(make([]byte, 1<<10)); err != nil {
				return
			}
		}
	})
	a := newSender(t, webhooks.Config{}, "127.0.0.1").Send(t.Context(), message(to))
	if !a.Delivered() || a.Beginning != "begin" {
		t.Errorf("answer %+v", a)
	}
}

func TestReceiverThatStalls(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	to := receive(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
		close(ended)
	})
	a := newSender(t, webhooks.Config{Timeout: 50 * time.Millisecond}, "127.0.0.1").Send(t.Context(), message(to))
	if a.Status != 0 || !strings.Contains(a.Err, "within 50ms") {
		t.Errorf("answer %+v", a)
	}
	<-ended // the connection is not kept
}

// TestDNSRebinding resolves a listed name to a public address when the webhook is
// created, and to this machine when it is used.
func TestDNSRebinding(t *testing.T) {
	t.Parallel()
	var called, private atomic.Bool
	to := receive(t, func(http.ResponseWriter, *http.Request) { called.Store(true) })
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = net.JoinHostPort("hooks.example.org", u.Port())
	addresses := func() netip.Addr {
		if private.Load() {
			return netip.MustParseAddr("127.0.0.1")
		}
		return netip.MustParseAddr("8.8.8.8")
	}
	names := resolver(t, addresses)
	s := newSender(t, webhooks.Config{Resolver: names}, "hooks.example.org")
	if err := s.CheckURL(t.Context(), u.String()); err != nil {
		t.Fatal(err)
	}
	private.Store(true)
	a := s.Send(t.Context(), message(u.String()))
	if called.Load() || a.Status != 0 || !strings.Contains(a.Err, "webhook_hosts") {
		t.Errorf("answer %+v, called: %t", a, called.Load())
	}
	if err := s.CheckURL(t.Context(), u.String()); !errors.Is(err, webhooks.ErrRefused) {
		t.Errorf("a name that resolves to this machine is accepted: %v", err)
	}
	if a := newSender(t, webhooks.Config{Resolver: names}, "127.0.0.1").Send(t.Context(), message(u.String())); !a.Delivered() || !called.Load() {
		t.Errorf("with the address in the list: %+v", a)
	}
}

func TestCheckURL(t *testing.T) {
	t.Parallel()
	names := resolver(t, func() netip.Addr { return netip.MustParseAddr("10.0.0.1") })
	s := newSender(t, webhooks.Config{Resolver: names}, "*.example.org", "10.0.0.0/24")
	for text, want := range map[string]string{
		"https://a.example.org:0/": "port", "https://a.example.org:99999/": "port", "https://a.example.org:/": "port", "https://a.example.org:8443/": "",
		"https://a.example.org/x?y=z": "", "http://10.0.0.7:8080/": "", "http://internal.test/": "", "https://[::ffff:10.0.0.7]/": "",
		"https://10.1.0.7/": "webhook_hosts", "http://[::1]/": "webhook_hosts", "ftp://a.example.org/": "http or https", "//a.example.org/": "absolute",
		"https://": "absolute", "https:a.example.org": "absolute", "https://u:p@a.example.org/": "username", "https://a.example.org/#x": "fragment",
		"https://0x7f.1/": "ASCII", "https://2130706433/": "ASCII", "https://ä.example.org/": "ASCII", "https://a.example.org/" + strings.Repeat("x", 2048): "2048 bytes",
	} {
		if err := s.CheckURL(t.Context(), text); fmt.Sprint(err) != "<nil>" && want == "" || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.60s: %v, want %q", text, err, want)
		}
	}
	if err := newSender(t, webhooks.Config{Resolver: names}, "other.example").CheckURL(t.Context(), "https://a.example.org/"); !errors.Is(err, webhooks.ErrRefused) {
		t.Errorf("a host that is not listed: %v", err)
	}
}

// resolver queries a name server on this machine. It answers each query for an IPv4 address with
// the result of address.
func resolver(t *testing.T, address func() netip.Addr) *net.Resolver {
	t.Helper()
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	go func() {
		question := make([]byte, 512)
		for {
			n, from, err := server.ReadFrom(question)
			if err != nil {
				return
			}
			_, _ = server.WriteTo(answerDNS(question[:n], address()), from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
}

// answerDNS answers a query for one name, according to RFC 1035: with an address for type A, and
// without a record for other types.
func answerDNS(question []byte, address netip.Addr) []byte {
	end := 12
	for question[end] != 0 {
		end += 1 + int(question[end])
	}
	end += 5 // the root, type and class
	answer := append([]byte{}, question[:end]...)
	answer[2], answer[3] = 0x81, 0x80 // a response, recursion available
	copy(answer[6:], make([]byte, 6)) // no records except those counted below
	if binary.BigEndian.Uint16(question[end-4:]) != 1 {
		return answer
	}
	answer[7] = 1
	answer = append(answer, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
	return append(answer, address.AsSlice()...)
}
