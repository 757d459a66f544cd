package handlers

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/oklog/ulid/v2"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/repository/core"
)

// keyLength is the length of a key that this service has made.
const keyLength = len(auth.KeyPrefix) + 43

// isKey tells whether a part of a URL looks like a key or a session.
func isKey(part string) bool {
	return len(part) >= keyLength && (strings.HasPrefix(part, auth.KeyPrefix) || strings.HasPrefix(part, auth.SessionPrefix))
}

// mayHaveKey tells cheaply whether a text can contain a key or a session.
func mayHaveKey(text string) bool {
	return strings.Contains(text, auth.KeyPrefix) || strings.Contains(text, auth.SessionPrefix)
}

// hasKey tells whether a path has a segment that looks like a key or a session.
func hasKey(path string) bool {
	return mayHaveKey(path) && slices.ContainsFunc(strings.Split(path, "/"), isKey)
}

// keyForm matches a key or a session anywhere in a text; the group is the part that is shown in
// lists of keys.
var keyForm = regexp.MustCompile("((?:" + auth.KeyPrefix + "|" + auth.SessionPrefix + ")[A-Za-z0-9_-]{4})[A-Za-z0-9_-]+")

// withoutKeys returns a text of a client as it may appear in a log or an answer.
func withoutKeys(text string) string {
	if !mayHaveKey(text) {
		return text
	}
	return keyForm.ReplaceAllString(text, "$1…")
}

// longSegment matches a part of a path that may be a key of another service: of at least 32
// characters, more than an id has.
var longSegment = regexp.MustCompile("([^/]{8})[^/]{24,}")

// withoutLongSegments returns a path as it may appear in a log. The expression took a third of the
// time that a line of the log does.
func withoutLongSegments(path string) string {
	for segment := range strings.SplitSeq(path, "/") {
		if len(segment) >= 32 {
			return longSegment.ReplaceAllString(path, "$1…")
		}
	}
	return path
}

// leastToken is from how many characters on a segment of an unknown path may be the token of a
// link, or most of one. Ids are longer and are logged as they are.
const leastToken = 16

// withoutTokens returns a path that matches no route as it may appear in a log: the address of a
// link has a secret in it, and people mistype what is around it.
func withoutTokens(path string) string {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		if _, err := ulid.ParseStrict(segment); err != nil && len(segment) >= leastToken {
			segments[i] = segment[:4] + "…"
		}
	}
	return strings.Join(segments, "/")
}

func keyInURL(field string) error {
	return &errs.Error{Kind: errs.Invalid, Code: errs.CodeKeyInURL, Field: field,
		Message: "a key must not be in a URL; send it in the Authorization header, and revoke this one if it is real"}
}

// refuseKey refuses credentials in a query, which logs, histories and Referer headers would keep.
func refuseKey(query url.Values) error {
	for name, values := range query {
		suspect := slices.Contains([]string{"key", "apikey", "api_key", "access_token", "authorization"}, strings.ToLower(name))
		if suspect || slices.ContainsFunc(values, isKey) {
			return keyInURL(core.Shorten(name))
		}
		if isKey(name) {
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
var parametersOf = map[routeKind][]string{download: {"disposition"}, archived: {"folder", "resource"}, foldered: {"path"}, sized: {"size"}, proving: {"entry", "from", "size"}, following: {"after"},
	tabled: {"separator"}, previewed: {"preview"}, revoking: {"dependents"}}
