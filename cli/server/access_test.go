package server

import (
	"io"
	"net/http"
	"slices"
	"testing"
)

// TestAccessSettings: the settings for hosts, origins and keys apply to requests.
func TestAccessSettings(t *testing.T) {
	t.Parallel()
	at, _ := start(t, io.Discard, "--allowed-hosts", "lab, 192.0.2.7", "--allowed-origins", "https://app.example.org",
		"--failed-keys-per-minute", "2", "--base-url", "https://data.example.org/v1")
	ask := func(host, key string, headers ...string) *http.Response {
		t.Helper()
		request, err := http.NewRequest(http.MethodGet, at.address+"/sets", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = host
		request.Header.Set("Authorization", key)
		for i := 0; i < len(headers); i += 2 {
			request.Header.Set(headers[i], headers[i+1])
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if err := response.Body.Close(); err != nil {
			t.Error(err)
		}
		return response
	}
	for host, want := range map[string]int{
		"lab:1": 200, "192.0.2.7": 200, "data.example.org": 200, "localhost": 200, "127.0.0.1": 200, "evil.example.org": 421, "192.0.2.8": 421,
	} {
		if got := ask(host, at.firstKey).StatusCode; got != want {
			t.Errorf("%s: %d, want %d", host, got, want)
		}
	}
	for origin, want := range map[string]string{"https://app.example.org": "https://app.example.org", "https://evil.example.org": ""} {
		if got := ask("lab", at.firstKey, "Origin", origin).Header.Get("Access-Control-Allow-Origin"); got != want {
			t.Errorf("%s: %q is allowed", origin, got)
		}
	}
	for i, want := range []int{401, 401, 429, 429} {
		if got := ask("lab", "unknown").StatusCode; got != want {
			t.Errorf("unknown key %d: %d, want %d", i, got, want)
		}
	}
	if got := ask("lab", at.firstKey).StatusCode; got != http.StatusOK {
		t.Errorf("the right key: %d", got)
	}
}

func TestListenNames(t *testing.T) {
	t.Parallel()
	for listen, want := range map[string][]string{
		"lab:8080": {"lab"}, "localhost:1": nil, "127.0.0.1:1": nil, "[::1]:1": nil, "0.0.0.0:1": nil, ":1": nil,
	} {
		if got := listenNames(listen); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", listen, got, want)
		}
	}
}
