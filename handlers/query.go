package handlers

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"labshelf/auth/errs"
	"labshelf/handlers/internal/redact"
	"labshelf/repository/core"
)

func keyInURL(field string) error {
	return &errs.Error{Kind: errs.Invalid, Code: errs.CodeKeyInURL, Field: field,
		Message: "a key must not be in a URL; send it in the Authorization header, and revoke this one if it is real"}
}

// refuseKey refuses credentials in a query, which logs, histories and Referer headers would keep.
func refuseKey(query url.Values) error {
	for name, values := range query {
		suspect := slices.Contains([]string{"key", "apikey", "api_key", "access_token", "authorization"}, strings.ToLower(name))
		if suspect || slices.ContainsFunc(values, redact.IsKey) {
			return keyInURL(core.Shorten(name))
		}
		if redact.IsKey(name) {
			return keyInURL("")
		}
	}
	return nil
}

// malformedQuery returns the error of a query of which a part would silently be ignored.
func malformedQuery(err error) error {
	if err == nil {
		return nil
	}
	return &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidParameter,
		Message: "the query cannot be read; its parts are NAME=VALUE, joined by &, with other characters percent-encoded", Err: err}
}

// checkParameters refuses parameters that a request outside the listings would ignore, and repeats
// of all but resource: a client that sends ?dryrun=1 expects that nothing is done.
func checkParameters(kind routeKind, query url.Values) error {
	if kind == listing || kind == outlined {
		return nil
	}
	accepted := parametersOf[kind]
	for name, values := range query {
		if slices.Contains(accepted, name) {
			if len(values) > 1 && name != "resource" {
				return &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidParameter, Field: name, Message: name + " is given more than once"}
			}
			continue
		}
		return &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidParameter, Field: core.Shorten(name),
			Message: "this request does not take this query parameter; accepted: " + cmp.Or(strings.Join(accepted, ", "), "none")}
	}
	return nil
}

// parametersOf is the query parameters of the kinds of routes that have some.
var parametersOf = map[routeKind][]string{downloaded: {"disposition"}, archived: {"folder", "resource"}, foldered: {"path"}, sized: {"size"}, proving: {"entry", "from", "size"}, following: {"after"},
	tabled: {"separator"}, previewed: {"preview"}, revoking: {"dependents"}}
