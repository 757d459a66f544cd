package handlers

import (
	"cmp"
	"errors"
	"net/http"

	"labshelf/repository"
)

// statuses is the one place that says which HTTP status a kind of error has.
var statuses = map[repository.Kind]int{
	repository.Internal:           http.StatusInternalServerError,
	repository.Invalid:            http.StatusBadRequest,
	repository.Unauthenticated:    http.StatusUnauthorized,
	repository.Forbidden:          http.StatusForbidden,
	repository.NotFound:           http.StatusNotFound,
	repository.MethodNotAllowed:   http.StatusMethodNotAllowed,
	repository.TimedOut:           http.StatusRequestTimeout,
	repository.Conflict:           http.StatusConflict,
	repository.Gone:               http.StatusGone,
	repository.Precondition:       http.StatusPreconditionFailed,
	repository.TooLarge:           http.StatusRequestEntityTooLarge,
	repository.UnsupportedMedia:   http.StatusUnsupportedMediaType,
	repository.UnsatisfiableRange: http.StatusRequestedRangeNotSatisfiable,
	repository.NoSpace:            http.StatusInsufficientStorage,
	repository.Unavailable:        http.StatusServiceUnavailable,
	repository.Misdirected:        http.StatusMisdirectedRequest,
	repository.TooManyRequests:    http.StatusTooManyRequests,
	repository.Locked:             http.StatusLocked,
	repository.ChecksumMismatch:   statusChecksumMismatch,
}

// statusChecksumMismatch is of the tus protocol alone.
const statusChecksumMismatch = 460

// problem is the body of every error (RFC 9457).
type problem struct {
	Type      string          `json:"type"`
	Title     string          `json:"title"`
	Status    int             `json:"status"`
	Detail    string          `json:"detail"`
	Code      repository.Code `json:"code"`
	Field     string          `json:"field,omitempty"`
	RequestID string          `json:"requestId"`
}

// shownError is what of an error may be told. What is not a *repository.Error is a fault of ours, and nothing of it leaves the
// service but the request id under which the log has it.
func shownError(err error) *repository.Error {
	var known *repository.Error
	if !errors.As(err, &known) {
		known = &repository.Error{Code: repository.CodeInternal, Message: "the service failed to do this; its log says why"}
	}
	return known
}

// writeProblem answers with an error.
func writeProblem(w http.ResponseWriter, r *http.Request, err error) {
	known := shownError(err)
	status := statuses[known.Kind]
	noteError(w, err, status)
	header := w.Header()
	switch {
	case status == http.StatusUnauthorized:
		header.Set("WWW-Authenticate", `Bearer realm="labshelf"`)
	case status == http.StatusServiceUnavailable, status == http.StatusLocked, known.Code == repository.CodeBusy:
		header.Set("Retry-After", "1")
	}
	for _, name := range []string{"ETag", "Last-Modified", "Content-Disposition", "Repr-Digest", "Cache-Control"} {
		header.Del(name)
	}
	if header.Get(tusResumable) != "" { // how an upload stands is another matter soon
		header.Set("Cache-Control", "no-store")
	}
	body := problem{
		Type: "about:blank", Title: cmp.Or(http.StatusText(status), "Checksum Mismatch"), Status: status,
		Detail: withoutKeys(known.Message), Code: known.Code, Field: withoutKeys(known.Field), RequestID: header.Get(requestIDHeader),
	}
	writeBody(w, status, "application/problem+json", encode(body))
}
