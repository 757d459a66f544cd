// Package hosts determines the host, the client address and the scheme of a request, from the
// connection or a trusted proxy. It returns the addresses of the service as the client sees them.
// It also decides whether the service answers for a host, which stops pages of other sites whose
// name resolves to the service (DNS rebinding).
package hosts

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
)

// Config holds the names of the service and its proxies.
type Config struct {
	BaseURL        *url.URL       // nil: taken from each request
	TrustedProxies []netip.Prefix // proxies whose X-Forwarded-* headers are trusted
	AllowedHosts   []string       // additional host names without ports; localhost, the connection's address and the host of BaseURL are always allowed
}

// Hosts evaluates requests under one configuration. It is safe for concurrent use.
type Hosts struct {
	config   Config
	prefix   string
	allowed  map[string]bool
	answered atomic.Pointer[string] // the latest host for which the service answers on every connection
}

// New returns the Hosts of a configuration.
func New(config Config) *Hosts {
	h := &Hosts{config: config, allowed: map[string]bool{}}
	for _, name := range config.AllowedHosts {
		h.allowed[Name(name)] = true
	}
	if config.BaseURL != nil {
		h.allowed[Name(config.BaseURL.Host)] = true
		h.prefix = strings.TrimSuffix(strings.TrimSuffix(config.BaseURL.Path, "/"), Version)
	}
	return h
}

// Version is the first path segment of all addresses of the API.
const Version = "/v1"

// Prefix returns the path of the base URL before the version. Every path of the service begins with
// it.
func (h *Hosts) Prefix() string { return h.prefix }

// Base returns the base URL of the API as the client reached it, without a trailing slash.
func (h *Hosts) Base(r *http.Request) string {
	if h.config.BaseURL != nil {
		return strings.TrimSuffix(h.config.BaseURL.String(), "/")
	}
	return h.Origin(r) + Version
}

// LinkPath is the beginning of the address of every link. The rest is a secret and is not logged.
const LinkPath = "/s/"

// Link returns the address of the link with this token.
func (h *Hosts) Link(r *http.Request, token string) string { return h.Site(r) + LinkPath + token }

// Site returns the base URL of the pages as the client reached them, without a trailing slash.
func (h *Hosts) Site(r *http.Request) string { return strings.TrimSuffix(h.Base(r), Version) }

// Origins returns the origins under which a client can name the service: the one of the request and
// the one of the base URL.
func (h *Hosts) Origins(r *http.Request) []string {
	origins := []string{}
	if own, err := url.Parse(h.Origin(r)); err == nil {
		origins = append(origins, OriginOf(own))
	}
	if base := h.config.BaseURL; base != nil {
		origins = append(origins, OriginOf(base))
	}
	return origins
}

// OverTLS reports whether clients reach the service over TLS, directly or through a proxy.
func (h *Hosts) OverTLS(r *http.Request) bool {
	return h.Scheme(r) == "https" || h.config.BaseURL != nil && h.config.BaseURL.Scheme == "https"
}

// OriginOf returns the scheme and host of an address. It omits the default port, as browsers do.
func OriginOf(address *url.URL) string {
	usual := map[string]string{"http": ":80", "https": ":443"}[address.Scheme]
	return address.Scheme + "://" + strings.TrimSuffix(strings.ToLower(address.Host), usual)
}

// Origin returns the scheme and host under which the client reached the service.
func (h *Hosts) Origin(r *http.Request) string {
	host := h.Host(r)
	if !isHost(host) { // missing in HTTP/1.0
		host = localAddress(r).String()
	}
	return h.Scheme(r) + "://" + host
}

// Scheme returns the scheme of the client's request.
func (h *Hosts) Scheme(r *http.Request) string {
	if proto := strings.ToLower(first(r.Header.Get("X-Forwarded-Proto"))); h.trusts(Peer(r)) && (proto == "http" || proto == "https") {
		return proto
	}
	if r.TLS != nil {
		return "https"
	}
	return "http"
}

// Host returns the host of the client's request, or "" if neither the client nor a proxy names one.
func (h *Hosts) Host(r *http.Request) string {
	if forwarded := h.forwardedHost(r); forwarded != "" {
		return forwarded
	}
	return r.Host
}

