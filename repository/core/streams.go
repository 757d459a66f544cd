package core

import (
	"errors"
	"io"

	"labshelf/auth/errs"
)

// A long answer, and a long body, end with the right that they began with: their sender asks again
// after each part. A part of StreamPart bytes costs one read transaction, in which a caller that
// has not changed is not looked up.

// StreamPart is how many bytes of a stream are transferred before the right to them is asked for
// again.
const StreamPart = 4 << 20

// Revoked passes on the refusals that end a stream. Any other error ends none: the question is
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

// Watch returns a stream from which is read as long as still returns no error.
func Watch(from io.Reader, still func() error) *watched { return &watched{from, StreamPart, still} }

// Read implements io.Reader. The refusal of still is its error.
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

// watchedFile is a file that is sent as a watched stream.
type watchedFile struct {
	io.ReadSeekCloser
	stream *watched
}

func (f watchedFile) Read(p []byte) (int, error) { return f.stream.Read(p) }

// WatchFile returns a file that is sent as a watched stream.
func WatchFile(file io.ReadSeekCloser, still func() error) io.ReadSeekCloser {
	return watchedFile{file, Watch(file, still)}
}
