package handlers

import (
	"net/http"
	"time"

	"labshelf/auth"
	"labshelf/errs"
	"labshelf/handlers/internal/body"
	"labshelf/repository"
)

// sessionCookie is the name of the cookie that holds the token of a session.
const sessionCookie = "labshelf_session"

// errKeyRequired is the error of a sign-in as at the historical service, which took the user's identity from a proxy.
var errKeyRequired = &errs.Error{Kind: errs.Forbidden, Code: errs.CodeKeyRequired, Field: "key",
	Message: "sign in with a key: send {\"key\": …}"}

type sessionJSON struct {
	Username string `json:"username"`
	Sysadmin bool   `json:"sysadmin"`
}

// signIn exchanges a key for a cookie. An unknown key counts like one in a header.
func (a *api) signIn(w http.ResponseWriter, r *request) error {
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
	caller, token, ends, err := a.repo.SignIn(r.Context(), auth.FromHeader(key), sessionOf(r.Request), a.origin(w, r.Request))
	if err != nil {
		return a.countUnknownKey(w.Header(), r.Request, err)
	}
	noteCaller(w, caller)
	cookie := a.cookie(r.Request, token)
	cookie.Expires = ends.Time()
	cookie.MaxAge = max(1, int(time.Until(cookie.Expires).Seconds()))
	http.SetCookie(w, cookie)
	w.Header().Set("Cache-Control", "no-store")
	writeJSON(w, http.StatusOK, sessionJSON{caller.Username, caller.Sysadmin})
	return nil
}

// signInKey is the key in the body of a sign-in.
func signInKey(fields repository.Fields) (key string, err error) {
	for _, name := range []string{"eppn", "mail", "cn"} {
		if _, sent := fields[name]; sent {
			return "", errKeyRequired
		}
	}
	for name, value := range fields {
		text, isText := value.(string)
		switch {
		case name != "key":
			return "", &errs.Error{Kind: errs.Invalid, Code: errs.CodeUnknownField, Field: repository.Shorten(name),
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

// signOut ends the session, also for copies of its cookie. The cookie is removed first: this browser is signed out even where the
// session cannot be ended now, because the service takes no changes. No session is no error.
func (a *api) signOut(w http.ResponseWriter, r *request) error {
	if a.crossOrigin(r.Request) {
		return errCrossOrigin
	}
	cookie := a.cookie(r.Request, "")
	cookie.MaxAge = -1
	http.SetCookie(w, cookie)
	if err := a.repo.SignOut(r.Context(), sessionOf(r.Request), a.origin(w, r.Request)); err != nil {
		return err
	}
	return sendNothing(w, "", nil)
}

// cookie returns the cookie that holds a token: not readable by scripts, not sent by other sites, to other paths, or, where clients
// use TLS, over the plain network.
func (a *api) cookie(r *http.Request, token string) *http.Cookie {
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
