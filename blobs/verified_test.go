package blobs_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"labshelf/blobs"
	"labshelf/blobs/blobstest"
)

// opened is an open blob in memory.
type opened struct{ io.ReadSeeker }

func (opened) Close() error { return nil }

func blobOf(content []byte) blobs.Blob {
	return blobs.Blob{Digest: sha256.Sum256(content), Size: int64(len(content))}
}

func verified(content, stored []byte) *blobs.Verified {
	return blobs.NewVerified(opened{bytes.NewReader(stored)}, blobOf(content))
}

// TestVerified changes the first, a middle and the last byte of a blob. No reader gets all bytes
// without an error, with reads of any size, and also after it has read the beginning.
func TestVerified(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 2, 1000, 100_000} {
		content := blobstest.Content(size)
		for _, at := range []int{-1, 0, size / 2, size - 1} {
			stored := bytes.Clone(content)
			want := error(nil)
			if at >= 0 {
				stored[at] ^= 1
				want = blobs.ErrDamaged
			}
			for way, reading := range map[string]func(io.Reader) io.Reader{
				"plain": func(r io.Reader) io.Reader { return r }, "halves": iotest.HalfReader, "end with the data": iotest.DataErrReader,
			} {
				file := verified(content, stored)
				if _, err := io.CopyN(io.Discard, file, int64(size/2)); err != nil {
					t.Fatal(err)
				}
				if _, err := file.Seek(0, io.SeekStart); err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(reading(file))
				if !errors.Is(err, want) || want == nil && !bytes.Equal(got, content) || want != nil && len(got) >= size {
					t.Errorf("%d bytes, byte %d changed, %s: read %d bytes and %v", size, at, way, len(got), err)
				}
			}
			into := make([]byte, size)
			if err := verified(content, stored).ReadWhole(into); !errors.Is(err, want) || !bytes.Equal(into, stored) {
				t.Errorf("%d bytes, byte %d changed: read in one call with %v", size, at, err)
			}
		}
		if _, err := io.ReadAll(verified(content, content[:size-1])); !errors.Is(err, blobs.ErrDamaged) {
			t.Errorf("%d bytes, one missing: got %v, want ErrDamaged", size, err)
		}
		if _, err := io.ReadAll(verified(content, append(bytes.Clone(content), 0))); !errors.Is(err, blobs.ErrDamaged) {
			t.Errorf("%d bytes, one too many: got %v, want ErrDamaged", size, err)
		}
		if err := verified(content, content[:size-1]).ReadWhole(make([]byte, size)); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes, one missing: read in one call with %v, want ErrUnexpectedEOF", size, err)
		}
	}
	if got, err := io.ReadAll(verified(nil, nil)); len(got) != 0 || err != nil {
		t.Errorf("an empty blob: read %d bytes and %v", len(got), err)
	}
}

// TestVerifiedPart tests that a part of a blob is read unverified.
func TestVerifiedPart(t *testing.T) {
	t.Parallel()
	content := blobstest.Content(1000)
	stored := bytes.Clone(content)
	stored[0] ^= 1
	file := verified(content, stored)
	if _, err := file.Seek(500, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(file); err != nil || !bytes.Equal(got, content[500:]) {
		t.Errorf("a sound part of a damaged blob: read %d bytes and %v", len(got), err)
	}
}

// TestReadWholeAgain tests that a blob with a wrong byte is read again.
func TestReadWholeAgain(t *testing.T) {
	t.Parallel()
	content := blobstest.Content(1000)
	for wrong, want := range []error{nil, nil, blobs.ErrDamaged} {
		file := blobs.NewVerified(&wrongAtFirst{opened{bytes.NewReader(content)}, wrong}, blobOf(content))
		if err := file.ReadWhole(make([]byte, len(content))); !errors.Is(err, want) {
			t.Errorf("%d wrong reads: got %v, want %v", wrong, err, want)
		}
	}
}

// wrongAtFirst is an open blob whose first reads have a wrong byte.
type wrongAtFirst struct {
	opened
	wrong int
}

func (w *wrongAtFirst) Read(p []byte) (int, error) {
	n, err := w.opened.Read(p)
	if w.wrong--; n > 0 && w.wrong >= 0 {
		p[0] ^= 1
	}
	return n, err
}
