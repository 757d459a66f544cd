// Package redact finds keys, sessions and the tokens of links in text that clients send, and
// removes them from what logs and answers show.
package redact

import (
	"regexp"
	"slices"
	"strings"

	"github.com/oklog/ulid/v2"

	"labshelf/auth"
)

// keyLength is the length of a key that this service has made.
const keyLength = len(auth.KeyPrefix) + 43

// IsKey reports whether a part of a URL looks like a key or a session.
func IsKey(part string) bool {
	return len(part) >= keyLength && (strings.HasPrefix(part, auth.KeyPrefix) || strings.HasPrefix(part, auth.SessionPrefix))
}

// mayHaveKey reports cheaply whether a text can contain a key or a session.
func mayHaveKey(text string) bool {
	return strings.Contains(text, auth.KeyPrefix) || strings.Contains(text, auth.SessionPrefix)
}

// HasKey reports whether a path has a segment that looks like a key or a session.
func HasKey(path string) bool {
	return mayHaveKey(path) && slices.ContainsFunc(strings.Split(path, "/"), IsKey)
}

// keyForm matches a key or a session anywhere in a text; the group is the part that is shown in
// lists of keys.
var keyForm = regexp.MustCompile("((?:" + auth.KeyPrefix + "|" + auth.SessionPrefix + ")[A-Za-z0-9_-]{4})[A-Za-z0-9_-]+")

// Keys returns a text of a client as it may appear in a log or an answer.
func Keys(text string) string {
	if !mayHaveKey(text) {
		return text
	}
	return keyForm.ReplaceAllString(text, "$1…")
}

// longSegment matches a part of a path that may be a key of another service: of at least 32
// characters, more than an id has.
var longSegment = regexp.MustCompile("([^/]{8})[^/]{24,}")

// LongSegments returns a path as it may appear in a log. The expression took a third of the time
// that a line of the log does.
func LongSegments(path string) string {
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

// Tokens returns a path that matches no route as it may appear in a log: the address of a link has
// a secret in it, and people mistype what is around it.
func Tokens(path string) string {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		if _, err := ulid.ParseStrict(segment); err != nil && len(segment) >= leastToken {
			segments[i] = segment[:4] + "…"
		}
	}
	return strings.Join(segments, "/")
}
