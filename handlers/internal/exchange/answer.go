package exchange

import (
	"io"
	"net/http"
	"strconv"
	"strings"

	"labshelf/handlers/internal/encode"
)

// JSONType is the media type of the API.
const JSONType = "application/json; charset=utf-8"

// Write answers with a body. It ignores errors, which mean that the client is gone.
func Write(w http.ResponseWriter, status int, contentType string, body []byte) {
	_ = Send(w, status, contentType, body)
}

// Send is like Write for a body in a pooled buffer. The buffer must not be reused after an error:
// HTTP/2 returns an error as soon as the client resets the stream, and may read the buffer after
// that.
func Send(w http.ResponseWriter, status int, contentType string, body []byte) error {
	header := w.Header()
	header.Set("Content-Type", contentType)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, err := w.Write(body)
	return err
}

// WriteJSON answers with the JSON of a value.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	Write(w, status, JSONType, encode.JSON(v))
}

// WriteRecord answers with an object and the ETag of its version.
func WriteRecord(w http.ResponseWriter, r *Request, status int, tag string, v any) {
	if !NotModified(w, r, tag) {
		WriteJSON(w, status, v)
	}
}

// NotModified sets the ETag of a version. If the client has that version, it answers 304 and
// returns true.
func NotModified(w http.ResponseWriter, r *Request, tag string) bool {
	w.Header().Set("ETag", `"`+tag+`"`)
	reading := r.Method == http.MethodGet || r.Method == http.MethodHead
	if !reading || !weakTags(r.Header.Values("If-None-Match")).Has(tag) {
		return false
	}
	w.WriteHeader(http.StatusNotModified)
	return true
}

// WriteCreated answers with a new object.
func WriteCreated(w http.ResponseWriter, r *Request, url, tag string, v any) {
	w.Header().Set("Location", url)
	WriteRecord(w, r, http.StatusCreated, tag, v)
}

// WriteNothing answers a deletion, with the tag of the deleted record if it has versions. If err is
// not nil, it returns err and answers nothing.
func WriteNothing(w http.ResponseWriter, tag string, err error) error {
	if err == nil {
		if tag != "" {
			w.Header().Set("ETag", `"`+tag+`"`)
		}
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}

// SetAll sets headers from pairs of canonical name and value. The values share one allocation,
// while [http.Header.Set] allocates for each. A download sets ten headers.
func SetAll(header http.Header, pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		header[pairs[i]] = pairs[i+1 : i+2 : i+2]
	}
}

// AcceptsGzip reports whether a client accepts gzip explicitly, with a weight above 0.
func AcceptsGzip(r *Request) bool {
	for offer := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		coding, weight, _ := strings.Cut(offer, ";")
		if strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			weight = strings.ReplaceAll(strings.ToLower(weight), " ", "")
			return strings.Trim(strings.TrimPrefix(weight, "q="), "0.") != "" || !strings.HasPrefix(weight, "q=0")
		}
	}
	return false
}

// StartedWriter records whether anything has been written.
type StartedWriter struct {
	io.Writer
	Started bool
}

// Write implements [io.Writer].
func (b *StartedWriter) Write(p []byte) (int, error) {
	b.Started = true
	return b.Writer.Write(p)
}
