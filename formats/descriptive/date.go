package descriptive

import (
	"strings"
	"time"
)

// timeLayouts are the forms of a day and of a time; package time also accepts fractions of seconds.
var timeLayouts = []string{"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02T15:04"}

// parseTime parses a day or a time of ISO 8601 in its extended form; without an offset it is in
// UTC.
func parseTime(text string) (t time.Time, ok bool) {
	if len(text) < len(time.DateOnly) || text[4] != '-' || text[7] != '-' {
		return t, false
	}
	if len(text) == len(time.DateOnly) {
		t, err := time.Parse(time.DateOnly, text)
		return t, err == nil
	}
	// Package time would accept an hour of one digit, and a comma.
	if len(text) < len("2006-01-02T15:04") || text[13] != ':' || strings.Contains(text, ",") {
		return t, false
	}
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	return t, false
}

// Period returns the beginning and the exclusive end of the date: the end of a year is the first of
// January of the next one. A time has no length, and as the end of a period it is the end itself.
// Dates without an offset are in UTC. It is not ok if Validate rejects the date.
func (d Date) Period() (from, until time.Time, ok bool) {
	first, last, isPeriod := strings.Cut(d.Date, "/")
	from, until, ok = span(first)
	if isPeriod && ok {
		var begin time.Time
		begin, until, ok = span(last)
		ok = ok && (until.After(from) || begin.Equal(from))
	}
	return from, until, ok
}

// span parses one date, and returns its beginning and end.
func span(text string) (from, until time.Time, ok bool) {
	from, err := time.Parse("2006", text)
	if err == nil {
		return from, from.AddDate(1, 0, 0), true
	}
	if from, err = time.Parse("2006-01", text); err == nil {
		return from, from.AddDate(0, 1, 0), true
	}
	if from, ok = parseTime(text); ok && len(text) == len(time.DateOnly) {
		return from, from.AddDate(0, 0, 1), true
	}
	return from, from, ok
}
