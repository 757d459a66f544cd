package blobstest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"labshelf/blobs"
)

func testRoundTrip(t *testing.T, store blobs.Store) {
	sizes := []int{
		0, 1, blobs.HeadSize - 1, blobs.HeadSize, blobs.HeadSize + 1,
		256<<10 - 1, 256 << 10, 256<<10 + 1, 3 << 20,
	}
	for _, size := range sizes {
		t.Run(strconv.Itoa(size), func(t *testing.T) {
			content := Content(size)
			staged, err := store.Stage(t.Context(), bytes.NewReader(content), 0)
			if err != nil {
				t.Fatal("Stage:", err)
			}
			checkStaged(t, staged, content)
			committed, err := staged.Commit(t.Context())
			if err != nil {
				t.Fatal("Commit:", err)
			}
			checkStaged(t, staged, content)
			wantRead(t, store, committed.Blob, content)
			checkSeek(t, store, committed.Blob, content)
			got, err := store.Stat(t.Context(), committed.Blob)
			if err != nil || got != int64(size) {
				t.Errorf("Stat: got %d, %v, want %d", got, err, size)
			}
		})
	}
}

func checkStaged(t *testing.T, staged blobs.Staged, content []byte) {
	t.Helper()
	got := staged.Content()
	if want := digestOf(content); got.Digest != want {
		t.Errorf("Digest: got %s, want %s", got.Digest, want)
	}
	if want := int64(len(content)); got.Size != want {
		t.Errorf("Size: got %d, want %d", got.Size, want)
	}
	if !bytes.Equal(got.Head, content[:min(len(content), blobs.HeadSize)]) {
		t.Errorf("Head: got %d bytes that are not the first bytes of %d", len(got.Head), len(content))
	}
}

func checkSeek(t *testing.T, store blobs.Store, b blobs.Blob, content []byte) {
	t.Helper()
	f, err := store.Open(t.Context(), b)
	if err != nil {
		t.Fatal("Open:", err)
	}
	middle := len(content) / 2
	at, err := f.Seek(int64(middle), io.SeekStart)
	if err != nil || at != int64(middle) {
		t.Errorf("Seek: got %d, %v, want %d", at, err, middle)
	}
	if rest, err := io.ReadAll(f); err != nil || !bytes.Equal(rest, content[middle:]) {
		t.Errorf("after Seek: got %d bytes, %v, want the last %d", len(rest), err, len(content)-middle)
	}
	if err := f.Close(); err != nil {
		t.Error("Close:", err)
	}
}

// testReaders stages bodies from readers that use the freedom of the io.Reader contract.
func testReaders(t *testing.T, store blobs.Store) {
	for _, size := range []int{0, 1, blobs.HeadSize + 1} {
		content := Content(size)
		readers := map[string]io.Reader{
			"byte by byte":       iotest.OneByteReader(bytes.NewReader(content)),
			"half of each":       iotest.HalfReader(bytes.NewReader(content)),
			"end with last data": iotest.DataErrReader(bytes.NewReader(content)),
			"empty reads":        &stutter{r: bytes.NewReader(content)},
		}
		for name, r := range readers {
			staged, err := store.Stage(t.Context(), r, 0)
			if err != nil {
				t.Errorf("%s: Stage: %v", name, err)
				continue
			}
			checkStaged(t, staged, content)
			if err := staged.Discard(); err != nil {
				t.Errorf("%s: Discard: %v", name, err)
			}
		}
	}
}

// stutter returns no bytes and no error at every second Read.
type stutter struct {
	r     io.Reader
	calls int
}

func (s *stutter) Read(b []byte) (int, error) {
	s.calls++
	if s.calls%2 == 1 {
		return 0, nil
	}
	return s.r.Read(b)
}

