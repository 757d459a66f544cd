package repository_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/repository"
)

// kept is a repository with its files on disk, to break them and to look after them.
type kept struct {
	*held
	dir    string
	meta   *metadatatest.Memory
	files  *blobs.Dir
	upkeep *repository.Upkeep
}

// unsynced is a file system that brings nothing to stable storage, for tests that cut no power.
type unsynced struct{ blobs.OS }

type unsyncedFile struct{ blobs.File }

func (unsynced) SyncDir(string) error { return nil }
func (unsyncedFile) Sync() error      { return nil }
func (unsynced) Create(path string) (blobs.File, error) {
	f, err := blobs.OS{}.Create(path)
	return unsyncedFile{f}, err
}

// newKept makes a repository with sets of so many resources, in which nothing runs in the background.
func newKept(t *testing.T, config repository.Config, counts ...int) *kept {
	t.Helper()
	k := &kept{dir: t.TempDir(), meta: metadatatest.NewMemory(time.Now)}
	var err error
	if k.files, err = blobs.OpenDir(k.dir, unsynced{}); err != nil {
		t.Fatal(err)
	}
	config.PageSize, config.DirectoryPageSize = 1000, 1000
	k.held = populated(t, repository.NewHeld(k.meta, k.files, config), counts...)
	k.upkeep, err = k.svc.Upkeep(t.Context(), k.admin)
	k.ok(err)
	return k
}

func (k *kept) path(d blobs.Digest) string {
	return filepath.Join(k.dir, "blobs", d.String()[:2], d.String())
}

// leave puts a file among the blobs that no row knows.
func (k *kept) leave(d blobs.Digest, content []byte) {
	k.t.Helper()
	k.ok(errors.Join(os.MkdirAll(filepath.Dir(k.path(d)), 0o700), os.WriteFile(k.path(d), content, 0o600)))
}

// flip changes one bit of a file.
func (k *kept) flip(d blobs.Digest) {
	k.t.Helper()
	content, err := os.ReadFile(k.path(d))
	k.ok(err)
	content[len(content)/2] ^= 1
	k.ok(os.WriteFile(k.path(d), content, 0o600))
}

// content reads the file of a resource.
func (k *kept) content(id metadata.ID) (string, error) {
	_, file, err := k.svc.OpenResource(k.t.Context(), k.admin, id.String())
	if err != nil {
		return "", err
	}
	var all bytes.Buffer
	_, err = io.Copy(&all, file)
	k.ok(file.Close())
	return all.String(), err
}

// replace gives a resource other content.
func (k *kept) replace(r metadata.Resource, content string) metadata.Resource {
	k.t.Helper()
	up := k.svc.NewUpload(k.admin)
	k.ok(up.Receive(k.t.Context(), bytes.NewReader([]byte(content))))
	replaced, err := up.Replace(k.t.Context(), r.ID.String(), repository.UploadFields{Filename: "file"})
	k.ok(err)
	k.ok(up.Discard())
	return replaced
}

func (k *kept) remove(r metadata.Resource) metadata.Resource {
	k.t.Helper()
	r, err := k.svc.DeleteResource(k.t.Context(), k.admin, r.ID.String(), always)
	k.ok(err)
	return r
}

// marks are the blobs known to be damaged.
func (k *kept) marks() (all []metadata.Damage) {
	k.t.Helper()
	k.ok(k.meta.View(k.t.Context(), func(tx *metadata.Tx) error {
		all = nil
		for d, err := range tx.Damages.All() {
			if err != nil {
				return err
			}
			all = append(all, d)
		}
		return nil
	}))
	return all
}

// check returns what a check finds, and its result.
func (k *kept) check(u *repository.Upkeep, o repository.CheckOptions) (found []metadata.Violation, result repository.CheckResult) {
	k.t.Helper()
	result, err := u.Check(k.t.Context(), o, repository.CheckEvents{Violation: func(v metadata.Violation) { found = append(found, v) }})
	k.ok(err)
	return found, result
}
