package authentication

import (
	"fmt"
	"net/http"
	"net/url"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/hosts"
)

// ErrCrossOrigin is the error of a request from a page of another origin, which would act as the
// signed-in user.
var ErrCrossOrigin = &errs.Error{Kind: errs.Forbidden, Code: errs.CodeCrossOrigin,
	Message: "a page of another origin cannot use the browser's session; it needs its own key"}

// Origin returns the client address of a request, and the request id if it changes something.
func (a *Authenticator) Origin(w http.ResponseWriter, r *http.Request) auth.Origin {
	from := auth.Origin{Address: a.hosts.Client(r)}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		from.Request = exchange.NotesOf(w).Number
	}
	return from
}

// trustOwnOrigin allows the pages under the base URL. A proxy may send another host without naming
// the original one, and over plain HTTP only the origin identifies a page.
func (a *Authenticator) trustOwnOrigin(base *url.URL) {
	if base == nil {
		return
	}
	if err := a.origins.AddTrustedOrigin(hosts.OriginOf(base)); err != nil {
		panic(fmt.Sprintf("authentication: the base URL: %v", err)) // the configuration has validated it
	}
}

// CrossOrigin reports whether a request that may change something comes from a page of another
// origin.
func (a *Authenticator) CrossOrigin(r *http.Request) bool {
	if host := a.hosts.Host(r); host != r.Host { // the host as the browser sees it
		r = r.WithContext(r.Context())
		r.Host = host
	}
	return a.origins.Check(r) != nil
}
