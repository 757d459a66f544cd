package blobs_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"labshelf/blobs"
	"labshelf/blobs/blobstest"
)

// gateFS holds every move to trash/ up until somebody receives from gate.
type gateFS struct {
	blobs.FS
	gate    chan struct{}
	arrived *atomic.Int32
}

func (g gateFS) Rename(from, to string) error {
	if strings.Contains(to, "trash") {
		g.arrived.Add(1)
		g.gate <- struct{}{}
	}
	return g.FS.Rename(from, to)
}

// TestRemoveUnderWay has others come for a digest while its file is about to be moved away.
func TestRemoveUnderWay(t *testing.T) {
	t.Parallel()
	content := []byte("abc")
	tests := []struct {
		name string
		then func(*blobs.Dir) error
	}{
		{"Pin", func(dir *blobs.Dir) error {
			release := dir.Pin(digestOf(content))
			defer release()
			if err := get(dir, content); !errors.Is(err, blobs.ErrNotFound) {
				return errors.Join(errors.New("Pin returned before the blob was gone"), err)
			}
			return nil
		}},
		{"Remove", func(dir *blobs.Dir) error {
			if err := dir.Remove(digestOf(content), nil); !errors.Is(err, blobs.ErrNotFound) {
				return errors.Join(errors.New("a second Remove did not find the blob gone"), err)
			}
			return nil
		}},
	}
	data := blobstest.DataDir(t)
	for _, test := range tests {
		synctest.Test(t, func(t *testing.T) {
			gate := make(chan struct{})
			var arrived atomic.Int32
			dir := openDir(t, data, gateFS{blobs.OS{}, gate, &arrived})
			if err := put(dir, content); err != nil {
				t.Fatal(err)
			}
			removed, done := make(chan error, 1), make(chan error, 2)
			go func() { removed <- dir.Remove(digestOf(content), nil) }()
			synctest.Wait() // Remove stands at the gate
			for range 2 {
				go func() { done <- test.then(dir) }()
			}
			synctest.Wait()
			if len(done) > 0 {
				t.Errorf("%s did not wait for the Remove under way: %v", test.name, <-done)
			}
			if n := arrived.Load(); n != 1 {
				t.Errorf("%d moves of the one blob at once", n)
			}
			dir.Pin(digestOf([]byte("other")))() // must not wait
			<-gate
			if err := <-removed; err != nil {
				t.Error("Remove:", err)
			}
			go func() { // the gate is open from now on
				for range gate {
				}
			}()
			for range 2 {
				if err := <-done; err != nil {
					t.Errorf("%s: %v", test.name, err)
				}
			}
			close(gate)
		})
	}
}
