package client

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"labshelf/cli/client/reference"
	"labshelf/client"
)

// TestFindByName: an object is found by its name without reading a listing, however many others
// exist.
func TestFindByName(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	for _, other := range []string{"one", "two", "three"} {
		s.newSet(t, "lab-"+other, other)
	}
	var mu sync.Mutex
	var listings []string
	s.intercept(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/sets") || strings.HasSuffix(r.URL.Path, "/dataspaces") {
			mu.Lock()
			listings = append(listings, r.URL.RequestURI())
			mu.Unlock()
		}
		on(w, r)
	})
	defer s.intercept(nil)
	for _, ref := range []string{"runs", "lab/runs", "LAB/runs"} {
		if got := must[client.Set](t)(reference.FindSet(t.Context(), s.client, ref, client.Active)); got.ID != set.ID {
			t.Errorf("%q: %s", ref, got.Name)
		}
	}
	if got := must[client.Dataspace](t)(reference.FindDataspace(t.Context(), s.client, "Lab", client.Active)); got.ID != set.DataspaceID {
		t.Errorf("the dataspace: %s", got.Name)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(listings) == 0 {
		t.Error("no listing was requested by name")
	}
	for _, address := range listings {
		if !strings.Contains(address, "name=") {
			t.Errorf("a whole listing was read: %s", address)
		}
	}
}
