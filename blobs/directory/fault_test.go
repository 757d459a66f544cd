package directory_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"labshelf/blobs"
	"labshelf/blobs/blobstest"
	"labshelf/blobs/directory"
)

// TestFaults makes each call of staging and committing fail, one after the other: the Nth of all
// calls, and the Nth of its kind.
func TestFaults(t *testing.T) {
	t.Parallel()
	calls := []struct {
		op    blobstest.Op
		count int // number of calls for a body of three chunks
	}{
		{blobstest.Any, 8},
		{blobstest.Create, 1},
		{blobstest.Write, 3},
		{blobstest.Sync, 1},
		{blobstest.Close, 1},
		{blobstest.Rename, 1},
		{blobstest.SyncDir, 1},
	}
	for _, cause := range slices.Concat(noSpaceErrors(), unopenedErrors(), readOnlyErrors(), []error{syscall.EIO}) {
		t.Run(cause.Error(), func(t *testing.T) {
			t.Parallel()
			dir, faulty, data := openFaulty(t)
			store := &faultyStore{dir, faulty, data}
			for _, call := range calls {
				for n := range call.count + 1 {
					fault := blobstest.Fault{Op: call.op, N: n + 1, Err: &fs.PathError{Op: "x", Path: "y", Err: cause}}
					for _, fault.Sticky = range []bool{false, true} {
						store.try(t, fault, n < call.count)
					}
				}
			}
		})
	}
}

type faultyStore struct {
	dir  *directory.Store
	fs   *blobstest.FaultFS
	data string
}

// try stages and commits a body under a fault, checks the result, and repeats it without the fault.
func (s *faultyStore) try(t *testing.T, fault blobstest.Fault, reached bool) {
	t.Helper()
	content := blobstest.Content(600 << 10)
	name := fmt.Sprintf("%+v", fault)
	s.fs.Arm(fault)
	err := put(s.dir, content)
	calls := s.fs.Calls()
	s.fs.Arm()
	if !reached {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		s.remove(t, content)
		return
	}
	s.checkError(t, name, err, fault.Err, calls)
	s.checkCalls(t, name, calls)
	renamed := has(calls, blobstest.Rename, nil)
	if got := get(s.dir, content); renamed != (got == nil) || !renamed && !errors.Is(got, blobs.ErrNotFound) {
		t.Errorf("%s: renamed %t, and reading returns %v", name, renamed, got)
	}
	left := names(t, filepath.Join(s.data, "tmp"))
	if (len(left) > 0) != has(calls, blobstest.Remove, fault.Err) {
		t.Errorf("%s: files in tmp: %v", name, left)
	}
	for _, file := range left { // as the next start of the service does
		if err := os.Remove(filepath.Join(s.data, "tmp", file)); err != nil {
			t.Error(err)
		}
	}
	if has(calls, blobstest.SyncDir, fault.Err) && errors.Is(err, blobs.ErrUnsynced) {
		s.restart(t, content)
	}
	if err := errors.Join(put(s.dir, content), get(s.dir, content)); err != nil {
		t.Errorf("%s: without the fault: %v", name, err)
	}
	s.remove(t, content)
	checkSound(t, s.data)
}

// restart opens the store again after names could not be synced. Until then, the store acknowledges
// nothing in their folder.
func (s *faultyStore) restart(t *testing.T, content []byte) {
	t.Helper()
	if err := put(s.dir, content); !errors.Is(err, blobs.ErrUnsynced) {
		t.Errorf("after names could not be synced: %v", err)
	}
	s.dir = openDir(t, s.data, s.fs)
}

func (s *faultyStore) remove(t *testing.T, content []byte) {
	t.Helper()
	if err := s.dir.Remove(digestOf(content), nil); err != nil {
		t.Error(err)
	}
}

// has reports whether a call of op returned err itself.
func has(calls []blobstest.Call, op blobstest.Op, err error) bool {
	for _, call := range calls {
		if call.Op == op && call.Err == err {
			return true
		}
	}
	return false
}

// checkError compares err with the cause, and with the sentinels that it must and must not match.
func (s *faultyStore) checkError(t *testing.T, name string, err, cause error, calls []blobstest.Call) {
	t.Helper()
	if !errors.Is(err, cause) {
		t.Errorf("%s: got error %v", name, err)
	}
	fileSync, dirSync := has(calls, blobstest.Sync, cause), has(calls, blobstest.SyncDir, cause)
	var want error
	switch {
	case slices.Contains(noSpaceErrors(), errors.Unwrap(cause)):
		want = blobs.ErrNoSpace
	case slices.Contains(unopenedErrors(), errors.Unwrap(cause)),
		slices.Contains(readOnlyErrors(), errors.Unwrap(cause)) && !fileSync && !dirSync:
		want = blobs.ErrUnavailable
	}
	stuck := has(calls, blobstest.Remove, cause) // err also reports the failed Remove
	for _, sentinel := range []error{blobs.ErrNoSpace, blobs.ErrUnavailable} {
		if errors.Is(err, sentinel) != (sentinel == want) && !(stuck && fileSync) {
			t.Errorf("%s: got %v, which should match %v and no other", name, err, want)
		}
	}
	unsynced := (fileSync && want == nil) || (dirSync && want != blobs.ErrUnavailable)
	if errors.Is(err, blobs.ErrUnsynced) != unsynced {
		t.Errorf("%s: ErrUnsynced in %v: %t, want %t", name, err, !unsynced, unsynced)
	}
}

