package client

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"labshelf/cli/client/fetch"
	"labshelf/cli/client/filenames"
	"labshelf/cli/exit"
	"labshelf/client"
)

// versions returns the versions of the active resources in a set, by id.
func (s *service) versions(t *testing.T, set string) map[string]string {
	t.Helper()
	versions := map[string]string{}
	for _, r := range s.active(t, set) {
		versions[r.ID] = r.Name + " " + r.Modified.String() + " " + r.SHA256.String()
	}
	return versions
}

// TestPutSkipsDownloadedFiles: put sends no bytes of a folder that get has written, whatever
// the names. Changed files replace the resources that they came from. Another set gets the original
// names.
func TestPutSkipsDownloadedFiles(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	s.fill(t, set.ID, 60)
	s.putRaw(t, set.ID, filenames.Name, "no names")
	before := s.versions(t, set.ID)
	dir := t.TempDir()
	got := s.run(t, "", "get", "runs", dir)
	if got.error != nil || !strings.Contains(got.err, "x_y__: the name of the resource is x:y*?\n") || !strings.Contains(got.err, "renamed ") {
		t.Fatalf("%+v", got)
	}
	var uploads atomic.Int32
	s.intercept(func(w http.ResponseWriter, r *http.Request) {
		if isUpload(r) {
			uploads.Add(1)
		}
		on(w, r)
	})
	back := s.run(t, "", "put", dir, "runs")
	if back.error != nil || uploads.Load() != 0 || back.out != strings.Split(back.out, "\n")[0]+"\n" || !strings.HasPrefix(back.out, "already there  ") {
		t.Errorf("%d uploads: %+v", uploads.Load(), back)
	}
	if diff := cmp.Diff(before, s.versions(t, set.ID)); diff != "" {
		t.Errorf("the resources differ (-before +after):\n%s", diff)
	}
	if single := s.run(t, "", "put", filepath.Join(dir, "x_y__"), "runs"); single.error != nil || uploads.Load() != 0 {
		t.Errorf("%d uploads of one file: %+v", uploads.Load(), single)
	}

	// Of two resources with one name, only the one whose file was changed is replaced.
	var twins []string
	for _, r := range s.active(t, set.ID) {
		if r.Name == "a.txt" {
			twins = append(twins, r.ID)
		}
	}
	younger := max(twins[0], twins[1])
	write(t, filepath.Join(dir, "a ("+younger+").txt"), "changed")
	if back := s.run(t, "", "put", dir, "runs", "--json"); back.error != nil || uploads.Load() != 1 ||
		!strings.Contains(back.out, `"name":"a.txt","outcome":"replaced","id":"`+younger+`"`) {
		t.Errorf("%d uploads: %+v", uploads.Load(), back)
	}

	// In another set, the files have their original names. Of two files with the same name, only
	// one is stored.
	other := must[client.Set](t)(s.client.Sets.Create(t.Context(), client.NewSet{Name: "other", DataspaceID: set.DataspaceID}))
	if there := s.run(t, "", "put", dir, "other"); !errors.Is(there.error, exit.ErrPartly) || !strings.Contains(there.err, "would have the same name") {
		t.Errorf("%+v", there)
	}
	want, have := map[string]bool{}, map[string]bool{}
	for _, r := range s.active(t, set.ID) {
		want[r.Name] = true
	}
	for _, r := range s.active(t, other.ID) {
		have[r.Name] = true
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("the names differ (-first +other):\n%s", diff)
	}
}

// TestNamesFollowSet: the names file follows the set, keeps the names of other sets, and is removed
// when it is empty. An invalid names file is reported.
func TestNamesFollowSet(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	r := s.put(t, set.ID, "a:b", "text")
	dir := t.TempDir()
	get := func(want map[string]filenames.Resource) {
		t.Helper()
		if got := s.run(t, "", "get", "runs", dir, "--force"); got.error != nil {
			t.Fatalf("%+v", got)
		}
		if names := must[map[string]filenames.Resource](t)(filenames.Read(os.DirFS(dir))); !cmp.Equal(names, want) {
			t.Errorf("got %v, want %v", names, want)
		}
	}
	get(map[string]filenames.Resource{"a_b": {Name: "a:b", ID: r.ID}})
	name := "a_b"
	if _, err := s.client.Resources.Edit(t.Context(), r.ID, client.ResourceEdit{Name: &name}); err != nil {
		t.Fatal(err)
	}
	get(nil)
	if _, err := os.Stat(filepath.Join(dir, filenames.Name)); !os.IsNotExist(err) {
		t.Errorf("an empty names file exists: %v", err)
	}
	write(t, filepath.Join(dir, filenames.Name), "{")
	if got := s.run(t, "", "put", dir, "runs"); !errors.Is(got.error, filenames.ErrDamaged) || !strings.Contains(got.Error(), dir) {
		t.Errorf("%+v", got)
	}
	get(nil)
}

// TestGetExcludesOtherRuns: while a set is downloaded to a folder, no other run can download a set
// to it. A single file can still be downloaded, and replaces no file of another run.
func TestGetExcludesOtherRuns(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	s.put(t, set.ID, "one", "1")
	other := must[client.Set](t)(s.client.Sets.Create(t.Context(), client.NewSet{Name: "other", DataspaceID: set.DataspaceID}))
	s.put(t, other.ID, "two", "2")
	dir := t.TempDir()
	reached, release := make(chan struct{}), make(chan struct{})
	var blocked atomic.Bool
	s.intercept(func(w http.ResponseWriter, r *http.Request) {
		if isData(r) && blocked.CompareAndSwap(false, true) {
			close(reached)
			<-release
		}
		on(w, r)
	})
	first := make(chan ran, 1)
	go func() { first <- s.run(t, "", "get", "runs", dir) }()
	<-reached
	if got := s.run(t, "", "get", "runs", dir); !errors.Is(got.error, fetch.ErrLocked) || !strings.Contains(got.Error(), "into "+dir) {
		t.Errorf("the same set: %+v", got)
	}
	if got := s.run(t, "", "get", "other", dir); !errors.Is(got.error, fetch.ErrLocked) {
		t.Errorf("another set: %+v", got)
	}
	if got := s.run(t, "", "get", "other:two", dir); got.error != nil {
		t.Errorf("one file: %+v", got)
	}
	write(t, filepath.Join(dir, "one"), "of another run")
	close(release)
	if got := <-first; got.error == nil || !strings.Contains(got.err, "a file with this name exists now") {
		t.Errorf("the first: %+v", got)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "one")); err != nil || string(text) != "of another run" {
		t.Errorf("the file of the other run is %q, %v", text, err)
	}
	if got := s.run(t, "", "get", "runs", dir, "--force"); got.error != nil {
		t.Errorf("after it: %+v", got)
	}
	if _, err := os.Stat(filepath.Join(dir, filenames.LockName)); !os.IsNotExist(err) {
		t.Errorf("the lock file still exists: %v", err)
	}
}
