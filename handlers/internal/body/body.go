// Package body reads the bodies of requests: JSON objects and multipart forms, strictly, with the
// digests that their headers announce. Its errors are [errs.Error] that say what is wrong with a
// body.
package body

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"regexp"
	"sync"

	"labshelf/auth/errs"
	"labshelf/repository/core"
)

// Invalid returns the error of a body that cannot be read.
func Invalid(format string, args ...any) *errs.Error {
	return &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidBody, Message: fmt.Sprintf(format, args...)}
}

// InvalidField returns the error of a value that a field, part or key of a body does not take.
func InvalidField(name, message string) error {
	return &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidField, Field: core.Shorten(name), Message: message}
}

// Error returns the error for the client of one that occurred while a body was read. nil stays nil,
// an [errs.Error] as it is.
func Error(err error) error {
	var known *errs.Error
	var tooLarge *http.MaxBytesError
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case errors.As(err, &tooLarge):
		return &errs.Error{Kind: errs.TooLarge, Code: errs.CodeTooLarge,
			Message: fmt.Sprintf("the body is larger than the %d bytes that are read here", tooLarge.Limit), Err: err}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &errs.Error{Kind: errs.TimedOut, Code: errs.CodeTimeout, Message: "the body stalled, or was sent too slowly", Err: err}
	}
	return &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidBody, Message: "the body is cut off or malformed", Err: err}
}

// MediaType returns the parameters of the body's media type, and refuses one that is not the wanted
// one or has a Content-Encoding.
func MediaType(r *http.Request, want string) (map[string]string, error) {
	media, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) || media != want || r.Header.Get("Content-Encoding") != "" {
		return nil, &errs.Error{Kind: errs.UnsupportedMedia, Code: errs.CodeUnsupportedMedia,
			Message: "the body of this request must be " + want + ", without a Content-Encoding"}
	}
	return params, nil
}

// boundary returns the parameters of a multipart form, which name a boundary. RFC 2045 wants quotes
// around one with signs such as =, which some clients leave out: it is read as it is.
func boundary(r *http.Request) (map[string]string, error) {
	params, err := MediaType(r, "multipart/form-data")
	if err == nil && params["boundary"] != "" {
		return params, nil // as nearly always, without the expression
	}
	sent := r.Header.Get("Content-Type")
	if bare := unquoted().FindStringSubmatch(sent); bare != nil {
		r.Header.Set("Content-Type", bare[1]+`"`+bare[2]+`"`+bare[3])
		defer r.Header.Set("Content-Type", sent)
		params, err = MediaType(r, "multipart/form-data")
	}
	if err == nil && params["boundary"] == "" {
		err = Invalid("the Content-Type must name the boundary of the parts: multipart/form-data; boundary=NAME, in quotes if it has signs other than letters, digits and '+_-. in it; got %q", core.Shorten(sent))
	}
	return params, err
}

// unquoted is a Content-Type with a boundary of the characters of RFC 2046 that is not in quotes.
var unquoted = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?i)(multipart/form-data\s*;(?:.*;)?\s*boundary=)([0-9A-Za-z'()+_,./:=?-]{1,70})\s*(;.*)?$`)
})

// Reader reads a body, or a part of one, with errors for clients.
type Reader struct{ Body io.Reader }

// Read implements [io.Reader].
func (r Reader) Read(p []byte) (int, error) {
	n, err := r.Body.Read(p)
	if err != nil && err != io.EOF {
		err = Error(err)
	}
	return n, err
}
