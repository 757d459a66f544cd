package client

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

func TestIsPublic(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"127.0.0.1": false, "::1": false, "10.1.2.3": false, "192.168.0.1": false, "172.16.0.1": false, "169.254.169.254": false,
		"fe80::1": false, "fd00::1": false, "0.0.0.0": false, "::ffff:127.0.0.1": false, "100.64.0.1": false, "224.0.0.1": false,
		"93.184.216.34": true, "2606:2800:220:1::1": true, "::ffff:93.184.216.34": true,
	} {
		if got := isPublic(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: got %t, want %t", text, got, want)
		}
	}
}

// TestUnsafeRedirectsAreRefused: the client does not follow a redirect of a download to an address
// of this machine, by number or by name, or from HTTPS to HTTP.
func TestUnsafeRedirectsAreRefused(t *testing.T) {
	t.Parallel()
	asked := 0
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer inside.Close()
	c := New("https://93.184.216.34/v1", "lsk_canary")
	defer c.Close()
	for _, test := range []struct{ from, to string }{
		{"http://93.184.216.34/v1/x", inside.URL},
		{"http://93.184.216.34/v1/x", strings.Replace(inside.URL, "127.0.0.1", "localhost", 1)},
		{"https://93.184.216.34/v1/x", "http://93.184.216.35/x"},
		{"http://93.184.216.34/v1/x", "ftp://93.184.216.35/x"},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, test.from, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer := &http.Response{Header: http.Header{"Location": {test.to}}, Body: http.NoBody, Request: request}
		if _, err := c.follow(request, answer); !errors.Is(err, errRedirect) {
			t.Errorf("from %s to %s: got %v", test.from, test.to, err)
		}
	}
	if asked > 0 {
		t.Errorf("%d requests reached this machine", asked)
	}
}
