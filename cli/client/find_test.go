package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"labshelf/cli/client/find"
	"labshelf/cli/client/reference"
	"labshelf/cli/exit"
	"labshelf/client"
)

// TestPathsOfHits: other commands accept the path that find prints for a hit, however many sets
// the hits are in. Few requests are needed for the names.
func TestPathsOfHits(t *testing.T) {
	t.Parallel()
	s := start(t)
	want := map[string]string{}
	set := s.newSet(t, "lab", "set-0")
	for i := range find.MostRead + 10 {
		if i > 0 {
			set = must[client.Set](t)(s.client.Sets.Create(t.Context(), client.NewSet{Name: fmt.Sprint("set-", i), DataspaceID: set.DataspaceID}))
		}
		r := s.put(t, set.ID, fmt.Sprint("a folder/ice: ", i, ".txt"), "")
		want[r.ID] = "lab/" + set.Name + ":" + r.Name
	}
	if err := s.repo.Search.Indexed(t.Context()); err != nil {
		t.Fatal(err)
	}
	var read, listed atomic.Int32
	s.intercept(func(w http.ResponseWriter, r *http.Request) {
		switch path := strings.TrimPrefix(r.URL.Path, "/v1"); {
		case path == "/sets" || path == "/dataspaces":
			listed.Add(1)
		case strings.HasPrefix(path, "/sets/") && !strings.Contains(path, "query"):
			read.Add(1)
		}
		on(w, r)
	})
	found := s.run(t, "", "find", "ice", "type:file", "--long")
	lines := strings.Split(strings.TrimSpace(found.out), "\n")
	if found.error != nil || len(lines) != 1+len(want) {
		t.Fatalf("%d lines: %v", len(lines), found)
	}
	if read.Load() != find.MostRead || listed.Load() != 2 {
		t.Errorf("%d sets were read, and %d listings", read.Load(), listed.Load())
	}
	s.intercept(nil)
	for _, line := range lines[1:] {
		id, _, _ := strings.Cut(line, " ")
		ref := want[id]
		if r, err := reference.FindResource(t.Context(), s.client, ref, client.Active); ref == "" || !strings.Contains(line, "  "+ref+"  ") || err != nil || r.ID != id {
			t.Errorf("%s: want %s, which is %q, %v", line, ref, r.ID, err)
		}
	}
}

// TestFindReportsIndexBehind: while the index is behind, find reports it on standard error.
func TestFindReportsIndexBehind(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.intercept(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"end": true, "behind": 17}`) })
	for _, args := range [][]string{{"find", "ice"}, {"find", "ice", "--json"}, {"find", "ice", "--counts"}, {"find", "ice", "--counts", "--json"}} {
		got := s.run(t, "", args...)
		if got.error != nil || !strings.Contains(got.err, "does not find the last 17 changes yet") || strings.Contains(got.out, "17") {
			t.Errorf("%q: %v", args, got)
		}
	}
}

// TestIndexWait: --wait returns when the index contains the commits made before the command
// started. It fails if the index needs too much time.
func TestIndexWait(t *testing.T) {
	t.Parallel()
	s := start(t)
	const at = `{"state": %q, "entries": %d, "behind": %d, "texts": %q, "documents": 1, "bytes": 2, "failure": %q}`
	var asked atomic.Int32
	answers := []string{
		fmt.Sprintf(at, "behind", 5, 5, "current", ""),
		fmt.Sprintf(at, "building", 12, 0, "current", ""),
		fmt.Sprintf(at, "failing", 9, 4, "current", "no room"),
		fmt.Sprintf(at, "behind", 10, 3, "behind", ""),
		fmt.Sprintf(at, "behind", 10, 7, "current", ""), // the command does not wait for later commits
		fmt.Sprintf(at, "current", 17, 0, "current", ""),
	}
	s.intercept(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, answers[min(int(asked.Add(1)), len(answers))-1])
	})
	got := s.run(t, "", "index", "status", "--wait")
	if text := strings.Join(strings.Fields(got.out), " "); got.error != nil || asked.Load() != 5 || !strings.Contains(text, "state behind changes 10 followed, 7 remaining") {
		t.Errorf("after %d requests: %v", asked.Load(), got)
	}
	answers = answers[2:3]
	got = s.run(t, "", "index", "status", "--wait", "--timeout", "1ms")
	if got.error == nil || got.out != "" || !strings.Contains(got.error.Error(), "it is failing, 4 changes behind: no room") {
		t.Errorf("%v", got)
	}
	got = s.run(t, "", "index", "status")
	if got.error == nil || !strings.Contains(strings.Join(strings.Fields(got.out), " "), "state failing: no room") {
		t.Errorf("%v", got)
	}
	ctx, stop := context.WithCancel(t.Context())
	s.intercept(func(w http.ResponseWriter, _ *http.Request) {
		defer stop()
		_, _ = io.WriteString(w, answers[0])
	})
	if got := s.runAs(ctx, s.key, "", "index", "status", "--wait"); !errors.Is(got.error, exit.ErrInterrupted) {
		t.Errorf("%v", got)
	}
}
