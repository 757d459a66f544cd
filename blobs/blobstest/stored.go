package blobstest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"labshelf/blobs"
)

func testOpenErrors(t *testing.T, store blobs.Store) {
	b := put(t, store, Content(1000))
	for _, size := range []int64{-1, 0, 999, 1001} {
		other := b
		other.Size = size
		_, err := store.Open(t.Context(), other)
		wantError(t, "Open with a wrong size", err, blobs.ErrDamaged)
	}
	missing := blobOf(Content(1001))
	if b.Object != "" {
		missing.Object = otherName(b.Object)
	}
	_, err := store.Open(t.Context(), missing)
	wantError(t, "Open of a missing blob", err, blobs.ErrNotFound)
	_, err = store.Stat(t.Context(), missing)
	wantError(t, "Stat of a missing blob", err, blobs.ErrNotFound)
	if folder, ok := store.(blobs.Folder); ok {
		wantError(t, "Remove of a missing blob", folder.Remove(missing.Digest, nil), blobs.ErrNotFound)
	}
	wantRead(t, store, b, Content(1000))
}

func testRemove(t *testing.T, store blobs.Folder) {
	content, other := Content(1000), Content(1001)
	put(t, store, other)
	for range 2 { // the second time, the trash contains an older copy
		digest := put(t, store, content).Digest
		if err := store.Remove(digest, nil); err != nil {
			t.Fatal("Remove:", err)
		}
		wantError(t, "Open after Remove", tryRead(store, blobOf(content), content), blobs.ErrNotFound)
		_, err := store.Stat(t.Context(), blobOf(content))
		wantError(t, "Stat after Remove", err, blobs.ErrNotFound)
		wantError(t, "Remove after Remove", store.Remove(digest, nil), blobs.ErrNotFound)
		wantOnly(t, store, digestOf(other))
	}
	put(t, store, content)
	wantBlob(t, store, content)
	wantBlob(t, store, other)
}

func testWalk(t *testing.T, store blobs.Folder) {
	wantOnly(t, store)
	sizes := make(map[blobs.Digest]int64)
	for size := range 40 {
		sizes[put(t, store, Content(size)).Digest] = int64(size)
	}
	var seen []blobs.Digest
	err := store.Walk(t.Context(), func(digest blobs.Digest, size int64) error {
		if want, known := sizes[digest]; !known || size != want {
			t.Errorf("%s: got size %d, want %d", digest, size, want)
		}
		seen = append(seen, digest)
		return store.Remove(digest, nil) // fn may call the store
	})
	if err != nil {
		t.Fatal("Walk:", err)
	}
	if len(seen) != len(sizes) || !slices.IsSortedFunc(seen, compare) {
		t.Errorf("Walk visited %d of %d blobs, in ascending order: %t", len(seen), len(sizes), slices.IsSortedFunc(seen, compare))
	}
	wantOnly(t, store)
}

func testWalkStops(t *testing.T, store blobs.Folder) {
	for size := range 10 {
		put(t, store, Content(size))
	}
	enough := errors.New("enough")
	visits := 0
	err := store.Walk(t.Context(), func(blobs.Digest, int64) error {
		visits++
		if visits == 3 {
			return enough
		}
		return nil
	})
	if err != enough || visits != 3 { // the error itself, not a wrapping error
		t.Errorf("got error %v after %d visits, want %v after 3", err, visits, enough)
	}

	ctx, cancel := context.WithCancel(t.Context())
	visits = 0
	err = store.Walk(ctx, func(blobs.Digest, int64) error {
		visits++
		cancel()
		return nil
	})
	wantError(t, "Walk cancelled on the way", err, context.Canceled)
	if visits != 1 {
		t.Errorf("Walk continued after the end of its context: %d visits", visits)
	}
}

// testRemoveBeforeWalk removes the second of two neighbors when a walk visits the first.
func testRemoveBeforeWalk(t *testing.T, store blobs.Folder) {
	first := put(t, store, Content(0)).Digest
	size := 1
	for digestOf(Content(size))[0] != first[0] {
		size++
	}
	second := put(t, store, Content(size)).Digest
	if compare(first, second) > 0 {
		first, second = second, first
	}
	var seen []blobs.Digest
	err := store.Walk(t.Context(), func(digest blobs.Digest, _ int64) error {
		seen = append(seen, digest)
		if digest == first {
			return store.Remove(second, nil)
		}
		return nil
	})
	if err != nil || len(seen) == 0 || seen[0] != first {
		t.Errorf("Walk saw %v, %v", seen, err)
	}
	wantOnly(t, store, first)
}

func testPin(t *testing.T, store blobs.Folder) {
	content := Content(1000)
	digest := digestOf(content)
	first := store.Pin(digest) // before the blob exists
	put(t, store, content)
	second := store.Pin(digest)
	wantError(t, "Remove with two pins", store.Remove(digest, nil), blobs.ErrPinned)
	first()
	first()
	wantError(t, "Remove with one pin, the other released twice", store.Remove(digest, nil), blobs.ErrPinned)
	wantBlob(t, store, content)

	other := put(t, store, Content(1001)).Digest
	if err := store.Remove(other, nil); err != nil {
		t.Error("Remove of a blob that is not pinned:", err)
	}
	second()
	if err := store.Remove(digest, nil); err != nil {
		t.Error("Remove after the last release:", err)
	}
	wantError(t, "Open", tryRead(store, blobOf(content), content), blobs.ErrNotFound)

	release := store.Pin(digest)
	wantError(t, "Remove of a pinned digest without a blob", store.Remove(digest, nil), blobs.ErrPinned)
	release()
	wantError(t, "Remove after release", store.Remove(digest, nil), blobs.ErrNotFound)
}

