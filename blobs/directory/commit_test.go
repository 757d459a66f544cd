package directory_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"labshelf/blobs"
	"labshelf/blobs/blobstest"
)

// TestCommitAllFaults makes each call of a commit of three bodies fail, one after the other. Then
// nothing is acknowledged, and no file remains in tmp. Unless a sync has failed, the bodies can be
// committed again.
func TestCommitAllFaults(t *testing.T) {
	t.Parallel()
	bodies := [][]byte{[]byte("a"), []byte("b"), []byte("c")}
	const calls = 3*5 + 3 // create, write, sync, close, rename; and three folders
	unopened := unopenedErrors()[0]
	for _, cause := range []error{noSpaceErrors()[0], unopened, syscall.EIO} {
		t.Run(cause.Error(), func(t *testing.T) {
			t.Parallel()
			dir, faulty, data := openFaulty(t)
			for n := range calls {
				faulty.Arm(blobstest.Fault{Op: blobstest.Any, N: n + 1, Err: &fs.PathError{Op: "x", Path: "y", Err: cause}})
				err := commitAll(dir, slices.Values(bodies))
				faulty.Arm()
				if !errors.Is(err, cause) {
					t.Errorf("call %d fails: got %v", n+1, err)
				}
				if cause == syscall.EIO && (n%5 == 2 && n < 15 || n >= 15) != errors.Is(err, blobs.ErrUnsynced) {
					t.Errorf("call %d fails: ErrUnsynced in %v is wrong", n+1, err)
				}
				if left := names(t, data+"/tmp"); len(left) > 0 {
					t.Errorf("call %d fails: files in tmp: %v", n+1, left)
				}
			}
			if err := commitAll(dir, slices.Values(bodies)); errors.Is(err, blobs.ErrUnsynced) != (cause != unopened) {
				t.Errorf("at last: %v", err)
			}
			for _, body := range bodies {
				if err := get(dir, body); err != nil {
					t.Error(err)
				}
			}
			checkSound(t, data)
		})
	}
}

// TestCommitAgain makes Commit fail, and calls it again.
func TestCommitAgain(t *testing.T) {
	t.Parallel()
	tests := []struct {
		op    blobstest.Op
		err   error
		again bool // whether the second call may succeed
	}{
		{blobstest.Rename, syscall.EIO, true},
		{blobstest.SyncDir, syscall.EIO, false},
		{blobstest.SyncDir, readOnlyErrors()[0], false},
		{blobstest.SyncDir, unopenedErrors()[0], true}, // the directory was not even opened
	}
	for _, test := range tests {
		dir, faulty, data := openFaulty(t)
		staged, err := dir.Stage(t.Context(), bytes.NewReader([]byte("abc")), 0)
		if err != nil {
			t.Fatal(err)
		}
		faulty.Arm(blobstest.Fault{Op: test.op, N: 1, Err: test.err})
		first := commit(staged)
		if !errors.Is(first, test.err) {
			t.Errorf("%s: Commit: %v", test.op, first)
		}
		faulty.Arm()
		second := commit(staged)
		if test.again && second != nil || !test.again && second != first {
			t.Errorf("%s: Commit again: %v", test.op, second)
		}
		if calls := faulty.Calls(); test.again != has(calls, blobstest.SyncDir, nil) || !test.again && len(calls) > 0 {
			t.Errorf("%s: the second Commit made the calls %v", test.op, calls)
		}
		if err := staged.Discard(); err != nil {
			t.Error(err)
		}
		if err := get(dir, []byte("abc")); err != nil {
			t.Errorf("%s: %v", test.op, err)
		}
		checkSound(t, data)
	}
}

// TestNamesAreSyncedOnce tests that if the sync of a folder has failed for one blob, no other blob
// that was renamed into the folder in the meantime is acknowledged, because the next sync may
// succeed without its name.
func TestNamesAreSyncedOnce(t *testing.T) {
	t.Parallel()
	dir, faulty, _ := openFaulty(t)
	bodies := map[byte]string{}
	for n := 0; ; n++ { // until two digests begin with the same byte
		body := strconv.Itoa(n)
		first := sha256.Sum256([]byte(body))[0]
		other, found := bodies[first]
		if bodies[first] = body; !found {
			continue
		}
		staged, err := dir.Stage(t.Context(), strings.NewReader(body), 0)
		if err != nil {
			t.Fatal(err)
		}
		faulty.Arm(blobstest.Fault{Op: blobstest.SyncDir, N: 1, Err: &fs.PathError{Op: "sync", Path: "x", Err: syscall.EIO}})
		if err := commitAll(dir, slices.Values([][]byte{[]byte(other)})); !errors.Is(err, blobs.ErrUnsynced) {
			t.Fatalf("the first: %v", err)
		}
		faulty.Arm()
		if err := commit(staged); !errors.Is(err, blobs.ErrUnsynced) || !errors.Is(err, syscall.EIO) {
			t.Errorf("the second blob, in the same folder: %v", err)
		}
		return
	}
}
