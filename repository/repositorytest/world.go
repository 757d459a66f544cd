package repositorytest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/blobs/directory"
	_ "labshelf/internal/testhome"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/paging"
	"labshelf/repository"
	"labshelf/repository/containers"
	"labshelf/repository/core"
	"labshelf/repository/files"
	"labshelf/repository/maintenance"
)

// Always is the empty precondition.
var Always = core.Match{}

// World is a repository with an admin, a dataspace, and sets of resources whose content is their
// name.
type World struct {
	T         *testing.T
	Service   *repository.Service
	Admin     auth.Principal
	Space     metadata.Dataspace
	Sets      []metadata.Set
	Resources []metadata.Resource
}

// NewStill is like repository.New, but starts no background work.
func NewStill(meta metadata.Store, store blobs.Store, config repository.Config) *repository.Service {
	svc := repository.New(meta, store, config)
	svc.Close()
	return svc
}

// NewWorld creates an admin, a dataspace, and one set for each of counts with this many resources.
func NewWorld(t *testing.T, svc *repository.Service, counts ...int) *World {
	t.Helper()
	ctx := t.Context()
	w := &World{T: t, Service: svc}
	key, err := w.Service.Users.Bootstrap(ctx, "")
	w.OK(err)
	w.Admin, err = w.Service.Credentials.Authenticate(ctx, key, auth.Origin{})
	w.OK(err)
	w.Space, err = w.Service.Dataspaces.Create(ctx, w.Admin, containers.NewDataspace{Name: "space"})
	w.OK(err)
	for i, count := range counts {
		set, err := w.Service.Sets.Create(ctx, w.Admin, containers.NewSet{Name: fmt.Sprint("set-", i), DataspaceID: w.Space.ID.String()})
		w.OK(err)
		w.Sets = append(w.Sets, set)
		for j := range count {
			w.Resources = append(w.Resources, w.Upload(set, fmt.Sprint("file ", i, " ", j)))
		}
	}
	return w
}

// OK ends the test on an error.
func (w *World) OK(err error) {
	w.T.Helper()
	if err != nil {
		w.T.Fatal(err)
	}
}

// Upload uploads a file to a set.
func (w *World) Upload(set metadata.Set, name string) metadata.Resource {
	w.T.Helper()
	r, err := w.TryUpload(set, name)
	w.OK(err)
	return r
}

// TryUpload uploads a file to a set, or returns the refusal.
func (w *World) TryUpload(set metadata.Set, name string) (metadata.Resource, error) {
	up, id := w.Service.Uploads.NewUpload(w.Admin), set.ID.String()
	w.OK(up.Receive(w.T.Context(), strings.NewReader(name)))
	defer func() { w.OK(up.Discard()) }()
	return up.Create(w.T.Context(), files.UploadFields{SetID: &id, Name: &name})
}

// Refused fails the test unless err has this code.
func (w *World) Refused(err error, code errs.Code) {
	w.T.Helper()
	WantCode(w.T, err, code)
}

// Begun fails the test unless err reports a deletion or restoration that makes no progress.
func (w *World) Begun(err error) {
	w.T.Helper()
	w.Refused(err, errs.CodeUnavailable)
}

// Listed returns the states of the resources in the listing of the first set.
func (w *World) Listed() map[metadata.ID]metadata.State {
	w.T.Helper()
	states := map[metadata.ID]metadata.State{}
	page, err := ListResources(w.T.Context(), w.Service, w.Admin, paging.SetResources, core.ListRequest{
		Container: w.Sets[0].ID.String(), Selection: paging.Selection{States: paging.All, Limit: 1000},
	})
	w.OK(err)
	for _, r := range page.Items {
		states[r.ID] = r.State
	}
	return states
}

// Get returns the present state of a resource.
func (w *World) Get(id metadata.ID) metadata.Resource {
	w.T.Helper()
	r, err := w.Service.Files.Get(w.T.Context(), w.Admin, id.String())
	w.OK(err)
	return r
}

