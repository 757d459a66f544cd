package client

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"labshelf/cli/client/command"
	"labshelf/client"
)

// TestNameVersions: if a service of another version does not understand a call, or gives an
// unexpected response, the error names both versions. For an error that every version gives, it
// names no versions.
func TestNameVersions(t *testing.T) {
	t.Parallel()
	const both = "this labshelf is version 2.0.0, the service is version 1.2.3"
	s := start(t)
	s.newSet(t, "lab", "runs")
	for name, test := range map[string]struct {
		status int
		answer string
		named  bool
	}{
		"a field that it does not know": {400, `{"status":400,"code":"unknown_field","detail":"there is no such field"}`, true},
		"a path that it does not know":  {404, `{"status":404,"code":"not_found","detail":"there is nothing at this address"}`, true},
		"a record without an id":        {200, `{}`, true},
		"a refusal":                     {403, `{"status":403,"code":"forbidden","detail":"no"}`, false},
	} {
		s.intercept(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/status") {
				on(w, r)
				return
			}
			w.WriteHeader(test.status)
			_, _ = w.Write([]byte(test.answer))
		})
		got := s.run(t, "", "set", "new", "lab/more")
		if got.error == nil || strings.Contains(got.Error(), both) != test.named {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestNothingBehindGateway: if a load balancer answers instead of a service, the advice is not
// about the URL.
func TestNothingBehindGateway(t *testing.T) {
	t.Parallel()
	c := client.New("http://lab.example/v1", "")
	for status, want := range map[int]string{502: "no labshelf answers behind it", 503: "no labshelf answers behind it", 418: "the address of a labshelf service?"} {
		answered := &client.Problem{Status: status}
		for name, err := range map[string]error{"a call": command.Advise(t.Context(), c, answered), "login": adviseLogin(c.Base(), answered)} {
			if !errors.Is(err, answered) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s that is answered %d: %v", name, status, err)
			}
		}
	}
}