// forwardedHost returns the host that the client requested according to a trusted proxy, or "".
func (h *Hosts) forwardedHost(r *http.Request) string {
	if forwarded := first(r.Header.Get("X-Forwarded-Host")); isHost(forwarded) && h.trusts(Peer(r)) {
		return forwarded
	}
	return ""
}

// AnswersFor reports whether the service answers for the host of a request.
func (h *Hosts) AnswersFor(r *http.Request) bool {
	if forwarded := h.forwardedHost(r); forwarded != "" {
		return h.answersBehind(forwarded, r)
	}
	host := r.Host
	if host == "" { // optional in HTTP/1.0; browsers always send it
		return true
	}
	if last := h.answered.Load(); last != nil && *last == host {
		return true
	}
	everywhere, here := h.answersTo(host, r)
	if everywhere {
		h.answered.Store(&host)
	}
	return everywhere || here
}

// answersTo reports whether the service answers for a host on every connection, or on the
// connection of this request.
func (h *Hosts) answersTo(host string, r *http.Request) (everywhere, here bool) {
	name := Name(host)
	if h.allowed[name] || name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true, true
	}
	address, err := netip.ParseAddr(name)
	return err == nil && address.IsLoopback(), err == nil && address == localAddress(r).Addr().Unmap().WithZone("")
}

// answersBehind reports whether the service answers for a host that a proxy names. It does not
// accept names of this machine: to the client they mean its own machine, so such a request is
// forged.
func (h *Hosts) answersBehind(host string, r *http.Request) bool {
	name := Name(host)
	address, err := netip.ParseAddr(name)
	return h.allowed[name] || err == nil && !address.IsLoopback() && address == localAddress(r).Addr().Unmap().WithZone("")
}

// Name returns a host without port and brackets, in lower case. Addresses are normalized.
func Name(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"), ".")
	if address, err := netip.ParseAddr(host); err == nil {
		return address.Unmap().WithZone("").String()
	}
	return strings.ToLower(host)
}

// isHost reports whether a string can be the host of a URL.
func isHost(host string) bool {
	if host == "" {
		return false
	}
	parsed, err := url.Parse("//" + host)
	return err == nil && parsed.Host == host && !strings.ContainsAny(host, "%\\\"<>^`{|}") && parsed.Hostname() != ""
}

// localAddress returns the local address of a request's connection. The result is invalid if the
// address is unknown.
func localAddress(r *http.Request) netip.AddrPort {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	switch local := local.(type) {
	case nil:
		return netip.AddrPort{}
	case *net.TCPAddr:
		at := local.AddrPort()
		return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
	}
	address, _ := netip.ParseAddrPort(local.String())
	return address
}

// Peer returns the remote address of a request's connection. The result is invalid if the address
// is unknown.
func Peer(r *http.Request) netip.Addr {
	return parseAddress(r.RemoteAddr)
}

// Client returns the client's address: the last forwarded address that does not belong to a trusted
// proxy.
func (h *Hosts) Client(r *http.Request) netip.Addr {
	address := Peer(r)
	if !h.trusts(address) {
		return address
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && h.trusts(address); i-- {
		before := parseAddress(strings.TrimSpace(hops[i]))
		if !before.IsValid() {
			break
		}
		address = before
	}
	return address
}

// trusts reports whether an address belongs to a trusted proxy.
func (h *Hosts) trusts(address netip.Addr) bool {
	for _, proxies := range h.config.TrustedProxies {
		if proxies.Contains(address) {
			return true
		}
	}
	return false
}

// parseAddress parses an address with or without a port. The result is invalid for other strings.
func parseAddress(text string) netip.Addr {
	if withPort, err := netip.ParseAddrPort(text); err == nil {
		return withPort.Addr().Unmap().WithZone("")
	}
	address, err := netip.ParseAddr(strings.Trim(text, "[]"))
	if err != nil {
		return netip.Addr{}
	}
	return address.Unmap().WithZone("")
}

// first returns the first value of a list that a chain of proxies has joined.
func first(list string) string {
	value, _, _ := strings.Cut(list, ",")
	return strings.TrimSpace(value)
}
