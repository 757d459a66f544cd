package exchange

import (
	"net/http"
	"strings"
	"time"

	"labshelf/metadata"
	"labshelf/repository/core"
)

// Preconditions returns the conditions of a request on the version of its record. It omits
// If-None-Match of GET and HEAD, which [NotModified] handles. It ignores If-Modified-Since, because
// a record can change without its date when its file is purged.
func Preconditions(r *http.Request) core.Match {
	match := core.Match{IfMatch: versionTags(parseETags(r.Header.Values("If-Match"))), IfUnmodifiedSince: parseDate(r.Header.Values("If-Unmodified-Since"))}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		match.IfNoneMatch = versionTags(parseETags(r.Header.Values("If-None-Match")))
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

// parseETags parses If-Match or If-None-Match. Malformed tags match nothing.
func parseETags(headers []string) core.ETags {
	match := core.ETags{Set: len(headers) > 0}
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

// versionTags converts the tags of clients to tags of versions.
func versionTags(shown core.ETags) core.ETags {
	for i, tag := range shown.Tags {
		shown.Tags[i] = strings.TrimSuffix(tag, DamagedTag)
	}
	return shown
}
