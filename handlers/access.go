package handlers

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"math"
	"net/http"
	"runtime/debug"
	"time"

	"labshelf/auth"
)

const requestIDHeader = "X-Request-Id"

// chunk is how much of a file is handed to the network under one deadline. Smaller ones cost more calls, larger ones take slow
// clients for stalled ones.
const chunk = 64 << 10

// response is the ResponseWriter of every request. It counts for the log, and moves the write deadline forward whenever the
// client takes something: time limits follow progress, not total time. It keeps ReadFrom (so that files go out by sendfile),
// Flush and Unwrap.
type response struct {
	http.ResponseWriter
	control *http.ResponseController
	body    *progressBody
	stall   time.Duration
	status  int
	bytes   int64
	caller  auth.Principal
	err     error
}

func (w *response) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
	}
	if w.body != nil && !w.body.ended {
		// Or the server would first wait for the rest of the body, which a client that waits for the answer never sends.
		w.Header().Set("Connection", "close")
	}
	w.extend()
	w.ResponseWriter.WriteHeader(status)
}

func (w *response) Write(p []byte) (written int, err error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	for first := true; err == nil && (first || len(p) > written); first = false {
		w.extend()
		var n int
		n, err = w.ResponseWriter.Write(p[written:min(len(p), written+chunk)])
		written += n
	}
	w.bytes += int64(written)
	return written, err
}

// ReadFrom sends src in chunks, each under a deadline of its own. Below it the network takes a file straight from the kernel
// only as the one limited reader around it, so a limit that is there already is shortened, not wrapped.
func (w *response) ReadFrom(src io.Reader) (sent int64, err error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	whole, limited := src.(*io.LimitedReader)
	if !limited {
		whole = &io.LimitedReader{R: src, N: math.MaxInt64}
	}
	for whole.N > 0 {
		w.extend()
		part := &io.LimitedReader{R: whole.R, N: min(chunk, whole.N)}
		n, err := io.Copy(w.ResponseWriter, part)
		sent, whole.N, w.bytes = sent+n, whole.N-n, w.bytes+n
		if err != nil || part.N > 0 { // an error, or the end of src
			return sent, err
		}
	}
	return sent, nil
}

// Flush sends what is buffered.
func (w *response) Flush() { _ = w.control.Flush() }

// Unwrap lets http.ResponseController find the connection.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *response) extend() {
	if w.stall > 0 {
		_ = w.control.SetWriteDeadline(time.Now().Add(w.stall)) // a writer without deadlines has no stalling client either
	}
}

// progressBody is the body of a request that must not stall.
type progressBody struct {
	io.ReadCloser
	control *http.ResponseController
	stall   time.Duration
	ended   bool // it has been read to its end, or there is none
}

func (b *progressBody) Read(p []byte) (int, error) {
	if b.stall > 0 {
		_ = b.control.SetReadDeadline(time.Now().Add(b.stall))
	}
	n, err := b.ReadCloser.Read(p)
	if b.ended = err == io.EOF; b.ended && b.stall > 0 {
		_ = b.control.SetReadDeadline(time.Time{}) // or the connection would be broken while the answer is made
	}
	return n, err
}

// access wraps everything: request id, progress deadlines, panics, one line of log for each request.
func (a *api) access(next http.Handler) http.Handler {
	return http.HandlerFunc(func(plain http.ResponseWriter, r *http.Request) {
		start := time.Now()
		control := http.NewResponseController(plain)
		body := &progressBody{ReadCloser: r.Body, control: control, stall: a.config.Stall, ended: r.Body == nil || r.Body == http.NoBody}
		w := &response{ResponseWriter: plain, control: control, body: body, stall: a.config.Stall}
		id := rand.Text()
		w.Header().Set(requestIDHeader, id)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if !body.ended {
			// The server looks at the body of its own request to see whether the client still waits to send it.
			r = r.WithContext(r.Context())
			r.Body = body
		}
		defer func() {
			fault := recover()
			if fault != nil && fault != http.ErrAbortHandler {
				a.config.Log.Error().Str("request", id).Interface("panic", fault).Bytes("stack", debug.Stack()).Msg("a handler panicked")
			}
			if fault != nil && fault != http.ErrAbortHandler && w.status == 0 {
				writeProblem(w, r, errors.New("panic"))
				fault = nil
			}
			a.logRequest(w, r, id, time.Since(start))
			if fault != nil {
				panic(http.ErrAbortHandler) // cuts the connection, so that nobody takes half an answer for a whole one
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// logRequest writes the access log. The query is left out, and a path with a key in it: people put secrets there.
func (a *api) logRequest(w *response, r *http.Request, id string, took time.Duration) {
	path := r.URL.Path
	if hasKey(path) {
		path = "(holds a key)"
	}
	event := a.config.Log.Info()
	if w.status >= http.StatusInternalServerError || w.err != nil {
		event = a.config.Log.Error().AnErr("error", w.err)
	}
	if w.caller.Username != "" {
		event = event.Str("user", w.caller.Username)
	}
	event.Str("request", id).Str("method", r.Method).Str("path", path).Int("status", w.status).
		Int64("bytes", w.bytes).Dur("ms", took).Str("from", r.RemoteAddr).Msg("request")
}

// noteCaller tells the log who called.
func noteCaller(w http.ResponseWriter, caller auth.Principal) {
	if logged, ok := w.(*response); ok {
		logged.caller = caller
	}
}

// noteError tells the log what went wrong, where that is more than the answer says.
func noteError(w http.ResponseWriter, err error, status int) {
	if logged, ok := w.(*response); ok && status >= http.StatusInternalServerError {
		logged.err = err
	}
}

// place is where a request goes, once its page token is cut off.
type place struct{ path, token string }

type placeKey struct{}

// atPath returns the request as the router is to see it.
func atPath(r *http.Request, path, token string) *http.Request {
	routed := r.WithContext(context.WithValue(r.Context(), placeKey{}, place{path, token}))
	url := *r.URL
	url.Path, url.RawPath = path, ""
	routed.URL = &url
	return routed
}

func placeOf(r *http.Request) (path, token string) {
	at, _ := r.Context().Value(placeKey{}).(place)
	return at.path, at.token
}
