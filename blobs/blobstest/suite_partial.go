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

// errCut is the error of failing readers in the tests.
var errCut = errors.New("cut off")

// add appends a chunk from a reader that ends after content, with or without an error. It updates
// the checkpoint.
func add(t *testing.T, store blobs.PartialFiles, p *blobs.Partial, content []byte, ending error, most int64) {
	t.Helper()
	r := io.Reader(bytes.NewReader(content))
	if !errors.Is(ending, io.EOF) {
		r = io.MultiReader(r, failing{ending})
	}
	got, err := store.AppendPartial(t.Context(), *p, r, most)
	want := ending
	if int64(len(content)) >= most {
		want = nil
	}
	if !errors.Is(err, want) || want == nil && err != nil {
		t.Errorf("a chunk of %d bytes, most %d: %v, want %v", len(content), most, err, want)
	}
	if size := p.At.Size + min(most, int64(len(content))); got.Size != size {
		t.Errorf("after a chunk of %d bytes, most %d, at %d: the checkpoint is at %d", len(content), most, p.At.Size, got.Size)
	}
	p.At = got
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// testPartialFiles tests that chunks yield the same blob as a body that is staged in one call,
// wherever the chunks end.
func testPartialFiles(t *testing.T, store blobs.Store) {
	const large = 1 << 30
	content := Content(1_300_003)
	p, other := blobs.Partial{Name: "A", Length: int64(len(content))}, blobs.Partial{Name: "B", Length: 100}
	for _, step := range []struct {
		size   int
		ending error
		most   int64
	}{
		{0, io.EOF, large}, {1, io.EOF, large}, {300_000, errCut, large}, {0, errCut, large}, {256 << 10, io.EOF, 256 << 10},
		{300_000, io.EOF, 200_000}, {1, io.EOF, 1}, {300_000, io.EOF, large},
	} {
		end := min(len(content), int(p.At.Size)+step.size)
		add(t, store, &p, content[p.At.Size:end], step.ending, step.most)
	}
	if p.At.Size == p.Length {
		t.Error("the steps leave no bytes for the last chunk")
	}
	lost := p
	add(t, store, &lost, []byte("lost and written over"), errCut, large)
	wantError(t, "CheckPartial", store.CheckPartial(t.Context(), p), nil)
	add(t, store, &p, content[p.At.Size:], io.EOF, large)
	add(t, store, &other, []byte("another"), io.EOF, large)
	if digest, err := p.At.Digest(); err != nil || digest != digestOf(content) {
		t.Errorf("the checkpoint has the digest %s, %v", digest, err)
	}
	complete := completeOf(t, store, p)
	checkStaged(t, complete, content)
	wantError(t, "Discard", complete.Discard(), nil)
	for range 2 { // a caller without a response repeats the call
		committed, err := completeOf(t, store, p).Commit(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		wantRead(t, store, committed.Blob, content)
	}
}

// testPartialFolder tests that partial files have names, and are kept until they are removed.
func testPartialFolder(t *testing.T, store blobs.Folder) {
	content := Content(100)
	p, other := blobs.Partial{Name: "A", Length: 100}, blobs.Partial{Name: "B", Length: 100}
	add(t, store, &p, content, io.EOF, 1000)
	add(t, store, &other, []byte("another"), io.EOF, 1000)
	wantPartials(t, store, "A", "B")
	_, err := store.Stat(t.Context(), blobOf(content))
	wantError(t, "Stat before it is committed", err, blobs.ErrNotFound)
	confirm := func() error { return nil }
	complete := completeOf(t, store, p)
	if err := errors.Join(complete.Withdraw(confirm), store.CheckPartial(t.Context(), p), complete.Discard(), store.CheckPartial(t.Context(), p)); err != nil {
		t.Errorf("before the commit: %v", err)
	}
	if err := errors.Join(commit(t, completeOf(t, store, p)), completeOf(t, store, p).Withdraw(confirm)); err != nil {
		t.Errorf("withdraw: %v", err)
	}
	_, err = store.Stat(t.Context(), blobOf(content))
	wantError(t, "Stat of a withdrawn blob", err, blobs.ErrNotFound)
	wantError(t, "CheckPartial after it was withdrawn", store.CheckPartial(t.Context(), p), nil)
	wantError(t, "Commit again", commit(t, completeOf(t, store, p)), nil)
	wantPartials(t, store, "A", "B")
	if err := errors.Join(store.RemovePartial("A"), store.RemovePartial("B"), store.RemovePartial("B")); err != nil {
		t.Error(err)
	}
	wantPartials(t, store)
	wantBlob(t, store, content)
	wantError(t, "Remove", store.Remove(digestOf(content), nil), nil)
	_, err = store.StagePartial(t.Context(), p)
	wantError(t, "StagePartial after it has been removed", err, blobs.ErrNotFound)
}

func completeOf(t *testing.T, store blobs.PartialFiles, p blobs.Partial) blobs.Staged {
	t.Helper()
	complete, err := store.StagePartial(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return complete
}

func wantPartials(t *testing.T, store blobs.PartialRemover, want ...string) {
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

// testNoPartialFile tests that missing files are reported as such.
func testNoPartialFile(t *testing.T, store blobs.Store) {
	p := blobs.Partial{Name: "A", Length: 100}
	add(t, store, &p, Content(99), io.EOF, 1000)
	damaged := blobs.Partial{Name: "A", Length: 100, At: blobs.Checkpoint{Size: 99, Hash: "nonsense", Parts: p.At.Parts}}
	_, err := store.StagePartial(t.Context(), damaged)
	wantError(t, "a checkpoint without a file", err, blobs.ErrDamaged)
	empty := blobs.Partial{Name: "empty"}
	committed, err := completeOf(t, store, empty).Commit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wantRead(t, store, committed.Blob, nil)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := store.AppendPartial(ended, p, bytes.NewReader(Content(9)), 9); !errors.Is(err, context.Canceled) || got != p.At {
		t.Errorf("for nobody: %+v, %v", got, err)
	}
	if err := errors.Join(store.CheckPartial(t.Context(), p), store.CheckPartial(t.Context(), blobs.Partial{Name: "B"})); err != nil {
		t.Error(err)
	}
	if err := errors.Join(store.TruncatePartial(t.Context(), p), store.TruncatePartial(t.Context(), blobs.Partial{Name: "B"}), store.CheckPartial(t.Context(), p)); err != nil {
		t.Errorf("cutting: %v", err)
	}
	removePartial(t, store, p)
	for name, err := range map[string]error{
		"have": store.CheckPartial(t.Context(), p),
		"add":  last(store.AppendPartial(t.Context(), p, bytes.NewReader([]byte("x")), 1)),
		"complete": func() error {
			_, err := store.StagePartial(t.Context(), p)
			return err
		}(),
	} {
		if !errors.Is(err, blobs.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	wantError(t, "TruncatePartial of a missing file", store.TruncatePartial(t.Context(), p), nil)
}

// removePartial removes everything that a checkpoint refers to.
func removePartial(t *testing.T, store blobs.Store, p blobs.Partial) {
	t.Helper()
	if folder, ok := store.(blobs.Folder); ok {
		wantError(t, "RemovePartial", folder.RemovePartial(p.Name), nil)
		return
	}
	objects := store.(blobs.Objects)
	named, err := objects.PartialObjects(p.At)
	if err != nil || len(named) == 0 {
		t.Fatalf("PartialObjects: %v, %v", named, err)
	}
	for _, o := range named {
		wantError(t, "DeleteObject", objects.DeleteObject(t.Context(), o), nil)
	}
}

func last(_ blobs.Checkpoint, err error) error { return err }
