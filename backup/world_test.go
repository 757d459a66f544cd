package backup_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"labshelf/auth"
	"labshelf/backup"
	"labshelf/blobs/directory"
	"labshelf/bolt"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository"
	"labshelf/repository/containers"
	"labshelf/repository/core"
	"labshelf/repository/files"
	"labshelf/repository/maintenance"
)

// world is a data directory with a stopped service, except while a test uses the service.
type world struct {
	t   *testing.T
	dir string
	set string
	key string

	holdUpTo int64
	observer repository.Observer
}

// newWorld creates a data directory with one set.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: filepath.Join(t.TempDir(), "data")}
	check(t, os.Mkdir(w.dir, 0o700))
	w.with(func(ctx context.Context, s *repository.Service) {
		var err error
		w.key, err = s.Users.Bootstrap(ctx, "")
		check(t, err)
		admin := w.admin(ctx, s)
		space, err := s.Dataspaces.Create(ctx, admin, containers.NewDataspace{Name: "physics"})
		check(t, err)
		set, err := s.Sets.Create(ctx, admin, containers.NewSet{Name: "runs", DataspaceID: space.ID.String()})
		check(t, err)
		w.set = set.ID.String()
	})
	return w
}

// with calls fn while the service runs.
func (w *world) with(fn func(context.Context, *repository.Service)) {
	w.t.Helper()
	files, err := directory.Open(w.dir, directory.OS{})
	check(w.t, err)
	meta, err := bolt.Open(w.metadata(), bolt.Options{})
	check(w.t, err)
	s := repository.New(meta, files, repository.Config{PageSize: 100, DirectoryPageSize: 1000, HoldUpTo: w.holdUpTo, Observer: w.observer})
	defer func() {
		s.Close()
		check(w.t, meta.Close())
	}()
	fn(w.t.Context(), s)
}

func (w *world) admin(ctx context.Context, s *repository.Service) auth.Principal {
	w.t.Helper()
	admin, err := s.Credentials.Authenticate(ctx, w.key, auth.Origin{})
	check(w.t, err)
	return admin
}

func (w *world) metadata() string { return filepath.Join(w.dir, "meta.db") }

// upload creates a resource for each body, with the names file0, file1 and so on.
func (w *world) upload(bodies ...string) (made []metadata.Resource) {
	w.t.Helper()
	w.with(func(ctx context.Context, s *repository.Service) {
		admin := w.admin(ctx, s)
		for i, body := range bodies {
			u := s.Uploads.NewUpload(admin)
			check(w.t, u.Receive(ctx, strings.NewReader(body)))
			r, err := u.Create(ctx, files.UploadFields{SetID: &w.set, Filename: fmt.Sprintf("file%d", i)})
			check(w.t, err)
			made = append(made, r)
		}
	})
	return made
}

// purge deletes a resource and removes its bytes.
func (w *world) purge(r metadata.Resource) {
	w.t.Helper()
	w.with(func(ctx context.Context, s *repository.Service) {
		admin := w.admin(ctx, s)
		_, err := s.Files.Delete(ctx, admin, r.ID.String(), core.Match{})
		check(w.t, err)
		upkeep, err := s.Monitor.Upkeep(ctx, admin)
		check(w.t, err)
		_, err = upkeep.Purge(ctx, maintenance.PurgeOptions{})
		check(w.t, err)
	})
}

// path returns the path of a resource's blob below a data directory or a backup.
func path(dir string, r metadata.Resource) string {
	return filepath.Join(dir, "blobs", r.Digest.String()[:2], r.Digest.String())
}

// backUp makes a backup of the data directory, and fails the test after an error.
func (w *world) backUp(dest string) backup.Created {
	w.t.Helper()
	made, found, err := w.tryBackUp(dest, backup.CreateOptions{})
	check(w.t, err)
	wantFound(w.t, found)
	return made
}

func (w *world) tryBackUp(dest string, o backup.CreateOptions) (backup.Created, []metadata.Violation, error) {
	w.t.Helper()
	source, err := openLocal(w.dir)
	check(w.t, err)
	defer func() { check(w.t, source.Close()) }()
	var found findings
	o.Events, o.Program = found.events(), "labshelf test"
	made, err := backup.Create(w.t.Context(), source, dest, o)
	return made, found.all, err
}

// local is a data directory as the source of a backup.
type local struct {
	backup.Local
	meta *bolt.Store
}

