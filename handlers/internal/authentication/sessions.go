package authentication

import (
	"cmp"
	"net/http"
	"time"

	"labshelf/metadata"
)

// sessionCookie is the name of the cookie that holds the token of a session.
const sessionCookie = "labshelf_session"

// SetSession sends the cookie of a session, which lasts until the session ends.
func (a *Authenticator) SetSession(w http.ResponseWriter, r *http.Request, token string, ends metadata.Stamp) {
	cookie := a.cookie(r, token)
	cookie.Expires = ends.Time()
	cookie.MaxAge = max(1, int(time.Until(cookie.Expires).Seconds()))
	http.SetCookie(w, cookie)
}

// EndSession removes the session cookie from the browser.
func (a *Authenticator) EndSession(w http.ResponseWriter, r *http.Request) {
	cookie := a.cookie(r, "")
	cookie.MaxAge = -1
	http.SetCookie(w, cookie)
}

// cookie returns a cookie with a token. Scripts cannot read it, and browsers do not send it with
// requests from other sites or to other paths. If clients use TLS, they do not send it over plain
// HTTP.
func (a *Authenticator) cookie(r *http.Request, token string) *http.Cookie {
	return &http.Cookie{
		Name: sessionCookie, Value: token, Path: cmp.Or(a.hosts.Prefix(), "/"), HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: a.hosts.OverTLS(r),
	}
}

// SessionOf returns the session token in a request, or "".
func SessionOf(r *http.Request) string {
	cookie, err := r.Cookie(sessionCookie) // the first: browsers send the cookie with the longest path first
	if err != nil {
		return ""
	}
	return cookie.Value
}
