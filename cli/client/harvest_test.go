package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"labshelf/client"
	"labshelf/formats/archive"
)

// everything lists the resources of a listing, in all states, by id.
func (s *service) everything(t *testing.T, c *client.Client, o client.ListOptions) map[string]client.Resource {
	t.Helper()
	o.State, o.Limit = client.All, 1000
	all := map[string]client.Resource{}
	for r, err := range c.Resources.List(t.Context(), o) {
		if err != nil {
			t.Fatal(err)
		}
		all[r.ID] = r
	}
	return all
}

// mirrored parses metadata.jsonl.
func mirrored(t *testing.T, dir string) (records map[string]client.Resource, paths map[string]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "metadata.jsonl"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	records, paths = map[string]client.Resource{}, map[string]string{}
	for line := range bytes.Lines(text) {
		var k struct {
			ID, Path string
			Dropped  bool
		}
		if err := json.Unmarshal(line, &k); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		delete(records, k.ID)
		delete(paths, k.ID)
		if k.Dropped {
			continue
		}
		var r client.Resource
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		records[k.ID] = r
		if k.Path != "" {
			paths[k.ID] = k.Path
		}
	}
	return records, paths
}

// equals compares the mirror with the expected records: records, bytes, names and times, and no
// other files. folder returns the folder of a resource.
func equals(t *testing.T, dir string, want map[string]client.Resource, folder func(client.Resource) string) {
	t.Helper()
	records, paths := mirrored(t, dir)
	if diff := cmp.Diff(want, records); diff != "" {
		t.Errorf("the metadata differ (-want +got):\n%s", diff)
	}
	files, given := map[string]string{}, archive.NewPaths()
	for _, id := range slices.Sorted(maps.Keys(want)) {
		r := want[id]
		if r.State != client.Active {
			if paths[id] != "" {
				t.Errorf("%s is deleted and has the path %q", id, paths[id])
			}
			continue
		}
		name := r.Name
		if archive.Clean(name) == "" {
			name = id
		}
		if at := "files/" + given.Give(id, folder(r)+name); paths[id] != at {
			t.Errorf("%s, called %q, has the path %q, want %q", id, r.Name, paths[id], at)
		}
		files[paths[id]] = r.SHA256.String()
		info, err := os.Stat(filepath.Join(dir, paths[id]))
		if err != nil || !info.ModTime().Equal(r.Modified.Time) {
			t.Errorf("%s: %v, %v, want the time %v", paths[id], info, err, r.Modified)
		}
	}
	got := treeOf(t, dir)
	for _, own := range []string{"metadata.jsonl", "state.json", "README.txt", ".lock"} {
		delete(got, own)
	}
	if diff := cmp.Diff(files, got); diff != "" {
		t.Errorf("the files differ (-want +got):\n%s", diff)
	}
	if folders := emptyFolders(t, filepath.Join(dir, "files")); len(folders) > 0 {
		t.Errorf("empty folders: %v", folders)
	}
}

