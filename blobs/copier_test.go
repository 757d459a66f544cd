package blobs_test

import (
	"errors"
	"io"
	"runtime"
	"testing"
	"time"

	"labshelf/blobs"
	"labshelf/blobs/blobstest"
)

// counted is a file system whose files keep nothing and tell of each write, which may fail.
type counted struct {
	nowhere
	written chan struct{}
	failure error // of every write but the first
}

func (c *counted) Create(string) (blobs.File, error) { return &countedFile{of: c}, nil }

type countedFile struct {
	swallow
	of     *counted
	writes int
}

func (f *countedFile) Write(b []byte) (int, error) {
	if f.writes++; f.writes > 1 && f.of.failure != nil {
		return 0, f.of.failure
	}
	select {
	case f.of.written <- struct{}{}:
	default: // nobody counts
	}
	return len(b), nil
}

// slow is a client of whom a chunk comes when the one before the last has been written.
type slow struct {
	written <-chan struct{}
	reads   int
}

func (r *slow) Read(b []byte) (int, error) {
	if r.reads++; r.reads > 40 {
		return 0, io.EOF
	}
	if r.reads > 2 {
		<-r.written
	}
	clear(b)
	return len(b), nil
}

// TestStageMemorySlow is not parallel: it counts what the process allocates.
func TestStageMemorySlow(t *testing.T) {
	disk := &counted{written: make(chan struct{}, 100)}
	dir := openDir(t, blobstest.DataDir(t), disk)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := dir.Stage(t.Context(), &slow{written: disk.written}, 0)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 1500<<10 {
		t.Errorf("a client slower than the disk has %d bytes", got)
	}
}

// TestStageEndsAtError has a client who never ends, and a disk that fails meanwhile.
func TestStageEndsAtError(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is dead")
	dir := openDir(t, blobstest.DataDir(t), &counted{failure: broken})
	ended := make(chan error, 1)
	go func() {
		_, err := dir.Stage(t.Context(), zeros{}, 0)
		ended <- err
	}()
	select {
	case err := <-ended:
		if !errors.Is(err, broken) {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it goes on after an error")
	}
}