func testLimit(t *testing.T, store blobs.Store) {
	tests := []struct {
		size  int
		limit int64
		fits  bool
	}{
		{0, 1, true},
		{1, 1, true},
		{2, 1, false},
		{1000, 0, true},
		{1000, 999, false},
		{1000, 1000, true},
		{1000, 1001, true},
		{1000, math.MaxInt64, true},
		{0, -1, false},
		{256 << 10, 256<<10 - 1, false},
		{256 << 10, 256 << 10, true},
		{256<<10 + 1, 256 << 10, false},
		{256<<10 + 1, 256<<10 + 1, true},
		{3 << 20, 1 << 20, false},
	}
	for _, test := range tests {
		name := fmt.Sprintf("%d bytes, limit %d", test.size, test.limit)
		body := bytes.NewReader(Content(test.size))
		staged, err := store.Stage(t.Context(), body, test.limit)
		if read := int64(test.size - body.Len()); test.limit > 0 && read-1 > test.limit {
			t.Errorf("%s: read %d bytes", name, read)
		}
		switch {
		case !test.fits && !errors.Is(err, blobs.ErrTooLarge):
			t.Errorf("%s: got error %v, want ErrTooLarge", name, err)
		case test.fits && err != nil:
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		if err := staged.Discard(); err != nil {
			t.Errorf("%s: Discard: %v", name, err)
		}
	}
	wantNothing(t, store)
}

// readerError is found with errors.As only if Stage wraps the error itself.
type readerError struct{ at int }

func (e *readerError) Error() string { return "broken at " + strconv.Itoa(e.at) }

func testFailingReader(t *testing.T, store blobs.Store) {
	for _, at := range []int{0, 1, 256 << 10, 700_000} {
		broken := &readerError{at}
		for _, cause := range []error{broken, io.ErrUnexpectedEOF, syscall.ENOSPC} {
			r := io.MultiReader(bytes.NewReader(Content(at)), iotest.ErrReader(cause))
			staged, err := store.Stage(t.Context(), r, 0)
			wantError(t, "Stage", err, cause)
			if errors.Is(err, blobs.ErrNoSpace) {
				t.Errorf("an error of the reader was reported as an error of the store: %v", err)
			}
			if staged != nil {
				t.Error("Stage returned a body together with an error")
			}
		}
		_, err := store.Stage(t.Context(), io.MultiReader(bytes.NewReader(Content(at)), iotest.ErrReader(broken)), 0)
		if found, ok := errors.AsType[*readerError](err); !ok || found != broken {
			t.Errorf("the reader's own error is not in %v", err)
		}
	}
	wantNothing(t, store)
}

// endless never ends. It cancels the given context after some reads.
type endless struct {
	reads  int
	cancel func()
}

func (e *endless) Read(b []byte) (int, error) {
	e.reads++
	if e.reads == 5 {
		e.cancel()
	}
	return len(b), nil
}

func testCancelled(t *testing.T, store blobs.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	body := &endless{cancel: cancel}
	_, err := store.Stage(ctx, body, 0)
	wantError(t, "Stage cancelled on the way", err, context.Canceled)
	if body.reads != 5 {
		t.Errorf("the reader was used %d times, want at most 5", body.reads)
	}
	_, err = store.Stage(ctx, strings.NewReader("late"), 0)
	wantError(t, "Stage cancelled before", err, context.Canceled)
	wantNothing(t, store)
}

func testInvisible(t *testing.T, store blobs.Folder) {
	content := Content(1000)
	staged, err := store.Stage(t.Context(), bytes.NewReader(content), 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = store.Stat(t.Context(), blobOf(content))
	wantError(t, "Stat", err, blobs.ErrNotFound)
	wantError(t, "Open", tryRead(store, blobOf(content), content), blobs.ErrNotFound)
	wantError(t, "Remove", store.Remove(digestOf(content), nil), blobs.ErrNotFound)
	wantOnly(t, store)
	if err := staged.Discard(); err != nil {
		t.Error("Discard:", err)
	}
	wantOnly(t, store)
}

func testCommitAndDiscard(t *testing.T, store blobs.Folder) {
	stage := func(content []byte) blobs.Staged {
		staged, err := store.Stage(t.Context(), bytes.NewReader(content), 0)
		if err != nil {
			t.Fatal(err)
		}
		return staged
	}
	steps := func(staged blobs.Staged, steps ...string) {
		for i, step := range steps {
			do := func() error { return commit(t, staged) }
			if step == "Discard" {
				do = staged.Discard
			}
			if err := do(); err != nil {
				t.Errorf("step %d of %v: %v", i+1, steps, err)
			}
		}
	}
	kept, dropped := Content(1000), Content(1001)
	steps(stage(kept), "Commit", "Discard", "Commit", "Discard")
	wantBlob(t, store, kept)
	steps(stage(kept), "Commit")
	wantBlob(t, store, kept)
	steps(stage(kept), "Discard")
	wantBlob(t, store, kept)

	gone := stage(dropped)
	steps(gone, "Discard", "Discard")
	wantError(t, "Commit after Discard", commit(t, gone), fs.ErrClosed)

	removed := stage(dropped)
	steps(removed, "Commit")
	if err := store.Remove(digestOf(dropped), nil); err != nil {
		t.Fatal(err)
	}
	steps(removed, "Commit", "Discard")
	wantOnly(t, store, digestOf(kept))
}

func testWithdraw(t *testing.T, store blobs.Folder) {
	stage := func(content []byte) blobs.Staged {
		staged, err := store.Stage(t.Context(), bytes.NewReader(content), 0)
		if err != nil {
			t.Fatal(err)
		}
		return staged
	}
	content, refusal := Content(1000), errors.New("refused")
	yes, no := func() error { return nil }, func() error { return refusal }

	uncommitted := stage(content)
	wantError(t, "Withdraw before Commit", uncommitted.Withdraw(no), nil)
	wantError(t, "Commit after Withdraw", commit(t, uncommitted), fs.ErrClosed)
	wantOnly(t, store)

	committed := stage(content)
	wantError(t, "Commit", commit(t, committed), nil)
	release := store.Pin(digestOf(content))
	wantError(t, "Withdraw while pinned", committed.Withdraw(yes), blobs.ErrPinned)
	release()
	wantError(t, "Withdraw not confirmed", committed.Withdraw(no), refusal)
	wantBlob(t, store, content)
	wantError(t, "Withdraw", committed.Withdraw(yes), nil)
	wantOnly(t, store)
	_, _, err := store.OpenTrashed(digestOf(content))
	wantError(t, "OpenTrashed after Withdraw", err, blobs.ErrNotFound)
	wantError(t, "Withdraw of a missing blob", committed.Withdraw(yes), nil)
}
