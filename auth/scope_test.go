package auth

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/oklog/ulid/v2"
)

// TestScopeNames tests that names and scopes correspond, and that no other name is known.
func TestScopeNames(t *testing.T) {
	t.Parallel()
	for scope, name := range []string{"all", "write", "add", "read"} {
		if parsed, ok := ParseScope(name); !ok || parsed != Scope(scope) || parsed.String() != name {
			t.Errorf("%s is parsed as %s", name, parsed)
		}
	}
	for _, name := range []string{"", "All", "admin", "scope(4)"} {
		if parsed, ok := ParseScope(name); ok {
			t.Errorf("%q is parsed as %s", name, parsed)
		}
	}
	if Scope(4).Allows(Read) || Scope(4).String() != "scope(4)" {
		t.Error("an unknown scope permits reading")
	}
}

// TestScopesContain tests which scopes contain which others.
func TestScopesContain(t *testing.T) {
	t.Parallel()
	contained := map[Scope]string{ScopeAll: "all write add read", ScopeWrite: "write add read", ScopeAdd: "add", ScopeRead: "read"}
	for outer, want := range contained {
		var got []string
		for _, inner := range []Scope{ScopeAll, ScopeWrite, ScopeAdd, ScopeRead, 4} {
			if outer.Contains(inner) {
				got = append(got, inner.String())
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s contains %q, want %q", outer, got, want)
		}
	}
}

// TestLimits tests which actions keys permit in a dataspace, in its sets, and elsewhere.
func TestLimits(t *testing.T) {
	t.Parallel()
	none, space, set, other := ulid.ULID{}, ulid.ULID{1}, ulid.ULID{2}, ulid.ULID{3}
	places := []struct {
		name      string
		dataspace ulid.ULID
		set       ulid.ULID
	}{{"everything", none, none}, {"space", space, none}, {"set", space, set}, {"sibling", space, other}, {"other space", other, none}, {"other set", other, other}}
	for _, tt := range []struct {
		limits Limits
		narrow bool
		in     string // where the limits permit reading
	}{
		{Limits{}, false, "everything space set sibling other space other set"},
		{Limits{Networks: "::1/128"}, false, "everything space set sibling other space other set"},
		{Limits{Scope: ScopeRead}, true, "everything space set sibling other space other set"},
		{Limits{Dataspace: space}, true, "space set sibling"},
		{Limits{Dataspace: space, Set: set}, true, "set"},
		{Limits{Scope: ScopeAdd}, true, ""},
	} {
		var in []string
		for _, place := range places {
			if tt.limits.Permits(place.dataspace, place.set, Read) {
				in = append(in, place.name)
			}
		}
		if got := strings.Join(in, " "); got != tt.in || tt.limits.Narrow() != tt.narrow {
			t.Errorf("%+v permits reading in %q, want %q; narrow: %t", tt.limits, got, tt.in, tt.limits.Narrow())
		}
	}
}

// TestNetworks tests the canonical form of networks, and which addresses they contain.
func TestNetworks(t *testing.T) {
	t.Parallel()
	networks, err := ParseNetworks([]string{"2001:db8::/32", "10.0.0.0/8", "192.0.2.7", "::ffff:192.0.2.7", "10.0.0.0/8"})
	if want := "10.0.0.0/8 192.0.2.7/32 2001:db8::/32"; err != nil || string(networks) != want {
		t.Fatalf("networks %q, %v, want %q", networks, err, want)
	}
	for address, want := range map[string]bool{
		"10.1.2.3": true, "::ffff:10.1.2.3": true, "192.0.2.7": true, "2001:db8::1": true, "2001:db8::1%eth0": true,
		"11.0.0.1": false, "192.0.2.8": false, "2001:db9::1": false, "::1": false,
	} {
		if got := networks.Contain(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: contained %t, want %t", address, got, want)
		}
	}
	if networks.Contain(netip.Addr{}) || !Networks("").Contain(netip.Addr{}) {
		t.Error("an unknown address must belong only to all addresses")
	}
	for inner, want := range map[Networks]bool{
		"10.1.0.0/16": true, "10.0.0.0/8 2001:db8:1::/48": true, networks: true,
		"": false, "10.1.0.0/16 11.0.0.0/8": false, "0.0.0.0/0": false, "2001::/16": false,
	} {
		if got := networks.Include(inner); got != want || !Networks("").Include(inner) {
			t.Errorf("%q: included %t, want %t", inner, got, want)
		}
	}
	if _, err := ParseNetworks(slices.Repeat([]string{"::1"}, maxNetworks+1)); err == nil {
		t.Error("too many networks are accepted")
	}
	for _, bad := range []string{"", "x", "10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/8 ", "::ffff:10.0.0.0/104", "fe80::1%eth0"} {
		if networks, err := ParseNetworks([]string{bad}); err == nil {
			t.Errorf("%q is accepted as %q", bad, networks)
		}
	}
}
