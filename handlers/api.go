// Package handlers is the HTTP gateway: it decodes requests, calls use cases of package repository and encodes answers. It
// holds no rule of the repository.
package handlers

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/julienschmidt/httprouter"
	"github.com/rs/zerolog"

	"labshelf/auth"
	"labshelf/repository"
)

// Config is what the gateway needs to know beside the repository.
type Config struct {
	BaseURL        *url.URL       // ends with /v1; nil: taken from each request
	ViewDataURL    string         // template of viewDataUrl with {dataspaceId}, {setId}, {id}; "" is a page of this service
	TrustedProxies []netip.Prefix // whose X-Forwarded-* headers count
	VerifyReads    bool           // hash full downloads while they are sent
	Stall          time.Duration  // how long a client may neither send nor take a byte; 0: for ever
	Hostname       string
	Version        string
	Log            zerolog.Logger
}

// api serves requests. It holds nothing that changes.
type api struct {
	repo   *repository.Service
	config Config
}

// request is one HTTP request, with what the way to its handler found out.
type request struct {
	*http.Request
	params httprouter.Params
	caller auth.Principal
	path   string // below the base URL, without page token and trailing slash
	token  string // of a page
}

// base is the base URL under which the client reached the service, without a trailing slash.
func (a *api) base(r *request) string {
	if a.config.BaseURL != nil {
		return strings.TrimSuffix(a.config.BaseURL.String(), "/")
	}
	scheme, host := "http", r.Host
	if r.TLS != nil {
		scheme = "https"
	}
	if a.trusts(r.RemoteAddr) {
		if proto := strings.ToLower(first(r.Header.Get("X-Forwarded-Proto"))); proto == "http" || proto == "https" {
			scheme = proto
		}
		if forwarded := first(r.Header.Get("X-Forwarded-Host")); isHost(forwarded) {
			host = forwarded
		}
	}
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && !isHost(host) { // none in HTTP/1.0
		host = local.String()
	}
	return scheme + "://" + host + version
}

// isHost tells whether a text can be the host of a URL.
func isHost(host string) bool {
	parsed, err := url.Parse("//" + host)
	return err == nil && host != "" && parsed.Host == host && !strings.ContainsAny(host, "%\\\"<>^`{|}") && parsed.Hostname() != ""
}

// trusts tells whether a request came from a proxy that says the truth.
func (a *api) trusts(remote string) bool {
	address, err := netip.ParseAddrPort(remote)
	if err != nil {
		return false
	}
	for _, proxies := range a.config.TrustedProxies {
		if proxies.Contains(address.Addr().Unmap().WithZone("")) {
			return true
		}
	}
	return false
}

// first is the first of the values that a chain of proxies has joined.
func first(list string) string {
	value, _, _ := strings.Cut(list, ",")
	return strings.TrimSpace(value)
}

// id is the id in the path.
func (r *request) id() string { return r.params.ByName("id") }

// list is what the request says about a page.
func (r *request) list() repository.ListRequest {
	return repository.ListRequest{Container: r.id(), Params: r.URL.Query(), Token: r.token}
}
