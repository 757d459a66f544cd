package maintenance_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/blobs/directory"
	"labshelf/bolt"
	"labshelf/metadata"
	"labshelf/repository"
	"labshelf/repository/files"
	"labshelf/repository/maintenance"
	"labshelf/repository/repositorytest"
)

// gate stops one actor before one of its steps, until the gate is opened.
type gate struct {
	armed bool         // steps are counted only while it is set
	stop  int          // number of the step before which the actor stops
	steps atomic.Int64 // number of steps, including steps of workers
	open  chan struct{}
}

func (g *gate) step() {
	if !g.armed {
		return
	}
	if g.steps.Add(1) == int64(g.stop) {
		<-g.open
	}
}

// gatedMeta and gatedFiles are the stores as one actor uses them. Each call is a step.
type gatedMeta struct {
	metadata.Store
	gate *gate
}

func (m gatedMeta) View(ctx context.Context, fn func(*metadata.Tx) error) error {
	m.gate.step()
	return m.Store.View(ctx, fn)
}

func (m gatedMeta) ViewDurable(ctx context.Context, fn func(*metadata.Tx) error) error {
	m.gate.step()
	return m.Store.ViewDurable(ctx, fn)
}

func (m gatedMeta) Update(ctx context.Context, fn func(*metadata.Tx) error) error {
	m.gate.step()
	defer m.gate.step()
	return m.Store.Update(ctx, fn)
}

func (m gatedMeta) UpdateBackground(ctx context.Context, fn func(*metadata.Tx) error) error {
	return m.Update(ctx, fn)
}

type gatedFiles struct {
	blobs.Folder
	gate *gate
}

func (f gatedFiles) Stage(ctx context.Context, r io.Reader, limit int64) (blobs.Staged, error) {
	staged, err := f.Folder.Stage(ctx, r, limit)
	return gatedStaged{staged, f.gate}, err
}

func (f gatedFiles) Pin(digest blobs.Digest) (release func()) {
	f.gate.step()
	unpin := f.Folder.Pin(digest)
	return func() {
		f.gate.step()
		unpin()
	}
}

func (f gatedFiles) Stat(ctx context.Context, b blobs.Blob) (int64, error) {
	f.gate.step()
	return f.Folder.Stat(ctx, b)
}

func (f gatedFiles) Remove(digest blobs.Digest, confirm func() error) error {
	f.gate.step()
	defer f.gate.step()
	return f.Folder.Remove(digest, confirm)
}

type gatedStaged struct {
	blobs.Staged
	gate *gate
}

func (s gatedStaged) Commit(ctx context.Context) (blobs.Content, error) {
	s.gate.step()
	return s.Staged.Commit(ctx)
}

// later returns a time at which every deleted object is old enough to be purged.
func later() time.Time { return time.Now().Add(time.Hour) }

// TestUploadAgainstPurge stops an upload and a purge of the same content at each pair of their
// steps, and lets either continue first. The mutant recheck breaks it.
func TestUploadAgainstPurge(t *testing.T) {
	t.Parallel()
	for state, prepare := range map[string]func(k *kept, content string){
		"replaced": func(k *kept, content string) { k.Replace(k.Upload(k.Sets[0], content), content+", replaced") },
		"deleted":  func(k *kept, content string) { k.Delete(k.Upload(k.Sets[0], content)) },
		"orphan": func(k *kept, content string) {
			staged, err := k.Blobs.Stage(k.T.Context(), strings.NewReader(content), 0)
			k.OK(err)
			_, err = staged.Commit(k.T.Context())
			k.OK(err)
		},
		"damaged": func(k *kept, content string) {
			r := k.Upload(k.Sets[0], content)
			k.Replace(r, content+", replaced")
			k.OK(k.Meta.Update(k.T.Context(), func(tx *metadata.Tx) error {
				return tx.Damages.Put(metadata.Damage{Digest: r.Digest, What: "on purpose"})
			}))
		},
	} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				k := newKept(t, repository.Config{}, 0)
				pairs, uploadSteps, purgeSteps := 0, 2, 2
				for i := 1; i <= uploadSteps; i++ {
					for j := 1; j <= purgeSteps; j++ {
						for _, uploadFirst := range []bool{true, false} {
							content := fmt.Sprint(state, i, j, uploadFirst)
							prepare(k, content)
							u, p := meet(k, content, i, j, uploadFirst)
							uploadSteps, purgeSteps = max(uploadSteps, u), max(purgeSteps, p)
							pairs++
						}
					}
				}
				if found := repositorytest.Violations(t, k.Meta, k.Blobs); len(found) > 0 {
					t.Errorf("%q", found)
				}
				t.Logf("%d pairs of %d and %d steps", pairs, uploadSteps, purgeSteps)
			})
		})
	}
}

