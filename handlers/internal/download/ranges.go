package download

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// withoutDates returns the headers without conditions that a date cannot decide. A date has a
// precision of one second, and a file can be replaced several times within a second. So a date
// never selects the version for a range. It proves that nothing has changed only if the last
// modification is at least a full second earlier. Otherwise the entity tag decides. A zero modified
// means unknown.
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

// maxRanges limits the parts of a file in one request.
const maxRanges = 10

// normalizedRange returns the headers with a Range in the form that http.ServeContent expects.
// Other units than bytes are removed (RFC 9110, 14.2), units may have any case, a suffix of 0 bytes
// selects nothing, and too many parts are refused.
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
		ranges = []string{strconv.FormatInt(size, 10) + "-"} // after the end: 416
	}
	header.Set("Range", "bytes="+strings.Join(ranges, ","))
	return header
}
