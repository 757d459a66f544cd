package authentication

import (
	"container/list"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"labshelf/auth/admission"
)

// throttle limits the requests per minute of each address. A nil throttle has no limit.
type throttle struct {
	perMinute, addresses int

	mu      sync.Mutex
	recent  *list.List // of *attempts, the latest first
	entries map[netip.Addr]*list.Element
}

// attempts are the requests of one address.
type attempts struct {
	address netip.Addr
	limit   *rate.Limiter
}

func newThrottle(perMinute, addresses int) *throttle {
	if perMinute <= 0 {
		return nil
	}
	return &throttle{perMinute: perMinute, addresses: addresses, recent: list.New(), entries: map[netip.Addr]*list.Element{}}
}

// count counts a request. It returns 0, or the time to wait if the limit is exceeded. All IPv6
// addresses of a /64 count as one.
func (t *throttle) count(address netip.Addr, now time.Time) (wait time.Duration) {
	if t == nil {
		return 0
	}
	address = admission.Network(address)
	t.mu.Lock()
	defer t.mu.Unlock()
	place, known := t.entries[address]
	if !known {
		every := rate.Every(time.Minute / time.Duration(t.perMinute))
		place = t.recent.PushFront(&attempts{address, rate.NewLimiter(every, t.perMinute)})
		t.entries[address] = place
	}
	t.recent.MoveToFront(place)
	if t.recent.Len() > t.addresses {
		delete(t.entries, t.recent.Remove(t.recent.Back()).(*attempts).address)
	}
	next := place.Value.(*attempts).limit.ReserveN(now, 1)
	if wait = next.DelayFrom(now); wait > 0 {
		next.CancelAt(now)
	}
	return wait
}