// meet lets an upload run up to its step i, and then a purge up to its step j, or as far as they
// get. It returns the number of steps that they took in the end. Acknowledged files must exist.
func meet(k *kept, content string, i, j int, uploadFirst bool) (uploadSteps, purgeSteps int) {
	ctx := k.T.Context()
	upload, purge := &gate{stop: i, open: make(chan struct{})}, &gate{stop: j, open: make(chan struct{})}
	svc := repositorytest.NewStill(gatedMeta{k.Meta, upload}, gatedFiles{k.Blobs, upload}, repository.Config{})
	upkeep := maintenance.NewUpkeep(gatedMeta{k.Meta, purge}, gatedFiles{k.Blobs, purge})
	upload.armed, purge.armed = true, true
	var actors sync.WaitGroup
	var made metadata.Resource
	actors.Go(func() {
		up, set := svc.Uploads.NewUpload(k.Admin), k.Sets[0].ID.String()
		err := up.Receive(ctx, strings.NewReader(content))
		if err == nil {
			made, err = up.Create(ctx, files.UploadFields{SetID: &set, Filename: "file"})
		}
		if err := errors.Join(err, up.Discard()); err != nil {
			k.T.Error("upload:", err)
		}
	})
	synctest.Wait()
	actors.Go(func() {
		if _, err := upkeep.Purge(ctx, maintenance.PurgeOptions{Now: later}); err != nil {
			k.T.Error("purge:", err)
		}
	})
	synctest.Wait()
	order := []*gate{upload, purge}
	if !uploadFirst {
		order = []*gate{purge, upload}
	}
	for _, g := range order {
		close(g.open)
		synctest.Wait()
	}
	actors.Wait()
	if got, err := k.Content(made.ID); err != nil || got != content {
		k.T.Fatalf("an upload at step %d met a purge at step %d (upload first: %t): reading returns %q, %v", i, j, uploadFirst, got, err)
	}
	for id, state := range k.Listed() { // so that the purge of the next pair has no additional steps
		if state == metadata.Active {
			k.Delete(k.Get(id))
		}
	}
	if _, err := k.Upkeep.Purge(ctx, maintenance.PurgeOptions{Now: later}); err != nil {
		k.T.Error("purge at the end:", err)
	}
	return int(upload.steps.Load()), int(purge.steps.Load())
}

// TestUploadsAgainstPurges runs uploads, replacements and deletions of a few contents during
// purges, on the real stores.
func TestUploadsAgainstPurges(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	meta, err := bolt.Open(filepath.Join(dir, "meta.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	files, err := directory.Open(dir, directory.OS{})
	if err != nil {
		t.Fatal(err)
	}
	svc := repository.New(meta, files, repository.Config{PageSize: 1000, DirectoryPageSize: 1000})
	h := repositorytest.NewWorld(t, svc, 0)
	h.KeepLast(1)
	r := &race{svc: svc, admin: h.Admin, set: h.Sets[0].ID.String(), until: time.Now().Add(repositorytest.RaceTime(t))}
	var actors sync.WaitGroup
	for range 4 {
		actors.Go(func() { r.ok(t, r.writes(t.Context())) })
	}
	for range 2 {
		// Two independent purgers, which no service would run concurrently.
		upkeep := maintenance.NewUpkeep(meta, files)
		actors.Go(func() { r.ok(t, r.purges(t.Context(), upkeep)) })
	}
	actors.Wait()
	if found := repositorytest.Violations(t, meta, files); len(found) > 0 {
		t.Errorf("%q", found)
	}
	if r.removed.Load() == 0 || r.kept.Load() == 0 {
		t.Errorf("%d uploads and %d removals: the test has tried nothing", r.kept.Load(), r.removed.Load())
	}
	t.Logf("%d uploads, each read back, during %d removals of the same %d files", r.kept.Load(), r.removed.Load(), raceContents)
	svc.Close()
	if err := meta.Close(); err != nil {
		t.Error(err)
	}
}

// raceContents is the number of different files that are uploaded. It is small, so that removed
// files are uploaded again.
const raceContents = 5

type race struct {
	svc           *repository.Service
	admin         auth.Principal
	set           string
	until         time.Time
	kept, removed atomic.Int64
	failed        atomic.Bool
}

func (r *race) ok(t *testing.T, err error) {
	if err != nil {
		r.failed.Store(true)
		t.Error(err)
	}
}

func (r *race) over() bool { return r.failed.Load() || time.Now().After(r.until) }

// writes replaces one resource repeatedly. At times it deletes the resource and creates a new one.
func (r *race) writes(ctx context.Context) error {
	id := ""
	for !r.over() {
		content := fmt.Sprint("content ", rand.IntN(raceContents))
		up := r.svc.Uploads.NewUpload(r.admin)
		err := up.Receive(ctx, strings.NewReader(content))
		var stored metadata.Resource
		switch {
		case err != nil:
		case id == "":
			stored, err = up.Create(ctx, files.UploadFields{SetID: &r.set, Filename: "file"})
		default:
			stored, err = up.Replace(ctx, id, files.UploadFields{Filename: "file"})
		}
		if err := errors.Join(err, up.Discard()); err != nil {
			return fmt.Errorf("upload: %w", err)
		}
		id = stored.ID.String()
		if err := r.reads(ctx, id, content); err != nil {
			return err
		}
		r.kept.Add(1)
		if rand.IntN(20) == 0 {
			if _, err := r.svc.Files.Delete(ctx, r.admin, id, repositorytest.Always); err != nil {
				return fmt.Errorf("delete: %w", err)
			}
			id = ""
		}
	}
	return nil
}

// reads verifies that acknowledged files exist.
func (r *race) reads(ctx context.Context, id, content string) error {
	_, file, err := r.svc.Files.OpenResource(ctx, r.admin, id)
	if err != nil {
		return fmt.Errorf("acknowledged, but: %w", err)
	}
	got, err := io.ReadAll(file)
	if err := errors.Join(err, file.Close()); err != nil || string(got) != content {
		return fmt.Errorf("acknowledged %q, got %q, %w", content, got, err)
	}
	return nil
}

func (r *race) purges(ctx context.Context, upkeep *maintenance.Upkeep) error {
	for !r.over() {
		result, err := upkeep.Purge(ctx, maintenance.PurgeOptions{Now: later})
		if err != nil {
			return fmt.Errorf("purge: %w", err)
		}
		r.removed.Add(result.Blobs + result.Orphans)
	}
	return nil
}
