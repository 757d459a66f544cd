package handlers

import (
	"net/http"
	"strings"
	"time"

	"labshelf/metadata"
	"labshelf/repository"
)

// preconditions are the conditions of a request on the version of the record at its address. If-None-Match of a GET or HEAD is not among
// them: notModified answers it. If-Modified-Since is ignored: a record can change without its date, when its file is purged, so that
// only its ETag tells that it has not.
func preconditions(r *request) repository.Match {
	match := repository.Match{IfMatch: versions(parseETags(r.Header.Values("If-Match"))), IfUnmodifiedSince: parseDate(r.Header.Values("If-Unmodified-Since"))}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		match.IfNoneMatch = versions(parseETags(r.Header.Values("If-None-Match")))
	}
	return match
}

// readable checks the preconditions of a GET or HEAD of a record. It returns err if that is not nil.
func readable(r *request, tag string, modified metadata.Stamp, err error) error {
	if err != nil {
		return err
	}
	return preconditions(r).Check(tag, modified)
}

// parseDate reads a header that has a date. One that is not written as RFC 9110 wants it is ignored, as that demands.
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

// parseETags reads If-Match or If-None-Match. A tag that is not written as RFC 9110 wants it matches nothing.
func parseETags(headers []string) repository.ETags {
	match := repository.ETags{Set: len(headers) > 0}
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
