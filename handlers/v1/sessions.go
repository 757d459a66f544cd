package v1

import (
	"net/http"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/handlers/internal/authentication"
	"labshelf/handlers/internal/body"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/wire"
	"labshelf/repository/core"
)

// Sessions serves the sessions of browsers.
type Sessions struct{ *api }

// errKeyRequired is the error of a sign-in with fields of the historical service, which took the
// user's identity from a proxy.
var errKeyRequired = &errs.Error{Kind: errs.Forbidden, Code: errs.CodeKeyRequired, Field: "key",
	Message: "sign in with a key: send {\"key\": …}"}

// SignIn exchanges a key for a session cookie. An unknown key counts as a failed attempt, as in a
// header.
func (a Sessions) SignIn(w http.ResponseWriter, r *exchange.Request) error {
	if a.auth.CrossOrigin(r.Request) {
		return authentication.ErrCrossOrigin
	}
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	key, err := signInKey(fields)
	if err != nil {
		return err
	}
	caller, token, ends, err := a.repo.Credentials.SignIn(r.Context(), auth.FromHeader(key), authentication.SessionOf(r.Request), a.auth.Origin(w, r.Request))
	if err != nil {
		return a.auth.CountUnknownKey(w.Header(), r.Request, err)
	}
	exchange.NoteCaller(w, caller)
	a.auth.SetSession(w, r.Request, token, ends)
	w.Header().Set("Cache-Control", "no-store")
	exchange.WriteJSON(w, http.StatusOK, wire.Session{Username: caller.Username, Sysadmin: caller.Sysadmin})
	return nil
}

// signInKey returns the key in the body of a sign-in.
func signInKey(fields body.Object) (key string, err error) {
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

// SignOut ends the session, including copies of its cookie. It removes the cookie first, so that
// this browser is signed out even if the service is read-only and cannot end the session. A request
// without a session succeeds.
func (a Sessions) SignOut(w http.ResponseWriter, r *exchange.Request) error {
	if a.auth.CrossOrigin(r.Request) {
		return authentication.ErrCrossOrigin
	}
	a.auth.EndSession(w, r.Request)
	if err := a.repo.Credentials.SignOut(r.Context(), authentication.SessionOf(r.Request), a.auth.Origin(w, r.Request)); err != nil {
		return err
	}
	return exchange.WriteNothing(w, "", nil)
}
