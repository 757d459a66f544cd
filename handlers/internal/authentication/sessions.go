package authentication

import (
	"cmp"
	"net/http"
	"time"

	"labshelf/metadata"
)

// sessionCookie is the name of the cookie that holds the token of a session.
const sessionCookie = "labshelf_session"

// SetSession gives a browser a session, until that ends.
func (a *Authenticator) SetSession(w http.ResponseWriter, r *http.Request, token string, ends metadata.Stamp) {
	cookie := a.cookie(r, token)
	cookie.Expires = ends.Time()
	cookie.MaxAge = max(1, int(time.Until(cookie.Expires).Seconds()))
	http.SetCookie(w, cookie)
}

// EndSession removes the cookie of a session from a browser.
func (a *Authenticator) EndSession(w http.ResponseWriter, r *http.Request) {
	cookie := a.cookie(r, "")
	cookie.MaxAge = -1
	http.SetCookie(w, cookie)
}

// cookie returns the cookie that holds a token: not readable by scripts, not sent by other sites,
// to other paths, or, where clients use TLS, over the plain network.
func (a *Authenticator) cookie(r *http.Request, token string) *http.Cookie {
	return &http.Cookie{
		Name: sessionCookie, Value: token, Path: cmp.Or(a.hosts.Prefix(), "/"), HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: a.hosts.OverTLS(r),
	}
}

// SessionOf returns the token that a browser sends, or "".
func SessionOf(r *http.Request) string {
	cookie, err := r.Cookie(sessionCookie) // the first: browsers send that of the longest path first
	if err != nil {
		return ""
	}
	return cookie.Value
}
