package repository_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/blobs/directory"
	"labshelf/bolt"
	"labshelf/metadata"
	"labshelf/repository"
	"labshelf/repository/core"
	"labshelf/repository/files"
	"labshelf/repository/maintenance"
	"labshelf/repository/repositorytest"
)

// TestFlushAgainstAllChanges uploads a few contents, inline or as files. They replace each other
// under preconditions that may fail at the last moment, and are deleted and restored. Flushes and
// purges run at the same time, on the real stores.
func TestFlushAgainstAllChanges(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	meta, err := bolt.Open(filepath.Join(dir, "meta.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	files, err := directory.Open(dir, repositorytest.Unsynced{})
	if err != nil {
		t.Fatal(err)
	}
	m := &melee{until: time.Now().Add(repositorytest.RaceTime(t) / 2)}
	for _, holdUpTo := range []int64{0, 100} {
		m.services = append(m.services, repositorytest.NewStill(meta, files, repository.Config{HoldUpTo: holdUpTo}))
	}
	h := populated(t, m.services[1], 3)
	m.admin, m.set = h.Admin, h.Sets[0].ID.String()
	for n := range m.ids {
		m.ids[n].Store(&h.Resources[n].ID)
	}
	var actors sync.WaitGroup
	act := func(do func(context.Context) error) {
		actors.Go(func() {
			for !m.failed.Load() && time.Now().Before(m.until) {
				if err := do(t.Context()); err != nil {
					m.failed.Store(true)
					t.Error(err)
				}
				// idle goroutines must not use all of the processor time
				time.Sleep(time.Duration(rand.IntN(1000)) * time.Microsecond)
			}
		})
	}
	for range 3 {
		act(m.change)
	}
	act(m.read)
	act(m.services[1].FlushInline)
	upkeep := maintenance.NewUpkeep(meta, files)
	act(func(ctx context.Context) error {
		done, err := upkeep.Purge(ctx, maintenance.PurgeOptions{OlderThan: time.Duration(rand.IntN(2)) * time.Hour, Now: func() time.Time { return time.Now().Add(time.Hour) }})
		m.removed.Add(done.Blobs + done.Orphans)
		return err
	})
	actors.Wait()
	if found := repositorytest.Violations(t, meta, files); len(found) > 0 {
		t.Errorf("%q", found)
	}
	t.Logf("%d changes, %d refused, %d reads, %d removals", m.changed.Load(), m.refused.Load(), m.reads.Load(), m.removed.Load())
	if err := meta.Close(); err != nil {
		t.Error(err)
	}
}

// contents is the number of different files that are uploaded. It is small, so that they replace
// each other.
const contents = 5

// melee is several services over the same stores.
type melee struct {
	services                         []*repository.Service
	admin                            auth.Principal
	set                              string
	ids                              [3]atomic.Pointer[metadata.ID]
	until                            time.Time
	changed, refused, reads, removed atomic.Int64
	failed                           atomic.Bool
}

// any returns one of the services, and one of the slots for a resource.
func (m *melee) any() (*repository.Service, *atomic.Pointer[metadata.ID]) {
	return m.services[rand.IntN(len(m.services))], &m.ids[rand.IntN(len(m.ids))]
}

func (m *melee) change(ctx context.Context) error {
	svc, place := m.any()
	id := place.Load().String()
	r, err := svc.Files.Get(ctx, m.admin, id)
	if err != nil {
		return err
	}
	switch rand.IntN(16) {
	case 0:
		_, err = svc.Files.Delete(ctx, m.admin, id, repositorytest.Always)
	case 1:
		_, err = svc.Files.Restore(ctx, m.admin, id, repositorytest.Always)
	default:
		up := svc.Uploads.NewUpload(m.admin)
		err = up.Receive(ctx, strings.NewReader(fmt.Sprint("content ", rand.IntN(contents))))
		if err == nil && r.Body == metadata.Purged {
			r, err = up.Create(ctx, files.UploadFields{SetID: &m.set, Filename: "file"})
			place.Store(&r.ID)
		} else if err == nil {
			_, err = up.Replace(ctx, id, files.UploadFields{Filename: "file", Match: core.MatchTag(r.Tag())})
		}
		err = errors.Join(err, up.Discard())
	}
	var refused *errs.Error
	if errors.As(err, &refused) && (refused.Kind == errs.Precondition || refused.Kind == errs.Gone || refused.Kind == errs.Conflict) {
		m.refused.Add(1)
		return nil
	}
	m.changed.Add(1)
	return err
}

func (m *melee) read(ctx context.Context) error {
	svc, place := m.any()
	r, file, err := svc.Files.OpenResource(ctx, m.admin, place.Load().String())
	var refused *errs.Error
	if errors.As(err, &refused) && refused.Kind == errs.Gone {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read: %w", err)
	}
	got, err := io.ReadAll(file)
	if err := errors.Join(err, file.Close()); err != nil || sha256.Sum256(got) != r.Digest {
		return fmt.Errorf("%s: got %q, %w", r.ID, got, err)
	}
	m.reads.Add(1)
	return nil
}

// TestObserverIsCalledPerFlush: the observer is called for each batch, successful or not.
func TestObserverIsCalledPerFlush(t *testing.T) {
	t.Parallel()
	var reported []metadata.BodyCount
	var failed error
	k, files := newObservedInline(t, repository.Observer{Flushed: func(moved metadata.BodyCount, took time.Duration, err error) {
		if took < 0 || took == 0 && runtime.GOOS != "windows" { // the clock of Windows is coarse
			t.Errorf("it took %s", took)
		}
		reported, failed = append(reported, moved), err
	}}, "a", "bb")
	files.before = func() error { return errStuck }
	if err := k.Service.FlushInline(t.Context()); err == nil || len(reported) != 1 || !errors.Is(failed, errStuck) {
		t.Errorf("a batch that failed with %v is reported as %+v, %v", err, reported, failed)
	}
	files.before = nil
	k.flush()
	if want := (metadata.BodyCount{Bodies: 2, Bytes: 3}); len(reported) != 2 || reported[1] != want || failed != nil {
		t.Errorf("reported %+v, %v, want %+v", reported, failed, want)
	}
	k.wantBodies("after", 0, 0)
}
