package core

import (
	"errors"
	"io"

	"labshelf/auth/errs"
)

// Long responses and long request bodies end when the caller loses the right to them, which is
// checked after each part. A check costs one read transaction, in which an unchanged caller is not
// read again.

// StreamPart is the number of bytes of a stream between two checks of the right to it.
const StreamPart = 4 << 20

// Revoked returns err if it ends a stream, and nil for any other error, after which the check is
// repeated after the next part.
func Revoked(err error) error {
	if refusal, is := errors.AsType[*errs.Error](err); is {
		switch refusal.Kind {
		case errs.Unauthenticated, errs.Forbidden, errs.NotFound, errs.Gone:
			return err
		}
	}
	return nil
}

// watched is a stream that ends with the right to it. still is called after each part.
type watched struct {
	io.Reader
	left  int64
	still func() error
}

// Watch returns a stream that can be read as long as still returns nil.
func Watch(from io.Reader, still func() error) *watched { return &watched{from, StreamPart, still} }

// Read implements io.Reader. It returns the error of still.
func (w *watched) Read(p []byte) (int, error) {
	if w.left <= 0 {
		if err := w.still(); err != nil {
			return 0, err
		}
		w.left = StreamPart
	}
	n, err := w.Reader.Read(p)
	w.left -= int64(n)
	return n, err
}

// watchedFile is a file that is read as a watched stream.
type watchedFile struct {
	io.ReadSeekCloser
	stream *watched
}

func (f watchedFile) Read(p []byte) (int, error) { return f.stream.Read(p) }

// WatchFile returns a file that is read as a watched stream.
func WatchFile(file io.ReadSeekCloser, still func() error) io.ReadSeekCloser {
	return watchedFile{file, Watch(file, still)}
}
