package exchange

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"labshelf/metadata"
	"labshelf/repository/core"
)

// Preconditions returns the conditions of a request on the version of its record (RFC 9110, section
// 13). It omits If-None-Match of GET and HEAD, which [NotModified] handles. It ignores
// If-Modified-Since, because a record can change without its date when its file is purged.
func Preconditions(r *http.Request) core.Match {
	match := core.Match{Is: versions(strongTags(r.Header.Values("If-Match"))), UnmodifiedSince: parseDate(r.Header.Values("If-Unmodified-Since"))}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		match.IsNot = versions(weakTags(r.Header.Values("If-None-Match")))
	}
	return match
}

// CheckPreconditions checks the preconditions of a GET or HEAD of a record. If err is not nil, it
// returns err.
func CheckPreconditions(r *Request, tag string, modified metadata.Stamp, err error) error {
	if err != nil {
		return err
	}
	return Preconditions(r.Request).Check(tag, modified)
}

// parseDate parses a date header. It ignores a malformed date, as RFC 9110 requires.
func parseDate(headers []string) time.Time {
	if len(headers) != 1 {
		return time.Time{}
	}
	date, err := http.ParseTime(headers[0])
	if err != nil {
		return time.Time{}
	}
	return date
}

// strongTags parses If-Match, which matches by strong comparison: weak tags match nothing.
func strongTags(headers []string) core.Versions {
	tags := parseETags(headers)
	tags.Tags = slices.DeleteFunc(tags.Tags, func(tag string) bool { return strings.HasPrefix(tag, weak) })
	return tags
}

// weakTags parses If-None-Match, which matches by weak comparison: weak tags match like strong
// ones.
func weakTags(headers []string) core.Versions {
	tags := parseETags(headers)
	for i, tag := range tags.Tags {
		tags.Tags[i] = strings.TrimPrefix(tag, weak)
	}
	return tags
}

// parseETags parses If-Match or If-None-Match. Weak tags keep their prefix. Malformed tags match
// nothing.
func parseETags(headers []string) core.Versions {
	match := core.Versions{Set: len(headers) > 0}
	for _, header := range headers {
		for rest := header; ; {
			rest = strings.TrimLeft(rest, " \t,")
			if rest == "" {
				break
			}
			if rest[0] == '*' {
				match.Any, rest = true, rest[1:]
				continue
			}
			prefix := ""
			if strings.HasPrefix(rest, weak) {
				prefix, rest = weak, rest[len(weak):]
			}
			if rest == "" || rest[0] != '"' {
				break
			}
			tag, after, closed := strings.Cut(rest[1:], `"`)
			if !closed {
				break
			}
			match.Tags, rest = append(match.Tags, prefix+tag), after
		}
	}
	return match
}

// weak is the prefix of a weak entity tag.
const weak = "W/"

// DamagedTag ends the tag of a record whose file is damaged. It makes clients fetch the record
// again when the damage is found or repaired, although the version stays the same.
const DamagedTag = ".damaged"

// versions converts the tags of clients to tags of versions.
func versions(shown core.Versions) core.Versions {
	for i, tag := range shown.Tags {
		shown.Tags[i] = strings.TrimSuffix(tag, DamagedTag)
	}
	return shown
}
