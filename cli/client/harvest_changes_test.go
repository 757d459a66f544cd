package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"labshelf/cli/client/fetch"
	"labshelf/cli/exit"
	"labshelf/client"
)

// runsOf creates a set with two resources, and a mirror of it in a new folder.
func (s *service) runsOf(t *testing.T) (set client.Set, a, b client.Resource, dir string) {
	t.Helper()
	set = s.newSet(t, "lab", "runs")
	a, b = s.put(t, set.ID, "a.txt", "alpha"), s.put(t, set.ID, "b/b.txt", "beta")
	dir = filepath.Join(t.TempDir(), "mirror")
	s.harvests(t, "runs", dir)
	return set, a, b, dir
}

// sameAs compares a mirror of one set with the set.
func (s *service) sameAs(t *testing.T, dir, set string) {
	t.Helper()
	equals(t, dir, s.everything(t, s.client, client.ListOptions{SetID: set}), flat)
}

// TestHarvestFollowsPermissions: the mirror gets the content of dataspaces that become readable,
// and loses the content of those that are no longer readable.
func TestHarvestFollowsPermissions(t *testing.T) {
	t.Parallel()
	s := start(t)
	one, two, three := s.newSet(t, "one", "first"), s.newSet(t, "two", "second"), s.newSet(t, "three", "third")
	for _, set := range []client.Set{one, two, three} {
		s.fill(t, set.ID, 12)
	}
	mary := must[client.User](t)(s.client.Users.Create(t.Context(), client.NewUser{Username: "mary"}))
	key := must[client.CreatedKey](t)(s.client.Keys.Create(t.Context(), mary.ID, client.NewKey{})).Secret
	hers := client.New(s.base(), key)
	defer hers.Close()
	dir := filepath.Join(t.TempDir(), "mirror")
	folder := func(r client.Resource) string {
		return map[string]string{one.ID: "one/first/", two.ID: "two/second/", three.ID: "three/third/"}[r.SetID]
	}
	check := func(want int, more ...string) (problems string) {
		t.Helper()
		got := s.runAs(t.Context(), key, "", append([]string{"harvest", "all", dir, "--accept-deletions"}, more...)...)
		all := s.everything(t, hers, client.ListOptions{})
		if got.error != nil || len(all) != want {
			t.Fatalf("%+v, with %d of %d resources", got, len(all), want)
		}
		equals(t, dir, all, folder)
		return got.err
	}
	grant := func(d string) client.Privilege {
		return must[client.Privilege](t)(s.client.Privileges.Grant(t.Context(), client.NewPrivilege{UserID: mary.ID, DataspaceID: d, Role: client.Member}))
	}
	each := len(s.everything(t, s.client, client.ListOptions{SetID: one.ID}))
	check(0)
	first := grant(one.DataspaceID)
	check(each)
	grant(two.DataspaceID)
	public := client.Public
	must[client.Dataspace](t)(s.client.Dataspaces.Edit(t.Context(), three.DataspaceID, client.DataspaceEdit{Visibility: &public}))
	s.put(t, one.ID, "more", "more")
	check(3*each + 1)
	if err := s.client.Privileges.Revoke(t.Context(), first.ID); err != nil {
		t.Fatal(err)
	}
	private := client.Private
	must[client.Dataspace](t)(s.client.Dataspaces.Edit(t.Context(), three.DataspaceID, client.DataspaceEdit{Visibility: &private}))
	if problems := check(each); strings.Count(problems, "is no longer readable") != 2 {
		t.Errorf("stderr has %s", problems)
	}
	grant(one.DataspaceID)
	check(2*each + 1)
	if err := s.client.Dataspaces.Delete(t.Context(), two.DataspaceID); err != nil {
		t.Fatal(err)
	}
	check(2*each + 1)
	if err := s.client.Privileges.Revoke(t.Context(), first.ID); err != nil {
		t.Fatal(err)
	}
	check(each, "--from-start")
	grant(one.DataspaceID)
	check(2*each+1, "--from-start")
	john := must[client.User](t)(s.client.Users.Create(t.Context(), client.NewUser{Username: "john"}))
	others := must[client.CreatedKey](t)(s.client.Keys.Create(t.Context(), john.ID, client.NewKey{})).Secret
	for _, more := range [][]string{nil, {"--from-start"}} {
		if got := s.runAs(t.Context(), others, "", append([]string{"harvest", "all", dir}, more...)...); got.error == nil || !strings.Contains(got.error.Error(), "the key of that user") {
			t.Errorf("with the key of another user: %+v", got)
		}
	}
	check(2*each + 1)
}

