package handlers

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"labshelf/errs"
	"labshelf/repository"
)

// errMisdirected answers a request for a host that is not this service. A page of somebody else whose name leads here (DNS
// rebinding) gets no further. Where a proxy changes the host on the way, only we know what arrived: so it is told.
func (a *api) errMisdirected(r *http.Request) error {
	return &errs.Error{Kind: errs.Misdirected, Code: errs.CodeMisdirected, Message: fmt.Sprintf(
		"this service does not answer for %q; if it is to, whoever runs it adds that name to allowed_hosts, or sets base_url",
		repository.Shorten(hostName(a.host(r))))}
}

// knownHosts are the names under which the service is configured to answer everywhere.
func knownHosts(config *Config) map[string]bool {
	hosts := map[string]bool{}
	for _, name := range config.AllowedHosts {
		hosts[hostName(name)] = true
	}
	if config.BaseURL != nil {
		hosts[hostName(config.BaseURL.Host)] = true
	}
	return hosts
}

// host is the host for which the request was made, as the client or a trusted proxy says it; "" where nobody does.
func (a *api) host(r *http.Request) string {
	if forwarded := a.forwardedHost(r); forwarded != "" {
		return forwarded
	}
	return r.Host
}

// forwardedHost is the host that a trusted proxy says the client asked for, or "".
func (a *api) forwardedHost(r *http.Request) string {
	if forwarded := first(r.Header.Get("X-Forwarded-Host")); isHost(forwarded) && a.trusts(peer(r)) {
		return forwarded
	}
	return ""
}

// answersFor tells whether the service is what a request is for.
func (a *api) answersFor(r *http.Request) bool {
	if forwarded := a.forwardedHost(r); forwarded != "" {
		return a.answersBehind(forwarded, r)
	}
	host := r.Host
	if host == "" { // HTTP/1.0 need not say it, and no browser leaves it out
		return true
	}
	if last := a.lastHost.Load(); last != nil && *last == host {
		return true
	}
	everywhere, here := a.answersTo(host, r)
	if everywhere {
		known := host
		a.lastHost.Store(&known)
	}
	return everywhere || here
}

// answersTo tells whether a host is one under which the service answers everywhere, or on the connection of this request.
func (a *api) answersTo(host string, r *http.Request) (everywhere, here bool) {
	name := hostName(host)
	if a.hosts[name] || name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true, true
	}
	address, err := netip.ParseAddr(name)
	return err == nil && address.IsLoopback(), err == nil && address == localAddress(r).Addr().Unmap().WithZone("")
}

// answersBehind tells whether the service answers to a host that a proxy says. Names of this machine alone mean nothing there: they
// are the visitor's own machine, so whoever asks the proxy for one makes it up.
func (a *api) answersBehind(host string, r *http.Request) bool {
	name := hostName(host)
	address, err := netip.ParseAddr(name)
	return a.hosts[name] || err == nil && !address.IsLoopback() && address == localAddress(r).Addr().Unmap().WithZone("")
}

// hostName is a host without port, brackets and case; addresses are written in one way.
func hostName(host string) string {
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

// localAddress is where the connection of a request came in; not valid where that is unknown.
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

// peer is the address at the other end of the connection; not valid where that is unknown.
func peer(r *http.Request) netip.Addr {
	return parseAddress(r.RemoteAddr)
}

// client is the address from which a request comes: the last one that the proxies in front do not vouch for.
func (a *api) client(r *http.Request) netip.Addr {
	address := peer(r)
	if !a.trusts(address) {
		return address
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && a.trusts(address); i-- {
		before := parseAddress(strings.TrimSpace(hops[i]))
		if !before.IsValid() {
			break
		}
		address = before
	}
	return address
}

// trusts tells whether an address is that of a proxy that says the truth.
func (a *api) trusts(address netip.Addr) bool {
	for _, proxies := range a.config.TrustedProxies {
		if proxies.Contains(address) {
			return true
		}
	}
	return false
}

// parseAddress reads an address, with or without a port. What is none is not valid.
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

// first is the first of the values that a chain of proxies has joined.
func first(list string) string {
	value, _, _ := strings.Cut(list, ",")
	return strings.TrimSpace(value)
}
