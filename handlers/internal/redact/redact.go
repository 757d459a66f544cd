// Package redact finds keys, sessions and link tokens in text from clients, and removes them from
// logs and answers.
package redact

import (
	"regexp"
	"slices"
	"strings"

	"github.com/oklog/ulid/v2"

	"labshelf/auth"
)

// keyLength is the length of a key of this service.
const keyLength = len(auth.KeyPrefix) + 43

// IsKey reports whether a part of a URL looks like a key or a session.
func IsKey(part string) bool {
	return len(part) >= keyLength && (strings.HasPrefix(part, auth.KeyPrefix) || strings.HasPrefix(part, auth.SessionPrefix))
}

// mayHaveKey is a fast test whether a text can contain a key or a session.
func mayHaveKey(text string) bool {
	return strings.Contains(text, auth.KeyPrefix) || strings.Contains(text, auth.SessionPrefix)
}

// HasKey reports whether a path has a segment that looks like a key or a session.
func HasKey(path string) bool {
	return mayHaveKey(path) && slices.ContainsFunc(strings.Split(path, "/"), IsKey)
}

// keyForm matches a key or a session anywhere in a text. The captured group is the prefix that is
// displayed in a list of keys.
var keyForm = regexp.MustCompile("((?:" + auth.KeyPrefix + "|" + auth.SessionPrefix + ")[A-Za-z0-9_-]{4})[A-Za-z0-9_-]+")

// Keys removes keys and sessions from a text for a log or an answer.
func Keys(text string) string {
	if !mayHaveKey(text) {
		return text
	}
	return keyForm.ReplaceAllString(text, "$1…")
}

// longSegment matches a path segment that may be a key of another service: 32 characters or more,
// longer than an id.
var longSegment = regexp.MustCompile("([^/]{8})[^/]{24,}")

// LongSegments shortens long segments of a path for a log. It uses the regular expression only for
// paths with such a segment, because matching is slow.
func LongSegments(path string) string {
	for segment := range strings.SplitSeq(path, "/") {
		if len(segment) >= 32 {
			return longSegment.ReplaceAllString(path, "$1…")
		}
	}
	return path
}

// leastToken is the number of characters from which a segment of an unknown path may be most of a
// link token. Ids are longer and are logged unchanged.
const leastToken = 16

// Tokens removes possible link tokens from a path that matches no route. The address of a link is a
// secret, and people mistype the rest of it.
func Tokens(path string) string {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		if _, err := ulid.ParseStrict(segment); err != nil && len(segment) >= leastToken {
			segments[i] = segment[:4] + "…"
		}
	}
	return strings.Join(segments, "/")
}
