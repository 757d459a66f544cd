// Package admission shares what is scarce between the callers of a service: slots in which work
// runs ([Queue]) and memory ([Memory]). A caller who wants more than its share is refused or
// waits; other callers do not notice.
//
// # Shares
//
// A caller may hold at most as much as is free. So one caller gets a half, two get a third each,
// and whatever they do, a part stays free for the next caller. Shared buffers of network switches
// are divided in this way (Choudhury and Hahne, "Dynamic queue length thresholds for
// shared-memory packet switches", 1998).
//
// # Order
//
// A free slot goes to the waiting caller who has the fewest slots, then to the one who has used
// the least time lately, then to the one who has waited longest. So a caller with two hundred
// requests in the queue does not delay another caller's first.
package admission

import (
	"fmt"
	"net/netip"
	"time"
)

// Caller is the sender of a request.
type Caller struct {
	Name string // of a user or an address
	// Group is what several senders share, such as a link; "" without one. A group has shares and
	// an order like a caller, so that many addresses with one link do not delay another link.
	Group string
}

// User returns the caller that a user is, by id.
func User(id [16]byte) Caller { return Caller{Name: "user " + string(id[:])} }

// Address returns the caller that an address without an account is. The IPv6 addresses of one /64
// are one caller: one customer has at least that many.
func Address(address netip.Addr) Caller { return Caller{Name: "address " + Network(address).String()} }

// Network returns the address that stands for all addresses of one caller.
func Network(address netip.Addr) netip.Addr {
	if prefix, err := address.Prefix(64); err == nil && address.Is6() {
		return prefix.Addr()
	}
	return address
}

// groupFactor is how many times as many requests a group may have as a caller: one sender does
// not fill it.
const groupFactor = 4

// names are the accounts that a caller's use is booked on.
func (c Caller) names() []string {
	if c.Group == "" {
		return []string{c.Name}
	}
	return []string{c.Name, c.Group}
}

// Refusal is the error of a caller who has its share already.
type Refusal struct {
	Resource string        // of which there is no more: "requests" or "memory"
	After    time.Duration // when it is worth while to try again
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("the caller's share of %s is used up; try again in %v", r.Resource, r.After)
}

// The bounds of Refusal.After.
const (
	soonest = time.Second
	latest  = 30 * time.Second // the longest that the client of this project waits for
)

func refuse(resource string, after time.Duration) *Refusal {
	return &Refusal{Resource: resource, After: min(max(after, soonest), latest).Round(time.Second)}
}
