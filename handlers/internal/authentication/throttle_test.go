package authentication

import (
	"fmt"
	"net/netip"
	"testing"
	"time"
)

// TestThrottleIsBounded tests the limit per minute and the bound on memory.
func TestThrottleIsBounded(t *testing.T) {
	t.Parallel()
	const perMinute, addresses = 60, 100
	limit := newThrottle(perMinute, addresses)
	count := limit.count
	now, one := time.Now(), netip.MustParseAddr("192.0.2.1")
	for i := range perMinute {
		same(t, fmt.Sprint("request ", i), count(one, now), 0)
	}
	same(t, "one too many", count(one, now), time.Second)
	same(t, "and again: it does not add up", count(one, now), time.Second)
	same(t, "a second later", count(one, now.Add(time.Second)), 0)
	same(t, "and one too many", count(one, now.Add(time.Second)) > 0, true)
	now = now.Add(2 * time.Minute)
	for i := range perMinute {
		same(t, fmt.Sprint("minutes later, request ", i), count(one, now), 0)
	}
	same(t, "and one too many", count(one, now) > 0, true)

	next := netip.MustParseAddr("10.0.0.0")
	for i := range 1000 {
		next = next.Next()
		count(next, now)
		if i%50 == 0 {
			same(t, "an address that continues is not forgotten", count(one, now) > 0, true)
		}
	}
	same(t, "addresses remembered", max(len(limit.entries), limit.recent.Len()), addresses)
	for range addresses {
		next = next.Next()
		count(next, now)
	}
	same(t, "an address without requests is forgotten", count(one, now), 0)
}

func same[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