// Content returns the content of a resource's file.
func (w *World) Content(id metadata.ID) (string, error) {
	_, file, err := w.Service.Files.OpenResource(w.T.Context(), w.Admin, id.String())
	if err != nil {
		return "", err
	}
	var all bytes.Buffer
	_, err = io.Copy(&all, file)
	w.OK(file.Close())
	return all.String(), err
}

// Replace replaces the content of a resource.
func (w *World) Replace(r metadata.Resource, content string) metadata.Resource {
	w.T.Helper()
	up := w.Service.Uploads.NewUpload(w.Admin)
	w.OK(up.Receive(w.T.Context(), strings.NewReader(content)))
	replaced, err := up.Replace(w.T.Context(), r.ID.String(), files.UploadFields{Filename: "file"})
	w.OK(err)
	w.OK(up.Discard())
	return replaced
}

// KeepLast sets the retention of the dataspace to this many versions.
func (w *World) KeepLast(versions int) {
	w.T.Helper()
	_, err := w.Service.Dataspaces.Update(w.T.Context(), w.Admin, w.Space.ID.String(), containers.DataspaceFields{Retention: &metadata.Retention{Last: uint32(versions)}}, core.Match{})
	w.OK(err)
}

// RoleOf returns the role with this name.
func RoleOf(name string) auth.Role {
	role, _ := auth.ParseRole(name)
	return role
}

// Delete deletes a resource.
func (w *World) Delete(r metadata.Resource) metadata.Resource {
	w.T.Helper()
	r, err := w.Service.Files.Delete(w.T.Context(), w.Admin, r.ID.String(), Always)
	w.OK(err)
	return r
}

// WantCode reports an error unless err has this code.
func WantCode(t *testing.T, err error, code errs.Code) {
	t.Helper()
	var known *errs.Error
	if !errors.As(err, &known) || known.Code != code {
		t.Errorf("got %v, want an error with code %s", err, code)
	}
}

// Unsynced is a file system that syncs nothing, for tests without power failures.
type Unsynced struct{ directory.OS }

type unsyncedFile struct{ directory.File }

// SyncDir does nothing.
func (Unsynced) SyncDir(string) error { return nil }
func (unsyncedFile) Sync() error      { return nil }

// Create creates a file whose Sync does nothing.
func (Unsynced) Create(path string) (directory.File, error) {
	f, err := directory.OS{}.Create(path)
	return unsyncedFile{f}, err
}

// Disk is a World with its files on disk, for tests that damage and maintain them.
type Disk struct {
	*World
	Dir    string
	Meta   *metadatatest.Memory
	Blobs  *directory.Store
	Upkeep *maintenance.Upkeep
}

// NewDisk creates a repository with one set for each of counts, without background work.
func NewDisk(t *testing.T, config repository.Config, counts ...int) *Disk {
	t.Helper()
	return NewDiskOver(t, config, func(files blobs.Folder) blobs.Folder { return files }, counts...)
}

// NewDiskOver is like NewDisk, with a blob store wrapped by over.
func NewDiskOver(t *testing.T, config repository.Config, over func(blobs.Folder) blobs.Folder, counts ...int) *Disk {
	t.Helper()
	d := &Disk{Dir: t.TempDir(), Meta: metadatatest.NewMemory(time.Now)}
	var err error
	if d.Blobs, err = directory.Open(d.Dir, Unsynced{}); err != nil {
		t.Fatal(err)
	}
	config.PageSize, config.DirectoryPageSize = 1000, 1000
	d.World = NewWorld(t, NewStill(Audited{d.Meta, t.Errorf}, over(d.Blobs), config), counts...)
	d.Upkeep, err = d.Service.Monitor.Upkeep(t.Context(), d.Admin)
	d.OK(err)
	return d
}

// Finish calls World.Finish with the stores of d.
func (d *Disk) Finish(container metadata.ID) {
	d.T.Helper()
	d.World.Finish(d.Meta, d.Blobs, container)
}

