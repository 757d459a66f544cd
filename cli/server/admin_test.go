package server

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// addressOf returns the URL in the log line that names what is served.
func addressOf(t *testing.T, log *output, what string) string {
	t.Helper()
	for lines := bufio.NewScanner(strings.NewReader(log.String())); lines.Scan(); {
		var line struct{ Message, Address string }
		if err := json.Unmarshal(lines.Bytes(), &line); err == nil && strings.HasPrefix(line.Message, what+" is served") {
			return line.Address
		}
	}
	t.Fatalf("%s is not served:\n%s", what, log)
	return ""
}

// ask sends a request without a key. It sets the host unless host is "".
func ask(t *testing.T, method, url, host string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Host, request.Close = host, true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Error(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Error(err)
	}
	return response.StatusCode, string(text)
}

// TestAdminListeners: metrics and profiles are served only on their own addresses.
func TestAdminListeners(t *testing.T) {
	t.Parallel()
	var log output
	at, stop := start(t, &log, "--metrics", ":0", "--pprof", "127.0.0.1:0", "--allowed-hosts", "lab")
	figures, profiles, service := addressOf(t, &log, "metrics"), addressOf(t, &log, "pprof"), strings.TrimSuffix(at.address, "/v1")
	if strings.Contains(log.String(), `"level":"warn"`) || !strings.HasPrefix(figures, "http://127.0.0.1:") {
		t.Errorf("the metrics are at %s\n%s", figures, log.String())
	}
	for _, tt := range []struct {
		method, url, host string
		status            int
		shows             string
	}{
		{"GET", figures + "/metrics", "", 200, "\nlabshelf_http_connections "},
		{"GET", figures + "/metrics", "lab", 200, "\nlabshelf_http_connections "},
		{"GET", figures + "/metrics", "evil.example.org", 421, ""},
		{"POST", figures + "/metrics", "", 405, ""},
		{"GET", figures + "/debug/pprof/", "", 404, ""},
		{"GET", figures + "/v1/status", "", 404, ""},
		{"GET", profiles + "/debug/pprof/", "", 200, "heap"},
		{"GET", profiles + "/debug/pprof/goroutine?debug=1", "", 200, "labshelf/cli"},
		{"GET", profiles + "/debug/pprof/", "evil.example.org", 421, ""},
		{"POST", profiles + "/debug/pprof/profile", "", 405, ""},
		{"GET", profiles + "/metrics", "", 404, ""},
		{"GET", profiles + "/v1/status", "", 404, ""},
		{"GET", service + "/metrics", "", 404, ""},
		{"GET", service + "/debug/pprof/", "", 404, ""},
	} {
		status, body := ask(t, tt.method, tt.url, tt.host)
		if status != tt.status || !strings.Contains(body, tt.shows) {
			t.Errorf("%s %s for %q: %d\n%.300s", tt.method, tt.url, tt.host, status, body)
		}
	}

	// A profile that takes an hour does not delay the shutdown.
	asked := make(chan error, 1)
	go func() {
		response, err := http.Get(profiles + "/debug/pprof/trace?seconds=3600")
		if err == nil {
			_, err = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
		}
		asked <- err
	}()
	for begun := false; !begun; {
		_, stacks := ask(t, "GET", profiles+"/debug/pprof/goroutine?debug=1", "")
		begun = strings.Contains(stacks, "net/http/pprof.Trace")
	}
	begun := time.Now()
	if err := stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	if took := time.Since(begun); took > adminShutdown+10*time.Second {
		t.Errorf("stopping took %s", took)
	}
	if err := <-asked; err == nil {
		t.Error("a trace of an hour was complete")
	}
}

// TestAdminListenersWarn: an admin listener that other machines can reach is started with a
// warning.
func TestAdminListenersWarn(t *testing.T) {
	t.Parallel()
	var log output
	_, _ = start(t, &log, "--metrics", "0.0.0.0:0", "--pprof", "[::]:0")
	for _, what := range []string{"metrics", "pprof"} {
		if address := addressOf(t, &log, what); strings.Contains(address, "127.0.0.1") {
			t.Errorf("%s is at %s", what, address)
		}
		if !strings.Contains(log.String(), what+" is served; anybody who can connect to this address can read it, without a key") {
			t.Errorf("no warning about the access to %s:\n%s", what, log.String())
		}
	}
}
