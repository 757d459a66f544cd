package handlers_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"labshelf/handlers"
	"labshelf/repository"
)

func loopback() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
}

// TestOwnHostsAreAnswered tests that the service answers only for its own names and addresses. So a
// page under a foreign name cannot reach it through a user's browser.
func TestOwnHostsAreAnswered(t *testing.T) {
	t.Parallel()
	base, err := url.Parse("https://Data.Example.org:8443/v1")
	if err != nil {
		t.Fatal(err)
	}
	c := sysadmin(t).configured(handlers.Config{BaseURL: base, AllowedHosts: []string{"Labserver", "10.9.8.7"}, TrustedProxies: loopback()})
	near, far := "127.0.0.1:1234", "192.0.2.1:1234"
	for _, tt := range []struct {
		host, local, remote, forwarded string
		want                           int
	}{
		{"localhost", "", far, "", 200},
		{"LOCALHOST:80", "", far, "", 200},
		{"localhost.", "", far, "", 200},
		{"shelf.localhost:8080", "", far, "", 200},
		{"127.0.0.1:8080", "", far, "", 200},
		{"127.200.0.1", "", far, "", 200},
		{"[::1]:8080", "", far, "", 200},
		{"[::ffff:127.0.0.1]", "", far, "", 200},
		{"data.example.org", "", far, "", 200},
		{"DATA.EXAMPLE.ORG:1", "", far, "", 200},
		{"labserver:8080", "", far, "", 200},
		{"10.9.8.7:1", "", far, "", 200},
		{"192.168.1.5:8080", "192.168.1.5:8080", far, "", 200},
		{"[fd00::5]", "[fd00::5]:8080", far, "", 200},
		{"[fd00:0:0::5]:80", "[fd00::5]:8080", far, "", 200},
		{"", "192.168.1.5:8080", far, "", 200}, // HTTP/1.0

		{"192.168.1.6:8080", "192.168.1.5:8080", far, "", 421},
		{"192.168.1.5", "", far, "", 421},
		{"evil.example.org", "192.168.1.5:8080", far, "", 421},
		{"evil.example.org", "127.0.0.1:8080", near, "", 421},
		{"data.example.org.evil.example", "", far, "", 421},
		{"localhost.evil.example", "", far, "", 421},
		{"evillocalhost", "", far, "", 421},
		{"0.0.0.0:8080", "127.0.0.1:8080", far, "", 421},
		{"128.0.0.1", "", far, "", 421},
		{"[::2]", "", far, "", 421},
		{"127.0.0.1.evil.example", "", far, "", 421},

		{"upstream", "", near, "data.example.org", 200},
		{"upstream", "", near, "Labserver:443, other", 200},
		{"localhost", "", near, "evil.example.org", 421},
		{"192.168.1.5", "192.168.1.5:8080", near, "192.168.1.5:8080", 200},
		{"localhost", "127.0.0.1:8080", near, "localhost", 421}, // the visitor's own machine, not this one
		{"localhost", "127.0.0.1:8080", near, "x.localhost:80", 421},
		{"localhost", "127.0.0.1:8080", near, "127.0.0.1", 421},
		{"localhost", "127.0.0.1:8080", near, "[::1]:8080", 421},
		{"data.example.org", "127.0.0.1:8080", near, "localhost.", 421},
		{"localhost", "127.0.0.1:8080", near, "", 200},
		{"localhost", "", near, "not a host", 200},
		{"localhost", "", far, "evil.example.org", 200}, // not a trusted proxy, so its header is ignored
		{"upstream", "", far, "data.example.org", 421},
	} {
		request := httptest.NewRequest("GET", "/v1/status", nil)
		request.Host, request.RemoteAddr = tt.host, tt.remote
		if tt.forwarded != "" {
			request.Header.Set("X-Forwarded-Host", tt.forwarded)
		}
		if tt.local != "" {
			local := net.TCPAddrFromAddrPort(netip.MustParseAddrPort(tt.local))
			request = request.WithContext(context.WithValue(request.Context(), http.LocalAddrContextKey, local))
		}
		request.URL.Path = "/v1/status"
		got := httptest.NewRecorder()
		c.server.Config.Handler.ServeHTTP(got, request)
		if got.Code != tt.want {
			t.Errorf("Host %q at %q from %q, forwarded for %q: %d, want %d", tt.host, tt.local, tt.remote, tt.forwarded, got.Code, tt.want)
		}
	}
}

// TestOtherHostsAreMisdirected tests that requests for other hosts all get the same refusal, with
// and without a key, before any effect.
func TestOtherHostsAreMisdirected(t *testing.T) {
	t.Parallel()
	s := ownGateway(t, repository.Config{}, handlers.Config{}).newSpace(nil)
	for _, line := range []string{"GET /v1/status", "GET /v1/sets", "DELETE /v1/dataspaces/" + s.dataspace, "OPTIONS /v1/sets", "GET /v1/nothing", "GET /"} {
		_, reader := s.dial("%s HTTP/1.1\r\nHost: Evil.example.org:80\r\nAuthorization: %s\r\nOrigin: https://evil.example.org\r\n\r\n", line, s.key)
		a := s.readRaw(reader, "GET", "/status").problem(http.StatusMisdirectedRequest, "misdirected", "")
		detail := a.object().text("detail")
		same(t, "the detail names host and remedy", strings.Contains(detail, `"evil.example.org"`) && strings.Contains(detail, "allowed_hosts"), true)
		same(t, "CORS", a.header.Get("Access-Control-Allow-Origin"), "")
	}
	same(t, "the dataspace", s.get("/dataspaces/"+s.dataspace).object().text("state"), "active")
	same(t, "hosts in the log", strings.Count(s.log.String(), `"host":"evil.example.org"`), 6)
}