func emptyFolders(t *testing.T, dir string) (empty []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && name != dir {
			if list, _ := os.ReadDir(name); len(list) == 0 {
				empty = append(empty, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return empty
}

// flat is the argument folder for a mirror of one set.
func flat(client.Resource) string { return "" }

// harvests runs a harvest that must succeed, and returns its standard output and error.
func (s *service) harvests(t *testing.T, args ...string) (out, problems string) {
	t.Helper()
	got := s.run(t, "", append([]string{"harvest"}, args...)...)
	if got.error != nil {
		t.Fatalf("harvest %v: %v\n%s%s", args, got.error, got.out, got.err)
	}
	return got.out, got.err
}

// churn changes the resources of a set randomly, in every way.
func (s *service) churn(t *testing.T, ctx context.Context, set string, seed uint64, times int) {
	random := rand.New(rand.NewPCG(seed, 1))
	var ids []string
	for r, err := range s.client.Sets.Resources(ctx, set, client.ListOptions{State: client.All, Limit: 1000}) {
		if err != nil {
			t.Error(err)
			return
		}
		ids = append(ids, r.ID)
	}
	for range times {
		id, name := ids[random.IntN(len(ids))], oddNames[random.IntN(len(oddNames)-5)]
		text := strings.Repeat(fmt.Sprint(random.Uint32()), random.IntN(2000))
		var err error
		switch random.IntN(6) {
		case 0:
			var r client.Resource
			if r, err = s.client.Resources.Create(ctx, client.NewResource{SetID: set, Name: name}, strings.NewReader(text), int64(len(text))); err == nil {
				ids = append(ids, r.ID)
			}
		case 1:
			_, err = s.client.Resources.Replace(ctx, id, client.NewResource{Name: name}, strings.NewReader(text), int64(len(text)))
		case 2:
			_, err = s.client.Resources.Edit(ctx, id, client.ResourceEdit{Name: &name})
		case 3:
			_, err = s.client.Resources.Edit(ctx, id, client.ResourceEdit{Description: &text})
		case 4:
			err = s.client.Resources.Delete(ctx, id)
		case 5:
			_, err = s.client.Resources.Restore(ctx, id)
		}
		var problem *client.Problem
		if err != nil && !errors.As(err, &problem) && ctx.Err() == nil {
			t.Error(err)
		}
	}
}

func TestHarvest(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	other := s.newSet(t, "field", "con")
	s.fill(t, set.ID, 60)
	s.fill(t, other.ID, 5)
	one, space, all := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "space"), filepath.Join(t.TempDir(), "all")
	check := func() {
		t.Helper()
		s.harvests(t, "runs", one, "--accept-deletions")
		s.harvests(t, s.base()+"/dataspaces/"+set.DataspaceID+"/resources?limit=7", space, "--accept-deletions")
		s.harvests(t, "all", all, "--accept-deletions")
		equals(t, one, s.everything(t, s.client, client.ListOptions{SetID: set.ID}), flat)
		equals(t, space, s.everything(t, s.client, client.ListOptions{DataspaceID: set.DataspaceID}), func(client.Resource) string { return "runs/" })
		equals(t, all, s.everything(t, s.client, client.ListOptions{}), func(r client.Resource) string {
			return map[string]string{set.ID: "lab/runs/", other.ID: "field/con/"}[r.SetID]
		})
	}
	check()
	for seed := range uint64(4) {
		s.churn(t, t.Context(), set.ID, seed, 25)
		check()
	}
	if err := s.client.Sets.Delete(t.Context(), set.ID); err != nil {
		t.Fatal(err)
	}
	check()
	if _, err := s.client.Sets.Restore(t.Context(), set.ID); err != nil {
		t.Fatal(err)
	}
	check()
	got := filepath.Join(t.TempDir(), "got")
	if r := s.run(t, "", "get", "runs", got); r.error != nil {
		t.Fatal(r.error)
	}
	if diff := cmp.Diff(treeOf(t, filepath.Join(one, "files")), treeOf(t, got)); diff != "" {
		t.Errorf("harvest and get give files different names:\n%s", diff)
	}
	text := must[[]byte](t)(os.ReadFile(filepath.Join(one, "metadata.jsonl")))
	if lines := bytes.Count(text, []byte{'\n'}); lines != len(s.everything(t, s.client, client.ListOptions{SetID: set.ID})) {
		t.Errorf("a small mirror has %d lines of metadata", lines)
	}
}

// TestHarvestUnchangedOneRequest: if nothing has changed, the mirror of one set or dataspace needs
// one request, by whatever name the set or dataspace was given.
func TestHarvestUnchangedOneRequest(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	s.fill(t, set.ID, 30)
	var asked atomic.Int32
	s.intercept(func(w http.ResponseWriter, r *http.Request) { asked.Add(1); on(w, r) })
	for ref, want := range map[string]int32{
		"runs": 1, "lab/runs": 1, set.ID: 1, set.URL: 1, "lab": 1,
		"all": 3, s.base() + "/resources?limit=3": 3, // the dataspaces and the end of their listing
	} {
		dir := filepath.Join(t.TempDir(), "mirror")
		s.harvests(t, ref, dir)
		before := treeOf(t, dir)
		asked.Store(0)
		if out, _ := s.harvests(t, ref, dir); asked.Load() != want || !strings.Contains(out, "nothing") {
			t.Errorf("%s: %d requests, want %d\n%s", ref, asked.Load(), want, out)
		}
		if diff := cmp.Diff(before, treeOf(t, dir)); diff != "" {
			t.Errorf("%s: the folder has changed:\n%s", ref, diff)
		}
	}
}

// TestHarvestWhileOthersWrite: the mirror is correct after the last write, however much is written
// during the runs.
func TestHarvestWhileOthersWrite(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	s.fill(t, set.ID, 40)
	dir := filepath.Join(t.TempDir(), "mirror")
	times := 100
	if testing.Short() {
		times = 30
	}
	var writing sync.WaitGroup
	for seed := range uint64(3) {
		writing.Go(func() { s.churn(t, t.Context(), set.ID, seed, times) })
	}
	writing.Go(func() {
		for range 2 {
			_ = s.client.Sets.Delete(t.Context(), set.ID)
			_, _ = s.client.Sets.Restore(t.Context(), set.ID)
		}
	})
	written := make(chan struct{})
	go func() { writing.Wait(); close(written) }()
	runs := 0
	for over := false; !over; runs++ {
		select {
		case <-written: // one more run
			over = true
		default:
		}
		s.harvests(t, s.base()+"/resources?limit=9", dir, "--accept-deletions")
	}
	if runs < 2 {
		t.Errorf("no run took place during the writes")
	}
	equals(t, dir, s.everything(t, s.client, client.ListOptions{}), func(client.Resource) string { return "lab/runs/" })
}
