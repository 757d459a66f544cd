package repository_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"labshelf/auth"
	"labshelf/blobs/blobstest"
	"labshelf/bolt"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository"
	"labshelf/repository/containers"
	"labshelf/repository/files"
	"labshelf/repository/folders"
	"labshelf/repository/repositorytest"
)

// forest is a repository with two sets: one with ten files in two folders, and one with 100,000
// files in 5,000 folders. Each also has a folder of 1,000 files.
type forest struct {
	b     *testing.B
	svc   *repository.Service
	admin auth.Principal
	sets  [2]string   // few, many
	big   [2][]string // ids of the files of the folder of 1,000
}

func newForest(b *testing.B) *forest {
	b.Helper()
	f := &forest{b: b}
	meta, err := bolt.Open(filepath.Join(b.TempDir(), "meta.db"), bolt.Options{})
	f.ok(err)
	b.Cleanup(func() { f.ok(meta.Close()) })
	f.svc = repositorytest.NewStill(meta, blobstest.NewMemory(), repository.Config{PageSize: 100, DirectoryPageSize: 100})
	key, err := f.svc.Users.Bootstrap(b.Context(), "")
	f.ok(err)
	f.admin, err = f.svc.Credentials.Authenticate(b.Context(), key, auth.Origin{})
	f.ok(err)
	space, err := f.svc.Dataspaces.Create(b.Context(), f.admin, containers.NewDataspace{Name: "space"})
	f.ok(err)
	for i, size := range []struct{ files, folders int }{{10, 2}, {100_000, 5000}} {
		set, err := f.svc.Sets.Create(b.Context(), f.admin, containers.NewSet{Name: fmt.Sprint("set-", i), DataspaceID: space.ID.String()})
		f.ok(err)
		f.sets[i] = set.ID.String()
		names := make([]string, 0, size.files+1000)
		for n := range size.files {
			names = append(names, fmt.Sprintf("run-%04d/scan-%06d.tif", n%size.folders, n))
		}
		for n := range 1000 {
			names = append(names, fmt.Sprintf("big/scan-%04d.tif", n))
		}
		for some := range slices.Chunk(names, 5000) {
			f.ok(meta.Update(b.Context(), func(tx *metadata.Tx) (err error) {
				for _, name := range some {
					stamp := tx.Stamp()
					r := metadata.Resource{SetID: set.ID, DataspaceID: space.ID, Name: name, Bytes: 1000, Digest: [32]byte{1}}
					r.Record = metadata.Record{ID: metadata.NewID(stamp), State: metadata.Active, Created: stamp, Modified: stamp, CreatedBy: f.admin.UserID, ModifiedBy: f.admin.UserID}
					if err = errors.Join(err, tx.Resources.Put(r)); strings.HasPrefix(name, "big/") {
						f.big[i] = append(f.big[i], r.ID.String())
					}
				}
				return err
			}))
		}
	}
	return f
}

func (f *forest) ok(err error) {
	if err != nil {
		f.b.Helper()
		f.b.Fatal(err)
	}
}

func (f *forest) list(set string, params ...string) {
	query := map[string][]string{"limit": {"200"}}
	for i := 0; i < len(params); i += 2 {
		query[params[i]] = params[i+1 : i+2]
	}
	_, err := f.svc.Files.List(f.b.Context(), f.admin, paging.SetResources, repositorytest.Listed(paging.SetResources, set, query), func(*metadata.Resource) {}, func(string) {})
	f.ok(err)
}

func (f *forest) outline(set string, params ...string) {
	query := map[string][]string{"limit": {"200"}}
	for i := 0; i < len(params); i += 2 {
		query[params[i]] = params[i+1 : i+2]
	}
	outline, err := f.svc.Files.Outline(f.b.Context(), f.admin, repositorytest.Listed(paging.SetResources, set, query))
	if f.ok(err); outline.Bounded || outline.Total == 0 {
		f.b.Errorf("outline of %d", outline.Total)
	}
}

func (f *forest) move(set, from, to string) {
	_, done, err := f.svc.Folders.Move(f.b.Context(), f.admin, set, folders.Placement{Path: from, ToPath: to})
	f.ok(err)
	if done.Files != 1000 {
		f.b.Errorf("%d files were moved", done.Files)
	}
}

// many applies an action to the files of the folder of 1,000 files.
func (f *forest) many(set string, fields files.Many) {
	for i := range f.sets {
		if f.sets[i] == set {
			fields.IDs = f.big[i]
		}
	}
	results, err := f.svc.Files.ChangeMany(f.b.Context(), f.admin, set, fields)
	f.ok(err)
	for _, r := range results {
		if r.Refused != nil {
			f.b.Fatal(r.Refused)
		}
	}
}

// BenchmarkFolders measures the requests of a set's page, alternately in a set of ten files and in
// a set of 100,000. It reports the time for the large set, and its ratio to the time for the small
// one.
func BenchmarkFolders(b *testing.B) {
	f := newForest(b)
	for _, op := range []struct {
		name string
		do   func(set string, round int)
	}{
		{"open", func(set string, _ int) { f.list(set, "delimiter", "/") }},
		{"open a folder", func(set string, _ int) { f.list(set, "delimiter", "/", "namePrefix", "run-0001/") }},
		{"open a folder of 1000", func(set string, _ int) { f.list(set, "delimiter", "/", "namePrefix", "big/") }},
		{"jump to the end", func(set string, _ int) { f.list(set, "delimiter", "/", "order", "name-descending") }},
		{"sort by time", func(set string, _ int) { f.list(set, "order", "newest") }},
		{"outline", func(set string, _ int) { f.outline(set, "delimiter", "/") }},
		{"outline all files", func(set string, _ int) { f.outline(set, "order", "name") }},
		{"outline by time", func(set string, _ int) { f.outline(set, "order", "newest") }},
		{"count the set", func(set string, _ int) {
			_, err := f.svc.Folders.Size(b.Context(), f.admin, set, "")
			f.ok(err)
		}},
		{"move 1000", func(set string, round int) {
			names := [2]string{"big/", "moved/"}
			f.move(set, names[round%2], names[(round+1)%2])
		}},
		{"move 1000 files", func(set string, round int) {
			names := [2]string{"by-id/", "big/"}
			f.many(set, files.Many{Action: files.MoveMany, Folder: &names[round%2]})
		}},
	} {
		b.Run(op.name, func(b *testing.B) {
			var took [2]time.Duration
			round := 0
			for ; b.Loop(); round++ {
				for i, set := range f.sets {
					began := time.Now()
					op.do(set, round)
					took[i] += time.Since(began)
				}
			}
			if round%2 == 1 && op.name == "move 1000" { // move them back
				for _, set := range f.sets {
					op.do(set, round)
				}
			}
			b.ReportMetric(float64(took[1].Microseconds())/1000/float64(round), "ms")
			b.ReportMetric(float64(took[1])/float64(took[0]), "x-of-ten")
			b.ReportMetric(0, "ns/op")
		})
	}
}
