package handlers

import (
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"labshelf/auth"
	"labshelf/errs"
)

// varyByCaller is in the Vary of every answer of a route that anonymous readers may use.
const varyByCaller = "Authorization, Cookie"

// What caches may do with an answer. One to an anonymous reader is the same for all of them: a shared cache may keep it, and asks each time
// whether it is still so, since what is open may be closed at any moment.
const (
	cachedForOne = "private, no-cache"
	cachedForAll = "public, no-cache"
)

// errTooManyAnonymous answers an address that has sent too many requests without a key.
var errTooManyAnonymous = &errs.Error{Kind: errs.TooManyRequests, Code: errs.CodeTooManyRequests,
	Message: "too many requests without a key came from this address; one with a valid key is served"}

// identify returns the principal of a request to a route that wants to know who calls. Without any credentials that is the anonymous reader,
// where the route and the configuration allow it: a wrong key is no missing one.
func (a *api) identify(w http.ResponseWriter, r *http.Request, rt route) (auth.Principal, error) {
	if rt.audience != anonymous || !a.repo.Anonymous() {
		return a.authenticate(w.Header(), r)
	}
	header := w.Header()
	header.Add("Vary", varyByCaller)
	if hasCredentials(r) {
		header.Set("Cache-Control", cachedForOne)
		return a.authenticate(header, r)
	}
	header.Set("Cache-Control", cachedForAll)
	if err := a.countAnonymous(header, r); err != nil {
		return auth.Principal{}, err
	}
	return a.repo.AnonymousReader()
}

// hasCredentials tells whether a request has a key or a session, valid or not.
func hasCredentials(r *http.Request) bool {
	if len(r.Header.Values("Authorization")) > 0 {
		return true
	}
	return slices.ContainsFunc(r.Cookies(), func(c *http.Cookie) bool { return c.Name == sessionCookie })
}

// countAnonymous counts a request without credentials. After too many, the header of the answer says when to retry.
func (a *api) countAnonymous(header http.Header, r *http.Request) error {
	wait := a.strangers.count(a.hosts.Client(r), time.Now())
	if wait == 0 {
		return nil
	}
	header.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	return errTooManyAnonymous
}

// caching is what caches may do with an answer to this caller.
func (r *request) caching() string {
	if r.caller.Anonymous {
		return cachedForAll
	}
	return cachedForOne
}
