package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"labshelf/cli/exit"
	"labshelf/client"
)

// gone is a mirror of files that disappear from the service.
type gone struct {
	*service
	t        *testing.T
	one, two client.Set        // each in its own dataspace
	ids      []string          // of the files in the first set; the second set has four files
	mary     string            // id of a user who may read both
	roles    map[string]string // ids of mary's roles, by dataspace
	key      string            // key of mary
}

func newGone(t *testing.T, files int) *gone {
	t.Helper()
	g := &gone{service: start(t), t: t, roles: map[string]string{}}
	g.one, g.two = g.newSet(t, "imaging", "first"), g.newSet(t, "lab", "second")
	for i := range files {
		g.ids = append(g.ids, g.put(t, g.one.ID, fmt.Sprintf("%02d.csv", i), fmt.Sprint(i)).ID)
	}
	for i := range 4 {
		g.put(t, g.two.ID, fmt.Sprintf("%02d.csv", i), fmt.Sprint(i))
	}
	mary := must[client.User](t)(g.client.Users.Create(t.Context(), client.NewUser{Username: "mary"}))
	g.key = must[client.CreatedKey](t)(g.client.Keys.Create(t.Context(), mary.ID, client.NewKey{})).Secret
	g.mary = mary.ID
	g.grant(g.one)
	g.grant(g.two)
	return g
}

// grant gives mary a role in the dataspace of a set.
func (g *gone) grant(set client.Set) {
	g.t.Helper()
	role := client.NewPrivilege{UserID: g.mary, DataspaceID: set.DataspaceID, Role: client.Member}
	g.roles[set.DataspaceID] = must[client.Privilege](g.t)(g.client.Privileges.Grant(g.t.Context(), role)).ID
}

func (g *gone) delete(n int) {
	g.t.Helper()
	for _, id := range g.ids[:n] {
		if err := g.client.Resources.Delete(context.Background(), id); err != nil {
			g.t.Fatal(err)
		}
	}
}

func (g *gone) check(err error) {
	g.t.Helper()
	if err != nil {
		g.t.Fatal(err)
	}
}

// TestHarvestHoldsDeletions: if all files disappear in one run, or more than a tenth and more than
// a few, each harvest keeps them until --accept-deletions is given.
func TestHarvestHoldsDeletions(t *testing.T) {
	t.Parallel()
	revoked := func(g *gone) { g.check(g.client.Privileges.Revoke(t.Context(), g.roles[g.one.DataspaceID])) }
	noSpace := func(g *gone) { g.check(g.client.Dataspaces.Delete(t.Context(), g.one.DataspaceID)) }
	noSet := func(g *gone) { g.check(g.client.Sets.Delete(t.Context(), g.one.ID)) }
	some := func(n int) func(*gone) { return func(g *gone) { g.delete(n) } }
	for name, c := range map[string]struct {
		ref    string
		files  int
		act    func(*gone)
		reason string
		left   int
	}{
		"a role is revoked":                        {"all", 12, revoked, "12 of the dataspace imaging, which can no longer be read", 4},
		"a dataspace is deleted":                   {"all", 12, noSpace, "12 deleted", 4},
		"a set is deleted":                         {"all", 12, noSet, "12 deleted", 4},
		"pages of three":                           {"BASE/resources?limit=3", 30, noSpace, "30 deleted", 4},
		"the set itself":                           {"first", 12, noSet, "12 deleted", 0},
		"the set with its dataspace":               {"first", 12, noSpace, "12 deleted", 0},
		"the dataspace itself":                     {"imaging", 12, noSpace, "12 deleted", 0},
		"its pages":                                {"BASE/dataspaces/imaging/resources?limit=2", 12, noSet, "12 deleted", 0},
		"some files":                               {"imaging", 20, some(6), "6 deleted", 14},
		"all of two files":                         {"first", 2, some(2), "2 deleted", 0},
		"a role is revoked, and files are deleted": {"all", 12, func(g *gone) { g.delete(2); revoked(g) }, "12 of the dataspace imaging", 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGone(t, c.files)
			dir := filepath.Join(t.TempDir(), "mirror")
			ref := strings.NewReplacer("BASE", g.base(), "dataspaces/imaging", "dataspaces/"+g.one.DataspaceID).Replace(c.ref)
			harvest := func(more ...string) ran {
				return g.runAs(t.Context(), g.key, "", append([]string{"harvest", ref, dir}, more...)...)
			}
			if got := harvest(); got.error != nil {
				t.Fatal(got)
			}
			before := treeOf(t, filepath.Join(dir, "files"))
			c.act(g)
			for _, more := range [][]string{nil, {"--from-start"}, nil, {"--json"}} {
				got := harvest(more...)
				if !errors.Is(got.error, exit.ErrHeld) || !strings.Contains(got.error.Error(), "--accept-deletions") {
					t.Fatalf("%q: %+v", more, got)
				}
				if len(more) == 0 && !strings.Contains(got.error.Error(), c.reason) && !strings.Contains(got.error.Error(), "no longer in the listing") {
					t.Errorf("%q: %v, want %q", more, got.error, c.reason)
				}
				if diff := cmp.Diff(before, treeOf(t, filepath.Join(dir, "files"))); diff != "" {
					t.Fatalf("%q: the files have changed:\n%s", more, diff)
				}
			}
			if got := harvest("--accept-deletions"); got.error != nil || len(treeOf(t, filepath.Join(dir, "files"))) != c.left {
				t.Errorf("%+v, with %d files, want %d", got, len(treeOf(t, filepath.Join(dir, "files"))), c.left)
			}
			if got := harvest(); got.error != nil || !strings.Contains(got.out, "nothing") {
				t.Errorf("afterwards: %+v", got)
			}
		})
	}
}