// checkCalls fails the test if a file got its final name without a successful sync after its last
// write, was written or synced after a failed sync, or was not closed.
func (s *faultyStore) checkCalls(t *testing.T, name string, calls []blobstest.Call) {
	t.Helper()
	synced, failed, open := make(map[string]bool), make(map[string]bool), make(map[string]bool)
	for _, call := range calls {
		switch call.Op {
		case blobstest.Create:
			open[call.Path] = call.Err == nil
		case blobstest.Write, blobstest.Sync:
			if failed[call.Path] {
				t.Errorf("%s: %s after a failed sync", name, call.Op)
			}
			synced[call.Path] = call.Op == blobstest.Sync && call.Err == nil
			failed[call.Path] = call.Op == blobstest.Sync && call.Err != nil
		case blobstest.Close:
			if !open[call.Path] {
				t.Errorf("%s: closed twice", name)
			}
			delete(open, call.Path)
		case blobstest.Rename:
			if call.Err == nil && (!synced[call.Path] || open[call.Path]) {
				t.Errorf("%s: renamed before it was synced and closed", name)
			}
		}
	}
	for path, still := range open {
		if still {
			t.Errorf("%s: %s was not closed", name, path)
		}
	}
}

// TestNewFolderFaults makes each call of creating a folder fail, and then commits again.
func TestNewFolderFaults(t *testing.T) {
	t.Parallel()
	content := []byte("abc")
	for _, test := range []struct {
		op    blobstest.Op
		n     int
		cause error
		again bool // whether a second attempt may succeed
		kind  error
	}{
		{blobstest.Mkdir, 1, noSpaceErrors()[0], true, blobs.ErrNoSpace},
		{blobstest.Mkdir, 1, unopenedErrors()[0], true, blobs.ErrUnavailable},
		{blobstest.Mkdir, 1, syscall.EIO, true, syscall.EIO},
		{blobstest.SyncDir, 2, syscall.EIO, false, blobs.ErrUnsynced},
		{blobstest.SyncDir, 2, unopenedErrors()[0], true, blobs.ErrUnavailable},
	} {
		data := t.TempDir()
		faulty := blobstest.NewFaultFS(directory.OS{})
		dir := openDir(t, data, faulty)
		staged, err := dir.Stage(t.Context(), bytes.NewReader(content), 0)
		if err != nil {
			t.Fatal(err)
		}
		faulty.Arm(blobstest.Fault{Op: test.op, N: test.n, Err: test.cause})
		if err := commit(staged); !errors.Is(err, test.kind) {
			t.Errorf("%s %v: Commit: %v", test.op, test.cause, err)
		}
		faulty.Arm()
		if err := commit(staged); (err == nil) != test.again {
			t.Errorf("%s %v: Commit again: %v", test.op, test.cause, err)
		}
		parent := slices.ContainsFunc(faulty.Calls(), func(call blobstest.Call) bool {
			return call.Op == blobstest.SyncDir && call.Path == filepath.Join(data, "blobs")
		})
		if parent != test.again {
			t.Errorf("%s %v: the second Commit synced the name of the folder: %v", test.op, test.cause, parent)
		}
		if err := staged.Discard(); err != nil {
			t.Error(err)
		}
		if err := put(dir, content); (err == nil) != test.again {
			t.Errorf("%s %v: another body in that folder: %v", test.op, test.cause, err)
		}
		checkSound(t, data)
	}
}

func TestDiscardAgain(t *testing.T) {
	t.Parallel()
	dir, faulty, data := openFaulty(t)
	staged, err := dir.Stage(t.Context(), bytes.NewReader([]byte("abc")), 0)
	if err != nil {
		t.Fatal(err)
	}
	faulty.Arm(blobstest.Fault{Op: blobstest.Remove, N: 1, Err: syscall.EIO})
	if err := staged.Discard(); !errors.Is(err, syscall.EIO) {
		t.Errorf("Discard: %v", err)
	}
	if err := staged.Discard(); err != nil {
		t.Errorf("Discard again: %v", err)
	}
	checkSound(t, data)
}

