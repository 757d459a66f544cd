package webhooks

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Hosts is the list of hosts to which messages may be sent. The zero Hosts allows nothing.
type Hosts struct {
	names    []string // in lower case; a leading dot stands for all subdomains
	prefixes []netip.Prefix
}

// ErrHost is the rule for an entry of the allow-list.
var ErrHost = errors.New("must be host names (hooks.example.org, *.example.org), addresses (192.0.2.7) or prefixes (10.0.0.0/8), without a port")

// ParseHosts parses the entries of an allow-list. Its error is ErrHost.
func ParseHosts(entries []string) (h Hosts, err error) {
	for _, entry := range entries {
		if prefix, ok := parsePrefix(entry); ok {
			h.prefixes = append(h.prefixes, prefix)
			continue
		}
		name := strings.ToLower(strings.TrimSuffix(entry, "."))
		below, wildcard := strings.CutPrefix(name, "*.")
		if !isName(below) {
			return Hosts{}, ErrHost
		}
		if wildcard {
			name = "." + below
		}
		h.names = append(h.names, name)
	}
	return h, nil
}

// parsePrefix parses a prefix, or an address as a prefix of its full length.
func parsePrefix(entry string) (netip.Prefix, bool) {
	if address, err := netip.ParseAddr(entry); err == nil {
		address = address.Unmap()
		return netip.PrefixFrom(address, address.BitLen()), address.Zone() == ""
	}
	prefix, err := netip.ParsePrefix(entry)
	return prefix.Masked(), err == nil && !prefix.Addr().Is4In6()
}

// isName reports whether a text is an ASCII host name, as used in URLs. A text that could be read
// as an address is not a host name.
func isName(text string) bool {
	labels := strings.Split(text, ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" || strings.Trim(label, "-") != label {
			return false
		}
	}
	return strings.Trim(labels[len(labels)-1], "0123456789") != ""
}

// name reports whether the list contains the name of a host.
func (h Hosts) name(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return slices.ContainsFunc(h.names, func(listed string) bool {
		return host == listed || listed[0] == '.' && strings.HasSuffix(host, listed)
	})
}

// address returns nil if messages to a host may be sent to an address, which is the host itself or
// a result of resolving its name. Its errors wrap ErrRefused.
func (h Hosts) address(host string, address netip.Addr) error {
	address = address.Unmap().WithZone("")
	kind := special(address)
	for _, prefix := range h.prefixes {
		if prefix.Contains(address) && (!kind.IsValid() || kind.Bits() <= prefix.Bits()) {
			return nil
		}
	}
	switch {
	case !kind.IsValid() && h.name(host):
		return nil
	case kind.IsValid() && host == address.String():
		return fmt.Errorf("%w: %s is a private or special address, which needs an entry with the address or its prefix", ErrRefused, host)
	case kind.IsValid():
		return fmt.Errorf("%w: %s is at %s, a private or special address, which needs an entry with the address or its prefix", ErrRefused, host, address)
	}
	return fmt.Errorf("%w: it does not list %s", ErrRefused, host)
}

// ErrRefused is wrapped by every error of the allow-list.
var ErrRefused = errors.New("not allowed by webhook_hosts")

// specialPrefixes lists the addresses that do not belong to a host of the public Internet, or could
// bypass the list: IANA's special-purpose addresses, multicast, and all of IPv6 except 2000::/3,
// the range of global addresses. It includes addresses that contain an IPv4 address (6to4, Teredo,
// NAT64).
var specialPrefixes = prefixesOf(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
	"192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"::/3", "4000::/2", "8000::/1", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)

func prefixesOf(texts ...string) []netip.Prefix {
	prefixes := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		prefixes[i] = netip.MustParsePrefix(text)
	}
	return prefixes
}

// special returns the special prefix that contains an address, or the zero Prefix for a public
// address.
func special(address netip.Addr) netip.Prefix {
	i := slices.IndexFunc(specialPrefixes, func(p netip.Prefix) bool { return p.Contains(address) })
	if i < 0 {
		return netip.Prefix{}
	}
	return specialPrefixes[i]
}
