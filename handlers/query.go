package handlers

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"labshelf/auth/errs"
	"labshelf/repository/core"
)

// malformedQuery returns an error for a query that could not be parsed completely; the unparsed
// part would be ignored silently.
func malformedQuery(err error) error {
	if err == nil {
		return nil
	}
	return &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidParameter,
		Message: "the query cannot be read; its parts are NAME=VALUE, joined by &, with other characters percent-encoded", Err: err}
}

// checkParameters refuses unknown parameters and, except for resource, repeated ones. A client that
// sends ?dryrun=1 expects that nothing changes. Listings check their parameters themselves.
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
			Message: "this request does not accept this query parameter; accepted: " + cmp.Or(strings.Join(accepted, ", "), "none")}
	}
	return nil
}

// parametersOf are the accepted query parameters, by kind of route.
var parametersOf = map[routeKind][]string{downloaded: {"disposition"}, archived: {"folder", "resource"}, foldered: {"path"}, sized: {"size"}, proving: {"entry", "from", "size"}, following: {"after"},
	tabled: {"separator"}, previewed: {"preview"}, revoking: {"dependents"}}
