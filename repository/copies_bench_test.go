package repository_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/blobs/directory"
	"labshelf/bolt"
	"labshelf/metadata"
	"labshelf/repository"
	"labshelf/repository/containers"
	"labshelf/repository/files"
	"labshelf/repository/repositorytest"
)

// large is a repository on a disk with a file of 10 GiB and former versions of the same length. The
// files are sparse, because the benchmark never reads them.
type large struct {
	b     *testing.B
	svc   *repository.Service
	admin auth.Principal
	sets  [2]string
	file  metadata.Resource
	dir   string
}

func newLarge(b *testing.B, versions int) *large {
	b.Helper()
	const size = 10 << 30
	l := &large{b: b, dir: b.TempDir()}
	meta, err := bolt.Open(filepath.Join(b.TempDir(), "meta.db"), bolt.Options{})
	l.ok(err)
	b.Cleanup(func() { l.ok(meta.Close()) })
	files, err := directory.Open(l.dir, directory.OS{})
	l.ok(err)
	l.svc = repositorytest.NewStill(meta, files, repository.Config{})
	key, err := l.svc.Users.Bootstrap(b.Context(), "")
	l.ok(err)
	l.admin, err = l.svc.Credentials.Authenticate(b.Context(), key, auth.Origin{})
	l.ok(err)
	for i := range l.sets {
		space, err := l.svc.Dataspaces.Create(b.Context(), l.admin, containers.NewDataspace{Name: fmt.Sprint("space", i)})
		l.ok(err)
		set, err := l.svc.Sets.Create(b.Context(), l.admin, containers.NewSet{Name: fmt.Sprint("set", i), DataspaceID: space.ID.String()})
		l.ok(err)
		l.sets[i] = set.ID.String()
		l.file.SetID, l.file.DataspaceID = set.ID, space.ID
	}
	l.file.Name, l.file.Bytes, l.file.Version = "scan.raw", size, uint32(versions)
	l.ok(meta.Update(b.Context(), func(tx *metadata.Tx) error {
		stamp := tx.Stamp()
		l.file.Record = metadata.Record{ID: metadata.NewID(stamp), State: metadata.Active, Created: stamp, Modified: stamp, CreatedBy: l.admin.UserID, ModifiedBy: l.admin.UserID}
		for n := range versions + 1 {
			l.file.Digest = blobs.Digest{byte(n >> 3 * 37), byte(n), byte(n >> 8), 1}
			v := metadata.VersionOf(l.file)
			v.Number, v.Created, v.Replaced = uint32(n), stamp, stamp
			err := tx.Blobs.Put(blobs.Blob{Digest: l.file.Digest, Size: size})
			if n < versions {
				err = errors.Join(err, tx.Versions.Put(v))
			}
			if err != nil {
				return err
			}
		}
		count := metadata.Counters{ActiveFiles: 1, ActiveBytes: size, OldVersions: int64(versions), OldBytes: int64(versions) * size}
		return errors.Join(tx.Resources.Put(l.file), tx.Usage.Put(l.file.DataspaceID, stamp.Day(), count))
	}))
	path := filepath.Join(l.dir, "blobs", l.file.Digest.String()[:2], l.file.Digest.String())
	l.ok(errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600), os.Truncate(path, size)))
	return l
}

func (l *large) ok(err error) {
	if err != nil {
		l.b.Helper()
		l.b.Fatal(err)
	}
}

// files returns the number of paths in the blob store.
func (l *large) files() (paths int) {
	l.ok(filepath.WalkDir(l.dir, func(_ string, _ os.DirEntry, err error) error { paths++; return err }))
	return paths
}

// BenchmarkPlacement copies and moves a file of 10 GiB between two dataspaces, with different
// numbers of former versions.
func BenchmarkPlacement(b *testing.B) {
	for _, versions := range []int{0, 100, 1000, 10000} {
		b.Run(fmt.Sprint("move, versions=", versions), func(b *testing.B) {
			l := newLarge(b, versions)
			before := l.files()
			for i := 0; b.Loop(); i++ { // later iterations reuse the records of the first one
				moved, err := l.svc.Files.Move(b.Context(), l.admin, l.file.ID.String(), files.Destination{SetID: l.sets[i%2]})
				l.ok(err)
				l.file = moved
			}
			if after := l.files(); after != before {
				b.Errorf("had %d files, now %d", before, after)
			}
		})
	}
	b.Run("copy", func(b *testing.B) {
		l := newLarge(b, 0)
		before := l.files()
		for b.Loop() {
			_, err := l.svc.Files.Copy(b.Context(), l.admin, l.file.ID.String(), files.Destination{SetID: l.sets[0]})
			l.ok(err)
		}
		if after := l.files(); after != before {
			b.Errorf("had %d files, now %d", before, after)
		}
	})
}
