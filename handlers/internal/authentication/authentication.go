// Package authentication identifies the caller of a request by a key or by a browser session. It
// limits requests with unknown keys and requests without a key, by address.
package authentication

import (
	"errors"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/hosts"
	"labshelf/repository/core"
)

// Config configures authentication.
type Config struct {
	BaseURL    *url.URL // of the service; nil: taken from each request
	FailedKeys int      // requests with an unknown key that are authenticated per minute and address; 0: no limit
	// AnonymousRequests limits the requests without a key per minute and address; 0: no limit.
	AnonymousRequests int
}

// Authenticator identifies callers. It is safe for concurrent use.
type Authenticator struct {
	credentials *core.Credentials
	hosts       *hosts.Hosts
	origins     http.CrossOriginProtection
	failures    *throttle
	strangers   *throttle // requests without a key
}

// New returns an Authenticator.
func New(credentials *core.Credentials, hosts *hosts.Hosts, config Config) *Authenticator {
	a := &Authenticator{
		credentials: credentials, hosts: hosts,
		failures: newThrottle(config.FailedKeys, maxAddresses), strangers: newThrottle(config.AnonymousRequests, maxAddresses),
	}
	a.trustOwnOrigin(config.BaseURL)
	return a
}

// Authenticate returns the principal of the request's key. Without an Authorization header it
// returns the principal of the session. A request with two such headers is refused. Unknown keys
// and sessions count as failures; after too many, the answer's header says when to retry.
func (a *Authenticator) Authenticate(answer http.Header, from auth.Origin, r *http.Request) (auth.Principal, error) {
	key, sent := "", r.Header.Values("Authorization")
	if len(sent) == 0 {
		if token := SessionOf(r); token != "" {
			return a.authenticateSession(answer, from, r, token)
		}
	}
	if len(sent) == 1 {
		key = auth.FromHeader(sent[0])
	}
	caller, err := a.credentials.Authenticate(r.Context(), key, from)
	return caller, a.CountUnknownKey(answer, r, err)
}

// authenticateSession returns the principal of a browser session. Browsers send cookies with
// requests of any page. So a request that changes something must come from a page of this service.
func (a *Authenticator) authenticateSession(answer http.Header, from auth.Origin, r *http.Request, token string) (auth.Principal, error) {
	if a.CrossOrigin(r) {
		return auth.Principal{}, ErrCrossOrigin
	}
	caller, err := a.credentials.AuthenticateSession(r.Context(), token, from)
	return caller, a.CountUnknownKey(answer, r, err)
}

// NoteRefusal records a refused request in the audit log. An unauthenticated request without any
// key did not try to authenticate, so it is not recorded unless public is set. public reports
// whether the route requires no key.
func (a *Authenticator) NoteRefusal(r *http.Request, public bool, err error) {
	tried := public || len(r.Header.Values("Authorization")) > 0 || SessionOf(r) != ""
	known := exchange.PublicError(err)
	switch {
	case known.Code == errs.CodeTooManyFailures:
		a.credentials.NoteRefusal(errs.Unauthenticated)
	case known.Kind == errs.Forbidden, known.Kind == errs.Unauthenticated && tried:
		a.credentials.NoteRefusal(known.Kind)
	}
}

// CountUnknownKey counts a failure if err is an unknown key or session. It returns other errors
// unchanged.
func (a *Authenticator) CountUnknownKey(answer http.Header, r *http.Request, err error) error {
	if errors.Is(err, core.ErrUnknownKey) {
		if tooMany := a.countFailure(answer, r); tooMany != nil {
			return tooMany
		}
	}
	return err
}

// countFailure counts a request with an unknown key. After too many, the answer's header says when
// to retry.
func (a *Authenticator) countFailure(header http.Header, r *http.Request) error {
	wait := a.failures.count(a.hosts.Client(r), time.Now())
	if wait == 0 {
		return nil
	}
	header.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	return ErrTooManyFailures
}

// maxAddresses limits the remembered addresses that sent unknown keys. The least recent address is
// removed first.
const maxAddresses = 10_000

// ErrTooManyFailures is the error for an unknown key from an address with too many failures.
var ErrTooManyFailures = &errs.Error{Kind: errs.TooManyRequests, Code: errs.CodeTooManyFailures,
	Message: "too many requests with unknown keys came from this address; a valid key still works"}

// errTooManyAnonymous is the error for an address that sent too many requests without a key.
var errTooManyAnonymous = &errs.Error{Kind: errs.TooManyRequests, Code: errs.CodeTooManyRequests,
	Message: "too many requests without a key came from this address; requests with a valid key still work"}

// sessionHeader is a header of an answer to an anonymous reader. It tells the browser that its
// session has ended.
const sessionHeader = "X-Session"

// Identify returns the principal of a request to a route that requires a caller. A request without
// credentials is the anonymous reader if the route and the configuration allow it. An invalid key
// is an error, even for open data. An ended session counts as no credentials: removing its cookie
// could remove the cookie of a later session, and an error would hide open data from former users.
func (a *Authenticator) Identify(w http.ResponseWriter, r *http.Request, open bool) (auth.Principal, error) {
	from := a.Origin(w, r)
	if !open || !a.credentials.Anonymous() {
		return a.Authenticate(w.Header(), from, r)
	}
	header := w.Header()
	if !slices.Contains(header.Values("Vary"), exchange.VaryByCaller) { // the caller may be identified twice
		header.Add("Vary", exchange.VaryByCaller)
	}
	header.Set("Cache-Control", exchange.CachedForAll)
	if HasCredentials(r) {
		header.Set("Cache-Control", exchange.CachedForOne)
		token := SessionOf(r)
		if token == "" || len(r.Header.Values("Authorization")) > 0 {
			return a.Authenticate(header, from, r)
		}
		caller, err := a.credentials.AuthenticateSession(r.Context(), token, from)
		if err == nil || exchange.PublicError(err).Kind != errs.Unauthenticated {
			return caller, err
		}
		header.Set(sessionHeader, "ended")
	}
	if err := a.CountAnonymous(header, r); err != nil {
		return auth.Principal{}, err
	}
	return a.credentials.AnonymousReader()
}

// HasCredentials reports whether a request has a key or a session, valid or not.
func HasCredentials(r *http.Request) bool {
	if len(r.Header.Values("Authorization")) > 0 {
		return true
	}
	return slices.ContainsFunc(r.Cookies(), func(c *http.Cookie) bool { return c.Name == sessionCookie })
}

// CountAnonymous counts a request without credentials. After too many, the answer's header says
// when to retry.
func (a *Authenticator) CountAnonymous(header http.Header, r *http.Request) error {
	wait := a.strangers.count(a.hosts.Client(r), time.Now())
	if wait == 0 {
		return nil
	}
	header.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	return errTooManyAnonymous
}
