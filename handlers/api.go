// Package handlers is the HTTP gateway: it decodes requests, calls use cases of package repository and encodes answers. It
// holds no rule of the repository.
package handlers

import (
	"io/fs"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/julienschmidt/httprouter"
	"github.com/rs/zerolog"

	"labshelf/auth"
	"labshelf/metadata"
	"labshelf/repository"
)

// Config is what the gateway needs to know beside the repository.
type Config struct {
	BaseURL        *url.URL       // ends with /v1; nil: taken from each request
	ViewDataURL    string         // template of viewDataUrl with {dataspaceId}, {setId}, {id}; "" is a page of this service
	TrustedProxies []netip.Prefix // whose X-Forwarded-* headers count
	AllowedHosts   []string       // names beside localhost, the address of the connection and the host of BaseURL; no ports
	AllowedOrigins []string       // of pages whose scripts may use the service, as browsers send them
	VerifyReads    int64          // bytes of the longest file whose SHA-256 is compared when all of it is downloaded; 0: none
	Stall          time.Duration  // how long a client may neither send nor take a byte; 0: for ever
	MinRate        int64          // bytes per second below which a client uses up Stall; 0: any byte begins it anew
	FailedKeys     int            // requests with an unknown key in a minute from one address that are looked into; 0: all
	Slow           time.Duration  // of a request, without the client's part, from which on it is logged as slow; 0: none is
	Hostname       string
	Version        string
	Log            zerolog.Logger

	// Pages is what browsers load: manifest.json with what the shell of the pages links, and assets; nil: there are no pages.
	Pages fs.FS
	// Metrics is served to sysadmins at /metrics; nil: there is no such address.
	Metrics http.Handler
	// Observe hears of each request when it is over, in the goroutine that served it; nil: nobody does.
	Observe func(Observation)
}

// api serves requests. All that changes in it is the memory of who tried unknown keys, and what is kept to be used again.
type api struct {
	repo        *repository.Service
	config      Config
	started     metadata.Stamp
	prefix      string // of every path: what the base URL has before the version
	linked      linked
	whole       *httprouter.Router // of all routes
	listings    *httprouter.Router // of those whose addresses may end in a page token
	hosts       map[string]bool
	origins     http.CrossOriginProtection
	failures    *throttle
	lastHost    atomic.Pointer[string]  // one for which it answers everywhere
	layout      atomic.Pointer[layouts] // used last; mostly all requests name the same host
	pages       pageBuffers
	compressors compressors
	buffers     *sync.Pool // of *[chunk]byte
}

// request is one HTTP request, with what the way to its handler found out.
type request struct {
	*http.Request
	params httprouter.Params
	caller auth.Principal
	query  url.Values
	path   string // below the base URL, without page token and trailing slash
	token  string // of a page
}

// base is the base URL under which the client reached the service, without a trailing slash.
func (a *api) base(r *request) string {
	if a.config.BaseURL != nil {
		return strings.TrimSuffix(a.config.BaseURL.String(), "/")
	}
	host := a.host(r.Request)
	if !isHost(host) { // none in HTTP/1.0
		host = localAddress(r.Request).String()
	}
	return a.scheme(r.Request) + "://" + host + version
}

// scheme is by which the request was made, as the connection or a trusted proxy says it.
func (a *api) scheme(r *http.Request) string {
	if proto := strings.ToLower(first(r.Header.Get("X-Forwarded-Proto"))); a.trusts(peer(r)) && (proto == "http" || proto == "https") {
		return proto
	}
	if r.TLS != nil {
		return "https"
	}
	return "http"
}

// layouts are how resources are written under one base URL: alone, and in a page.
type layouts struct {
	base          string
	single, paged layout
}

// layouts takes those of the request before, unless that had another base URL.
func (a *api) layouts(r *request) *layouts {
	base := a.base(r)
	if l := a.layout.Load(); l != nil && l.base == base {
		return l
	}
	view := a.config.ViewDataURL
	if view == "" {
		view = strings.TrimSuffix(base, version) + "/resources/{id}"
	}
	l := &layouts{base: base, single: resourceLayout(base, view, ""), paged: resourceLayout(base, view, itemIndent)}
	a.layout.Store(l)
	return l
}

// id is the id in the path.
func (r *request) id() string { return r.params.ByName("id") }

// list is what the request says about a page.
func (r *request) list() repository.ListRequest {
	return repository.ListRequest{Container: r.id(), Params: r.query, Token: r.token}
}
