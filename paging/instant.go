package paging

import (
	"fmt"
	"strings"
	"time"
)

// ParseInstant reads an instant as since and until take it: a date-time with Z
// or an offset, or without a zone (then UTC), its seconds and their fraction
// optional, or a date, a year and month, or a year, which mean their first
// instant. A fraction may have any number of digits, and a space before an
// offset is read as +, which is what + in a query string decodes to. T and Z
// may be in lower case, and a space may stand for T. There is no leap second and no 24:00.
//
// It returns the instant in microseconds since 1970, rounded down and rounded
// up, so that for every whole stamp "stamp > floor" and "stamp < ceil" say
// exactly what they would say about the instant. Stamps are positive, so an
// instant before 1970 is returned as 0. The error is an *Error.
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
		return 0, 0, &Error{Message: fmt.Sprintf("%.64q is no instant; accepted: %s", s, dateRule)}
	}
	floor = (midnight.Unix()+at.seconds)*1e6 + at.micros
	ceil = floor
	if at.beyond {
		ceil++
	}
	return max(0, floor), max(0, ceil), nil
}

// clock is a time of day: seconds after midnight UTC, which an offset may take
// to the day before or after, their fraction in whole microseconds, and whether
// that fraction goes on.
type clock struct {
	seconds, micros int64
	beyond          bool
}

// scan reads a text from its start. Once failed, what it returns means nothing.
type scan struct {
	rest   string
	failed bool
}

// take consumes one byte if it is among set, and returns it, else 0.
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
