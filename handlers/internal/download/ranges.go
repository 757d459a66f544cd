package download

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

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
