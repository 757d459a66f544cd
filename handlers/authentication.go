package handlers

import (
	"cmp"
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
	"labshelf/auth/admission"
	"labshelf/auth/errs"
	"labshelf/handlers/internal/body"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/wire"
	"labshelf/metadata"
	"labshelf/repository/core"
)

// authenticate returns the principal of the key that the request carries, or of its session where
// it has no Authorization header. Of two such headers none counts. Unknown keys and sessions are
// counted; after too many the header of the answer says when to retry.
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
	caller, err := a.repo.Credentials.Authenticate(r.Context(), key)
	return caller, a.countUnknownKey(answer, r, err)
}

// authenticateSession returns the principal of a browser's session. Browsers send cookies with
// requests of any page: so a request that changes something must come from a page of this service.
func (a *api) authenticateSession(answer http.Header, r *http.Request, token string) (auth.Principal, error) {
	if a.crossOrigin(r) {
		return auth.Principal{}, errCrossOrigin
	}
	caller, err := a.repo.Credentials.AuthenticateSession(r.Context(), token)
	return caller, a.countUnknownKey(answer, r, err)
}

// noteRefusal counts a request that is refused, for the audit log. One without any key has not
// failed: it has not tried.
func (a *api) noteRefusal(r *http.Request, rt route, err error) {
	tried := rt.audience == everybody || len(r.Header.Values("Authorization")) > 0 || sessionOf(r) != ""
	known := exchange.PublicError(err)
	switch {
	case known.Code == errs.CodeTooManyFailures:
		a.repo.Credentials.NoteRefusal(errs.Unauthenticated)
	case known.Kind == errs.Forbidden, known.Kind == errs.Unauthenticated && tried:
		a.repo.Credentials.NoteRefusal(known.Kind)
	}
}

// countUnknownKey counts the refusal of an unknown key or session, and returns any other error as
// it is.
func (a *api) countUnknownKey(answer http.Header, r *http.Request, err error) error {
	if errors.Is(err, core.ErrUnknownKey) {
		if tooMany := a.countFailure(answer, r); tooMany != nil {
			return tooMany
		}
	}
	return err
}

// countFailure counts a request with an unknown key. After too many, the header of the answer says
// when to retry.
func (a *api) countFailure(header http.Header, r *http.Request) error {
	wait := a.failures.count(a.hosts.Client(r), time.Now())
	if wait == 0 {
		return nil
	}
	header.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	return errTooManyFailures
}

// maxAddresses bounds how many addresses that sent unknown keys are remembered. The least recent
// one is forgotten first.
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

// count counts a request and returns 0, or how long to wait if it is one too many. The IPv6
// addresses of one /64 count as one.
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

// sessionCookie is the name of the cookie that holds the token of a session.
const sessionCookie = "labshelf_session"

// errKeyRequired is the error of a sign-in as at the historical service, which took the user's
// identity from a proxy.
var errKeyRequired = &errs.Error{Kind: errs.Forbidden, Code: errs.CodeKeyRequired, Field: "key",
	Message: "sign in with a key: send {\"key\": …}"}

// sessionRoutes serves the sessions of browsers.
type sessionRoutes struct{ *api }

// signIn exchanges a key for a cookie. An unknown key counts like one in a header.
func (a sessionRoutes) signIn(w http.ResponseWriter, r *exchange.Request) error {
	if a.crossOrigin(r.Request) {
		return errCrossOrigin
	}
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	key, err := signInKey(fields)
	if err != nil {
		return err
	}
	caller, token, ends, err := a.repo.Credentials.SignIn(r.Context(), auth.FromHeader(key), sessionOf(r.Request), a.origin(w, r.Request))
	if err != nil {
		return a.countUnknownKey(w.Header(), r.Request, err)
	}
	exchange.NoteCaller(w, caller)
	a.setSession(w, r.Request, token, ends)
	w.Header().Set("Cache-Control", "no-store")
	exchange.WriteJSON(w, http.StatusOK, wire.Session{Username: caller.Username, Sysadmin: caller.Sysadmin})
	return nil
}

