package blobstest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"testing"

	"labshelf/blobs"
)

// errCut is what a reader of the tests fails with.
var errCut = errors.New("cut off")

// add appends a chunk from a reader that ends after content with an error, or with its end.
func add(t *testing.T, store blobs.PartialFiles, name string, at blobs.Checkpoint, content []byte, ending error, most int64) blobs.Checkpoint {
	t.Helper()
	r := io.Reader(bytes.NewReader(content))
	if !errors.Is(ending, io.EOF) {
		r = io.MultiReader(r, failing{ending})
	}
	got, err := store.AppendPartial(t.Context(), name, at, r, most)
	want := ending
	if int64(len(content)) >= most {
		want = nil
	}
	if !errors.Is(err, want) || want == nil && err != nil {
		t.Errorf("a chunk of %d bytes, most %d: %v, want %v", len(content), most, err, want)
	}
	if size := at.Size + min(most, int64(len(content))); got.Size != size {
		t.Errorf("after a chunk of %d bytes, most %d, at %d: the checkpoint is at %d", len(content), most, at.Size, got.Size)
	}
	return got
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// testPartialFiles: chunks make the same blob as a body that is staged at once, wherever they are cut.
func testPartialFiles(t *testing.T, store blobs.Store) {
	const large = 1 << 30
	content := Content(1_300_003)
	var at blobs.Checkpoint
	for _, step := range []struct {
		size   int
		ending error
		most   int64
	}{
		{0, io.EOF, large}, {1, io.EOF, large}, {300_000, errCut, large}, {0, errCut, large}, {256 << 10, io.EOF, 256 << 10},
		{300_000, io.EOF, 200_000}, {1, io.EOF, 1}, {300_000, io.EOF, large},
	} {
		end := min(len(content), int(at.Size)+step.size)
		at = add(t, store, "A", at, content[at.Size:end], step.ending, step.most)
	}
	if at.Size == int64(len(content)) {
		t.Error("the steps leave nothing for the last chunk")
	}
	add(t, store, "A", at, []byte("lost and written over"), errCut, large)
	at = add(t, store, "A", at, content[at.Size:], io.EOF, large)
	add(t, store, "B", blobs.Checkpoint{}, []byte("another"), io.EOF, large)
	if digest, err := at.Digest(); err != nil || digest != digestOf(content) {
		t.Errorf("the checkpoint has the digest %s, %v", digest, err)
	}
	wantPartials(t, store, "A", "B")
	if _, err := store.Stat(digestOf(content)); !errors.Is(err, blobs.ErrNotFound) {
		t.Errorf("before it is committed: %v", err)
	}
	complete := completeOf(t, store, "A", at)
	checkStaged(t, complete, content)
	if err := errors.Join(complete.Discard(), complete.Withdraw(func() error { return nil })); err != nil {
		t.Error(err)
	}
	for range 2 { // whoever had no answer does it again
		if err := completeOf(t, store, "A", at).Commit(); err != nil {
			t.Fatal(err)
		}
		wantContent(t, store, content)
	}
	wantPartials(t, store, "A", "B")
	if err := errors.Join(store.RemovePartial("A"), store.RemovePartial("B"), store.RemovePartial("B")); err != nil {
		t.Error(err)
	}
	wantPartials(t, store)
	wantContent(t, store, content)
}

func wantContent(t *testing.T, store blobs.Store, content []byte) {
	t.Helper()
	file, err := store.Open(digestOf(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(file)
	if err := errors.Join(err, file.Close()); err != nil || !bytes.Equal(got, content) {
		t.Errorf("the blob has %d bytes, want %d: %v", len(got), len(content), err)
	}
}

func completeOf(t *testing.T, store blobs.PartialFiles, name string, at blobs.Checkpoint) blobs.Staged {
	t.Helper()
	complete, err := store.StagePartial(name, at)
	if err != nil {
		t.Fatal(err)
	}
	return complete
}

func wantPartials(t *testing.T, store blobs.PartialFiles, want ...string) {
	t.Helper()
	var got []string
	err := store.WalkPartials(t.Context(), func(name string) error {
		got = append(got, name)
		return nil
	})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("the partial files are %q, want %q: %v", got, want, err)
	}
}

// testNoPartialFile: what does not exist is reported as such.
func testNoPartialFile(t *testing.T, store blobs.Store) {
	at := add(t, store, "A", blobs.Checkpoint{}, Content(100), io.EOF, 1000)
	for name, err := range map[string]error{
		"have": store.CheckPartial("B", at),
		"add":  last(store.AppendPartial(t.Context(), "B", at, bytes.NewReader([]byte("x")), 1)),
		"complete": func() error {
			_, err := store.StagePartial("B", at)
			return err
		}(),
	} {
		if !errors.Is(err, blobs.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := errors.Join(store.CheckPartial("A", at), store.CheckPartial("B", blobs.Checkpoint{})); err != nil {
		t.Error(err)
	}
	if _, err := store.StagePartial("A", blobs.Checkpoint{Size: 100, Hash: "nonsense"}); !errors.Is(err, blobs.ErrDamaged) {
		t.Errorf("a checkpoint of nothing: %v", err)
	}
	if err := completeOf(t, store, "empty", blobs.Checkpoint{}).Commit(); err != nil {
		t.Error(err)
	}
	wantContent(t, store, nil)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := store.AppendPartial(ended, "A", at, bytes.NewReader(Content(9)), 9); !errors.Is(err, context.Canceled) || got != at {
		t.Errorf("for nobody: %+v, %v", got, err)
	}
	if err := errors.Join(store.TruncatePartial("A", at), store.TruncatePartial("B", blobs.Checkpoint{}), store.TruncatePartial("B", at)); err != nil {
		t.Errorf("cutting: %v", err)
	}
	confirm := func() error { return nil }
	complete := completeOf(t, store, "A", at)
	if err := errors.Join(complete.Withdraw(confirm), store.CheckPartial("A", at), complete.Discard(), store.CheckPartial("A", at)); err != nil {
		t.Errorf("before it has been committed: %v", err)
	}
	if err := errors.Join(completeOf(t, store, "A", at).Commit(), completeOf(t, store, "A", at).Withdraw(confirm)); err != nil {
		t.Errorf("withdraw: %v", err)
	}
	if _, err := store.Stat(digestAt(t, at)); !errors.Is(err, blobs.ErrNotFound) {
		t.Errorf("what was committed has been withdrawn, and is there: %v", err)
	}
	if err := errors.Join(store.CheckPartial("A", at), store.RemovePartial("A")); err != nil {
		t.Errorf("what was committed has been withdrawn, but not the partial file: %v", err)
	}
	if _, err := store.StagePartial("A", at); !errors.Is(err, blobs.ErrNotFound) {
		t.Errorf("after it has been withdrawn and dropped: %v", err)
	}
}

func digestAt(t *testing.T, at blobs.Checkpoint) blobs.Digest {
	t.Helper()
	digest, err := at.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

func last(_ blobs.Checkpoint, err error) error { return err }
