package webhooks

import "net/netip"

// Allows exports Hosts.address.
func Allows(h Hosts, host, address string) error {
	return h.address(host, netip.MustParseAddr(address))
}