// TestHarvestGrantedDuringWalk: if a dataspace becomes readable during the walk, the mirror also
// gets the part that the walk has already passed.
func TestHarvestGrantedDuringWalk(t *testing.T) {
	t.Parallel()
	s := start(t)
	one, two := s.newSet(t, "one", "first"), s.newSet(t, "two", "second")
	s.fill(t, two.ID, 5)
	s.fill(t, one.ID, 5)
	mary := must[client.User](t)(s.client.Users.Create(t.Context(), client.NewUser{Username: "mary"}))
	key := must[client.CreatedKey](t)(s.client.Keys.Create(t.Context(), mary.ID, client.NewKey{})).Secret
	grant := func(d string) {
		must[client.Privilege](t)(s.client.Privileges.Grant(context.Background(), client.NewPrivilege{UserID: mary.ID, DataspaceID: d, Role: client.Member}))
	}
	grant(one.DataspaceID)
	var once atomic.Bool
	s.intercept(func(w http.ResponseWriter, r *http.Request) {
		if isData(r) && !once.Swap(true) {
			grant(two.DataspaceID)
			s.put(t, two.ID, "new", "new")
		}
		on(w, r)
	})
	dir := filepath.Join(t.TempDir(), "mirror")
	if got := s.runAs(t.Context(), key, "", "harvest", "all", dir); got.error != nil {
		t.Fatalf("%+v", got)
	}
	equals(t, dir, s.everything(t, s.client, client.ListOptions{}), func(r client.Resource) string {
		return map[string]string{one.ID: "one/first/", two.ID: "two/second/"}[r.SetID]
	})
}

// TestHarvestOvertaken: a file that is replaced or deleted between its page and its download is
// mirrored in its new state.
func TestHarvestOvertaken(t *testing.T) {
	t.Parallel()
	s := start(t)
	set, a, b, dir := s.runsOf(t)
	c := s.put(t, set.ID, "c", "gamma")
	s.put(t, set.ID, "d", "delta")
	var once atomic.Bool
	s.intercept(func(w http.ResponseWriter, r *http.Request) {
		if isData(r) && !once.Swap(true) {
			for _, r := range []client.Resource{a, c} {
				must[client.Resource](t)(s.client.Resources.Replace(context.Background(), r.ID, client.NewResource{Name: "new " + r.Name}, strings.NewReader("other"), 5))
			}
			if err := s.client.Resources.Delete(context.Background(), b.ID); err != nil {
				t.Error(err)
			}
		}
		on(w, r)
	})
	s.harvests(t, "runs", dir)
	s.sameAs(t, dir, set.ID)
}

// TestHarvestRetriesMissing: files that the service cannot send are reported, the others are
// mirrored, and each run tries again.
func TestHarvestRetriesMissing(t *testing.T) {
	t.Parallel()
	s := start(t)
	set, a, b, dir := s.runsOf(t)
	c := s.put(t, set.ID, "c", large(1))
	s.put(t, set.ID, "d", "delta")
	for name, spoil := range map[string]http.HandlerFunc{
		"damaged on the server": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write([]byte(`{"status": 500, "code": "data_damaged", "detail": "the file is damaged on the server"}`))
		},
		"damaged on the way": func(w http.ResponseWriter, r *http.Request) { through(w, r, &turning{raw(w), 7}) },
	} {
		s.intercept(func(w http.ResponseWriter, r *http.Request) {
			if isData(r) && strings.Contains(r.URL.Path, c.ID) {
				spoil(w, r)
				return
			}
			on(w, r)
		})
		for range 2 {
			got := s.run(t, "", "harvest", "runs", dir, "--json")
			var counts struct{ Missing, Files int }
			if err := json.Unmarshal([]byte(got.out), &counts); err != nil || !errors.Is(got.error, exit.ErrPartly) || counts.Missing != 1 || counts.Files != 3 ||
				!strings.Contains(got.err, "c: ") {
				t.Fatalf("%s: %+v, %v", name, got, err)
			}
			records, paths := mirrored(t, dir)
			if tree := treeOf(t, filepath.Join(dir, "files")); len(tree) != 3 || len(records) != 4 || paths[c.ID] != "" || paths[a.ID] == "" || paths[b.ID] == "" {
				t.Errorf("%s: %v, %v", name, tree, paths)
			}
		}
	}
	s.intercept(nil)
	s.harvests(t, "runs", dir)
	s.sameAs(t, dir, set.ID)
}

// TestHarvestResumes: if the service fails during a run, the next run continues with the files that
// have arrived.
func TestHarvestResumes(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	r := s.put(t, set.ID, "large", large(1))
	dir := filepath.Join(t.TempDir(), "mirror")
	s.cut(2<<20, 1)
	if got := s.run(t, "", "harvest", "runs", dir); !errors.Is(got.error, client.ErrIncomplete) && !strings.Contains(got.error.Error(), "does not answer") {
		t.Fatalf("%+v", got)
	}
	left := must[os.FileInfo](t)(os.Stat(filepath.Join(dir, "incoming", r.ID+"-"+r.SHA256.String()+".part"))).Size()
	if left < 2<<20 {
		t.Errorf("%d bytes remain", left)
	}
	asked := s.cut(1<<30, 1)
	s.harvests(t, "runs", dir)
	if ranges := asked(); len(ranges) != 1 || ranges[0] != fmt.Sprintf("bytes=%d-", left-1) {
		t.Errorf("it requested %v, with %d bytes stored locally", ranges, left)
	}
	s.sameAs(t, dir, set.ID)
}