// openLocal opens a data directory for reading.
func openLocal(path string) (*local, error) {
	files, err := directory.OpenReadOnly(path)
	if err != nil {
		return nil, err
	}
	meta, err := bolt.Open(filepath.Join(path, "meta.db"), bolt.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	return &local{backup.Local{Metadata: meta, Files: files}, meta}, nil
}

func (l *local) Close() error { return l.meta.Close() }

// restore restores a backup to a new directory.
func restore(t *testing.T, src string, partial bool) (dir string, found []metadata.Violation, err error) {
	t.Helper()
	var f findings
	dir = filepath.Join(t.TempDir(), "restored")
	_, err = backup.Restore(t.Context(), src, dir, backup.RestoreOptions{Partial: partial, Events: f.events()})
	return dir, f.all, err
}

// mustRestore restores a backup without violations.
func mustRestore(t *testing.T, src string) (dir string) {
	t.Helper()
	dir, found, err := restore(t, src, false)
	check(t, err)
	wantFound(t, found)
	return dir
}

// findings are the events that occurred.
type findings struct {
	mu    sync.Mutex
	busy  bool
	all   []metadata.Violation
	moved map[string][2]int64 // the last progress, by part of the work
	there map[string]int64    // bytes that needed no work, by part of the work
}

func (f *findings) events() backup.Events {
	f.moved, f.there = map[string][2]int64{}, map[string]int64{}
	return backup.Events{
		Violation: func(v metadata.Violation) { f.alone(func() { f.all = append(f.all, v) }) },
		Skipped:   func(what string, bytes int64) { f.alone(func() { f.there[what] += bytes }) },
		Progress: func(what string, done, total int64) {
			f.alone(func() { f.moved[what] = [2]int64{done, total} })
		},
	}
}

// alone fails the test if two events occur at the same time.
func (f *findings) alone(fn func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.busy {
		panic("two events at a time")
	}
	f.busy = true
	fn()
	f.busy = false
}

// wantFound fails the test unless exactly these resources were reported, in the form "name: words
// of the violation".
func wantFound(t *testing.T, found []metadata.Violation, want ...string) {
	t.Helper()
	left := map[string]metadata.Violation{}
	for _, v := range found {
		left[v.Name] = v
	}
	for _, w := range want {
		name, words, _ := strings.Cut(w, ": ")
		v, ok := left[name]
		if !ok || v.Part != metadata.PartBlobs || v.Kind != "resource" || len(v.ID) != 26 || !strings.Contains(v.Wrong, words) {
			t.Errorf("want %q; found %v", w, v)
		}
		delete(left, name)
	}
	if len(left) > 0 || len(found) != len(want) {
		t.Errorf("unexpected findings: %v", found)
	}
}

// contents returns all resources of a data directory, and the names of the users.
func contents(t *testing.T, dir string) (all []metadata.Resource, users []string) {
	t.Helper()
	meta, err := bolt.Open(filepath.Join(dir, "meta.db"), bolt.Options{ReadOnly: true})
	check(t, err)
	defer func() { check(t, meta.Close()) }()
	check(t, meta.View(t.Context(), func(tx *metadata.Tx) error {
		for r, err := range tx.Resources.Range(metadata.ResourceRange{States: paging.All, Order: paging.Oldest}) {
			if err != nil {
				return err
			}
			all = append(all, r)
		}
		for u, err := range tx.Users.All(metadata.ID{}) {
			if err != nil {
				return err
			}
			users = append(users, u.Username)
		}
		return nil
	}))
	return all, users
}

// wantSame fails the test unless two data directories have the same records.
func wantSame(t *testing.T, want, got string) {
	t.Helper()
	wantAll, wantUsers := contents(t, want)
	gotAll, gotUsers := contents(t, got)
	if diff := cmp.Diff(wantAll, gotAll) + cmp.Diff(wantUsers, gotUsers); diff != "" {
		t.Errorf("wanted (-), restored (+):\n%s", diff)
	}
}

// flip changes one byte of a file.
func flip(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	check(t, err)
	text[len(text)/2] ^= 1
	check(t, os.WriteFile(path, text, 0o600))
}

// metaOf returns the path of the metadata file of the latest snapshot in a backup.
func metaOf(t *testing.T, dest string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dest, "manifest.json"))
	check(t, err)
	var m backup.Manifest
	check(t, json.Unmarshal(text, &m))
	return filepath.Join(dest, m.Database.File)
}

// wantModes fails the test if others could read or change anything below dir.
func wantModes(t *testing.T, dir string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		return
	}
	check(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			err = fmt.Errorf("%s has mode %o", path, info.Mode().Perm())
		}
		return err
	}))
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantError fails the test unless the error is of this kind and contains these words.
func wantError(t *testing.T, err, kind error, words string) {
	t.Helper()
	if !errors.Is(err, kind) || !strings.Contains(err.Error(), words) {
		t.Errorf("got %v, want %v: %q", err, kind, words)
	}
}
