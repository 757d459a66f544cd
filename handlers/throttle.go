package handlers

import (
	"container/list"
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"labshelf/errs"
)

// maxAddresses bounds what is remembered of addresses that sent unknown keys. The one that has been quiet longest goes first.
const maxAddresses = 10_000

// errTooManyFailures answers an unknown key from an address that has tried too many.
var errTooManyFailures = &errs.Error{Kind: errs.TooManyRequests, Code: errs.CodeTooManyFailures,
	Message: "too many requests with unknown keys came from this address; a valid key goes on working"}

// throttle counts, by address, requests that are allowed so many times in a minute. A nil throttle allows all.
type throttle struct {
	perMinute, addresses int

	mu     sync.Mutex
	recent *list.List // of *failing, the latest first
	places map[netip.Addr]*list.Element
}

// failing is what is remembered of one address.
type failing struct {
	address netip.Addr
	limit   *rate.Limiter
}

func newThrottle(perMinute, addresses int) *throttle {
	if perMinute <= 0 {
		return nil
	}
	return &throttle{perMinute: perMinute, addresses: addresses, recent: list.New(), places: map[netip.Addr]*list.Element{}}
}

// count counts one more and returns 0, or how long to wait where it is one too many. Whoever has one IPv6 address has all of
// its /64.
func (t *throttle) count(address netip.Addr, now time.Time) (wait time.Duration) {
	if t == nil {
		return 0
	}
	if network, err := address.Prefix(64); err == nil && address.Is6() {
		address = network.Addr()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	place, known := t.places[address]
	if !known {
		every := rate.Every(time.Minute / time.Duration(t.perMinute))
		place = t.recent.PushFront(&failing{address, rate.NewLimiter(every, t.perMinute)})
		t.places[address] = place
	}
	t.recent.MoveToFront(place)
	if t.recent.Len() > t.addresses {
		delete(t.places, t.recent.Remove(t.recent.Back()).(*failing).address)
	}
	next := place.Value.(*failing).limit.ReserveN(now, 1)
	if wait = next.DelayFrom(now); wait > 0 {
		next.CancelAt(now)
	}
	return wait
}

// countFailure counts a request with an unknown key. Where there were too many, it says when to come back.
func (a *api) countFailure(header http.Header, r *http.Request) error {
	wait := a.failures.count(a.client(r), time.Now())
	if wait == 0 {
		return nil
	}
	header.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	return errTooManyFailures
}
