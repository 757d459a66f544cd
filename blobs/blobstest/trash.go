package blobstest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"labshelf/blobs"
)

// testConfirm checks that a removal calls confirm first.
func testConfirm(t *testing.T, store blobs.Folder) {
	content := Content(1000)
	digest := put(t, store, content).Digest
	calls, refused := 0, errors.New("still referred to")
	refuse := func() error { calls++; return refused }
	agree := func() error {
		calls++
		return tryRead(store, blobOf(content), content) // it exists until confirm has agreed
	}
	if err := store.Remove(digest, refuse); err != refused || calls != 1 { // the error itself, not a wrapping error
		t.Errorf("confirm refused: got %v after %d calls", err, calls)
	}
	wantBlob(t, store, content)
	release := store.Pin(digest)
	wantError(t, "Remove of a pinned blob", store.Remove(digest, agree), blobs.ErrPinned)
	if calls != 1 {
		t.Error("confirm was called for a pinned blob")
	}
	release()
	late := make(chan error, 1)
	agreeAndWatch := func() error {
		go func() {
			defer store.Pin(digest)()
			late <- tryRead(store, blobOf(content), content)
		}()
		select {
		case err := <-late:
			t.Errorf("Pin did not wait for Remove: Open returns %v", err)
			late <- err
		case <-time.After(5 * time.Millisecond): // waiting cannot be observed otherwise
		}
		return agree()
	}
	if err := store.Remove(digest, agreeAndWatch); err != nil || calls != 2 {
		t.Errorf("confirm agreed: got %v after %d calls", err, calls)
	}
	wantError(t, "Open under a Pin that had to wait", <-late, blobs.ErrNotFound)
	agree = func() error { calls++; return nil }
	wantError(t, "Remove of a missing blob", store.Remove(digest, agree), blobs.ErrNotFound)
	wantError(t, "Remove of a missing blob, refused", store.Remove(digest, refuse), refused)
	if calls != 4 {
		t.Errorf("confirm was called %d times in total, want 4", calls)
	}
	store.Pin(digest)() // must not wait
}

// readTrashed compares a removed blob with content.
func readTrashed(trash blobs.Trash, content []byte) error {
	f, size, err := trash.OpenTrashed(digestOf(content))
	if err != nil {
		return err
	}
	got, err := io.ReadAll(f)
	if err == nil && (!bytes.Equal(got, content) || size != int64(len(content))) {
		err = errors.New("the removed blob differs from the staged body")
	}
	return errors.Join(err, f.Close())
}

// testTrash removes blobs, examines them, and deletes them for good.
func testTrash(t *testing.T, store blobs.Folder) {
	start := time.Now()
	contents := [][]byte{Content(0), Content(1000), Content(300_000)}
	var digests []blobs.Digest
	for _, content := range contents {
		digests = append(digests, put(t, store, content).Digest)
		wantError(t, "OpenTrashed before Remove", readTrashed(store, content), blobs.ErrNotFound)
		if err := errors.Join(store.Remove(digestOf(content), nil), readTrashed(store, content)); err != nil {
			t.Error(err)
		}
	}
	slices.SortFunc(digests, compare)
	var seen []blobs.Digest
	err := store.WalkTrash(t.Context(), func(digest blobs.Digest, size int64, removed time.Time) error {
		seen = append(seen, digest)
		// File systems and kernels round times.
		if removed.Before(start.Add(-2*time.Second)) || removed.After(time.Now().Add(2*time.Second)) {
			t.Errorf("removed at %v, want a time between %v and now", removed, start)
		}
		return nil
	})
	if err != nil || !slices.Equal(seen, digests) {
		t.Errorf("WalkTrash: got %v, %v, want %v", seen, err, digests)
	}
	wantEmptied(t, store, start.Add(-time.Hour), 0, 0)
	again := put(t, store, contents[2]).Digest
	for range 2 {
		if err := store.DeleteTrashed(again); err != nil {
			t.Errorf("DeleteTrashed: %v", err)
		}
		wantError(t, "OpenTrashed after DeleteTrashed", readTrashed(store, contents[2]), blobs.ErrNotFound)
	}
	if err := errors.Join(readTrashed(store, contents[1]), store.Remove(again, nil)); err != nil {
		t.Errorf("after DeleteTrashed of another blob: %v", err)
	}
	put(t, store, contents[1]) // a blob that exists again is kept
	wantEmptied(t, store, time.Now().Add(time.Hour), 3, 301_000)
	wantEmptied(t, store, time.Now().Add(time.Hour), 0, 0)
	for _, content := range contents {
		wantError(t, "OpenTrashed after EmptyTrash", readTrashed(store, content), blobs.ErrNotFound)
	}
	wantBlob(t, store, contents[1])
	wantOnly(t, store, digestOf(contents[1]))
}

func wantEmptied(t *testing.T, trash blobs.Trash, before time.Time, files int, bytes int64) {
	t.Helper()
	gotFiles, gotBytes, err := trash.EmptyTrash(t.Context(), before)
	if err != nil || gotFiles != files || gotBytes != bytes {
		t.Errorf("EmptyTrash: got %d files, %d bytes, %v, want %d, %d", gotFiles, gotBytes, err, files, bytes)
	}
}

func testTrashStops(t *testing.T, store blobs.Folder) {
	for size := range 5 {
		if err := store.Remove(put(t, store, Content(size)).Digest, nil); err != nil {
			t.Fatal(err)
		}
	}
	enough, visits := errors.New("enough"), 0
	err := store.WalkTrash(t.Context(), func(blobs.Digest, int64, time.Time) error { visits++; return enough })
	if err != enough || visits != 1 {
		t.Errorf("WalkTrash: got error %v after %d visits", err, visits)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	files, bytes, err := store.EmptyTrash(ctx, time.Now().Add(time.Hour))
	if files != 0 || bytes != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("EmptyTrash cancelled: got %d, %d, %v", files, bytes, err)
	}
	wantEmptied(t, store, time.Now().Add(time.Hour), 5, 0+1+2+3+4)
}