// setSession gives a browser a session, until that ends.
func (a sessionRoutes) setSession(w http.ResponseWriter, r *http.Request, token string, ends metadata.Stamp) {
	cookie := a.cookie(r, token)
	cookie.Expires = ends.Time()
	cookie.MaxAge = max(1, int(time.Until(cookie.Expires).Seconds()))
	http.SetCookie(w, cookie)
}

// signInKey is the key in the body of a sign-in.
func signInKey(fields core.Fields) (key string, err error) {
	for _, name := range []string{"eppn", "mail", "cn"} {
		if _, sent := fields[name]; sent {
			return "", errKeyRequired
		}
	}
	for name, value := range fields {
		text, isText := value.(string)
		switch {
		case name != "key":
			return "", &errs.Error{Kind: errs.Invalid, Code: errs.CodeUnknownField, Field: core.Shorten(name),
				Message: "the only field is key"}
		case !isText:
			return "", &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidField, Field: name, Message: "key must be a string"}
		}
		key = text
	}
	if _, sent := fields["key"]; !sent {
		return "", &errs.Error{Kind: errs.Invalid, Code: errs.CodeMissingField, Field: "key", Message: "key is missing"}
	}
	return key, nil
}

// signOut ends the session, also for copies of its cookie. The cookie is removed first: this
// browser is signed out even where the session cannot be ended now, because the service takes no
// changes. No session is no error.
func (a sessionRoutes) signOut(w http.ResponseWriter, r *exchange.Request) error {
	if a.crossOrigin(r.Request) {
		return errCrossOrigin
	}
	cookie := a.cookie(r.Request, "")
	cookie.MaxAge = -1
	http.SetCookie(w, cookie)
	if err := a.repo.Credentials.SignOut(r.Context(), sessionOf(r.Request), a.origin(w, r.Request)); err != nil {
		return err
	}
	return exchange.WriteNothing(w, "", nil)
}

// cookie returns the cookie that holds a token: not readable by scripts, not sent by other sites,
// to other paths, or, where clients use TLS, over the plain network.
func (a sessionRoutes) cookie(r *http.Request, token string) *http.Cookie {
	path := "/"
	if a.prefix != "" {
		path = a.prefix
	}
	return &http.Cookie{
		Name: sessionCookie, Value: token, Path: path, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: a.overTLS(r),
	}
}

// overTLS tells whether clients reach the service over TLS, its own or a proxy's.
func (a *api) overTLS(r *http.Request) bool {
	return a.hosts.Scheme(r) == "https" || a.config.BaseURL != nil && a.config.BaseURL.Scheme == "https"
}

// sessionOf is the token that a browser sends, or "".
func sessionOf(r *http.Request) string {
	cookie, err := r.Cookie(sessionCookie) // the first: browsers send that of the longest path first
	if err != nil {
		return ""
	}
	return cookie.Value
}

// serveCaller serves a route that wants to know who calls. A listing takes that for what this node
// knows: it answers when all is read, so it can begin again where that is over.
func (a *api) serveCaller(w http.ResponseWriter, req *exchange.Request, rt route, malformed error) error {
	as := req.Request
	if rt.kind == listing && malformed == nil {
		if presuming := a.repo.Credentials.Presume(as.Context()); presuming != as.Context() {
			req.Request = as.WithContext(presuming)
		}
	}
	err := a.serveIdentified(w, req, rt, malformed)
	if errors.Is(err, core.ErrPresumed) {
		req.Request = as
		exchange.NoteCaller(w, auth.Principal{})
		err = a.serveIdentified(w, req, rt, malformed)
	}
	return err
}

func (a *api) serveIdentified(w http.ResponseWriter, req *exchange.Request, rt route, malformed error) error {
	caller, err := a.identify(w, req.Request, rt)
	if err != nil {
		return err
	}
	req.Caller = caller
	req.Caller.Origin = a.origin(w, req.Request)
	exchange.NoteCaller(w, caller)
	if err := cmp.Or(malformedQuery(malformed), checkParameters(rt.kind, req.Query)); err != nil {
		return err
	}
	leave, err := a.gate.admit(w, req, rt.cost, a.callerOf(req))
	if err != nil {
		return err
	}
	defer leave()
	return rt.serve(w, req)
}
