package handlers

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"labshelf/auth/errs"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/hosts"
	"labshelf/handlers/internal/slowclient"
	"labshelf/repository/core"
)

// response is the ResponseWriter of every request. It collects the values for the access log.
type response struct {
	slowclient.Writer
	exchange.Notes
	method string // of the route
	route  string // "" until a route matches
	work   *work  // the request's share of the budget of its class; nil: no share
}

// WriteHeader implements [http.ResponseWriter].
func (w *response) WriteHeader(status int) {
	w.work.pause()
	w.Writer.WriteHeader(status)
	w.work.resume()
}

// Write implements [io.Writer].
func (w *response) Write(p []byte) (int, error) {
	w.work.pause()
	w.work.sends(len(p))
	n, err := w.Writer.Write(p)
	w.work.resume()
	return n, err
}

// ReadFrom implements [io.ReaderFrom].
func (w *response) ReadFrom(src io.Reader) (int64, error) {
	w.work.pause()
	n, err := w.Writer.ReadFrom(src)
	w.work.resume()
	return n, err
}

// wrap wraps all routes. It sets the request id and the deadlines for slow clients, recovers panics
// and writes one log line per request. Every request pays for this, so values that equal the values
// of the previous request are neither parsed nor copied again.
func (a *api) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(plain http.ResponseWriter, r *http.Request) {
		start := time.Now()
		w := &response{}
		r = w.Begin(plain, r, slowclient.Limits{Stall: a.config.Stall, MinRate: a.config.MinRate}, a.buffers)
		rand.Read(w.Number[:]) // never fails
		id := exchange.RequestID(w.Number[:])
		w.Header().Set(exchange.RequestIDHeader, id)
		a.setSecurityHeaders(w.Header(), r)
		defer func() {
			fault := recover()
			if fault != nil && fault != http.ErrAbortHandler {
				a.config.Log.Error().Str("request", id).Str("panic", fmt.Sprint(fault)).Bytes("stack", debug.Stack()).Msg("a handler panicked")
			}
			if fault != nil && fault != http.ErrAbortHandler && w.Status() == 0 {
				exchange.WriteProblem(w, r, errors.New("panic"))
				fault = nil
			}
			took := time.Since(start)
			a.logRequest(w, r, id, took)
			a.observe(w, id, took)
			w.End()
			if fault != nil {
				panic(http.ErrAbortHandler) // cuts the connection, so that the client does not take half an answer for a complete one
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// routedAddress is the path of a request without its page token, and that token.
type routedAddress struct{ path, token string }

type routedKey struct{}

// withAddress returns the request with the path for the router. Most requests stay unchanged.
func withAddress(r *http.Request, path, token string) *http.Request {
	if path == r.URL.Path && r.URL.RawPath == "" && token == "" {
		return r
	}
	routed := r.WithContext(context.WithValue(r.Context(), routedKey{}, routedAddress{path, token}))
	url := *r.URL
	url.Path, url.RawPath = path, ""
	routed.URL = &url
	return routed
}

func routed(r *http.Request) (path, token string) {
	if at, ok := r.Context().Value(routedKey{}).(routedAddress); ok {
		return at.path, at.token
	}
	return r.URL.Path, ""
}

// Observation is the measurement of one request. None of its strings come from the client.
type Observation struct {
	Method, Route  string        // as in the table of routes; both are noRoute if no route matched
	Status         int           // 0: the connection was cut before a status was sent
	Took           time.Duration // from the first line of the request to the end of the answer
	Own            time.Duration // Took without the time spent waiting for the client or for events
	Received, Sent int64         // bytes of the bodies
	OverBudget     string        // the resource whose share the caller has used up; "": none
}

// noRoute replaces all methods and paths that the API does not have, so that the number of routes
// is bounded.
const noRoute = "other"

// noteRoute sets the route for log and observer.
func noteRoute(w http.ResponseWriter, method, path string) {
	if observed, ok := w.(*response); ok {
		observed.method, observed.route = method, path
	}
}

// fileRate is the number of bytes of a file per second that a healthy service handles at least.
const fileRate = 32 << 20

// observe reports a request that has been answered. It also logs the request as slow if the service
// itself took long. A large file over a slow line takes hours without a fault. So waiting for the
// client does not count, nor does the time that the bytes take at fileRate.
func (a *api) observe(w *response, id string, took time.Duration) {
	o := Observation{
		Method: w.method, Route: w.route, Status: w.Status(), Took: took, Own: max(0, took-w.Waited()-w.Idle),
		Received: w.Received(), Sent: w.Sent(), OverBudget: w.OverBudget,
	}
	if o.Route == "" {
		o.Method, o.Route = noRoute, noRoute
	}
	if o.Method == http.MethodHead {
		o.Sent = 0 // nothing was sent
	}
	if a.config.Observe != nil {
		a.config.Observe(o)
	}
	bytes := time.Duration((o.Received+o.Sent)/fileRate) * time.Second
	if a.config.Slow > 0 && o.Own >= a.config.Slow+bytes {
		a.config.Log.Warn().Str("request", id).Str("method", o.Method).Str("route", o.Route).Int("status", o.Status).
			Int64("received", o.Received).Int64("bytes", o.Sent).Dur("ms", o.Took).Dur("own_ms", o.Own).Msg("slow request")
	}
}

func (a *api) getMetrics(w http.ResponseWriter, r *exchange.Request) error {
	if _, err := a.repo.Monitor.Upkeep(r.Context(), r.Caller); err != nil { // only sysadmins may
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	a.config.Metrics.ServeHTTP(w, r.Request)
	return nil
}

// Admin wraps the handler of an admin listener. It answers only for the configured hosts, so that
// no web page reaches it under its own name. It allows only GET and HEAD.
func Admin(config Config, next http.Handler) http.Handler {
	a := &api{config: config, hosts: config.hosts()}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !a.hosts.AnswersFor(r):
			exchange.WriteProblem(w, r, a.errMisdirected(r))
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			exchange.WriteProblem(w, r, exchange.ErrMethod)
		default:
			a.setSecurityHeaders(w.Header(), r)
			w.Header().Set("Cache-Control", "no-store")
			next.ServeHTTP(w, r)
		}
	})
}

// errMisdirected returns the error of a request for a host that this service does not answer for. A
// proxy may change the host, and only the service knows which one arrived, so the message names it.
func (a *api) errMisdirected(r *http.Request) error {
	return &errs.Error{Kind: errs.Misdirected, Code: errs.CodeMisdirected, Message: fmt.Sprintf(
		"this service does not accept the host %q; the operator can add it to allowed_hosts, or set base_url",
		core.Shorten(hosts.Name(a.hosts.Host(r))))}
}

// Headers and methods that scripts of allowed pages may use, in addition to those that browsers
// always allow.
const (
	corsMethods = "GET, HEAD, POST, PUT, PATCH, DELETE"
	corsHeaders = "Authorization, Content-Type, Content-Digest, Repr-Digest, If-Match, If-None-Match, If-Modified-Since, " +
		"If-Unmodified-Since, If-Range, Range, Tus-Resumable, Upload-Length, Upload-Metadata, Upload-Offset, Upload-Checksum, " +
		"Last-Event-ID, Labshelf-SHA256, X-HTTP-Method-Override, X-Request-Id"
	corsExposed = "ETag, Location, Link, Content-Range, Content-Disposition, Repr-Digest, X-Request-Id, Retry-After, Labshelf-Stamp, " +
		"Labshelf-Resource, Tus-Resumable, Tus-Version, Tus-Extension, Tus-Max-Size, Tus-Checksum-Algorithm, Upload-Offset, Upload-Length, " +
		"Upload-Metadata, Upload-Expires"
	corsAge = "600" // seconds that a browser caches a preflight answer
)

// securityHeaders are the headers of every answer, by canonical name. All answers share the values,
// so the values must not be changed in place.
var securityHeaders = map[string][]string{
	"X-Content-Type-Options":       {"nosniff"},
	"Content-Security-Policy":      {"default-src 'none'; frame-ancestors 'none'"},
	"Cross-Origin-Resource-Policy": {"same-origin"},
	"Referrer-Policy":              {"no-referrer"},
}

// setSecurityHeaders sets the headers of every answer. Handlers of files and pages replace some of
// them.
func (a *api) setSecurityHeaders(header http.Header, r *http.Request) {
	maps.Copy(header, securityHeaders)
	if r.TLS != nil && a.config.BaseURL != nil && a.config.BaseURL.Scheme == "https" {
		header.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// allowOrigin lets scripts of the configured pages read the answer. It never allows credentials:
// scripts send keys themselves, browsers do not.
func (a *api) allowOrigin(header http.Header, r *http.Request) {
	if len(a.config.AllowedOrigins) == 0 {
		return
	}
	header.Add("Vary", "Origin")
	at := slices.Index(a.config.AllowedOrigins, strings.Join(r.Header.Values("Origin"), ", "))
	if at < 0 {
		return
	}
	header.Set("Access-Control-Allow-Origin", a.config.AllowedOrigins[at])
	if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
		header.Set("Access-Control-Allow-Methods", corsMethods)
		header.Set("Access-Control-Allow-Headers", corsHeaders)
		header.Set("Access-Control-Max-Age", corsAge)
		return
	}
	header.Set("Access-Control-Expose-Headers", corsExposed)
}