// inParallel runs fn(0) to fn(n-1) concurrently and reports their errors.
func inParallel(t *testing.T, n int, fn func(i int) error) {
	t.Helper()
	var group sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		group.Go(func() {
			<-start
			if err := fn(i); err != nil {
				t.Error(err)
			}
		})
	}
	close(start)
	group.Wait()
}

func testSameContent(t *testing.T, store blobs.Store) {
	content := Content(300_000)
	inParallel(t, 2, func(int) error { return putAndRead(t.Context(), store, content) })
	if folder, ok := store.(blobs.Folder); ok {
		wantBlob(t, folder, content)
		wantOnly(t, folder, digestOf(content))
	}
}

func testManyAtOnce(t *testing.T, store blobs.Store) {
	const uploads, different = 32, 12
	size := func(i int) int { return i % different * 30_000 }
	inParallel(t, uploads, func(i int) error { return putAndRead(t.Context(), store, Content(size(i))) })
	folder, ok := store.(blobs.Folder)
	if !ok {
		return
	}
	want := make([]blobs.Digest, different)
	for i := range different {
		wantBlob(t, folder, Content(size(i)))
		want[i] = digestOf(Content(size(i)))
	}
	wantOnly(t, folder, want...)
}

// testPinAgainstRemove runs uploaders that rely on a pinned blob, and removers of the same blob.
func testPinAgainstRemove(t *testing.T, store blobs.Folder) {
	const uploaders, rounds = 3, 40
	content := Content(1000)
	digest := digestOf(content)
	upload := func() error {
		release := store.Pin(digest)
		defer release()
		if err := tryRead(store, blobOf(content), content); errors.Is(err, blobs.ErrNotFound) {
			if _, err := tryPut(t.Context(), store, content); err != nil {
				return err
			}
		}
		err := tryRead(store, blobOf(content), content)
		if errors.Is(err, blobs.ErrNotFound) {
			return fmt.Errorf("a pinned blob was removed: %w", err)
		}
		return err
	}
	remove := func() error {
		err := store.Remove(digest, nil)
		if errors.Is(err, blobs.ErrPinned) || errors.Is(err, blobs.ErrNotFound) {
			return nil
		}
		return err
	}
	inParallel(t, uploaders+1, func(i int) error {
		do := upload
		if i == uploaders {
			do = remove
		}
		var errs []error
		for range rounds {
			errs = append(errs, do())
		}
		return errors.Join(errs...)
	})
	put(t, store, content)
	wantBlob(t, store, content)
}

// testRemoveUnderReader removes a blob twice, and deletes it, while a reader reads it.
func testRemoveUnderReader(t *testing.T, store blobs.Folder) {
	content := Content(300_000)
	var readers []io.ReadSeekCloser
	for range 2 {
		put(t, store, content)
		f, err := store.Open(t.Context(), blobOf(content))
		if err != nil {
			t.Fatal(err)
		}
		readers = append(readers, f)
		put(t, store, content) // replaces the blob that is being read
		if err := store.Remove(digestOf(content), nil); err != nil {
			t.Error("Remove:", err)
		}
		wantError(t, "Open after Remove", tryRead(store, blobOf(content), content), blobs.ErrNotFound)
	}
	if files, _, err := store.EmptyTrash(t.Context(), time.Now().Add(time.Hour)); files != 1 || err != nil {
		t.Errorf("EmptyTrash: %d files, %v", files, err)
	}
	put(t, store, content)
	if err := store.Remove(digestOf(content), nil); err != nil {
		t.Error("Remove of a deleted blob:", err)
	}
	for _, f := range readers {
		got, err := io.ReadAll(f)
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("reading across a Remove: got %d bytes, %v", len(got), err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// testReadAgainstChanges runs readers of a blob that is committed and removed repeatedly. They must
// read the whole blob or get ErrNotFound.
func testReadAgainstChanges(t *testing.T, store blobs.Folder) {
	const readers, rounds = 3, 40
	content := Content(1000)
	put(t, store, content)
	ended := make(chan struct{})
	inParallel(t, readers+1, func(i int) error {
		if i == readers {
			defer close(ended)
			var errs []error
			for round := range rounds {
				_, err := tryPut(t.Context(), store, content)
				errs = append(errs, err)
				if round%2 == 0 {
					errs = append(errs, store.Remove(digestOf(content), nil))
				}
			}
			return errors.Join(errs...)
		}
		for {
			if err := tryRead(store, blobOf(content), content); err != nil && !errors.Is(err, blobs.ErrNotFound) {
				return err
			}
			select {
			case <-ended:
				return nil
			default:
			}
		}
	})
	wantBlob(t, store, content)
}
