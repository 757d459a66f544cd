// Package body reads the bodies of requests: JSON objects and multipart forms. It parses them
// strictly and verifies the announced digests. Its errors are [errs.Error] with the reason.
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

// Invalid returns the error for an invalid body.
func Invalid(format string, args ...any) *errs.Error {
	return &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidBody, Message: fmt.Sprintf(format, args...)}
}

// InvalidField returns the error for an invalid value of a field, part or key of a body.
func InvalidField(name, message string) error {
	return &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidField, Field: core.Shorten(name), Message: message}
}

// Error converts an error of reading a body into an error for the client. It returns nil and
// [errs.Error] unchanged.
func Error(err error) error {
	var known *errs.Error
	var tooLarge *http.MaxBytesError
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case errors.As(err, &tooLarge):
		return &errs.Error{Kind: errs.TooLarge, Code: errs.CodeTooLarge,
			Message: fmt.Sprintf("the body is larger than %d bytes, the maximum here", tooLarge.Limit), Err: err}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &errs.Error{Kind: errs.TimedOut, Code: errs.CodeTimeout, Message: "the body stalled, or was sent too slowly", Err: err}
	}
	return &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidBody, Message: "the body is incomplete or malformed", Err: err}
}

// MediaType returns the parameters of the body's media type. It returns an error for another media
// type than want, or a Content-Encoding.
func MediaType(r *http.Request, want string) (map[string]string, error) {
	media, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) || media != want || r.Header.Get("Content-Encoding") != "" {
		return nil, &errs.Error{Kind: errs.UnsupportedMedia, Code: errs.CodeUnsupportedMedia,
			Message: "the body of this request must be " + want + ", without a Content-Encoding"}
	}
	return params, nil
}

// boundary returns the parameters of a multipart form, including the boundary. RFC 2045 requires
// quotes around boundaries with characters such as =. Some clients omit them, and boundary accepts
// that.
func boundary(r *http.Request) (map[string]string, error) {
	params, err := MediaType(r, "multipart/form-data")
	if err == nil && params["boundary"] != "" {
		return params, nil // the usual case, which needs no regular expression
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

// unquoted matches a Content-Type with an unquoted boundary of RFC 2046 characters.
var unquoted = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?i)(multipart/form-data\s*;(?:.*;)?\s*boundary=)([0-9A-Za-z'()+_,./:=?-]{1,70})\s*(;.*)?$`)
})

// Reader reads a body, or a part of one. Its errors are for clients.
type Reader struct{ Body io.Reader }

// Read implements [io.Reader].
func (r Reader) Read(p []byte) (int, error) {
	n, err := r.Body.Read(p)
	if err != nil && err != io.EOF {
		err = Error(err)
	}
	return n, err
}
