package body

import (
	"bytes"
	"errors"
	"io"
	"net/http"
)

// Empty reports whether a request has no body. A chunked body does not announce its length: its
// first byte is read, and is there for whoever reads the body afterwards.
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
