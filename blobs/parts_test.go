package blobs_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// TestPartIsPlaced: a part has its name for as long as its owner wants, so that no moment of its placing can lose it, and what is done to
// it later is not done to the blob. Where a file cannot have two names, it is moved.
func TestPartIsPlaced(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		link error
		kept bool
	}{
		"with links":    {nil, true},
		"without links": {syscall.EPERM, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, faulty, data := openFaulty(t)
			content := blobstest.Content(5000)
			mark, err := dir.AddPart(t.Context(), "A", blobs.Mark{}, bytes.NewReader(content), 1<<30)
			if !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			faulty.Arm(blobstest.Fault{Op: blobstest.Link, N: 1, Sticky: true, Err: tc.link})
			for range 2 { // whoever had no answer does it again
				whole, err := dir.WholePart("A", mark)
				if err == nil {
					err = whole.Place()
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if kept := dir.HavePart("A", mark) == nil; kept != tc.kept {
				t.Errorf("the part has its name: %t", kept)
			}
			if left, err := os.ReadDir(filepath.Join(data, "tmp")); err != nil || len(left) > 0 {
				t.Errorf("%d temporary files are left, %v", len(left), err)
			}
			if err := dir.CutPart("A", blobs.Mark{}); err != nil {
				t.Error(err)
			}
			if _, err := dir.AddPart(t.Context(), "A", blobs.Mark{}, strings.NewReader("anew"), 1<<30); !errors.Is(err, io.EOF) {
				t.Error(err)
			}
			if err := blobs.Verify(t.Context(), dir, sha256.Sum256(content), int64(len(content))); err != nil {
				t.Errorf("what was placed: %v", err)
			}
		})
	}
}

// TestPartBegunAnew: what is placed is not written over when its part begins anew, while both are one file.
func TestPartBegunAnew(t *testing.T) {
	t.Parallel()
	dir, _, _ := openFaulty(t)
	content := blobstest.Content(5000)
	mark, err := dir.AddPart(t.Context(), "A", blobs.Mark{}, bytes.NewReader(content), 1<<30)
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	whole, err := dir.WholePart("A", mark)
	if err == nil {
		err = whole.Place()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dir.AddPart(t.Context(), "A", blobs.Mark{}, strings.NewReader("anew"), 1<<30); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	if err := blobs.Verify(t.Context(), dir, sha256.Sum256(content), int64(len(content))); err != nil {
		t.Errorf("what was placed: %v", err)
	}
}
