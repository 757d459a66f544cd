package body

import (
	"bytes"
	"errors"
	"io"
	"net/http"
)

// Empty reports whether a request has no body. For a chunked body, whose length is unknown, it
// reads the first byte and puts it back.
func Empty(r *http.Request) (bool, error) {
	if r.ContentLength >= 0 {
		return r.ContentLength == 0, nil
	}
	first := make([]byte, 1)
	_, err := io.ReadFull(r.Body, first)
	switch {
	case errors.Is(err, io.EOF):
		return true, nil
	case err != nil:
		return false, Error(err)
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(first), r.Body), r.Body}
	return false, nil
}