func TestRemoveFaults(t *testing.T) {
	t.Parallel()
	content := []byte("abc")
	for n, visible := range []bool{true, true, false, false} { // touch, rename, sync of trash/, sync of the folder
		dir, faulty, data := openFaulty(t)
		if err := put(dir, content); err != nil {
			t.Fatal(err)
		}
		faulty.Arm(blobstest.Fault{N: n + 1, Err: syscall.EIO})
		err := dir.Remove(digestOf(content), nil)
		if !errors.Is(err, syscall.EIO) || errors.Is(err, blobs.ErrUnsynced) == visible {
			t.Errorf("call %d: Remove: %v", n+1, err)
		}
		if got := get(dir, content); visible != (got == nil) {
			t.Errorf("call %d: Open: %v", n+1, got)
		}
		dir.Pin(digestOf(content))() // Pin must not wait for the failed removal
		if errors.Is(err, blobs.ErrUnsynced) {
			dir = openDir(t, data, faulty)
		}
		faulty.Arm()
		if err := errors.Join(put(dir, content), dir.Remove(digestOf(content), nil)); err != nil {
			t.Errorf("call %d: without the fault: %v", n+1, err)
		}
	}
}

// TestOpenFaults makes calls of the first open fail, and then opens again.
func TestOpenFaults(t *testing.T) {
	t.Parallel()
	const dirs = 4
	const calls = dirs + 2
	for n := 1; n <= calls; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			faulty := blobstest.NewFaultFS(directory.OS{})
			faulty.Arm(blobstest.Fault{N: n, Err: syscall.EIO})
			dir, err := directory.Open(data, faulty)
			if dir != nil || !errors.Is(err, syscall.EIO) {
				t.Errorf("opened: %v, %v", dir, err)
			}
			if errors.Is(err, blobs.ErrUnsynced) != (n > dirs) {
				t.Errorf("call %d of %d: ErrUnsynced is wrong in %v", n, calls, err)
			}
			if made := len(faulty.Calls()); made != n {
				t.Errorf("continued after the failure: %d calls", made)
			}
			again := openDir(t, data, directory.OS{})
			if err := errors.Join(put(again, []byte("abc")), get(again, []byte("abc"))); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("emptying tmp", func(t *testing.T) {
		t.Parallel()
		_, faulty, data := openFaulty(t)
		if err := os.WriteFile(filepath.Join(data, "tmp", "1"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		faulty.Arm(blobstest.Fault{Op: blobstest.Remove, N: 1, Err: syscall.EIO})
		if dir, err := directory.Open(data, faulty); dir != nil || !errors.Is(err, syscall.EIO) {
			t.Errorf("opened: %v, %v", dir, err)
		}
	})
}

// TestKeepOpenTargets tests file systems of Windows on which a rename over an open file fails.
func TestKeepOpenTargets(t *testing.T) {
	t.Parallel()
	content := []byte("abc")
	inUse := blobstest.Fault{Op: blobstest.Rename, N: 1, Sticky: true, Err: syscall.EACCES}
	once := blobstest.Fault{Op: blobstest.Rename, N: 1, Err: syscall.EACCES}
	stuck := blobstest.Fault{Op: blobstest.Remove, N: 1, Err: syscall.EIO}
	tests := []struct {
		name   string
		there  []byte // existing file with the blob's name
		faults []blobstest.Fault
		want   error
	}{
		{"same content", content, []blobstest.Fault{inUse}, nil},
		{"other content", []byte("abd"), []blobstest.Fault{inUse}, syscall.EACCES},
		{"other content that can be moved", []byte("abd"), []blobstest.Fault{once}, nil},
		{"other size", content[:2], []blobstest.Fault{inUse}, syscall.EACCES},
		{"no existing file", nil, []blobstest.Fault{inUse}, syscall.EACCES},
		{"temporary file stays", content, []blobstest.Fault{inUse, stuck}, syscall.EIO},
	}
	dir, faulty, data := openFaulty(t)
	dir.KeepOpenTargets(true)
	for _, test := range tests {
		if test.there != nil {
			if err := os.WriteFile(blobPath(data, content), test.there, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		staged, err := dir.Stage(t.Context(), bytes.NewReader(content), 0)
		if err != nil {
			t.Fatal(err)
		}
		faulty.Arm(test.faults...)
		if err := commit(staged); !errors.Is(err, test.want) {
			t.Errorf("%s: Commit: got %v, want %v", test.name, err, test.want)
		}
		if err := staged.Discard(); err != nil {
			t.Errorf("%s: Discard: %v", test.name, err)
		}
		if left := names(t, filepath.Join(data, "tmp")); len(left) > 0 {
			t.Errorf("%s: files in tmp: %v", test.name, left)
		}
		want := test.there
		if test.want == nil {
			want = content
		}
		if got, err := os.ReadFile(blobPath(data, content)); !bytes.Equal(got, want) {
			t.Errorf("%s: the content is now %q, %v", test.name, got, err)
		}
		if err := os.Remove(blobPath(data, content)); err != nil && test.there != nil {
			t.Error(err)
		}
	}
}
