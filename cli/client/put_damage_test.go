package client

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"labshelf/client"
)

// harm truncates the file of a resource, and lets the service detect it.
func (s *service) harm(t *testing.T, r client.Resource) {
	t.Helper()
	digest := r.SHA256.String()
	if err := os.Truncate(filepath.Join(s.dir, "blobs", digest[:2], digest), r.Bytes-1); err != nil {
		t.Fatal(err)
	}
	var problem *client.Problem
	if _, err := s.client.Resources.Data(t.Context(), r.ID, 0, ""); !errors.As(err, &problem) || problem.Code != "data_damaged" {
		t.Fatalf("reading a damaged file: %v", err)
	}
	if now := must[client.Resource](t)(s.client.Resources.Get(t.Context(), r.ID)); !now.Damaged {
		t.Fatal("the record does not report the damage")
	}
}

// TestPutRepairsDamaged: put sends a file again if the resource with the same name and bytes is
// damaged on the server. It replaces the same resource, in one request or in chunks, even if the
// response is lost.
func TestPutRepairsDamaged(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	files := map[string]string{"large": strings.Repeat("l", 17<<20), "medium": strings.Repeat("m", 200_000), "sound": strings.Repeat("s", 200_001)}
	root := tree(t, files)
	if got := s.run(t, "", "put", root, "runs"); got.error != nil {
		t.Fatal(got)
	}
	ids := map[string]string{}
	for r, err := range s.client.Sets.Resources(t.Context(), set.ID, client.ListOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		ids[r.Name] = r.ID
		if r.Name != "sound" {
			s.harm(t, r)
		}
	}
	if got := s.run(t, "", "put", "--dry-run", root, "runs"); got.error != nil || !strings.Contains(got.out, "would replace  2 files") {
		t.Errorf("got %+v", got)
	}
	lost := false
	s.intercept(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut && !lost { // the file that is sent in one request
			lost = true
			lose(w, r)
		}
		on(w, r)
	})
	for _, want := range []string{"replaced       2 files", "already there  3 files"} {
		if got := s.run(t, "", "put", "--parallel", "1", root, "runs"); got.error != nil || !strings.Contains(got.out, want) {
			t.Errorf("got %+v, want %q", got, want)
		}
	}
	s.holds(t, set.ID, files)
	for r, err := range s.client.Sets.Resources(t.Context(), set.ID, client.ListOptions{}) {
		if err != nil || r.Damaged || r.ID != ids[r.Name] {
			t.Errorf("%s is %s, %s before, damaged: %v (%v)", r.Name, r.ID, ids[r.Name], r.Damaged, err)
		}
	}
}
