package handlers

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"labshelf/auth"
	"labshelf/repository"
)

const requestIDHeader = "X-Request-Id"

// access wraps everything: request id, progress deadlines, panics, one line of log for each request. Each request pays for all of
// it, with host, route and key: so what is the same as before is neither parsed nor copied again, which left 14 allocations of 31
// and two thirds of the time.
func (a *api) access(next http.Handler) http.Handler {
	return http.HandlerFunc(func(plain http.ResponseWriter, r *http.Request) {
		start := time.Now()
		control := http.NewResponseController(plain)
		body := &progressBody{ReadCloser: r.Body, pace: newPace(&a.config, r, control.SetReadDeadline), ended: r.Body == nil || r.Body == http.NoBody}
		w := &response{
			ResponseWriter: plain, control: control, body: body, buffers: a.buffers, pace: newPace(&a.config, r, control.SetWriteDeadline),
			line: lineOf(r),
		}
		id := rand.Text()
		w.Header().Set(requestIDHeader, id)
		a.secure(w.Header(), r)
		if !body.ended {
			// The server looks at the body of its own request to see whether the client still waits to send it.
			r = r.WithContext(r.Context())
			r.Body = body
		}
		defer func() {
			fault := recover()
			if fault != nil && fault != http.ErrAbortHandler {
				a.config.Log.Error().Str("request", id).Str("panic", fmt.Sprint(fault)).Bytes("stack", debug.Stack()).Msg("a handler panicked")
			}
			if fault != nil && fault != http.ErrAbortHandler && w.status == 0 {
				writeProblem(w, r, errors.New("panic"))
				fault = nil
			}
			took := time.Since(start)
			a.logRequest(w, r, id, took)
			a.observe(w, id, took)
			w.pace.wait() // what is still buffered goes out after this
			if fault != nil {
				panic(http.ErrAbortHandler) // cuts the connection, so that nobody takes half an answer for a whole one
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// logRequest writes the access log. People put secrets into queries and paths, and a page token tells what somebody looks at:
// the query is left out, so is what follows in the path, and of what is as long as a key only the beginning is kept.
func (a *api) logRequest(w *response, r *http.Request, id string, took time.Duration) {
	path := r.URL.Path
	if at := strings.Index(path, results); at >= 0 {
		path = path[:at+len(results)]
	}
	event := a.config.Log.Info()
	gone := errors.Is(w.err, context.Canceled) && r.Context().Err() != nil // and nobody is worse off
	if (w.status >= http.StatusInternalServerError || w.err != nil) && !gone {
		event = a.config.Log.Error()
	}
	event = event.AnErr("error", w.err)
	if w.caller.Username != "" {
		event = event.Str("user", w.caller.Username)
	}
	if w.status == http.StatusMisdirectedRequest {
		event = event.Str("host", withoutKeys(repository.Shorten(hostName(a.host(r)))))
	}
	event.Str("request", id).Str("method", withoutKeys(r.Method)).Str("path", withoutLong(withoutKeys(path))).Int("status", w.status).
		Int64("bytes", w.bytes).Dur("ms", took).Str("from", r.RemoteAddr)
	if len(a.config.TrustedProxies) > 0 {
		if client := a.client(r); client != peer(r) {
			event.Stringer("client", client)
		}
	}
	event.Msg("request")
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

// atPath returns the request as the router is to see it: mostly as it is.
func atPath(r *http.Request, path, token string) *http.Request {
	if path == r.URL.Path && r.URL.RawPath == "" && token == "" {
		return r
	}
	routed := r.WithContext(context.WithValue(r.Context(), placeKey{}, place{path, token}))
	url := *r.URL
	url.Path, url.RawPath = path, ""
	routed.URL = &url
	return routed
}

func placeOf(r *http.Request) (path, token string) {
	if at, ok := r.Context().Value(placeKey{}).(place); ok {
		return at.path, at.token
	}
	return r.URL.Path, ""
}
