package repository_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"labshelf/blobs/blobstest"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/repository"
	"labshelf/repository/folders"
	"labshelf/repository/repositorytest"
)

// TestFolderSizeIsBounded: a folder of 10,000 files is counted completely. A folder with one more
// file is counted in part, and the result reports it.
func TestFolderSizeIsBounded(t *testing.T) {
	t.Parallel()
	store := metadatatest.NewMemory(time.Now)
	w := repositorytest.NewWorld(t, repositorytest.NewStill(store, blobstest.NewMemory(), repository.Config{PageSize: 10, DirectoryPageSize: 10}), 1)
	put := func(names ...string) {
		w.OK(store.Update(t.Context(), func(tx *metadata.Tx) (err error) {
			for _, name := range names {
				stamp := tx.Stamp()
				r := metadata.Resource{SetID: w.Sets[0].ID, DataspaceID: w.Space.ID, Name: name, Bytes: 3}
				r.Record = metadata.Record{ID: metadata.NewID(stamp), State: metadata.Active, Created: stamp, Modified: stamp}
				err = errors.Join(err, tx.Resources.Put(r))
			}
			return err
		}))
	}
	var names []string
	for n := range 10_000 {
		names = append(names, fmt.Sprintf("d/%05d", n))
	}
	put(append(names, "d0", "e/1")...)
	for _, bounded := range []bool{false, true} {
		got, err := w.Service.Folders.Size(t.Context(), w.Admin, w.Sets[0].ID.String(), "d/")
		if want := (folders.FolderSize{Path: "d/", Files: 10_000, Bytes: 30_000, Bounded: bounded}); err != nil || got != want {
			t.Errorf("got %+v, %v; want %+v", got, err, want)
		}
		put("d/more")
	}
}
