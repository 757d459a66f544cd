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

// add adds a part from a reader that ends after content with an error, or with its end.
func add(t *testing.T, store blobs.Parts, name string, mark blobs.Mark, content []byte, ending error, most int64) blobs.Mark {
	t.Helper()
	r := io.Reader(bytes.NewReader(content))
	if !errors.Is(ending, io.EOF) {
		r = io.MultiReader(r, failing{ending})
	}
	got, err := store.AddPart(t.Context(), name, mark, r, most)
	want := ending
	if int64(len(content)) >= most {
		want = nil
	}
	if !errors.Is(err, want) || want == nil && err != nil {
		t.Errorf("a part of %d bytes, most %d: %v, want %v", len(content), most, err, want)
	}
	if size := mark.Size + min(most, int64(len(content))); got.Size != size {
		t.Errorf("after a part of %d bytes, most %d, at %d: the mark is at %d", len(content), most, mark.Size, got.Size)
	}
	return got
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// testParts: parts make the same blob as a body that comes at once, wherever they were cut.
func testParts(t *testing.T, store blobs.Store) {
	const large = 1 << 30
	content := Content(1_300_003)
	var mark blobs.Mark
	for _, step := range []struct {
		size   int
		ending error
		most   int64
	}{
		{0, io.EOF, large}, {1, io.EOF, large}, {300_000, errCut, large}, {0, errCut, large}, {256 << 10, io.EOF, 256 << 10},
		{300_000, io.EOF, 200_000}, {1, io.EOF, 1}, {300_000, io.EOF, large},
	} {
		end := min(len(content), int(mark.Size)+step.size)
		mark = add(t, store, "A", mark, content[mark.Size:end], step.ending, step.most)
	}
	if mark.Size == int64(len(content)) {
		t.Error("the steps leave nothing for the last part")
	}
	add(t, store, "A", mark, []byte("lost and written over"), errCut, large)
	mark = add(t, store, "A", mark, content[mark.Size:], io.EOF, large)
	add(t, store, "B", blobs.Mark{}, []byte("another"), io.EOF, large)
	if digest, err := mark.Digest(); err != nil || digest != digestOf(content) {
		t.Errorf("the mark has the digest %s, %v", digest, err)
	}
	wantParts(t, store, "A", "B")
	if _, err := store.Stat(digestOf(content)); !errors.Is(err, blobs.ErrNotFound) {
		t.Errorf("before it is placed: %v", err)
	}
	whole := wholeOf(t, store, "A", mark)
	if whole.Digest() != digestOf(content) || whole.Size() != int64(len(content)) || !bytes.Equal(whole.Head(), content[:blobs.HeadSize]) {
		t.Errorf("the whole has digest %s, %d bytes and a head of %d", whole.Digest(), whole.Size(), len(whole.Head()))
	}
	if err := errors.Join(whole.Discard(), whole.Withdraw(func() error { return nil })); err != nil {
		t.Error(err)
	}
	for range 2 { // whoever had no answer does it again
		if err := wholeOf(t, store, "A", mark).Place(); err != nil {
			t.Fatal(err)
		}
		wantContent(t, store, content)
	}
	wantParts(t, store, "A", "B")
	if err := errors.Join(store.DropPart("A"), store.DropPart("B"), store.DropPart("B")); err != nil {
		t.Error(err)
	}
	wantParts(t, store)
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

func wholeOf(t *testing.T, store blobs.Parts, name string, mark blobs.Mark) blobs.Staged {
	t.Helper()
	whole, err := store.WholePart(name, mark)
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

func wantParts(t *testing.T, store blobs.Parts, want ...string) {
	t.Helper()
	var got []string
	err := store.WalkParts(t.Context(), func(name string) error {
		got = append(got, name)
		return nil
	})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("the parts are %q, want %q: %v", got, want, err)
	}
}

// testNoParts: what is not there is not taken for something that is.
func testNoParts(t *testing.T, store blobs.Store) {
	mark := add(t, store, "A", blobs.Mark{}, Content(100), io.EOF, 1000)
	for name, err := range map[string]error{
		"have": store.HavePart("B", mark),
		"add":  last(store.AddPart(t.Context(), "B", mark, bytes.NewReader([]byte("x")), 1)),
		"whole": func() error {
			_, err := store.WholePart("B", mark)
			return err
		}(),
	} {
		if !errors.Is(err, blobs.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := errors.Join(store.HavePart("A", mark), store.HavePart("B", blobs.Mark{})); err != nil {
		t.Error(err)
	}
	if _, err := store.WholePart("A", blobs.Mark{Size: 100, Hash: "nonsense"}); !errors.Is(err, blobs.ErrDamaged) {
		t.Errorf("a mark that means nothing: %v", err)
	}
	if err := wholeOf(t, store, "empty", blobs.Mark{}).Place(); err != nil {
		t.Error(err)
	}
	wantContent(t, store, nil)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := store.AddPart(ended, "A", mark, bytes.NewReader(Content(9)), 9); !errors.Is(err, context.Canceled) || got != mark {
		t.Errorf("for nobody: %+v, %v", got, err)
	}
	if err := errors.Join(store.CutPart("A", mark), store.CutPart("B", blobs.Mark{}), store.CutPart("B", mark)); err != nil {
		t.Errorf("cutting: %v", err)
	}
	confirm := func() error { return nil }
	whole := wholeOf(t, store, "A", mark)
	if err := errors.Join(whole.Withdraw(confirm), store.HavePart("A", mark), whole.Discard(), store.HavePart("A", mark)); err != nil {
		t.Errorf("before it has been placed: %v", err)
	}
	if err := errors.Join(wholeOf(t, store, "A", mark).Place(), wholeOf(t, store, "A", mark).Withdraw(confirm)); err != nil {
		t.Errorf("withdraw: %v", err)
	}
	if _, err := store.Stat(digestAt(t, mark)); !errors.Is(err, blobs.ErrNotFound) {
		t.Errorf("what was placed has been withdrawn, and is there: %v", err)
	}
	if err := errors.Join(store.HavePart("A", mark), store.DropPart("A")); err != nil {
		t.Errorf("what was placed has been withdrawn, but not the part: %v", err)
	}
	if _, err := store.WholePart("A", mark); !errors.Is(err, blobs.ErrNotFound) {
		t.Errorf("after it has been withdrawn and dropped: %v", err)
	}
}

func digestAt(t *testing.T, mark blobs.Mark) blobs.Digest {
	t.Helper()
	digest, err := mark.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

func last(_ blobs.Mark, err error) error { return err }
