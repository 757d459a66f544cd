package handlers

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"labshelf/errs"
)

// What scripts of allowed pages may send and read, in addition to what browsers always allow.
const (
	corsMethods = "GET, HEAD, POST, PUT, PATCH, DELETE"
	corsHeaders = "Authorization, Content-Type, Content-Digest, Repr-Digest, If-Match, If-None-Match, If-Modified-Since, " +
		"If-Unmodified-Since, If-Range, Range, Tus-Resumable, Upload-Length, Upload-Metadata, Upload-Offset, Upload-Checksum, " +
		"Last-Event-ID, Labshelf-SHA256, X-HTTP-Method-Override, X-Request-Id"
	corsExposed = "ETag, Location, Link, Content-Range, Content-Disposition, Repr-Digest, X-Request-Id, Retry-After, Labshelf-Stamp, " +
		"Labshelf-Resource, Tus-Resumable, Tus-Version, Tus-Extension, Tus-Max-Size, Tus-Checksum-Algorithm, Upload-Offset, Upload-Length, " +
		"Upload-Metadata, Upload-Expires"
	corsAge = "600" // seconds that a browser remembers the answer
)

// errCrossOrigin is the error of a request by a page of another origin, which would act in the name of the signed-in user.
var errCrossOrigin = &errs.Error{Kind: errs.Forbidden, Code: errs.CodeCrossOrigin,
	Message: "a page of another origin cannot use the session of a browser; it needs a key of its own"}

// securityHeaders are those of every answer, by their canonical names. All answers share the values, which are not changed in place.
var securityHeaders = map[string][]string{
	"X-Content-Type-Options":       {"nosniff"},
	"Content-Security-Policy":      {"default-src 'none'; frame-ancestors 'none'"},
	"Cross-Origin-Resource-Policy": {"same-origin"},
	"Referrer-Policy":              {"no-referrer"},
}

// setSecurityHeaders sets the headers that every answer has. Handlers that serve files and pages replace some.
func (a *api) setSecurityHeaders(header http.Header, r *http.Request) {
	maps.Copy(header, securityHeaders)
	if r.TLS != nil && a.config.BaseURL != nil && a.config.BaseURL.Scheme == "https" {
		header.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// allowOrigin lets scripts of the configured pages read the answer. Keys are sent by scripts and never by browsers on their own,
// so credentials are never allowed.
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

// trustOwnOrigin allows the pages under the base URL: a proxy in front may request another host without naming that one, and over the
// plain network only the origin identifies a page.
func (a *api) trustOwnOrigin() {
	base := a.config.BaseURL
	if base == nil {
		return
	}
	defaultPort := map[string]string{"http": ":80", "https": ":443"}[base.Scheme] // browsers leave it out
	origin := base.Scheme + "://" + strings.TrimSuffix(strings.ToLower(base.Host), defaultPort)
	if err := a.origins.AddTrustedOrigin(origin); err != nil {
		panic(fmt.Sprintf("handlers: the base URL: %v", err)) // it has been read as one
	}
}

// crossOrigin tells whether a request that may change something comes from a page of another origin.
func (a *api) crossOrigin(r *http.Request) bool {
	if host := a.hosts.Host(r); host != r.Host { // as the browser sees it
		r = r.WithContext(r.Context())
		r.Host = host
	}
	return a.origins.Check(r) != nil
}
