package auth

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/oklog/ulid/v2"
)

// Scope is what a key permits at most, whatever the role of its user permits. The zero Scope is
// ScopeAll. The numbers are stored: they never change.
type Scope uint8

const (
	// ScopeAll permits everything that the user may do. Only such a key makes keys, sessions,
	// links, invitations, webhooks and roles, and only it reads them.
	ScopeAll Scope = iota
	// ScopeWrite permits reading, and creating, changing, deleting and restoring sets and
	// resources.
	ScopeWrite
	// ScopeAdd permits creating resources, and nothing else.
	ScopeAdd
	// ScopeRead permits reading dataspaces, sets and resources.
	ScopeRead
)

// scopes defines the names and permissions of all scopes.
var scopes = [...]struct {
	name    string
	actions Action
}{
	ScopeAll:   {"all", Read | Add | Write | Share | Manage},
	ScopeWrite: {"write", Read | Add | Write},
	ScopeAdd:   {"add", Add},
	ScopeRead:  {"read", Read},
}

// Allows reports whether the scope permits every action in a.
func (s Scope) Allows(a Action) bool {
	return int(s) < len(scopes) && scopes[s].actions&a == a
}

// Contains reports whether the scope permits everything that another one permits.
func (s Scope) Contains(inner Scope) bool {
	return int(inner) < len(scopes) && s.Allows(scopes[inner].actions)
}

// String returns the scope's name in the interface.
func (s Scope) String() string {
	if int(s) >= len(scopes) {
		return fmt.Sprintf("scope(%d)", uint8(s))
	}
	return scopes[s].name
}

// ParseScope parses the name of a scope in the interface.
func ParseScope(name string) (Scope, bool) {
	for s, scope := range scopes {
		if scope.name == name {
			return Scope(s), true
		}
	}
	return ScopeAll, false
}

// Limits are what a key permits, and where. The zero Limits limit nothing.
type Limits struct {
	Scope     Scope
	Dataspace ulid.ULID // the only dataspace that the key reaches; zero: all
	Set       ulid.ULID // the only set, which is in Dataspace; zero: all
	Networks  Networks  // the addresses from which the key may be used
}

// Narrow reports whether the limits leave out anything but networks. The owner of a narrow key can
// do less with it than with another key.
func (l Limits) Narrow() bool { return l.Scope != ScopeAll || l.Dataspace != (ulid.ULID{}) }

// Permits reports whether a key permits an action in a dataspace. A zero set stands for the
// dataspace itself. A key for one set permits nothing in the dataspace itself.
func (l Limits) Permits(dataspace, set ulid.ULID, action Action) bool {
	return l.Scope.Allows(action) &&
		(l.Dataspace == ulid.ULID{} || l.Dataspace == dataspace) &&
		(l.Set == ulid.ULID{} || l.Set == set)
}

// Networks are prefixes of addresses in canonical form, ascending and separated by spaces. The
// empty Networks contain all addresses.
type Networks string

// maxNetworks is the maximum number of networks of one key.
const maxNetworks = 32

// ParseNetworks parses networks: prefixes such as 192.0.2.0/24, or single addresses.
func ParseNetworks(texts []string) (Networks, error) {
	if len(texts) > maxNetworks {
		return "", fmt.Errorf("more than %d networks", maxNetworks)
	}
	var networks []netip.Prefix
	for _, text := range texts {
		network, err := parseNetwork(text)
		if err != nil {
			return "", err
		}
		networks = append(networks, network)
	}
	slices.SortFunc(networks, netip.Prefix.Compare)
	networks = slices.Compact(networks)
	canonical := make([]string, len(networks))
	for i, network := range networks {
		canonical[i] = network.String()
	}
	return Networks(strings.Join(canonical, " ")), nil
}

var errNoNetwork = errors.New("a network is a prefix such as 192.0.2.0/24 or 2001:db8::/32, or one address")

// parseNetwork refuses a prefix with bits behind its length: one of the two is a mistake.
func parseNetwork(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil && address.Zone() == "" {
		address = address.Unmap()
		return netip.PrefixFrom(address, address.BitLen()), nil
	}
	network, err := netip.ParsePrefix(text)
	switch {
	case err != nil, network.Addr().Is4In6():
		return network, fmt.Errorf("%.60q: %w", text, errNoNetwork)
	case network.Masked() != network:
		return network, fmt.Errorf("%s: write %s for the whole network, or %s for this address", network, network.Masked(), network.Addr())
	}
	return network, nil
}

// List returns the prefixes, ascending.
func (n Networks) List() []string { return strings.Fields(string(n)) }

// Include reports whether all addresses of other networks belong to the networks.
func (n Networks) Include(inner Networks) bool {
	if n == "" || inner == "" {
		return n == ""
	}
	return !slices.ContainsFunc(inner.prefixes(), func(of netip.Prefix) bool {
		return !slices.ContainsFunc(n.prefixes(), func(in netip.Prefix) bool { return in.Bits() <= of.Bits() && in.Contains(of.Addr()) })
	})
}

func (n Networks) prefixes() (all []netip.Prefix) {
	for part := range strings.FieldsSeq(string(n)) {
		if network, err := netip.ParsePrefix(part); err == nil {
			all = append(all, network)
		}
	}
	return all
}

// Contain reports whether an address belongs to one of the networks. An invalid address belongs
// only to the empty Networks.
func (n Networks) Contain(address netip.Addr) bool {
	if n == "" {
		return true
	}
	address = address.Unmap().WithZone("")
	return slices.ContainsFunc(n.prefixes(), func(network netip.Prefix) bool { return network.Contains(address) })
}
