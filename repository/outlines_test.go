package repository_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"labshelf/blobs/blobstest"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/paging"
	"labshelf/repository"
	"labshelf/repository/core"
	"labshelf/repository/folders"
	"labshelf/repository/repositorytest"
)

// TestOutline: each mark is the beginning of a page of the listing, with the entry before it. The
// total is the length of the listing.
func TestOutline(t *testing.T) {
	t.Parallel()
	store := metadatatest.NewMemory(time.Now)
	w := repositorytest.NewWorld(t, repositorytest.NewStill(store, blobstest.NewMemory(), repository.Config{PageSize: 10, DirectoryPageSize: 10}), 1)
	put := func(n int, name string) {
		w.OK(store.Update(t.Context(), func(tx *metadata.Tx) (err error) {
			for i := range n {
				stamp := tx.Stamp()
				r := metadata.Resource{SetID: w.Sets[0].ID, DataspaceID: w.Space.ID, Name: fmt.Sprintf(name, i)}
				r.Record = metadata.Record{ID: metadata.NewID(stamp), State: metadata.State(1 + i%2), Created: stamp, Modified: stamp}
				err = errors.Join(err, tx.Resources.Put(r))
			}
			return err
		}))
	}
	put(11, "d%02d/a")
	put(11, "d%02d/b")
	put(13, "f%02d")
	_, err := w.Service.Folders.Create(t.Context(), w.Admin, w.Sets[0].ID.String(), folders.FolderPath{Path: "e/"})
	w.OK(err)
	type entry struct {
		name     string
		modified metadata.Stamp
	}
	page := func(req core.ListRequest) (all []entry) {
		req.Container = w.Sets[0].ID.String()
		_, err := w.Service.Files.List(t.Context(), w.Admin, paging.SetResources, req,
			func(r *metadata.Resource) { all = append(all, entry{string([]byte(r.Name)), r.Modified}) },
			func(path string) { all = append(all, entry{name: path}) })
		w.OK(err)
		return all
	}
	for _, query := range []string{"order=name", "order=name-descending", "order=name delimiter=/", "order=name-descending delimiter=/", "order=newest", "order=oldest", "namePrefix=d0", "namePrefix=none"} {
		for _, state := range []string{"active", "deleted", "all"} {
			for _, limit := range []int{1, 4, 1000} {
				params := map[string][]string{"limit": {fmt.Sprint(limit)}, "state": {state}}
				for _, part := range splitFields(query) {
					params[part[0]] = []string{part[1]}
				}
				got, err := w.Service.Files.Outline(t.Context(), w.Admin, repositorytest.Listed(paging.SetResources, w.Sets[0].ID.String(), params))
				w.OK(err)
				whole := map[string][]string{}
				for name, values := range params {
					whole[name] = values
				}
				whole["limit"] = []string{"1000"}
				all := page(repositorytest.Listed(paging.SetResources, "", whole))
				what := fmt.Sprintf("%s of %s by %d", query, state, limit)
				if got.Total != len(all) || got.Bounded || len(got.Marks) != max(0, (len(all)-1)/limit) {
					t.Fatalf("%s: %d of %d, %d marks", what, got.Total, len(all), len(got.Marks))
				}
				for i, m := range got.Marks {
					before := all[m.Index-1]
					begins := page(core.ListRequest{Token: m.Page})
					byTime := m.Modified != 0
					if m.Index != (i+1)*limit || byTime && m.Modified != before.modified || !byTime && m.Name != before.name || begins[0] != all[m.Index] {
						t.Errorf("%s: mark %+v before %v, behind %v", what, m, begins[0], before)
					}
				}
			}
		}
	}
}

// TestOutlineIsBounded: if a listing has more pages than an outline has marks, it is counted in
// part.
func TestOutlineIsBounded(t *testing.T) {
	t.Parallel()
	store := metadatatest.NewMemory(time.Now)
	w := repositorytest.NewWorld(t, repositorytest.NewStill(store, blobstest.NewMemory(), repository.Config{PageSize: 10, DirectoryPageSize: 10}), 1)
	for _, more := range []int{999, 1} { // in addition to the file of the set
		w.OK(store.Update(t.Context(), func(tx *metadata.Tx) (err error) {
			for range more {
				stamp := tx.Stamp()
				r := metadata.Resource{SetID: w.Sets[0].ID, DataspaceID: w.Space.ID, Name: "a"}
				r.Record = metadata.Record{ID: metadata.NewID(stamp), State: metadata.Active, Created: stamp, Modified: stamp}
				err = errors.Join(err, tx.Resources.Put(r))
			}
			return err
		}))
		got, err := w.Service.Files.Outline(t.Context(), w.Admin, core.ListRequest{Container: w.Sets[0].ID.String(), Selection: paging.Selection{Limit: 1}})
		if w.OK(err); got.Total != 1000 || got.Bounded != (more == 1) || len(got.Marks) != 999 {
			t.Errorf("%d, %v, %d marks", got.Total, got.Bounded, len(got.Marks))
		}
	}
}

// splitFields returns the names and values of a query.
func splitFields(query string) (all [][2]string) {
	for _, part := range strings.Fields(query) {
		name, value, _ := strings.Cut(part, "=")
		all = append(all, [2]string{name, value})
	}
	return all
}
