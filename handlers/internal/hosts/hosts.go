// Package hosts determines the host, the client's address and the scheme of a request, from the
// connection or a trusted proxy, the addresses of the service as that client sees them, and whether
// the service answers for that host. It stops pages of
// other sites whose name resolves to the service (DNS rebinding).
package hosts

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
)

// Config has the names of the service and the proxies in front of it.
type Config struct {
	BaseURL        *url.URL       // nil: taken from each request
	TrustedProxies []netip.Prefix // whose X-Forwarded-* headers count
	AllowedHosts   []string       // names in addition to localhost, the address of the connection and the host of BaseURL; no ports
}

// Hosts does this for one configuration. Safe for concurrent use.
type Hosts struct {
	config   Config
	prefix   string
	allowed  map[string]bool
	answered atomic.Pointer[string] // the latest host under which the service answers everywhere
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

// Version is the path segment that every address of the interface begins with.
const Version = "/v1"

// Prefix returns what the path of every address of the service begins with: what the base URL has
// before the version.
func (h *Hosts) Prefix() string { return h.prefix }

// Base returns the base URL of the interface as the client reached it, without a trailing slash.
func (h *Hosts) Base(r *http.Request) string {
	if h.config.BaseURL != nil {
		return strings.TrimSuffix(h.config.BaseURL.String(), "/")
	}
	return h.Origin(r) + Version
}

// LinkPath begins the address of every link. The rest is a secret, which logs do not have.
const LinkPath = "/s/"

// Link returns the address of the link with a token.
func (h *Hosts) Link(r *http.Request, token string) string { return h.Site(r) + LinkPath + token }

// Site returns the base URL of the pages as the client reached them, without a trailing slash.
func (h *Hosts) Site(r *http.Request) string { return strings.TrimSuffix(h.Base(r), Version) }

// Origins returns the schemes and hosts under which a client can name the service: the one that it
// uses, and the one of the base URL.
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

// OverTLS reports whether clients reach the service over TLS, its own or a proxy's.
func (h *Hosts) OverTLS(r *http.Request) bool {
	return h.Scheme(r) == "https" || h.config.BaseURL != nil && h.config.BaseURL.Scheme == "https"
}

// OriginOf returns scheme and host of an address, without the port that is the usual one: browsers
// leave it out.
func OriginOf(address *url.URL) string {
	usual := map[string]string{"http": ":80", "https": ":443"}[address.Scheme]
	return address.Scheme + "://" + strings.TrimSuffix(strings.ToLower(address.Host), usual)
}

// Origin returns the scheme and host under which the client reached the service.
func (h *Hosts) Origin(r *http.Request) string {
	host := h.Host(r)
	if !isHost(host) { // none in HTTP/1.0
		host = localAddress(r).String()
	}
	return h.Scheme(r) + "://" + host
}

// Scheme returns the scheme by which the request was made.
func (h *Hosts) Scheme(r *http.Request) string {
	if proto := strings.ToLower(first(r.Header.Get("X-Forwarded-Proto"))); h.trusts(Peer(r)) && (proto == "http" || proto == "https") {
		return proto
	}
	if r.TLS != nil {
		return "https"
	}
	return "http"
}

// Host returns the host for which the request was made; "" where neither the client nor a proxy
// names one.
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

// AnswersFor tells whether the service answers for the host of a request.
func (h *Hosts) AnswersFor(r *http.Request) bool {
	if forwarded := h.forwardedHost(r); forwarded != "" {
		return h.answersBehind(forwarded, r)
	}
	host := r.Host
	if host == "" { // optional in HTTP/1.0, and browsers send it always
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

// answersTo tells whether a host is one under which the service answers everywhere, or on the
// connection of this request.
func (h *Hosts) answersTo(host string, r *http.Request) (everywhere, here bool) {
	name := Name(host)
	if h.allowed[name] || name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true, true
	}
	address, err := netip.ParseAddr(name)
	return err == nil && address.IsLoopback(), err == nil && address == localAddress(r).Addr().Unmap().WithZone("")
}

// answersBehind tells whether the service answers for a host that a proxy names. Names of this
// machine mean nothing there: to the client they are its own machine, so a request to the proxy for
// one is made up.
func (h *Hosts) answersBehind(host string, r *http.Request) bool {
	name := Name(host)
	address, err := netip.ParseAddr(name)
	return h.allowed[name] || err == nil && !address.IsLoopback() && address == localAddress(r).Addr().Unmap().WithZone("")
}

// Name returns a host without port, brackets and case; addresses are written in one way.
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

// isHost tells whether a text can be the host of a URL.
func isHost(host string) bool {
	if host == "" {
		return false
	}
	parsed, err := url.Parse("//" + host)
	return err == nil && parsed.Host == host && !strings.ContainsAny(host, "%\\\"<>^`{|}") && parsed.Hostname() != ""
}

// localAddress returns the local address of the connection of a request; not valid where that is
// unknown.
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

// Peer returns the address at the other end of the connection; not valid where that is unknown.
func Peer(r *http.Request) netip.Addr {
	return parseAddress(r.RemoteAddr)
}

// Client returns the address from which a request comes: the last one that is not that of a trusted
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

// trusts tells whether an address is that of a trusted proxy.
func (h *Hosts) trusts(address netip.Addr) bool {
	for _, proxies := range h.config.TrustedProxies {
		if proxies.Contains(address) {
			return true
		}
	}
	return false
}

// parseAddress parses an address, with or without a port; anything else is not valid.
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

// first returns the first of the values that a chain of proxies has joined.
func first(list string) string {
	value, _, _ := strings.Cut(list, ",")
	return strings.TrimSpace(value)
}