// Finish waits until the cascade of a container has ended. It repeats the request to a service over
// the same stores.
func (w *World) Finish(meta metadata.Store, files blobs.Store, container metadata.ID) {
	w.T.Helper()
	var cascade metadata.Cascade
	err := meta.View(w.T.Context(), func(tx *metadata.Tx) (err error) {
		cascade, err = tx.Cascades.Get(container)
		return err
	})
	if errors.Is(err, metadata.ErrNotFound) {
		return
	}
	w.OK(err)
	svc, ctx, id := repository.New(meta, files, repository.Config{}), w.T.Context(), container.String()
	defer svc.Close()
	switch {
	case cascade.OfDataspace() && cascade.Restore:
		_, err = svc.Dataspaces.Restore(ctx, w.Admin, id, Always)
	case cascade.OfDataspace():
		_, err = svc.Dataspaces.Delete(ctx, w.Admin, id, Always)
	case cascade.Restore:
		_, err = svc.Sets.Restore(ctx, w.Admin, id, Always)
	default:
		_, err = svc.Sets.Delete(ctx, w.Admin, id, Always)
	}
	w.OK(err)
}

// Path returns the path of the file of a blob.
func (d *Disk) Path(digest blobs.Digest) string {
	return filepath.Join(d.Dir, "blobs", digest.String()[:2], digest.String())
}

// Leave writes an unrecorded file among the blobs.
func (d *Disk) Leave(digest blobs.Digest, content []byte) {
	d.T.Helper()
	d.OK(errors.Join(os.MkdirAll(filepath.Dir(d.Path(digest)), 0o700), os.WriteFile(d.Path(digest), content, 0o600)))
}

// Flip flips one bit of a file.
func (d *Disk) Flip(digest blobs.Digest) {
	d.T.Helper()
	content, err := os.ReadFile(d.Path(digest))
	d.OK(err)
	content[len(content)/2] ^= 1
	d.OK(os.WriteFile(d.Path(digest), content, 0o600))
}

// Damages returns the recorded damages.
func (d *Disk) Damages() (all []metadata.Damage) {
	d.T.Helper()
	d.OK(d.Meta.View(d.T.Context(), func(tx *metadata.Tx) error {
		all = nil
		for damage, err := range tx.Damages.All(blobs.Digest{}) {
			if err != nil {
				return err
			}
			all = append(all, damage)
		}
		return nil
	}))
	return all
}

// Check runs a check, and returns the violations and the result.
func (d *Disk) Check(u *maintenance.Upkeep, o maintenance.CheckOptions) (found []metadata.Violation, result maintenance.CheckResult) {
	d.T.Helper()
	result, err := u.Check(d.T.Context(), o, maintenance.CheckEvents{Violation: func(v metadata.Violation) { found = append(found, v) }})
	d.OK(err)
	return found, result
}

// Sound runs a check and reports each violation as a test error.
func (d *Disk) Sound() {
	d.T.Helper()
	_, err := d.Upkeep.Check(d.T.Context(), maintenance.CheckOptions{}, maintenance.CheckEvents{
		Violation: func(v metadata.Violation) { d.T.Errorf("violation: %v", v) },
	})
	if err != nil && d.T.Context().Err() == nil {
		d.T.Error(err)
	}
}

// Purge purges everything that is deleted.
func (d *Disk) Purge(o maintenance.PurgeOptions) maintenance.PurgeResult {
	d.T.Helper()
	o.OlderThan = -time.Hour
	result, err := d.Upkeep.Purge(d.T.Context(), o)
	d.OK(err)
	return result
}

// Violations returns the violations that a check of two stores finds.
func Violations(t *testing.T, meta metadata.Store, files blobs.Store) (all []string) {
	t.Helper()
	events := maintenance.CheckEvents{Violation: func(v metadata.Violation) { all = append(all, v.String()) }}
	_, err := maintenance.NewUpkeep(meta, files).Check(t.Context(), maintenance.CheckOptions{}, events)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// RaceTime returns the time for which a test runs goroutines against each other. PURGE_RACE_SECONDS
// overrides it.
func RaceTime(t *testing.T) time.Duration {
	t.Helper()
	if asked := os.Getenv("PURGE_RACE_SECONDS"); asked != "" {
		seconds, err := strconv.Atoi(asked)
		if err != nil {
			t.Fatal(err)
		}
		return time.Duration(seconds) * time.Second
	}
	if testing.Short() {
		return 2 * time.Second
	}
	return 10 * time.Second
}
