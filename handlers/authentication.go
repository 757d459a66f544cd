package handlers

import (
	"container/list"
	"errors"
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"labshelf/auth"
	"labshelf/errs"
	"labshelf/repository"
)

// authenticate returns the principal of the key that the request carries, or of its session where it has no Authorization header. Of
// two such headers none counts. Unknown keys and sessions are counted; after too many the header of the answer says when to retry.
func (a *api) authenticate(answer http.Header, r *http.Request) (auth.Principal, error) {
	key, sent := "", r.Header.Values("Authorization")
	if len(sent) == 0 {
		if token := sessionOf(r); token != "" {
			return a.authenticateSession(answer, r, token)
		}
	}
	if len(sent) == 1 {
		key = auth.FromHeader(sent[0])
	}
	caller, err := a.repo.Authenticate(r.Context(), key)
	return caller, a.countUnknownKey(answer, r, err)
}

// authenticateSession returns the principal of a browser's session. Browsers send cookies with requests of any page: so a request that
// changes something must come from a page of this service.
func (a *api) authenticateSession(answer http.Header, r *http.Request, token string) (auth.Principal, error) {
	if a.crossOrigin(r) {
		return auth.Principal{}, errCrossOrigin
	}
	caller, err := a.repo.AuthenticateSession(r.Context(), token)
	return caller, a.countUnknownKey(answer, r, err)
}

// noteRefusal counts a request that is refused, for the audit log. One without any key has not failed: it has not tried.
func (a *api) noteRefusal(r *http.Request, rt route, err error) {
	tried := rt.audience == everybody || len(r.Header.Values("Authorization")) > 0 || sessionOf(r) != ""
	known := publicError(err)
	switch {
	case known.Code == errs.CodeTooManyFailures:
		a.repo.NoteRefusal(errs.Unauthenticated)
	case known.Kind == errs.Forbidden, known.Kind == errs.Unauthenticated && tried:
		a.repo.NoteRefusal(known.Kind)
	}
}

// countUnknownKey counts the refusal of an unknown key or session, and returns any other error as it is.
func (a *api) countUnknownKey(answer http.Header, r *http.Request, err error) error {
	if errors.Is(err, repository.ErrUnknownKey) {
		if tooMany := a.countFailure(answer, r); tooMany != nil {
			return tooMany
		}
	}
	return err
}

// countFailure counts a request with an unknown key. After too many, the header of the answer says when to retry.
func (a *api) countFailure(header http.Header, r *http.Request) error {
	wait := a.failures.count(a.hosts.Client(r), time.Now())
	if wait == 0 {
		return nil
	}
	header.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	return errTooManyFailures
}

// maxAddresses bounds how many addresses that sent unknown keys are remembered. The least recent one is forgotten first.
const maxAddresses = 10_000

// errTooManyFailures answers an unknown key from an address that has tried too many.
var errTooManyFailures = &errs.Error{Kind: errs.TooManyRequests, Code: errs.CodeTooManyFailures,
	Message: "too many requests with unknown keys came from this address; a valid key still works"}

// throttle limits, by address, requests to a number per minute. A nil throttle allows all.
type throttle struct {
	perMinute, addresses int

	mu      sync.Mutex
	recent  *list.List // of *failing, the latest first
	entries map[netip.Addr]*list.Element
}

// attempts are those of one address.
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

// count counts a request and returns 0, or how long to wait if it is one too many. The IPv6 addresses of one /64 count as one.
func (t *throttle) count(address netip.Addr, now time.Time) (wait time.Duration) {
	if t == nil {
		return 0
	}
	if network, err := address.Prefix(64); err == nil && address.Is6() {
		address = network.Addr()
	}
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
