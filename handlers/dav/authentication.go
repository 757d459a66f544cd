package dav

import (
	"net/http"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/handlers/internal/exchange"
)

// errPlainDrive is the error of a request that sends a key where others may read it.
var errPlainDrive = &errs.Error{Kind: errs.Forbidden, Code: errs.CodeForbidden,
	Message: "the drive is served over https, and over http only on the machine of the service itself: " +
		"a key would be sent in the open. Behind a proxy, trusted_proxies says whose X-Forwarded-Proto counts"}

// Authenticate returns the principal of the key that the request has as its password, whatever
// its username. Cookies do not count: file managers have none, and pages have the interface. Who
// sends no key is asked for one, and has tried none.
func (d *Drive) Authenticate(answer http.Header, r *http.Request) (auth.Principal, error) {
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
	caller, err := d.repo.Credentials.Authenticate(r.Context(), key)
	if err = d.auth.CountUnknownKey(answer, r, err); err != nil && exchange.PublicError(err).Kind == errs.Unauthenticated {
		answer.Set("WWW-Authenticate", `Basic realm="labshelf", charset="UTF-8"`)
	}
	return caller, err
}
