package dav

import (
	"net/http"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/handlers/internal/exchange"
)

// errPlainDrive is the error of a request that sends a key over an unencrypted connection.
var errPlainDrive = &errs.Error{Kind: errs.Forbidden, Code: errs.CodeForbidden,
	Message: "the drive is served over https, and over http only on the machine of the service itself: " +
		"otherwise a key would be sent without encryption. Behind a proxy, set trusted_proxies, so that X-Forwarded-Proto counts"}

// Authenticate returns the principal of the key in the request's password, with any username. It
// ignores cookies: file managers have no cookies, and pages use the API. A request without a
// key gets 401 and does not count as a failed attempt.
func (d *Drive) Authenticate(w http.ResponseWriter, r *http.Request) (auth.Principal, error) {
	if d.hosts.Scheme(r) != "https" && !d.hosts.Client(r).IsLoopback() {
		return auth.Principal{}, errPlainDrive
	}
	key, sent := "", r.Header.Values("Authorization")
	if len(sent) == 1 {
		key = auth.FromHeader(sent[0])
		if _, password, basic := r.BasicAuth(); basic {
			key = password
		}
	}
	caller, err := d.repo.Credentials.Authenticate(r.Context(), key, d.auth.Origin(w, r))
	if err = d.auth.CountUnknownKey(w.Header(), r, err); err != nil && exchange.PublicError(err).Kind == errs.Unauthenticated {
		w.Header().Set("WWW-Authenticate", `Basic realm="labshelf", charset="UTF-8"`)
	}
	return caller, err
}
