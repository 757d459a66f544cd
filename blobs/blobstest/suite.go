// Package blobstest contains helpers for tests of and with blob stores: the suite for every
// [blobs.Store], a store in memory, and a file system that fails on demand.
package blobstest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"labshelf/blobs"
)

// shared are the tests of every store.
var shared = []test[blobs.Store]{
	{"round trip", testRoundTrip},
	{"readers", testReaders},
	{"limit", testLimit},
	{"failing reader", testFailingReader},
	{"cancelled", testCancelled},
	{"CommitAll", testCommitAll},
	{"partial files", testPartialFiles},
	{"no partial file", testNoPartialFile},
	{"Open errors", testOpenErrors},
	{"concurrent commits of one content", testSameContent},
	{"many concurrent calls", testManyAtOnce},
}

type test[S blobs.Store] struct {
	name string
	run  func(*testing.T, S)
}

// Run checks a store against the contract of [blobs.Folder], in parallel subtests. open returns an
// empty store for each of them. It may register cleanups that check and close the store at the end
// of the subtest.
func Run(t *testing.T, open func(t *testing.T) blobs.Folder) {
	t.Helper()
	runAll(t, shared, func(t *testing.T) blobs.Store { return open(t) })
	runAll(t, []test[blobs.Folder]{
		{"invisible before Commit", testInvisible},
		{"Commit and Discard", testCommitAndDiscard},
		{"Withdraw", testWithdraw},
		{"partial files are files", testPartialFolder},
		{"Remove", testRemove},
		{"Remove under a reader", testRemoveUnderReader},
		{"Walk", testWalk},
		{"Walk stops", testWalkStops},
		{"Remove before a walk", testRemoveBeforeWalk},
		{"Pin", testPin},
		{"Pin against Remove", testPinAgainstRemove},
		{"reading against changes", testReadAgainstChanges},
		{"confirm", testConfirm},
		{"trash", testTrash},
		{"trash stops", testTrashStops},
	}, open)
}

func runAll[S blobs.Store](t *testing.T, tests []test[S], open func(t *testing.T) S) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, open(t))
		})
	}
}

// Content returns size bytes that look random and depend only on the size.
func Content(size int) []byte {
	content := make([]byte, size)
	seed := sha256.Sum256([]byte{byte(size), byte(size >> 8), byte(size >> 16), byte(size >> 24)})
	_, _ = rand.NewChaCha8(seed).Read(content) // never fails
	return content
}

// DataDir returns a directory for one test with the complete layout of [directory.Store], so that
// no call to the disk creates a folder.
func DataDir(t testing.TB) string {
	t.Helper()
	data := t.TempDir()
	dirs := []string{"tmp", "trash", "partial files", "blobs"}
	for first := range 256 {
		dirs = append(dirs, fmt.Sprintf("blobs/%02x", first))
	}
	for _, dir := range dirs {
		if err := os.Mkdir(filepath.Join(data, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return data
}

// digestOf computes the digest independently of the store.
func digestOf(content []byte) blobs.Digest { return sha256.Sum256(content) }

// blobOf returns the blob of content in a folder.
func blobOf(content []byte) blobs.Blob {
	return blobs.Blob{Digest: digestOf(content), Size: int64(len(content))}
}

// put stages and commits content and returns its blob.
func put(t *testing.T, store blobs.Store, content []byte) blobs.Blob {
	t.Helper()
	committed, err := tryPut(t.Context(), store, content)
	if err != nil {
		t.Fatal(err)
	}
	return committed.Blob
}

// tryPut is like put, for goroutines, which must not end the test.
func tryPut(ctx context.Context, store blobs.Store, content []byte) (blobs.Content, error) {
	staged, err := store.Stage(ctx, bytes.NewReader(content), 0)
	if err != nil {
		return blobs.Content{}, err
	}
	committed, err := staged.Commit(ctx)
	return committed, errors.Join(err, staged.Discard())
}

// putAndRead puts content and reads it again.
func putAndRead(ctx context.Context, store blobs.Store, content []byte) error {
	committed, err := tryPut(ctx, store, content)
	if err != nil {
		return err
	}
	return tryRead(store, committed.Blob, content)
}

// commit commits a body.
func commit(t *testing.T, staged blobs.Staged) error {
	_, err := staged.Commit(t.Context())
	return err
}

// tryRead compares the blob with content.
func tryRead(store blobs.Store, b blobs.Blob, content []byte) error {
	f, err := store.Open(context.Background(), b)
	if err != nil {
		return err
	}
	got, err := io.ReadAll(f)
	if err == nil && !bytes.Equal(got, content) {
		err = errors.New("the blob differs from the staged body")
	}
	return errors.Join(err, f.Close())
}

// wantRead fails the test unless the blob has the content.
func wantRead(t *testing.T, store blobs.Store, b blobs.Blob, content []byte) {
	t.Helper()
	if err := tryRead(store, b, content); err != nil {
		t.Errorf("blob of %d bytes: %v", len(content), err)
	}
	if b.Digest != digestOf(content) || b.Size != int64(len(content)) {
		t.Errorf("blob of %d bytes: its name is %+v", len(content), b)
	}
}

// wantBlob fails the test unless the folder has a blob with the content.
func wantBlob(t *testing.T, store blobs.Folder, content []byte) {
	t.Helper()
	wantRead(t, store, blobOf(content), content)
}

// wantNothing fails the test unless a folder is empty. Objects may contain unreferenced ones.
func wantNothing(t *testing.T, store blobs.Store) {
	t.Helper()
	if folder, ok := store.(blobs.Folder); ok {
		wantOnly(t, folder)
	}
}

// wantOnly fails the test unless Walk finds exactly these blobs.
func wantOnly(t *testing.T, store blobs.Folder, want ...blobs.Digest) {
	t.Helper()
	var got []blobs.Digest
	err := store.Walk(t.Context(), func(digest blobs.Digest, _ int64) error {
		got = append(got, digest)
		return nil
	})
	if err != nil {
		t.Fatal("Walk:", err)
	}
	slices.SortFunc(want, compare)
	if !slices.Equal(got, want) {
		t.Errorf("Walk found %v, want %v", got, want)
	}
}

func compare(a, b blobs.Digest) int { return bytes.Compare(a[:], b[:]) }

// wantError fails the test unless err matches want.
func wantError(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: got error %v, want %v", what, err, want)
	}
}
