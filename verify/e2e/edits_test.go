package e2e

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// TestEditThroughKill kills the service while it edits the metadata of a set from a CSV. The edit
// must list exactly the changed files, consist of complete steps, and be undoable.
func TestEditThroughKill(t *testing.T) {
	t.Parallel()
	const files, step = 1000, 200
	executable, err := program()
	check(t, err)
	data := filepath.Join(t.TempDir(), "data")
	s, err := Start(t.Context(), executable, data)
	check(t, err)
	_, set, err := s.MakeSet(t.Context(), "edited")
	check(t, err)
	for i := range files {
		_, err := s.Upload(t.Context(), http.MethodPost, "/resources", File{SetID: set, Name: fmt.Sprintf("run-%04d", i), Filename: "run", Body: strings.NewReader("x"), Size: 1})
		check(t, err)
	}
	table, err := s.Exchange(t.Context(), http.MethodGet, "/sets/"+set+"/metadata", http.Header{}, nil)
	check(t, err)
	lines := strings.Split(strings.TrimSuffix(string(table.Body), "\r\n"), "\r\n")
	if len(lines) != files+1 {
		t.Fatalf("the table has %d lines", len(lines))
	}
	edited := lines[0] + ",properties.n\r\n" + strings.Join(lines[1:], ",7\r\n") + ",7\r\n"
	answered := make(chan error, 1)
	go func(s *Service) {
		_, err := s.Exchange(context.WithoutCancel(t.Context()), http.MethodPost, "/sets/"+set+"/metadata", http.Header{"Content-Type": {"text/csv"}}, strings.NewReader(edited))
		answered <- err
	}(s)
	var edits struct {
		Data []struct {
			ID      string
			Objects int
		}
	}
	waitUntil(t, func() bool {
		check(t, s.Get(t.Context(), "/sets/"+set+"/edits", &edits))
		return len(edits.Data) > 0 && edits.Data[0].Objects > 0
	})
	s.Kill()
	if <-answered == nil {
		t.Log("the edit was complete before the service was killed")
	}
	s, err = Start(t.Context(), executable, data)
	check(t, err)
	defer func() { check(t, s.Stop()) }()
	check(t, s.Get(t.Context(), "/sets/"+set+"/edits", &edits))
	edit, changed := edits.Data[0], described(t, s, set)
	if changed != edit.Objects || changed%step != 0 || changed == 0 {
		t.Errorf("%d files are changed, but the edit lists %d", changed, edit.Objects)
	}
	var undone struct{ Changed int }
	check(t, s.Call(t.Context(), http.MethodPost, "/edits/"+edit.ID+"/undo", nil, &undone))
	if left := described(t, s, set); undone.Changed != changed || left != 0 {
		t.Errorf("undo changed %d of %d files, and %d are left", undone.Changed, changed, left)
	}
}

// described returns the number of files with metadata in a set.
func described(t *testing.T, s *Service, set string) (n int) {
	t.Helper()
	for url := "/sets/" + set + "/resources?fields=metadata"; url != ""; {
		var page struct {
			Data     []struct{ Metadata any }
			NextPage string
			End      bool
		}
		check(t, s.Get(t.Context(), url, &page))
		for _, r := range page.Data {
			if r.Metadata != nil {
				n++
			}
		}
		if url = page.NextPage; page.End {
			return n
		}
	}
	return n
}
