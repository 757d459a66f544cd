package repository_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/blobs/blobstest"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/repository"
	"labshelf/repository/files"
	"labshelf/repository/maintenance"
	"labshelf/repository/repositorytest"
)

// failing is a store whose commits, views and bodies fail as configured.
type failing struct {
	metadata.Store
	commit, view error
}

func (f *failing) Update(ctx context.Context, fn func(*metadata.Tx) error) error {
	if f.commit != nil {
		return f.commit
	}
	return f.Store.Update(ctx, fn)
}

func (f *failing) UpdateBackground(ctx context.Context, fn func(*metadata.Tx) error) error {
	return f.Update(ctx, fn)
}

func (f *failing) View(ctx context.Context, fn func(*metadata.Tx) error) error {
	if f.view != nil {
		return f.view
	}
	return f.Store.View(ctx, fn)
}

type failingFiles struct {
	blobs.Folder
	stage error
}

func (f *failingFiles) Stage(ctx context.Context, r io.Reader, limit int64) (blobs.Staged, error) {
	if f.stage != nil {
		return nil, f.stage
	}
	return f.Folder.Stage(ctx, r, limit)
}

// TestErrorPolicy checks which error a caller gets for an error of the store, which condition the
// service reports then, and that it recovers automatically if possible.
func TestErrorPolicy(t *testing.T) {
	t.Parallel()
	unsynced := fmt.Errorf("%w: %w", blobs.ErrUnsynced, fs.ErrInvalid)
	for name, c := range map[string]struct {
		stage, commit error
		kind          errs.Kind
		code          errs.Code
		sticky        bool
	}{
		"disk full during a body":          {blobs.ErrNoSpace, nil, errs.NoSpace, errs.CodeNoSpace, false},
		"disk full in the commit":          {nil, metadata.ErrNoSpace, errs.NoSpace, errs.CodeNoSpace, false},
		"no descriptors for a body":        {blobs.ErrUnavailable, nil, errs.Unavailable, errs.CodeUnavailable, false},
		"read-only file system at commit":  {nil, metadata.ErrUnwritable, errs.Unavailable, errs.CodeUnavailable, false},
		"a body that cannot be synced":     {unsynced, nil, errs.Internal, errs.CodeReadOnly, true},
		"the same, since the disk is full": {errors.Join(blobs.ErrNoSpace, unsynced), nil, errs.Internal, errs.CodeReadOnly, true},
		"outcome unknown":                  {nil, errors.Join(metadata.ErrOutcomeUnknown, metadata.ErrNoSpace), errs.Internal, errs.CodeOutcomeUnknown, false},
		"read-only store":                  {nil, metadata.ErrReadOnly, errs.Unavailable, errs.CodeReadOnly, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			meta := &failing{Store: metadatatest.NewMemory(time.Now)}
			store := &failingFiles{Folder: blobstest.NewMemory()}
			h := populated(t, repositorytest.NewStill(meta, store, repository.Config{PageSize: 100, DirectoryPageSize: 100}), 1)
			upload := func() error {
				up, set := h.Service.Uploads.NewUpload(h.Admin), h.Sets[0].ID.String()
				defer func() { h.OK(up.Discard()) }()
				if err := up.Receive(t.Context(), strings.NewReader("body")); err != nil {
					return err
				}
				_, err := up.Create(t.Context(), files.UploadFields{SetID: &set, Filename: "file"})
				return err
			}
			store.stage, meta.commit = c.stage, c.commit
			err := upload()
			var known *errs.Error
			if !errors.As(err, &known) || known.Kind != c.kind || known.Code != c.code {
				t.Errorf("got %v", err)
			}
			if got := len(h.Listed()); got != 1 {
				t.Errorf("%d resources after that, want only the earlier one", got)
			}
			// If the outcome is unknown, nothing is undone.
			_, err = store.Stat(t.Context(), blobs.Blob{Digest: sha256.Sum256([]byte("body"))})
			if left := err == nil; left != (c.code == errs.CodeOutcomeUnknown) {
				t.Errorf("the file remains: %t", left)
			}
			store.stage, meta.commit = nil, nil
			condition := h.Service.Monitor.Condition(t.Context())
			if sticky := condition.Status == maintenance.StatusReadOnly && condition.Detail.ReadOnly != ""; sticky != c.sticky {
				t.Errorf("afterwards: %+v", condition)
			}
			err = upload()
			if c.sticky {
				h.Refused(err, errs.CodeReadOnly)
			} else if err != nil {
				t.Errorf("after the cause has ended: %v", err)
			}
			if _, file, err := h.Service.Files.OpenResource(t.Context(), h.Admin, h.Resources[0].ID.String()); err != nil || file.Close() != nil {
				t.Errorf("reading: %v", err)
			}
		})
	}
}

