package s3_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/iotest"

	"labshelf/blobs"
	"labshelf/blobs/s3"
	"labshelf/internal/servers"
)

const part = 8 << 20 // part size of a resumable upload

var errCut = errors.New("cut off")

// upload is a resumable upload whose chunks go to alternating nodes.
type upload struct {
	*testing.T
	nodes   []*s3.Store
	content []byte
	p       blobs.Partial
	chunks  int
}

func newUpload(t *testing.T, size int) *upload {
	server := servers.StartS3(t)
	address := "s3://" + server.Bucket(t) + "/prefix"
	u := &upload{T: t, content: content(size), p: blobs.Partial{Name: "A", Length: int64(size)}}
	for range 2 {
		u.nodes = append(u.nodes, openAt(t, address, options(server)))
	}
	return u
}

// node returns the node of the next chunk.
func (u *upload) node() *s3.Store { return u.nodes[u.chunks%len(u.nodes)] }

// append sends the next bytes, from a reader that ends with the error ending. Like any user of the
// store, it deletes the objects that the checkpoint no longer names.
func (u *upload) append(size int, ending error) {
	u.Helper()
	u.chunks++
	r := io.Reader(bytes.NewReader(u.content[u.p.At.Size:][:size]))
	if ending != io.EOF {
		r = io.MultiReader(r, iotest.ErrReader(ending))
	}
	before := u.named()
	if err := u.node().CheckPartial(u.Context(), u.p); err != nil {
		u.Error(err)
	}
	at, err := u.node().AppendPartial(u.Context(), u.p, r, u.p.Length-u.p.At.Size)
	if want := u.p.At.Size + int64(size); !errors.Is(err, ending) && (err != nil || want != u.p.Length) || at.Size != want {
		u.Fatalf("after %d bytes at %d, the checkpoint is at %d: %v", size, u.p.At.Size, at.Size, err)
	}
	u.p.At = at
	after := u.named()
	for _, o := range before {
		if !slices.ContainsFunc(after, func(kept blobs.Object) bool { return kept.Name == o.Name }) {
			if err := u.node().DeleteObject(u.Context(), o); err != nil {
				u.Error(err)
			}
		}
	}
	var there []string
	for _, o := range after {
		there = append(there, o.Name)
	}
	slices.Sort(there)
	if got := names(objects(u, u.node())); !slices.Equal(slices.Sorted(slices.Values(got)), there) {
		u.Errorf("after %d bytes, the objects are %q, but the checkpoint names %q", at.Size, got, there)
	}
}

func (u *upload) named() []blobs.Object {
	u.Helper()
	all, err := u.node().PartialObjects(u.p.At)
	if err != nil {
		u.Fatal(err)
	}
	return all
}

// finish commits the body twice, and reads it.
func (u *upload) finish() blobs.Content {
	u.Helper()
	var done blobs.Content
	for range 2 {
		u.chunks++
		staged, err := u.node().StagePartial(u.Context(), u.p)
		if err != nil {
			u.Fatal(err)
		}
		if head := u.content[:min(len(u.content), blobs.HeadSize)]; !bytes.Equal(staged.Content().Head, head) {
			u.Errorf("the head has %d bytes", len(staged.Content().Head))
		}
		if done, err = staged.Commit(u.Context()); err != nil {
			u.Fatal(err)
		}
		if err := staged.Discard(); err != nil {
			u.Error(err)
		}
		wantBody(u.T, u.node(), done.Blob, u.content)
	}
	if err := u.node().CheckPartial(u.Context(), u.p); err != nil {
		u.Error("after the upload is complete:", err)
	}
	if done.Digest != sha256.Sum256(u.content) || !slices.ContainsFunc(u.named(), func(o blobs.Object) bool { return o.Name == done.Object }) {
		u.Errorf("the blob is %+v, but the checkpoint names %+v", done.Blob, u.named())
	}
	return done
}

func TestPartial(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		size    int
		chunks  []int // the last chunk has the remaining bytes
		uploads int   // multipart uploads in progress
	}{
		"one chunk":                {100, nil, 0},
		"one part in three chunks": {part, []int{100, part / 2}, 0},
		"one byte more":            {part + 1, []int{part}, 1},
		"parts exactly":            {3 * part, []int{part, part}, 1},
		"chunks cut anywhere":      {3*part + 77, []int{1, part, 10, part - 20, part}, 1},
		"all in one chunk":         {2*part + 77, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUpload(t, test.size)
			for i, size := range test.chunks {
				u.append(size, []error{io.EOF, errCut}[i%2])
			}
			u.append(test.size-int(u.p.At.Size), io.EOF)
			uploads := 0
			for _, o := range objects(t, u.node()) {
				if o.Upload != "" {
					uploads++
				}
			}
			if uploads != test.uploads {
				t.Errorf("%d multipart uploads, want %d", uploads, test.uploads)
			}
			u.finish()
		})
	}
}

