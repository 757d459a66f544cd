package directory_test

import (
	"bytes"
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

// TestAppendPartialFaults makes each call of appending a chunk fail. The checkpoint stays the same,
// and the chunk can be sent again, unless a failed sync forbids it.
func TestAppendPartialFaults(t *testing.T) {
	t.Parallel()
	content := blobstest.Content(600 << 10)
	for _, cause := range slices.Concat(noSpaceErrors(), unopenedErrors(), readOnlyErrors(), []error{syscall.EIO}) {
		for n := range 7 { // create, three writes, sync, close, sync of the folder
			dir, faulty, _ := openFaulty(t)
			faulty.Arm(blobstest.Fault{N: n + 1, Err: &fs.PathError{Op: "x", Path: "y", Err: cause}})
			at, err := dir.AppendPartial(t.Context(), blobs.Partial{Name: "A"}, bytes.NewReader(content), 1<<30)
			calls := faulty.Calls()
			faulty.Arm()
			if at != (blobs.Checkpoint{}) || !errors.Is(err, cause) {
				t.Errorf("call %d fails with %v: at %d, %v", n+1, cause, at.Size, err)
			}
			syncs := func(c blobstest.Call) bool {
				return c.Err != nil && (c.Op == blobstest.Sync || c.Op == blobstest.SyncDir)
			}
			if errors.Is(err, blobs.ErrUnsynced) {
				if !slices.ContainsFunc(calls, syncs) {
					t.Errorf("call %d fails with %v: ErrUnsynced, but without a sync", n+1, cause)
				}
				continue
			}
			if at, err = dir.AppendPartial(t.Context(), blobs.Partial{Name: "A", At: at}, bytes.NewReader(content), 1<<30); !errors.Is(err, io.EOF) || at.Size != int64(len(content)) {
				t.Errorf("after call %d has failed with %v: at %d, %v", n+1, cause, at.Size, err)
			}
		}
	}
}

// TestPartialFileStaysAfterCommit tests that a partial file keeps its name until it is removed, so
// that a commit cannot lose it at any time. Later changes of the partial file do not change the
// blob. If the file system does not support hard links, the file is moved.
func TestPartialFileStaysAfterCommit(t *testing.T) {
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
			at, err := dir.AppendPartial(t.Context(), blobs.Partial{Name: "A"}, bytes.NewReader(content), 1<<30)
			if !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			faulty.Arm(blobstest.Fault{Op: blobstest.Link, N: 1, Sticky: true, Err: tc.link})
			for range 2 { // a client without a response repeats the request
				complete, err := dir.StagePartial(t.Context(), blobs.Partial{Name: "A", At: at})
				if err == nil {
					err = commit(complete)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if kept := dir.CheckPartial(t.Context(), blobs.Partial{Name: "A", At: at}) == nil; kept != tc.kept {
				t.Errorf("the partial file has its name: %t", kept)
			}
			if left, err := os.ReadDir(filepath.Join(data, "tmp")); err != nil || len(left) > 0 {
				t.Errorf("%d temporary files remain, %v", len(left), err)
			}
			if err := dir.TruncatePartial(t.Context(), blobs.Partial{Name: "A"}); err != nil {
				t.Error(err)
			}
			if _, err := dir.AppendPartial(t.Context(), blobs.Partial{Name: "A"}, strings.NewReader("anew"), 1<<30); !errors.Is(err, io.EOF) {
				t.Error(err)
			}
			if err := blobs.Verify(t.Context(), dir, blobOf(content)); err != nil {
				t.Errorf("the committed blob: %v", err)
			}
		})
	}
}

// TestRestartedPartialFileLeavesBlob tests that if a partial file restarts from 0 while it is the
// same file as the blob, the blob is not overwritten.
func TestRestartedPartialFileLeavesBlob(t *testing.T) {
	t.Parallel()
	dir, _, _ := openFaulty(t)
	content := blobstest.Content(5000)
	at, err := dir.AppendPartial(t.Context(), blobs.Partial{Name: "A"}, bytes.NewReader(content), 1<<30)
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	complete, err := dir.StagePartial(t.Context(), blobs.Partial{Name: "A", At: at})
	if err == nil {
		err = commit(complete)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dir.AppendPartial(t.Context(), blobs.Partial{Name: "A"}, strings.NewReader("anew"), 1<<30); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	if err := blobs.Verify(t.Context(), dir, blobOf(content)); err != nil {
		t.Errorf("the committed blob: %v", err)
	}
}
