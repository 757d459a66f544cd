// Package admission shares scarce resources between the callers of a service: slots in which work
// runs ([Queue]) and memory ([Memory]). A caller that exceeds its share waits or is refused; other
// callers are not affected.
//
// # Shares
//
// A caller can hold at most as much as is free. So one caller gets a half, two get a third each,
// and a part always stays free for the next caller. Network switches divide shared buffers in this
// way (Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory packet switches",
// 1998).
//
// # Order
//
// A free slot goes to the waiting caller with the fewest slots, then to the caller with the least
// recent use, then to the caller that has waited longest. So a caller with two hundred queued
// requests does not delay another caller's first request.
package admission

import (
	"fmt"
	"net/netip"
	"time"
)

// Caller is the sender of a request.
type Caller struct {
	Name string // of a user or an address
	// Group is a resource shared by several senders, such as a link; "" without one. A group has
	// shares and an order like a caller, so that many addresses with one link do not delay another
	// link.
	Group string
}

// User returns the caller for a user id.
func User(id [16]byte) Caller { return Caller{Name: "user " + string(id[:])} }

// Address returns the caller for an address without an account. The IPv6 addresses of a /64 are one
// caller, because a customer has at least that many.
func Address(address netip.Addr) Caller { return Caller{Name: "address " + Network(address).String()} }

// Network returns the address that represents all addresses of a caller.
func Network(address netip.Addr) netip.Addr {
	if prefix, err := address.Prefix(64); err == nil && address.Is6() {
		return prefix.Addr()
	}
	return address
}

// groupFactor is the limit of requests of a group, in limits of a caller, so that one sender cannot
// fill it.
const groupFactor = 4

// names returns the accounts to which the use of a caller is charged.
func (c Caller) names() []string {
	if c.Group == "" {
		return []string{c.Name}
	}
	return []string{c.Name, c.Group}
}

// exceedsShare reports whether a request takes more than the share of its caller: the caller would
// then hold more than is free now.
func exceedsShare[N int | int64](held, free N) bool { return held > free }

// Refusal is the error for a caller that has already used its share.
type Refusal struct {
	Resource string        // the exhausted resource: "requests" or "memory"
	After    time.Duration // the time after which a retry is useful
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("the caller's share of %s is used up; try again in %v", r.Resource, r.After)
}

// The bounds of Refusal.After.
const (
	soonest = time.Second
	latest  = 30 * time.Second // the longest wait of the client of this project
)

func refuse(resource string, after time.Duration) *Refusal {
	return &Refusal{Resource: resource, After: min(max(after, soonest), latest).Round(time.Second)}
}
