package directory_test

import (
	"errors"
	"io"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"labshelf/blobs/blobstest"
	"labshelf/blobs/directory"
)

// counted is a file system whose files store nothing and report each write, which may fail.
type counted struct {
	nowhere
	written chan struct{}
	failure error // of every write except the first
}

func (c *counted) Create(string) (directory.File, error) { return &countedFile{of: c}, nil }

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
	default: // the test does not count this write
	}
	return len(b), nil
}

// slow is a client that sends a chunk after the second to last chunk has been written.
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

// TestStageMemorySlow does not run in parallel, because it counts the allocations of the process.
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
		t.Errorf("a client slower than the disk uses %d bytes", got)
	}
}

// TestStageEndsAtError stages a body that never ends, on a disk that fails in the meantime.
func TestStageEndsAtError(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is dead")
	dir := openDir(t, blobstest.DataDir(t), &counted{failure: broken})
	if _, err := dir.Stage(t.Context(), zeros{}, 0); !errors.Is(err, broken) {
		t.Error(err)
	}
}

// stuck is a file system whose files accept nothing until the test allows it.
type stuck struct {
	nowhere
	free chan struct{}
}

func (s *stuck) Create(string) (directory.File, error) { return stuckFile{of: s}, nil }

type stuckFile struct {
	swallow
	of *stuck
}

func (f stuckFile) Write(b []byte) (int, error) {
	<-f.of.free
	return len(b), nil
}

// TestStageMemoryTogether runs many fast clients on a stuck disk. The chunks that wait for the disk
// are counted as they are read. Afterwards, one client uses its maximum, twice.
func TestStageMemoryTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk := &stuck{free: make(chan struct{})}
		dir := openDir(t, blobstest.DataDir(t), disk)
		const clients, least, most, shared = 40, 3, 16, 128
		for range 2 {
			var read atomic.Int64
			stage := func() {
				if _, err := dir.Stage(t.Context(), io.LimitReader(counting{&read}, (most+1)<<18), 0); err != nil {
					t.Error(err)
				}
			}
			waiting := func(want int64) {
				t.Helper()
				synctest.Wait()
				if got := read.Load() >> 18; got != want {
					t.Errorf("%d chunks are waiting for the disk, want %d", got, want)
				}
			}
			for range clients {
				go stage()
			}
			waiting(clients*least + shared)
			close(disk.free)
			synctest.Wait()
			disk.free = make(chan struct{})
			read.Store(0)
			go stage()
			waiting(most)
			close(disk.free)
			synctest.Wait()
			disk.free = make(chan struct{})
		}
	})
}

// counting is like zeros, and counts the bytes read.
type counting struct{ read *atomic.Int64 }

func (c counting) Read(b []byte) (int, error) {
	clear(b)
	c.read.Add(int64(len(b)))
	return len(b), nil
}
