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

// ErrCrossOrigin is the error of a request by a page of another origin, which would act in the name
// of the signed-in user.
var ErrCrossOrigin = &errs.Error{Kind: errs.Forbidden, Code: errs.CodeCrossOrigin,
	Message: "a page of another origin cannot use the session of a browser; it needs a key of its own"}

// Origin returns where a request that changes something comes from, for the audit log.
func (a *Authenticator) Origin(w http.ResponseWriter, r *http.Request) (from auth.Origin) {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return from
	}
	from.Request = exchange.NotesOf(w).Number
	if client := a.hosts.Client(r); client.IsValid() {
		from.Address = client.String()
	}
	return from
}

// trustOwnOrigin allows the pages under the base URL: a proxy in front may request another host
// without naming that one, and over the plain network only the origin identifies a page.
func (a *Authenticator) trustOwnOrigin(base *url.URL) {
	if base == nil {
		return
	}
	if err := a.origins.AddTrustedOrigin(hosts.OriginOf(base)); err != nil {
		panic(fmt.Sprintf("authentication: the base URL: %v", err)) // it has been read as one
	}
}

// CrossOrigin reports whether a request that may change something comes from a page of another
// origin.
func (a *Authenticator) CrossOrigin(r *http.Request) bool {
	if host := a.hosts.Host(r); host != r.Host { // as the browser sees it
		r = r.WithContext(r.Context())
		r.Host = host
	}
	return a.origins.Check(r) != nil
}
