package blobs_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"labshelf/blobs"
	"labshelf/blobs/blobstest"
)

// TestPartFaults fails each call of adding a part: the mark stays where it was, and unless nothing may be synced any more the part
// can be sent again.
func TestPartFaults(t *testing.T) {
	t.Parallel()
	content := blobstest.Content(600 << 10)
	for _, cause := range slices.Concat(noSpaceErrors(), unopenedErrors(), readOnlyErrors(), []error{syscall.EIO}) {
		for n := range 7 { // create, three writes, sync, close, sync of the folder
			dir, faulty, _ := openFaulty(t)
			faulty.Arm(blobstest.Fault{N: n + 1, Err: &fs.PathError{Op: "x", Path: "y", Err: cause}})
			mark, err := dir.AddPart(t.Context(), "A", blobs.Mark{}, bytes.NewReader(content), 1<<30)
			calls := faulty.Calls()
			faulty.Arm()
			if mark != (blobs.Mark{}) || !errors.Is(err, cause) {
				t.Errorf("call %d fails with %v: at %d, %v", n+1, cause, mark.Size, err)
			}
			syncs := func(c blobstest.Call) bool {
				return c.Err != nil && (c.Op == blobstest.Sync || c.Op == blobstest.SyncDir)
			}
			if errors.Is(err, blobs.ErrUnsynced) {
				if !slices.ContainsFunc(calls, syncs) {
					t.Errorf("call %d fails with %v: ErrUnsynced without a sync", n+1, cause)
				}
				continue
			}
			if mark, err = dir.AddPart(t.Context(), "A", mark, bytes.NewReader(content), 1<<30); !errors.Is(err, io.EOF) || mark.Size != int64(len(content)) {
				t.Errorf("after call %d has failed with %v: at %d, %v", n+1, cause, mark.Size, err)
			}
		}
	}
}

// TestPartOrder: what is acknowledged is on stable storage: the bytes, and at the beginning the name.
func TestPartOrder(t *testing.T) {
	t.Parallel()
	dir, faulty, data := openFaulty(t)
	path := filepath.Join(data, "parts", "A")
	faulty.Arm()
	mark, err := dir.AddPart(t.Context(), "A", blobs.Mark{}, bytes.NewReader([]byte("first")), 1<<30)
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	wantOps(t, faulty, blobstest.Create, blobstest.Write, blobstest.Sync, blobstest.Close, blobstest.SyncDir)
	faulty.Arm()
	if mark, err = dir.AddPart(t.Context(), "A", mark, bytes.NewReader([]byte("second")), 1<<30); !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	wantOps(t, faulty, blobstest.Reopen, blobstest.Write, blobstest.Sync, blobstest.Close)
	for _, call := range faulty.Calls() {
		if call.Path != path {
			t.Errorf("%s of %s", call.Op, call.Path)
		}
	}
	faulty.Arm()
	if _, err := dir.AddPart(t.Context(), "A", mark, bytes.NewReader(nil), 1<<30); !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	wantOps(t, faulty, blobstest.Reopen, blobstest.Close)
}

func wantOps(t *testing.T, faulty *blobstest.FaultFS, want ...blobstest.Op) {
	t.Helper()
	var got []blobstest.Op
	for _, call := range faulty.Calls() {
		got = append(got, call.Op)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the calls are %v, want %v", got, want)
	}
}
