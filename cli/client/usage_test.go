package client

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"labshelf/cli/exit"
	"labshelf/client"
)

// TestQuotas sets and shows quotas. put warns from 80 % on. It gives advice for a file that does
// not fit, and tries it once.
func TestQuotas(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	want := func(out string, args ...string) (problems string) {
		t.Helper()
		got := s.run(t, "", args...)
		if got.error != nil || !strings.Contains(strings.Join(strings.Fields(got.out), " "), out) {
			t.Errorf("%q: %v, want %q", args, got, out)
		}
		return got.err
	}
	want("Changed the dataspace lab.", "dataspace", "edit", "lab", "--quota", "1KiB")
	s.put(t, set.ID, "a", strings.Repeat("a", 700))
	if got := want("OF FILES SIZE DELETED OLD VERSIONS USED QUOTA lab 1 700 B 0 B 0 B 700 B 1.0 KiB (68 %)", "usage", "lab"); got != "" {
		t.Errorf("it warns at 68 %%: %q", got)
	}
	s.put(t, set.ID, "b", strings.Repeat("b", 120))
	for _, args := range [][]string{{"usage"}, {"usage", "lab"}} {
		if got := want("lab 2 820 B 0 B 0 B 820 B 1.0 KiB (80 %)", args...); !strings.HasPrefix(got, "Warning: 80 % of the quota of lab are used.") {
			t.Errorf("%q: no warning at 80 %%: %q", args, got)
		}
	}
	want(`"used":820,"quota":1024,`, "usage", "lab", "--json")

	asked := 0
	s.intercept(func(w http.ResponseWriter, r *http.Request) {
		if isUpload(r) {
			asked++
		}
		on(w, r)
	})
	got := s.run(t, "", "put", tree(t, map[string]string{"c": strings.Repeat("c", 205)}), "runs")
	var problem *client.Problem
	if !errors.As(got.error, &problem) || problem.Code != "quota_exceeded" || asked != 1 || !strings.Contains(got.err, "the dataspace lab holds 820 bytes of 1.0 KiB") {
		t.Errorf("%d requests: %v", asked, got)
	}
	s.intercept(nil)

	want("Created the user mary.", "user", "new", "mary", "--quota", "2MB")
	want("user mary 0 B 1.9 MiB (0 %)", "usage", "--user", "mary")
	want("Changed the user mary.", "user", "edit", "mary", "--quota", "none")
	want("user mary 0 B", "usage", "--user", "mary")
	want("user admin 820 B", "usage")
	want("Created the dataspace other", "dataspace", "new", "other", "--quota", "10GB")
	for _, args := range [][]string{{"dataspace", "edit", "lab", "--quota", "much"}, {"usage", "lab", "--user", "mary"}} {
		if got := s.run(t, "", args...); got.error == nil || args[0] == "usage" && !errors.Is(got.error, exit.ErrUsage) {
			t.Errorf("%q: %v", args, got)
		}
	}
}
