package handlers

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"labshelf/auth"
	"labshelf/errs"
	"labshelf/repository"
)

// sessionCookie is the name of the cookie by which a browser comes in.
const sessionCookie = "labshelf_session"

// errKeyRequired answers those who sign in as they did at the historical service, which believed a proxy's word for who they are.
var errKeyRequired = &errs.Error{Kind: errs.Forbidden, Code: errs.CodeKeyRequired, Field: "key",
	Message: "here one signs in with a key: send {\"key\": …}"}

// errCrossOrigin answers a page of another origin that would act in the name of whoever is signed in.
var errCrossOrigin = &errs.Error{Kind: errs.Forbidden, Code: errs.CodeCrossOrigin,
	Message: "a page of another origin cannot use the session of a browser; it needs a key of its own"}

type sessionJSON struct {
	Username string `json:"username"`
	Sysadmin bool   `json:"sysadmin"`
}

// signIn trades a key for a cookie. A key that nobody has counts like one in a header.
func (a *api) signIn(w http.ResponseWriter, r *request) error {
	if a.crossOrigin(r.Request) {
		return errCrossOrigin
	}
	fields, err := readFields(w, r)
	if err != nil {
		return err
	}
	key, err := signInKey(fields)
	if err != nil {
		return err
	}
	caller, token, ends, err := a.repo.SignIn(r.Context(), auth.FromHeader(key), sessionOf(r.Request))
	if err != nil {
		return a.counted(w.Header(), r.Request, err)
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

// signOut ends the session, for whoever has a copy of its cookie too. The cookie is taken away first: this browser is signed out
// even where the session cannot be ended now, because the service takes no changes. Where there is no session, nothing is left to do.
func (a *api) signOut(w http.ResponseWriter, r *request) error {
	if a.crossOrigin(r.Request) {
		return errCrossOrigin
	}
	cookie := a.cookie(r.Request, "")
	cookie.MaxAge = -1
	http.SetCookie(w, cookie)
	if err := a.repo.SignOut(r.Context(), sessionOf(r.Request)); err != nil {
		return err
	}
	return sendNothing(w, "", nil)
}

// cookie is how a token is kept by a browser: out of reach of scripts, of other sites, of other paths, and of the plain network
// where the way to the service is TLS.
func (a *api) cookie(r *http.Request, token string) *http.Cookie {
	path := "/"
	if a.prefix != "" {
		path = a.prefix
	}
	return &http.Cookie{
		Name: sessionCookie, Value: token, Path: path, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: a.secureWay(r),
	}
}

// secureWay tells whether clients reach the service over TLS, whoever speaks it.
func (a *api) secureWay(r *http.Request) bool {
	return a.scheme(r) == "https" || a.config.BaseURL != nil && a.config.BaseURL.Scheme == "https"
}

// sessionOf is the token that a browser sends, or "".
func sessionOf(r *http.Request) string {
	cookie, err := r.Cookie(sessionCookie) // the first: browsers send that of the longest path first
	if err != nil {
		return ""
	}
	return cookie.Value
}

// bySession returns whose session a browser has. Browsers send cookies by themselves, whoever made the page that asks: so what
// changes something must come from a page of this service.
func (a *api) bySession(answer http.Header, r *http.Request, token string) (auth.Principal, error) {
	if a.crossOrigin(r) {
		return auth.Principal{}, errCrossOrigin
	}
	caller, err := a.repo.AuthenticateSession(r.Context(), token)
	return caller, a.counted(answer, r, err)
}

// trustOwnOrigin lets in the pages that browsers have under the base URL: a proxy in front may ask for another host and say nothing
// of that one, and over the plain network there is only the origin to tell a page by.
func (a *api) trustOwnOrigin() {
	base := a.config.BaseURL
	if base == nil {
		return
	}
	defaultPort := map[string]string{"http": ":80", "https": ":443"}[base.Scheme] // browsers leave it out
	origin := base.Scheme + "://" + strings.TrimSuffix(strings.ToLower(base.Host), defaultPort)
	if err := a.origins.AddTrustedOrigin(origin); err != nil {
		panic(fmt.Sprintf("handlers: the base URL: %v", err)) // it has been read as one
	}
}

// crossOrigin tells whether a request that may change something comes from a page of another origin.
func (a *api) crossOrigin(r *http.Request) bool {
	if host := a.host(r); host != r.Host { // what the browser saw, before a proxy
		r = r.WithContext(r.Context())
		r.Host = host
	}
	return a.origins.Check(r) != nil
}

// counted counts a refusal for a key or session that nobody has, and passes on any other error.
func (a *api) counted(answer http.Header, r *http.Request, err error) error {
	if errors.Is(err, repository.ErrUnknownKey) {
		if tooMany := a.countFailure(answer, r); tooMany != nil {
			return tooMany
		}
	}
	return err
}
