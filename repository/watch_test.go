package repository_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"labshelf/metadata"
	"labshelf/repository"
)

// TestWatchPurge: a purge tells what it removed, also where it ends early, and a dry run tells nothing.
func TestWatchPurge(t *testing.T) {
	t.Parallel()
	var told []repository.PurgeResult
	var failed error
	watch := repository.Watch{Purged: func(removed repository.PurgeResult, took time.Duration, err error) {
		if took < 0 || took == 0 && runtime.GOOS != "windows" { // whose clock is coarse
			t.Errorf("it took %s", took)
		}
		told, failed = append(told, removed), err
	}}
	k := newKept(t, repository.Config{Watch: watch}, 3)
	k.remove(k.held.files[0])
	purge := func(ctx context.Context, dry bool) (repository.PurgeResult, error) {
		return k.upkeep.Purge(ctx, repository.PurgeOptions{DryRun: dry, Now: later})
	}
	_, err := purge(t.Context(), true)
	k.ok(err)
	if len(told) > 0 {
		t.Errorf("a dry run is told as %+v", told)
	}
	done, err := purge(t.Context(), false)
	k.ok(err)
	if len(told) != 1 || told[0] != done || done.Resources != 1 || failed != nil {
		t.Errorf("%+v was removed, and %+v, %v told", done, told, failed)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := purge(ended, false); err == nil || len(told) != 2 || !errors.Is(failed, context.Canceled) {
		t.Errorf("a purge that ended with %v is told as %+v, %v", err, told, failed)
	}
}

// TestWatchScrub: each file that is read in the background is told, with its size and whether it is whole.
func TestWatchScrub(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newKept(t, repository.Config{}, 5)
		k.flip(k.held.files[3].Digest)
		var mu sync.Mutex
		var bytes, blobs, damaged int64
		watch := repository.Watch{Scrubbed: func(size int64, wrong bool) {
			mu.Lock()
			defer mu.Unlock()
			bytes, blobs = bytes+size, blobs+1
			if wrong {
				damaged++
			}
		}}
		got := scrubbed(k, k.files, repository.Config{Watch: watch}, period-time.Second).Scrub
		if blobs != 5 || bytes != 40 || damaged != 1 || got.Checked != blobs || got.Found != damaged {
			t.Errorf("told %d blobs of %d bytes, %d damaged; the scrub knows %+v", blobs, bytes, damaged, got)
		}
	})
}

// TestWatchMove: each batch of held bodies that becomes files is told, and so is one that cannot.
func TestWatchMove(t *testing.T) {
	t.Parallel()
	var told []metadata.BodyCount
	var failed error
	k, files := newWatchedHolding(t, repository.Watch{Moved: func(moved metadata.BodyCount, took time.Duration, err error) {
		if took < 0 || took == 0 && runtime.GOOS != "windows" { // whose clock is coarse
			t.Errorf("it took %s", took)
		}
		told, failed = append(told, moved), err
	}}, "a", "bb")
	files.before = func() error { return errStuck }
	if err := k.svc.MoveHeld(t.Context()); err == nil || len(told) != 1 || !errors.Is(failed, errStuck) {
		t.Errorf("a batch that failed with %v is told as %+v, %v", err, told, failed)
	}
	files.before = nil
	k.move()
	if want := (metadata.BodyCount{Bodies: 2, Bytes: 3}); len(told) != 2 || told[1] != want || failed != nil {
		t.Errorf("told %+v, %v, want %+v", told, failed, want)
	}
	k.wantBodies("after", 0, 0)
}
