package paging

import (
	"fmt"
	"strings"
	"time"
)

// ParseInstant parses an instant as since and until accept it. The formats are a date-time with Z
// or an offset, or without a zone (then UTC); a date; a year and month; and a year. Seconds and
// their fraction are optional, and a fraction can have any number of digits. A shortened format
// means its first instant. T and Z can be in lower case, and a space can replace T. A space before
// an offset is read as +, because a query string decodes + to a space. Leap seconds and 24:00 are
// refused.
//
// It returns the instant in microseconds since 1970, rounded down and rounded up. For every whole
// stamp, "stamp > floor" and "stamp < ceil" are therefore exact comparisons with the instant.
// Stamps are positive, so an instant before 1970 is returned as 0. The error is an *Error.
func ParseInstant(s string) (floor, ceil int64, err error) {
	in := scan{rest: s}
	year, month, day := in.number(4, 9999), 1, 1
	var at clock
	if in.take("-") != 0 {
		month = in.number(2, 12)
		if in.take("-") != 0 {
			day = in.number(2, 31)
			at = in.clock()
		}
	}
	midnight := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if in.failed || in.rest != "" || midnight.Day() != day || midnight.Month() != time.Month(month) {
		return 0, 0, &Error{Message: fmt.Sprintf("%.64q is not a time; accepted: %s", s, dateRule)}
	}
	floor = (midnight.Unix()+at.seconds)*1e6 + at.micros
	ceil = floor
	if at.beyond {
		ceil++
	}
	return max(0, floor), max(0, ceil), nil
}

// clock is a time of day: seconds after midnight UTC (an offset can move it to the day before or
// after), the fraction in whole microseconds, and whether further digits are not zero.
type clock struct {
	seconds, micros int64
	beyond          bool
}

// scan reads a text from its start. After a failure its results are meaningless.
type scan struct {
	rest   string
	failed bool
}

// take consumes and returns one byte of set, or returns 0.
func (s *scan) take(set string) byte {
	if s.rest == "" || strings.IndexByte(set, s.rest[0]) < 0 {
		return 0
	}
	c := s.rest[0]
	s.rest = s.rest[1:]
	return c
}

// number consumes exactly width digits.
func (s *scan) number(width, most int) int {
	n := 0
	for range width {
		c := s.take("0123456789")
		s.failed = s.failed || c == 0
		n = n*10 + int(c) - '0'
	}
	s.failed = s.failed || n > most
	return n
}

// clock consumes "T16:09:44.090Z" or " 16:09:44.090Z", or nothing.
func (s *scan) clock() (c clock) {
	if s.take("Tt ") == 0 {
		return c
	}
	hour := s.number(2, 23)
	s.failed = s.failed || s.take(":") == 0
	minute, second := s.number(2, 59), 0
	if s.take(":") != 0 {
		second = s.number(2, 59)
		c.micros, c.beyond = s.fraction()
	}
	c.seconds = int64(hour*3600 + minute*60 + second - s.offset())
	return c
}

// fraction consumes ".090" or nothing.
func (s *scan) fraction() (micros int64, beyond bool) {
	if s.take(".") == 0 {
		return 0, false
	}
	digits := len(s.rest) - len(strings.TrimLeft(s.rest, "0123456789"))
	s.failed = s.failed || digits == 0
	for i := range max(6, digits) {
		d := int64(0)
		if i < digits {
			d = int64(s.rest[i] - '0')
		}
		if i < 6 {
			micros = micros*10 + d
			continue
		}
		beyond = beyond || d != 0
	}
	s.rest = s.rest[digits:]
	return micros, beyond
}

// offset consumes a zone, or nothing, and returns its seconds east of UTC.
func (s *scan) offset() int {
	sign := s.take("Zz+- ")
	if sign == 0 || sign == 'Z' || sign == 'z' {
		return 0
	}
	seconds := s.number(2, 23) * 3600
	if s.take(":") != 0 || s.rest != "" {
		seconds += s.number(2, 59) * 60
	}
	if sign == '-' {
		return -seconds
	}
	return seconds
}