// TestPartialEmpty tests that an empty body is stored when it is complete.
func TestPartialEmpty(t *testing.T) {
	t.Parallel()
	u := newUpload(t, 0)
	if at, err := u.node().AppendPartial(t.Context(), u.p, bytes.NewReader(nil), 1); err != io.EOF || at != u.p.At {
		t.Errorf("%+v, %v", at, err)
	}
	staged, err := u.node().StagePartial(t.Context(), u.p)
	if err != nil {
		t.Fatal(err)
	}
	done, err := staged.Commit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wantBody(t, u.node(), done.Blob, nil)
}

// TestPartialLost tests that a missing object of a checkpoint is ErrNotFound.
func TestPartialLost(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]func(o blobs.Object) bool{
		"the upload": func(o blobs.Object) bool { return o.Upload != "" }, "the tail": func(o blobs.Object) bool { return o.Upload == "" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUpload(t, 3*part)
			u.append(part+100, errCut)
			u.append(part+100, errCut)
			for _, o := range u.named() {
				if lost(o) {
					if err := errors.Join(u.node().DeleteObject(t.Context(), o), u.node().DeleteObject(t.Context(), o)); err != nil {
						t.Fatal(err)
					}
				}
			}
			_, appending := u.node().AppendPartial(t.Context(), u.p, bytes.NewReader(content(part)), part)
			_, staging := u.node().StagePartial(t.Context(), u.p)
			for what, err := range map[string]error{"check": u.node().CheckPartial(t.Context(), u.p), "append": appending, "stage": staging} {
				if !errors.Is(err, blobs.ErrNotFound) {
					t.Errorf("%s: %v", what, err)
				}
			}
		})
	}
}

// TestPartialOverwritten tests a node that has lost its lock and overwrites an acknowledged part.
// The store detects this before it acknowledges anything.
func TestPartialOverwritten(t *testing.T) {
	t.Parallel()
	u := newUpload(t, 2*part)
	u.append(part, errCut)
	late := u.p
	u.append(int(u.p.Length-u.p.At.Size), io.EOF)
	other := content(part)
	if _, err := u.node().AppendPartial(t.Context(), late, bytes.NewReader(other), u.p.Length-late.At.Size); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		staged, err := u.node().StagePartial(t.Context(), u.p)
		if err == nil {
			_, err = staged.Commit(t.Context())
		}
		if !errors.Is(err, blobs.ErrNotFound) && !errors.Is(err, blobs.ErrUnavailable) {
			t.Errorf("parts of two nodes are combined in one blob: %v", err)
		}
	}
	if _, err := u.node().StagePartial(t.Context(), u.p); !errors.Is(err, blobs.ErrNotFound) {
		t.Errorf("the upload is not reported as lost: %v", err)
	}
}

// TestPartialContext tests that received bytes are kept, even if the request has ended.
func TestPartialContext(t *testing.T) {
	t.Parallel()
	u := newUpload(t, 1000)
	ctx, cancel := context.WithCancel(t.Context())
	r := io.MultiReader(bytes.NewReader(u.content[:300]), readerFunc(func([]byte) (int, error) { cancel(); return 0, nil }), bytes.NewReader(u.content[300:]))
	at, err := u.node().AppendPartial(ctx, u.p, r, 1000)
	if !errors.Is(err, context.Canceled) || at.Size != 300 {
		t.Fatalf("%d bytes count: %v", at.Size, err)
	}
	u.p.At = at
	u.append(700, io.EOF)
	u.finish()
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestPartialOfFolder tests a checkpoint of a blob folder from which the metadata were moved. It
// names no object.
func TestPartialOfFolder(t *testing.T) {
	t.Parallel()
	u := newUpload(t, 1000)
	u.append(500, errCut)
	u.p.At.Parts = ""
	_, appending := u.node().AppendPartial(t.Context(), u.p, bytes.NewReader(content(500)), 500)
	_, staging := u.node().StagePartial(t.Context(), u.p)
	for what, err := range map[string]error{"check": u.node().CheckPartial(t.Context(), u.p), "append": appending, "stage": staging} {
		if !errors.Is(err, blobs.ErrNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if all := u.named(); len(all) != 0 {
		t.Errorf("it names %+v", all)
	}
}

// TestPartialParts tests that an invalid checkpoint is ErrDamaged.
func TestPartialParts(t *testing.T) {
	t.Parallel()
	u := newUpload(t, 1000)
	u.append(500, errCut)
	for _, parts := range []string{"nonsense", "{}", `{"s":1}`, `{"s":8388608,"n":3,"t":"x","d":"eA=="}`} {
		at := blobs.Checkpoint{Size: 500, Hash: u.p.At.Hash, Parts: parts}
		_, naming := u.node().PartialObjects(at)
		_, appending := u.node().AppendPartial(t.Context(), blobs.Partial{Length: 1000, At: at}, bytes.NewReader(nil), 1)
		for _, err := range []error{naming, appending} {
			if !errors.Is(err, blobs.ErrDamaged) {
				t.Errorf("%q: %v", parts, err)
			}
		}
	}
}
