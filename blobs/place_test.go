package blobs_test

import (
	"errors"
	"io/fs"
	"slices"
	"syscall"
	"testing"

	"labshelf/blobs"
	"labshelf/blobs/blobstest"
)

// TestPlaceAllFaults fails each call of placing three bodies, one after the other: then nothing is promised, nothing is left in
// tmp, and unless a sync has failed they can be placed again.
func TestPlaceAllFaults(t *testing.T) {
	t.Parallel()
	bodies := [][]byte{[]byte("a"), []byte("b"), []byte("c")}
	const calls = 3*5 + 3 // create, write, sync, close, rename; and three folders
	for _, cause := range []error{syscall.ENOSPC, syscall.EMFILE, syscall.EIO} {
		t.Run(cause.Error(), func(t *testing.T) {
			t.Parallel()
			dir, faulty, data := openFaulty(t)
			for n := range calls {
				faulty.Arm(blobstest.Fault{Op: blobstest.Any, N: n + 1, Err: &fs.PathError{Op: "x", Path: "y", Err: cause}})
				err := dir.PlaceAll(slices.Values(bodies))
				faulty.Arm()
				if !errors.Is(err, cause) {
					t.Errorf("call %d fails: got %v", n+1, err)
				}
				if cause == syscall.EIO && (n%5 == 2 && n < 15 || n >= 15) != errors.Is(err, blobs.ErrUnsynced) {
					t.Errorf("call %d fails: ErrUnsynced in %v is wrong", n+1, err)
				}
				if left := names(t, data+"/tmp"); len(left) > 0 {
					t.Errorf("call %d fails: left in tmp: %v", n+1, left)
				}
			}
			if err := dir.PlaceAll(slices.Values(bodies)); err != nil {
				t.Error(err)
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
