package directory_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"labshelf/blobs"
	"labshelf/blobs/blobstest"
	"labshelf/blobs/directory"
)

// blockingFS blocks every move to trash/ until a value is received from unblock.
type blockingFS struct {
	directory.FS
	unblock chan struct{}
	arrived *atomic.Int32
}

func (g blockingFS) Rename(from, to string) error {
	if strings.Contains(to, "trash") {
		g.arrived.Add(1)
		g.unblock <- struct{}{}
	}
	return g.FS.Rename(from, to)
}

// TestPinDuringRemove pins and removes a digest just before its file is moved to the trash.
func TestPinDuringRemove(t *testing.T) {
	t.Parallel()
	content := []byte("abc")
	tests := []struct {
		name string
		then func(*directory.Store) error
	}{
		{"Pin", func(dir *directory.Store) error {
			release := dir.Pin(digestOf(content))
			defer release()
			if err := get(dir, content); !errors.Is(err, blobs.ErrNotFound) {
				return errors.Join(errors.New("Pin returned before the blob was gone"), err)
			}
			return nil
		}},
		{"Remove", func(dir *directory.Store) error {
			if err := dir.Remove(digestOf(content), nil); !errors.Is(err, blobs.ErrNotFound) {
				return errors.Join(errors.New("a second Remove did not find the blob gone"), err)
			}
			return nil
		}},
	}
	data := blobstest.DataDir(t)
	for _, test := range tests {
		synctest.Test(t, func(t *testing.T) {
			unblock := make(chan struct{})
			var arrived atomic.Int32
			dir := openDir(t, data, blockingFS{directory.OS{}, unblock, &arrived})
			if err := put(dir, content); err != nil {
				t.Fatal(err)
			}
			removed, done := make(chan error, 1), make(chan error, 2)
			go func() { removed <- dir.Remove(digestOf(content), nil) }()
			synctest.Wait() // Remove is blocked
			for range 2 {
				go func() { done <- test.then(dir) }()
			}
			synctest.Wait()
			if len(done) > 0 {
				t.Errorf("%s did not wait for the running Remove: %v", test.name, <-done)
			}
			if n := arrived.Load(); n != 1 {
				t.Errorf("%d concurrent moves of the blob", n)
			}
			dir.Pin(digestOf([]byte("other")))() // this Pin must not wait
			<-unblock
			if err := <-removed; err != nil {
				t.Error("Remove:", err)
			}
			go func() { // nothing is blocked from now on
				for range unblock {
				}
			}()
			for range 2 {
				if err := <-done; err != nil {
					t.Errorf("%s: %v", test.name, err)
				}
			}
			close(unblock)
		})
	}
}

// stepFS stops before one call of a removal, and signals that it has stopped.
type stepFS struct {
	directory.FS
	at          string
	there, goOn chan struct{}
}

func (s stepFS) stop(step string) {
	if step == s.at {
		s.there <- struct{}{}
		<-s.goOn
	}
}

func (s stepFS) Touch(path string, at time.Time) error {
	s.stop("touch")
	return s.FS.Touch(path, at)
}

func (s stepFS) Rename(from, to string) error {
	if filepath.Base(filepath.Dir(to)) == "trash" {
		s.stop("rename")
	}
	return s.FS.Rename(from, to)
}

func (s stepFS) SyncDir(path string) error {
	s.stop("sync " + filepath.Base(path))
	return s.FS.SyncDir(path)
}

// TestPinAtEachStep pins a digest at each step of its removal. The pin is taken before the removal
// has begun or after it has ended, and the state does not change while the pin is held.
func TestPinAtEachStep(t *testing.T) {
	t.Parallel()
	content := []byte("abc")
	digest := digestOf(content)
	refused := errors.New("still referred to")
	steps := []struct {
		at      string
		confirm error
		want    error // expected result of Remove
		stays   bool
	}{
		{"before", nil, blobs.ErrPinned, true},
		{"confirm", nil, nil, false},
		{"confirm", refused, refused, true},
		{"touch", nil, nil, false},
		{"rename", nil, nil, false},
		{"sync trash", nil, nil, false},
		{"sync " + digest.String()[:2], nil, nil, false},
		{"after", nil, nil, false},
	}
	data := blobstest.DataDir(t)
	for _, step := range steps {
		synctest.Test(t, func(t *testing.T) {
			name := fmt.Sprintf("%s, confirm %v", step.at, step.confirm)
			disk := stepFS{directory.OS{}, "", make(chan struct{}), make(chan struct{})}
			if err := put(openDir(t, data, directory.OS{}), content); err != nil {
				t.Fatal(err)
			}
			disk.at = step.at
			dir := openDir(t, data, disk)
			confirmed := false
			confirm := func() error { confirmed = true; disk.stop("confirm"); return step.confirm }
			removed := make(chan error, 1)
			remove := func() { removed <- dir.Remove(digest, confirm) }
			pinned := make(chan func(), 1)
			pin := func() { pinned <- dir.Pin(digest) }
			switch step.at {
			case "before":
				pin()
				remove()
			case "after":
				remove()
				pin()
			default:
				go remove()
				<-disk.there
				go pin()
				synctest.Wait()
				if len(pinned) > 0 {
					t.Errorf("%s: Pin did not wait", name)
				}
				close(disk.goOn)
			}
			release := <-pinned
			err := get(dir, content)
			if step.stays && err != nil || !step.stays && !errors.Is(err, blobs.ErrNotFound) {
				t.Errorf("%s: with the pin, reading returns %v", name, err)
			}
			if err := <-removed; err != step.want || confirmed == (step.at == "before") {
				t.Errorf("%s: Remove: got %v, want %v; confirmed: %t", name, err, step.want, confirmed)
			}
			release()
			if err := dir.Remove(digest, nil); step.stays != (err == nil) {
				t.Errorf("%s: Remove after the release: %v", name, err)
			}
		})
	}
}
