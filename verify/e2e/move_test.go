package e2e

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// TestFolderMoveThroughKill kills the service while it moves a folder of many files (MOVED_FILES)
// into a set of another dataspace. Each file must be in exactly one of both sets, the moved files
// must be complete steps, and check must find no problem.
func TestFolderMoveThroughKill(t *testing.T) {
	t.Parallel()
	const step, writers = 200, 8
	files, err := strconv.Atoi(cmp.Or(os.Getenv("MOVED_FILES"), "800"))
	check(t, err)
	executable, err := program()
	check(t, err)
	data := filepath.Join(t.TempDir(), "data")
	s, err := Start(t.Context(), executable, data)
	check(t, err)
	space, from, err := s.MakeSet(t.Context(), "from")
	check(t, err)
	other, to, err := s.MakeSet(t.Context(), "to")
	check(t, err)
	var sending sync.WaitGroup
	for w := range writers {
		sending.Go(func() {
			for i := w; i < files; i += writers {
				name := fmt.Sprintf("d/%04d", i)
				if _, err := s.Upload(t.Context(), http.MethodPost, "/resources", File{SetID: from, Name: name, Filename: "f", Body: strings.NewReader(name), Size: int64(len(name))}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	sending.Wait()
	address := func(space, set string) string {
		return strings.TrimSuffix(s.Base(), "/v1") + "/dav/" + nameOf(t, s, "/dataspaces/"+space) + "/" + nameOf(t, s, "/sets/"+set) + "/d/"
	}
	source, goal := address(space, from), address(other, to)
	move, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), "MOVE", source, nil)
	check(t, err)
	move.SetBasicAuth("anybody", s.Key())
	move.Header.Set("Destination", goal)
	answered := make(chan error, 1)
	go func() {
		answer, err := http.DefaultClient.Do(move)
		if err == nil {
			err = fmt.Errorf("answered with %s", answer.Status)
			_ = answer.Body.Close() // only the status is used
		}
		answered <- err
	}()
	waitUntil(t, func() bool { return len(activeNames(t, s, to)) > 0 })
	s.Kill()
	t.Log("the move:", <-answered)
	s, err = Start(t.Context(), executable, data)
	check(t, err)
	left, gone := activeNames(t, s, from), activeNames(t, s, to)
	if len(left)+len(gone) != files || len(gone)%step != 0 {
		t.Errorf("%d files remain, and %d were moved", len(left), len(gone))
	}
	for name, content := range gone {
		if left[name] != "" || content == "" {
			t.Errorf("%s is in both sets, or has no content", name)
		}
	}
	check(t, s.Stop())
	outcome, err := Run(t.Context(), executable, "check", "--data", data)
	if check(t, err); outcome.Code != 0 {
		t.Errorf("check: %s", outcome)
	}
}

// nameOf returns the name of an object.
func nameOf(t *testing.T, s *Service, url string) string {
	t.Helper()
	var object struct{ Name string }
	check(t, s.Get(t.Context(), url, &object))
	return object.Name
}

// activeNames returns the digests of the active files of a set, by name.
func activeNames(t *testing.T, s *Service, set string) map[string]string {
	t.Helper()
	names := map[string]string{}
	for url := "/sets/" + set + "/resources?limit=1000"; url != ""; {
		var page struct {
			Data     []struct{ Name, SHA256 string }
			NextPage string
			End      bool
		}
		check(t, s.Get(t.Context(), url, &page))
		for _, r := range page.Data {
			names[r.Name] = r.SHA256
		}
		if url = page.NextPage; page.End {
			break
		}
	}
	return names
}