// TestConditionWithoutReads tests the condition if the store cannot be read.
func TestConditionWithoutReads(t *testing.T) {
	t.Parallel()
	meta := &failing{Store: metadatatest.NewMemory(time.Now)}
	svc := repositorytest.NewStill(meta, blobstest.NewMemory(), repository.Config{})
	if got := svc.Monitor.Condition(t.Context()); got.Status != maintenance.StatusOK || got.Detail.Failing != "" || got.Detail.Damaged != 0 {
		t.Errorf("at first: %+v", got)
	}
	meta.view = metadata.ErrRecordDamaged
	if got := svc.Monitor.Condition(t.Context()); got.Status != maintenance.StatusFailing || got.Detail.Failing == "" {
		t.Errorf("then: %+v", got)
	}
}

// TestFailingCascadeReported: failing cascades are reported, also if they began before a restart
// and no request waits for them.
func TestFailingCascadeReported(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		meta := &stuck{Store: metadatatest.NewMemory(time.Now)}
		store := blobstest.NewMemory()
		h := populated(t, repositorytest.NewStill(meta, store, repository.Config{PageSize: 100, DirectoryPageSize: 100}), 250)
		_, err := h.Service.Sets.Delete(t.Context(), h.Admin, h.Sets[0].ID.String(), repositorytest.Always)
		h.Begun(err)
		meta.container = h.Sets[0].ID
		meta.broken.Store(true)
		var mu sync.Mutex
		var notes []error
		svc := repository.New(meta, store, repository.Config{Note: func(task string, err error) {
			mu.Lock()
			defer mu.Unlock()
			notes = append(notes, err)
		}})
		defer svc.Close()
		time.Sleep(time.Minute)
		synctest.Wait()
		if background := svc.Monitor.Condition(t.Context()).Detail.Background; len(background) != 1 || len(notes) != 1 || !errors.Is(notes[0], errStuck) {
			t.Errorf("after a minute: %v, noted %v", background, notes)
		}
		meta.broken.Store(false)
		time.Sleep(time.Minute)
		synctest.Wait()
		if background := svc.Monitor.Condition(t.Context()).Detail.Background; len(background) != 0 || len(notes) != 2 || notes[1] != nil {
			t.Errorf("when it continues: %v, noted %v", background, notes)
		}
	})
}

// TestConditionWithoutSpace: without free space, the service is read-only and reports the free
// space.
func TestConditionWithoutSpace(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		room blobs.FreeSpace
		err  error
		want maintenance.Status
		why  string
	}{
		{"room", blobs.FreeSpace{Bytes: 1 << 30, Files: 10}, nil, maintenance.StatusOK, ""},
		{"inodes without a limit", blobs.FreeSpace{Bytes: 1 << 30, Files: -1}, nil, maintenance.StatusOK, ""},
		{"nothing left", blobs.FreeSpace{Bytes: 4096, Files: 10}, nil, maintenance.StatusReadOnly, "only 4096 bytes are left for files"},
		{"no inodes left", blobs.FreeSpace{Bytes: 1 << 30}, nil, maintenance.StatusReadOnly, "no inodes are left"},
		{"unknown", blobs.FreeSpace{}, errors.New("on purpose"), maintenance.StatusOK, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			room, err := tc.room, tc.err
			svc := repositorytest.NewStill(metadatatest.NewMemory(time.Now), blobstest.NewMemory(), repository.Config{
				Room: func() (blobs.FreeSpace, error) { return room, err },
			})
			got := svc.Monitor.Condition(t.Context())
			if got.Status != tc.want || !strings.HasPrefix(got.Detail.ReadOnly, tc.why) || (got.Detail.Room == nil) != (err != nil) || err == nil && *got.Detail.Room != room {
				t.Errorf("%s, %+v", got.Status, got.Detail)
			}
			room, err = blobs.FreeSpace{Bytes: leastRoom, Files: 1}, nil
			if got := svc.Monitor.Condition(t.Context()); got.Status != maintenance.StatusOK || got.Detail.ReadOnly != "" {
				t.Errorf("with free space: %s, %q", got.Status, got.Detail.ReadOnly)
			}
		})
	}
}

const leastRoom = 1 << 20