// TestHarvestAfterRoleIsGrantedAgain: a mirror that has kept its files becomes current after the
// role is granted again.
func TestHarvestAfterRoleIsGrantedAgain(t *testing.T) {
	t.Parallel()
	g := newGone(t, 12)
	dir := filepath.Join(t.TempDir(), "mirror")
	harvest := func() ran { return g.runAs(t.Context(), g.key, "", "harvest", "all", dir) }
	if got := harvest(); got.error != nil {
		t.Fatal(got)
	}
	g.check(g.client.Privileges.Revoke(t.Context(), g.roles[g.one.DataspaceID]))
	g.put(t, g.one.ID, "unseen.csv", "unseen")
	g.put(t, g.two.ID, "seen.csv", "seen")
	g.delete(1)
	if got := harvest(); !errors.Is(got.error, exit.ErrHeld) {
		t.Fatalf("%+v", got)
	}
	g.grant(g.one)
	if got := harvest(); got.error != nil {
		t.Fatalf("%+v", got)
	}
	equals(t, dir, g.everything(t, g.client, client.ListOptions{}), func(r client.Resource) string {
		return map[string]string{g.one.ID: "imaging/first/", g.two.ID: "lab/second/"}[r.SetID]
	})
}

// TestHarvestRemovesFew: a few deletions, and files that move within the mirror, require no flag.
func TestHarvestRemovesFew(t *testing.T) {
	t.Parallel()
	g := newGone(t, 60)
	dir := filepath.Join(t.TempDir(), "mirror")
	for _, act := range []func(){
		func() {},
		func() { g.delete(5) },
		func() {
			for _, id := range g.ids[10:40] {
				must[client.Resource](t)(g.client.Resources.Move(t.Context(), id, client.Destination{SetID: g.two.ID, Name: id}))
			}
		},
	} {
		act()
		// with one record per page, each deletion is on another page than the new file
		g.harvests(t, g.base()+"/resources?limit=1", dir)
		equals(t, dir, g.everything(t, g.client, client.ListOptions{}), func(r client.Resource) string {
			return map[string]string{g.one.ID: "imaging/first/", g.two.ID: "lab/second/"}[r.SetID]
		})
	}
}

// TestHarvestLostDuringRun: files that disappear during a run are kept, too.
func TestHarvestLostDuringRun(t *testing.T) {
	t.Parallel()
	for _, more := range [][]string{nil, {"--from-start"}} {
		g := newGone(t, 40)
		dir := filepath.Join(t.TempDir(), "mirror")
		g.harvests(t, "all", dir)
		g.delete(1)
		g.put(t, g.two.ID, "new.csv", "new")
		var once atomic.Bool
		g.intercept(func(w http.ResponseWriter, r *http.Request) {
			if isData(r) && !once.Swap(true) {
				g.check(g.client.Sets.Delete(context.Background(), g.one.ID))
			}
			on(w, r)
		})
		got := g.run(t, "", append([]string{"harvest", "all", dir}, more...)...)
		if files := len(treeOf(t, filepath.Join(dir, "files"))); !errors.Is(got.error, exit.ErrHeld) || files < 40 {
			t.Errorf("%q: %+v, with %d files", more, got, files)
		}
		g.intercept(on)
		g.harvests(t, "all", dir, "--accept-deletions")
		equals(t, dir, g.everything(t, g.client, client.ListOptions{}), func(r client.Resource) string {
			return map[string]string{g.two.ID: "lab/second/", g.one.ID: "imaging/first/"}[r.SetID]
		})
	}
}

// TestHarvestOfLostListing: a set or dataspace that is no longer readable causes an error, and its
// files are kept.
func TestHarvestOfLostListing(t *testing.T) {
	t.Parallel()
	for _, ref := range []string{"first", "imaging"} {
		g := newGone(t, 8)
		dir := filepath.Join(t.TempDir(), "mirror")
		harvest := func(more ...string) ran {
			return g.runAs(t.Context(), g.key, "", append([]string{"harvest", ref, dir}, more...)...)
		}
		if got := harvest(); got.error != nil {
			t.Fatal(got)
		}
		g.check(g.client.Privileges.Revoke(t.Context(), g.roles[g.one.DataspaceID]))
		for _, more := range [][]string{nil, {"--from-start"}, {"--accept-deletions"}} {
			if got := harvest(more...); got.error == nil || len(treeOf(t, filepath.Join(dir, "files"))) != 8 {
				t.Errorf("%s %q: %+v", ref, more, got)
			}
		}
	}
}
