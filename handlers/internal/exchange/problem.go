package exchange

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"labshelf/auth/admission"
	"labshelf/auth/errs"
	"labshelf/handlers/internal/encode"
	"labshelf/handlers/internal/redact"
	"labshelf/handlers/wire"
)

// statuses maps each kind of error to its HTTP status.
var statuses = map[errs.Kind]int{
	errs.Internal:           http.StatusInternalServerError,
	errs.Invalid:            http.StatusBadRequest,
	errs.Unauthenticated:    http.StatusUnauthorized,
	errs.Forbidden:          http.StatusForbidden,
	errs.NotFound:           http.StatusNotFound,
	errs.MethodNotAllowed:   http.StatusMethodNotAllowed,
	errs.TimedOut:           http.StatusRequestTimeout,
	errs.Conflict:           http.StatusConflict,
	errs.Gone:               http.StatusGone,
	errs.Precondition:       http.StatusPreconditionFailed,
	errs.TooLarge:           http.StatusRequestEntityTooLarge,
	errs.UnsupportedMedia:   http.StatusUnsupportedMediaType,
	errs.UnsatisfiableRange: http.StatusRequestedRangeNotSatisfiable,
	errs.NoSpace:            http.StatusInsufficientStorage,
	errs.Unavailable:        http.StatusServiceUnavailable,
	errs.Misdirected:        http.StatusMisdirectedRequest,
	errs.TooManyRequests:    http.StatusTooManyRequests,
	errs.Locked:             http.StatusLocked,
	errs.ChecksumMismatch:   statusChecksumMismatch,
}

// statusChecksumMismatch is a status of the tus protocol.
const statusChecksumMismatch = 460

// Status returns the HTTP status of a kind of error.
func Status(kind errs.Kind) int { return statuses[kind] }

// tusResumable is a header of all answers of the tus protocol.
const tusResumable = "Tus-Resumable"

// PublicError returns the part of an error that a client may see. Any error other than *errs.Error
// is a fault of the service. For a fault the client only receives the request id, under which the
// log has the error.
func PublicError(err error) *errs.Error {
	var known *errs.Error
	if !errors.As(err, &known) {
		known = &errs.Error{Code: errs.CodeInternal, Message: "the request failed because of an error in the service; its log has the reason"}
	}
	return known
}

// RetryLater reports whether err says that the caller has used up its share of a budget. If so, it
// sets Retry-After and records this for the log and the observer.
func RetryLater(w http.ResponseWriter, err error) bool {
	var refusal *admission.Refusal
	if !errors.As(err, &refusal) {
		return false
	}
	w.Header().Set("Retry-After", strconv.Itoa(int(refusal.After.Seconds())))
	noteOverBudget(w, refusal)
	return true
}

// WriteProblem answers with an error.
func WriteProblem(w http.ResponseWriter, r *http.Request, err error) {
	known := PublicError(err)
	status := statuses[known.Kind]
	header := w.Header()
	refused := RetryLater(w, err)
	if !refused && status >= http.StatusInternalServerError {
		NoteError(w, err)
	}
	switch {
	case refused:
	case status == http.StatusUnauthorized && header.Get("WWW-Authenticate") == "":
		header.Set("WWW-Authenticate", `Bearer realm="labshelf"`)
	case status == http.StatusServiceUnavailable, status == http.StatusLocked, known.Code == errs.CodeBusy:
		header.Set("Retry-After", "1")
	case status == http.StatusTooManyRequests && header.Get("Retry-After") == "": // for example, a link has too many unfinished uploads
		header.Set("Retry-After", "5")
	}
	for _, name := range []string{"ETag", "Last-Modified", "Content-Disposition", "Repr-Digest", "Cache-Control"} {
		header.Del(name)
	}
	if header.Get(tusResumable) != "" || slices.Contains(header["Vary"], VaryByCaller) { // the progress of an upload changes soon, and so may a permission
		header.Set("Cache-Control", "no-store")
	}
	body := wire.Problem{
		Type: "about:blank", Title: cmp.Or(http.StatusText(status), "Checksum Mismatch"), Status: status,
		Detail: redact.Keys(known.Message), Code: known.Code, Field: redact.Keys(known.Field), RequestID: header.Get(RequestIDHeader),
	}
	Write(w, status, "application/problem+json", encode.JSON(body))
}

// ErrNoSuchPath is the error for an unknown address.
var ErrNoSuchPath = &errs.Error{Kind: errs.NotFound, Code: errs.CodeNotFound, Message: "there is nothing at this address"}

// ErrMethod is the error for a method that an address does not support.
var ErrMethod = &errs.Error{
	Kind: errs.MethodNotAllowed, Code: errs.CodeMethodNotAllowed, Message: "the Allow header lists the methods that this address accepts",
}
