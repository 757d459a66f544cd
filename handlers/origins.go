package handlers

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// What scripts of allowed pages may send and read, beside what browsers always allow.
const (
	corsMethods = "GET, HEAD, POST, PUT, PATCH, DELETE"
	corsHeaders = "Authorization, Content-Type, Content-Digest, Repr-Digest, If-Match, If-None-Match, If-Modified-Since, " +
		"If-Unmodified-Since, If-Range, Range, Tus-Resumable, Upload-Length, Upload-Metadata, Upload-Offset, Upload-Checksum, " +
		"X-HTTP-Method-Override, X-Request-Id"
	corsExposed = "ETag, Location, Link, Content-Range, Content-Disposition, Repr-Digest, X-Request-Id, Retry-After, Labshelf-Stamp, " +
		"Labshelf-Resource, Tus-Resumable, Tus-Version, Tus-Extension, Tus-Max-Size, Tus-Checksum-Algorithm, Upload-Offset, Upload-Length, " +
		"Upload-Metadata, Upload-Expires"
	corsAge = "600" // seconds that a browser remembers the answer
)

// safety is the headers that every answer has, by their canonical names. All answers share the values: nobody changes them in place.
var safety = map[string][]string{
	"X-Content-Type-Options":       {"nosniff"},
	"Content-Security-Policy":      {"default-src 'none'; frame-ancestors 'none'"},
	"Cross-Origin-Resource-Policy": {"same-origin"},
	"Referrer-Policy":              {"no-referrer"},
}

// secure sets the headers that every answer has. Handlers that serve files and pages replace some.
func (a *api) secure(header http.Header, r *http.Request) {
	maps.Copy(header, safety)
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
