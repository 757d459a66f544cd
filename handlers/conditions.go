package handlers

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"labshelf/metadata"
	"labshelf/repository/core"
)

// preconditions are the conditions of a request on the version of the record at its address.
// If-None-Match of a GET or HEAD is not among them: notModified answers it. If-Modified-Since is
// ignored: a record can change without its date, when its file is purged, so that only its ETag
// tells.
func preconditions(r *request) core.Match {
	match := core.Match{IfMatch: versionTags(parseETags(r.Header.Values("If-Match"))), IfUnmodifiedSince: parseDate(r.Header.Values("If-Unmodified-Since"))}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		match.IfNoneMatch = versionTags(parseETags(r.Header.Values("If-None-Match")))
	}
	return match
}

// checkPreconditions checks the preconditions of a GET or HEAD of a record. It returns err if that
// is not nil.
func checkPreconditions(r *request, tag string, modified metadata.Stamp, err error) error {
	if err != nil {
		return err
	}
	return preconditions(r).Check(tag, modified)
}

// parseDate parses a header that holds a date. A malformed one is ignored, as RFC 9110 demands.
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

// parseETags parses If-Match or If-None-Match. A malformed tag matches nothing.
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

// withoutDates returns the headers without conditions that a date cannot decide. A date is exact to
// the second, and a file can be replaced several times within one: a date never selects the version
// of which a range is sent, and it proves that nothing has changed only where the last modification
// lies a full second before it. The entity tag decides instead. modified may be zero: unknown.
func withoutDates(header http.Header, modified time.Time) http.Header {
	header = header.Clone()
	if date, err := http.ParseTime(header.Get("If-Modified-Since")); err == nil && modified.Add(time.Second).After(date) {
		header.Del("If-Modified-Since")
	}
	match, validator := strings.TrimSpace(header.Get("If-Match")), strings.TrimSpace(header.Get("If-Range"))
	switch {
	case header["If-Range"] != nil && !strings.HasPrefix(validator, `"`),
		header["If-Range"] == nil && header["If-Unmodified-Since"] != nil && (match == "" || match == "*"):
		header.Del("Range")
	}
	return header
}

// maxRanges is how many parts of a file one request may ask for.
const maxRanges = 10

// normalizedRange returns the headers with a Range as http.ServeContent reads it: another unit than
// bytes is as good as no Range (RFC 9110, 14.2), units are written in any case, the last 0 bytes
// are no part of a file, and too many parts are none.
func normalizedRange(header http.Header, size int64) http.Header {
	unit, list, ok := strings.Cut(header.Get("Range"), "=")
	if !ok {
		return header
	}
	header = header.Clone()
	if !strings.EqualFold(strings.TrimSpace(unit), "bytes") {
		header.Del("Range")
		return header
	}
	var ranges []string
	asked := 0
	for part := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		asked++
		last, isLast := strings.CutPrefix(strings.TrimSpace(part), "-")
		if n, err := strconv.ParseUint(last, 10, 64); !isLast || err != nil || n > 0 {
			ranges = append(ranges, part)
		}
	}
	if len(ranges) == 0 || asked > maxRanges {
		ranges = []string{strconv.FormatInt(size, 10) + "-"} // behind the end: 416
	}
	header.Set("Range", "bytes="+strings.Join(ranges, ","))
	return header
}