func TestHarvestRefuses(t *testing.T) {
	t.Parallel()
	s := start(t)
	set, _, _, dir := s.runsOf(t)
	s.newSet(t, "twice", "other")
	must[client.Set](t)(s.client.Sets.Create(t.Context(), client.NewSet{Name: "twice", DataspaceID: set.DataspaceID}))
	none := filepath.Join(t.TempDir(), "none")
	full := t.TempDir()
	write(t, filepath.Join(full, "x"), "x")
	base := s.base()
	for _, c := range []struct {
		ref, dir string
		usage    bool
		words    string
	}{
		{"other", dir, false, "is a mirror of"},
		{"runs", full, false, "neither empty nor a mirror"},
		{"nothing", none, false, `no set or dataspace "nothing"`},
		{"twice", none, false, "the id of the right one"},
		{base + "/resources?state=active", none, true, "needs deletions"},
		{base + "/resources?order=newest", none, true, "omit order"},
		{base + "/resources?until=2026", none, true, "omit until"},
		{base + "/resources?setId=", none, true, "one value"},
		{base + "/resources?setId=a&dataspaceId=b", none, true, "one dataspace or one set"},
		{base + "/resources?colour=red", none, true, "omit colour"},
		{base + "/resources?since=yesterday", none, true, "since"},
		{base + "/resources?setId=nothing", none, false, "404"},
		{base + "/resources/" + set.ID, none, true, "not the address"},
		{base + "/dataspaces/" + set.DataspaceID + "/sets", none, true, "end with /resources"},
		{set.URL + "/resources/query/results/x", none, true, "end with /resources"},
		{base + "/users", none, true, "not the address of a listing"},
		{"http://elsewhere/v1/resources", none, true, "not the address of a listing"},
	} {
		got := s.run(t, "", "harvest", c.ref, c.dir)
		if got.error == nil || errors.Is(got.error, exit.ErrUsage) != c.usage || !strings.Contains(got.error.Error(), c.words) {
			t.Errorf("%s: %+v", c.ref, got)
		}
	}
	running := must[*os.File](t)(os.OpenFile(filepath.Join(dir, ".lock"), os.O_RDWR, 0))
	if err := fetch.Lock(running); err != nil {
		t.Fatal(err)
	}
	if got := s.run(t, "", "harvest", "runs", dir); !errors.Is(got.error, fetch.ErrLocked) || !strings.Contains(got.error.Error(), "another folder") {
		t.Errorf("while another one runs: %+v", got)
	}
	if err := fetch.Unlock(running); err != nil {
		t.Fatal(err)
	}
	s.harvests(t, "runs", dir)
	if _, err := os.Stat(filepath.Join(none, "state.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a refused harvest has stored a state: %v", err)
	}
}

// TestHarvestSince: the mirror of a listing with since begins at that time, and follows all
// changes.
func TestHarvestSince(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	a := s.put(t, set.ID, "a", "alpha")
	b := s.put(t, set.ID, "b", "beta")
	for !b.Created.After(a.Created.Time) { // times are in milliseconds
		b = s.put(t, set.ID, "b", "beta")
	}
	dir := filepath.Join(t.TempDir(), "mirror")
	ref := set.Resources + "?since=" + b.Created.Add(-1).Format("2006-01-02T15:04:05.999999999Z07:00")
	check := func(ids ...string) {
		t.Helper()
		s.harvests(t, ref, dir)
		want := s.everything(t, s.client, client.ListOptions{SetID: set.ID})
		for id := range want {
			if !strings.Contains(strings.Join(ids, " "), id) {
				delete(want, id)
			}
		}
		equals(t, dir, want, flat)
	}
	check(b.ID)
	text := "told"
	must[client.Resource](t)(s.client.Resources.Edit(t.Context(), a.ID, client.ResourceEdit{Description: &text}))
	check(a.ID, b.ID)
}

// TestHarvestOtherService: a service that does not recognize the stored page is treated as another
// service.
func TestHarvestOtherService(t *testing.T) {
	t.Parallel()
	s, other := start(t), start(t)
	s.newSet(t, "lab", "runs")
	set := other.newSet(t, "lab", "runs")
	other.put(t, set.ID, "a", "a")
	dir := filepath.Join(t.TempDir(), "mirror")
	other.harvests(t, "all", dir)
	got := s.run(t, "", "harvest", "all", dir)
	if got.error == nil || !strings.Contains(got.error.Error(), "the key of that user") && !strings.Contains(got.error.Error(), "check that the service is still "+other.base()) {
		t.Errorf("%+v", got)
	}
	equals(t, dir, other.everything(t, other.client, client.ListOptions{}), func(client.Resource) string { return "lab/runs/" })
}
