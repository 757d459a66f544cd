package client

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"labshelf/cli/exit"
	"labshelf/client"
)

// TestDescribe changes and shows the metadata of an object of each kind.
func TestDescribe(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab-one", "runs")
	r := s.put(t, set.ID, "a/run-1.csv", "text")
	describe := func(want string, args ...string) {
		t.Helper()
		if got := s.run(t, `{"publisher":"Curie"}`, append([]string{"describe"}, args...)...); got.error != nil || got.out != want {
			t.Errorf("%q: %v, want %q", args, got, want)
		}
	}
	if got := s.run(t, "", "describe", "runs"); got.error != nil || got.out != "" || got.err != "The set runs has no metadata.\n" {
		t.Errorf("of a set without metadata: %v", got)
	}
	describe("Described the resource a/run-1.csv.\n", "runs:a/run-1.csv", "--tag", "raw", "--tag", "b", "--set", "operator=Ada", "--set", "temperature:=20 °C", "--set", "sample.id=S1")
	describe("tags         raw, b\noperator     Ada\nsample       {\"id\":\"S1\"}\ntemperature  20 °C\n", "runs:a/run-1.csv")
	describe("Described the resource a/run-1.csv.\n", r.ID, "--untag", "raw", "--unset", "operator", "--unset", "sample.id", "--unset", "sample")
	if got := must[client.Resource](t)(s.client.Resources.Get(t.Context(), r.ID)); got.Metadata != `{"tags":["b"],"properties":{"temperature":{"value":20,"unit":"°C"}}}` {
		t.Errorf("the resource has %s", got.Metadata)
	}
	describe("Described the set runs.\n", "runs", "--metadata", "-", "--tag", "set")
	marked := filepath.Join(t.TempDir(), "marked.json")
	if err := os.WriteFile(marked, []byte("\ufeff{\"publisher\":\"Curie\"}"), 0o600); err != nil {
		t.Fatal(err)
	}
	describe("Described the set runs.\n", "runs", "--metadata", marked)
	describe("publisher  Curie\ntags       set\n", "runs")
	file := filepath.Join(t.TempDir(), "m.json")
	if err := os.WriteFile(file, []byte(`{"licence":"CC-BY-4.0","keywords":["radium"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	describe("Described the dataspace lab-one.\n", "lab-one", "--metadata", file)
	if got := s.run(t, "", "describe", "lab-one", "--json"); !strings.Contains(got.out, `"metadata":{"licence":"CC-BY-4.0","keywords":["radium"]}`) {
		t.Errorf("as JSON: %v", got)
	}
	for _, args := range [][]string{{"runs", "--set", "operator"}, {"runs", "--metadata", file + "x"}, {"runs", "--set", "a.b=1", "--set", "a=2", "--set", "a.c=3"}, {"nothing"}} {
		if got := s.run(t, "", append([]string{"describe"}, args...)...); got.error == nil || got.out != "" {
			t.Errorf("%q: %v", args, got)
		}
	}
	var problem *client.Problem
	if got := s.run(t, "", "describe", "runs", "--set", "a:b=1"); !errors.As(got.error, &problem) || problem.Field != "metadata.properties.a:b" {
		t.Errorf("an invalid name: %v", got)
	}
	if got := s.run(t, strings.Repeat(" ", 1<<20+1), "describe", "runs", "--metadata", "-"); !errors.Is(got.error, exit.ErrUsage) {
		t.Errorf("a file that is too long: %v", got)
	}
}

// TestDescribeTags: tags that another user adds in the meantime are kept. A change of other fields
// does not request the tags.
func TestDescribeTags(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	var puts atomic.Int32
	s.intercept(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut && puts.Add(1) == 1 {
			must[client.Set](t)(s.client.Sets.Edit(r.Context(), set.ID, client.SetEdit{Metadata: `{"tags":["other"]}`}))
		}
		on(w, r)
	})
	if got := s.run(t, "", "describe", "runs", "--tag", "mine"); got.error != nil {
		t.Fatal(got)
	}
	if got := must[client.Set](t)(s.client.Sets.Get(t.Context(), set.ID)); got.Metadata != `{"tags":["other","mine"]}` {
		t.Errorf("the set has %s", got.Metadata)
	}
	s.intercept(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut && r.Header.Get("If-Match") != "" {
			t.Error("a change of properties has a condition")
		}
		on(w, r)
	})
	if got := s.run(t, "", "describe", "runs", "--set", "n:=1"); got.error != nil {
		t.Error(got)
	}
	var always atomic.Int32
	s.intercept(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			always.Add(1)
			r.Header.Set("If-Match", `"another"`)
		}
		on(w, r)
	})
	var problem *client.Problem
	if got := s.run(t, "", "describe", "runs", "--tag", "late"); !errors.As(got.error, &problem) || problem.Status != http.StatusPreconditionFailed || always.Load() != describeTries {
		t.Errorf("after %d tries: %v", always.Load(), got)
	}
}
