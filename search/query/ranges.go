package query

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"labshelf/formats/descriptive/units"
)

// comparisons lists the comparison operators; longer ones precede their prefixes.
var comparisons = []string{">=", "<=", "≥", "≤", ">", "<"}

// comparisonOf returns the comparison at the start of s, or "".
func comparisonOf(s string) string {
	for _, sign := range comparisons {
		if strings.HasPrefix(s, sign) {
			return sign
		}
	}
	return ""
}

// limits are the ends of a range as written. A missing end is open.
type limits struct {
	low, high           string
	lowClosed, hiClosed bool
	hasLow, hasHigh     bool
}

// limitsOf splits a range: ">x", ">=x", "<x", "<=x", "x..y", "x..", "..y", and "x", where both ends
// are x.
func limitsOf(text string) limits {
	sign := comparisonOf(text)
	x := strings.TrimSpace(text[len(sign):])
	switch sign {
	case ">", ">=", "≥":
		return limits{low: x, hasLow: true, lowClosed: sign != ">"}
	case "<", "<=", "≤":
		return limits{high: x, hasHigh: true, hiClosed: sign != "<"}
	}
	low, high, ranged := strings.Cut(x, "..")
	if !ranged {
		return limits{x, x, true, true, true, true}
	}
	low, high = strings.TrimSpace(low), strings.TrimSpace(high)
	return limits{low, high, true, true, low != "", high != ""}
}

// spanOf parses a range of points; point returns the span of one point. ok is false if text is not
// a range.
func spanOf(text string, point func(string) (Span, bool)) (Span, bool) {
	l := limitsOf(text)
	span := Span{math.MinInt64, math.MaxInt64}
	if !l.hasLow && !l.hasHigh {
		return span, false
	}
	if l.hasLow {
		low, ok := point(withUnitOf(l.low, l.high))
		if !ok {
			return span, false
		}
		span.From = low.To
		if l.lowClosed {
			span.From = low.From
		}
	}
	if l.hasHigh {
		high, ok := point(withUnitOf(l.high, l.low))
		if !ok {
			return span, false
		}
		span.To = high.From
		if l.hiClosed {
			span.To = high.To
		}
	}
	return span, true
}

// dateForms lists the date formats with the length of their periods.
var dateForms = []struct {
	layout string
	next   func(time.Time) time.Time
}{
	{"2006", func(t time.Time) time.Time { return t.AddDate(1, 0, 0) }},
	{"2006-01", func(t time.Time) time.Time { return t.AddDate(0, 1, 0) }},
	{"2006-01-02", func(t time.Time) time.Time { return t.AddDate(0, 0, 1) }},
	{"2006-01-02T15:04", func(t time.Time) time.Time { return t.Add(time.Minute) }},
	{"2006-01-02T15:04:05", func(t time.Time) time.Time { return t.Add(time.Second) }},
}

// datePoint returns the microseconds since 1970 of a year, month, day, minute or second in UTC.
func datePoint(text string) (Span, bool) {
	for _, form := range dateForms {
		layout := form.layout
		if strings.Contains(layout, "T") && strings.HasSuffix(text, "Z") {
			layout += "Z"
		}
		if len(text) > len(time.DateOnly) && text[len(time.DateOnly)] == ' ' {
			layout = strings.Replace(layout, "T", " ", 1)
		}
		if t, err := time.Parse(layout, text); err == nil && len(text) == len(layout) {
			return Span{t.UnixMicro(), form.next(t).UnixMicro()}, true
		}
	}
	return Span{}, false
}

// yearPoint parses a four-digit year.
func yearPoint(text string) (Span, bool) {
	year, err := strconv.ParseUint(text, 10, 16)
	return Span{int64(year), int64(year) + 1}, err == nil && len(text) == 4
}

// sizeUnits maps lower-case units to factors.
var sizeUnits = map[string]float64{
	"": 1, "b": 1, "byte": 1, "bytes": 1,
	"k": 1e3, "kb": 1e3, "m": 1e6, "mb": 1e6, "g": 1e9, "gb": 1e9, "t": 1e12, "tb": 1e12, "p": 1e15, "pb": 1e15,
	"ki": 1 << 10, "kib": 1 << 10, "mi": 1 << 20, "mib": 1 << 20, "gi": 1 << 30, "gib": 1 << 30,
	"ti": 1 << 40, "tib": 1 << 40, "pi": 1 << 50, "pib": 1 << 50,
}

// maxSize limits sizes, so that they and their successors fit into int64.
const maxSize = 1 << 62

// sizePoint returns a size in bytes, rounded to an integer.
func sizePoint(text string) (Span, bool) {
	number, unit, ok := quantityOf(text)
	factor, known := sizeUnits[strings.ToLower(unit)]
	bytes := math.Round(number * factor)
	if !ok || !known || bytes < 0 || bytes > maxSize {
		return Span{}, false
	}
	return Span{int64(bytes), int64(bytes) + 1}, true
}

// numbersOf parses a range of numbers or quantities. ok is false for another text.
func numbersOf(text string) (Numbers, bool) {
	l := limitsOf(text)
	if !l.hasLow && !l.hasHigh {
		return Numbers{}, false
	}
	var n Numbers
	if l.hasLow {
		number, unit, ok := quantityOf(withUnitOf(l.low, l.high))
		if !ok {
			return Numbers{}, false
		}
		n.Low = &Bound{number, unit, l.lowClosed}
	}
	if l.hasHigh {
		number, unit, ok := quantityOf(withUnitOf(l.high, l.low))
		if !ok {
			return Numbers{}, false
		}
		n.High = &Bound{number, unit, l.hiClosed}
	}
	return n, true
}

// isEmpty reports whether the range, of one unit, ends before it begins.
func (n Numbers) isEmpty() bool {
	return n.Low != nil && n.High != nil && n.Low.Unit == n.High.Unit && n.Low.Value > n.High.Value
}

// withUnitOf adds the unit of the other end to an end without a unit: 20..25C begins at 20 °C.
func withUnitOf(x, other string) string {
	_, unit, ok := quantityOf(other)
	if _, own, isNumber := quantityOf(x); ok && isNumber && own == "" && unit != "" {
		return x + " " + unit
	}
	return x
}

// maxUnitBytes is the maximum length of a unit.
const maxUnitBytes = 50

// continued matches the continuation of a number with a decimal comma, or with thousands
// separators.
var continued = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[.,'’ \x{a0}\x{2007}\x{2009}\x{202f}][0-9]`) })

// quantityOf splits a number and its unit, with or without a space between them. ok is false if
// text does not begin with a finite number, the number is ambiguous, or the rest continues another
// number, as in a date.
func quantityOf(text string) (number float64, unit string, ok bool) {
	text = strings.ReplaceAll(text, "−", "-")
	end := numberEnd(text)
	written, rest := text[:end], text[end:]
	if continued().MatchString(rest) {
		var err error
		if written, rest, err = units.Cut(text, units.DecimalPoint); err != nil {
			return 0, "", false
		}
	}
	unit = strings.TrimSpace(rest)
	number, err := strconv.ParseFloat(written, 64)
	if err != nil || len(unit) > maxUnitBytes || units.Continues(unit) || strings.IndexAny(unit, "0123456789+-.,") == 0 && !isKnown(unit) {
		return 0, "", false
	}
	return number, unit, true
}

func isKnown(unit string) bool {
	_, _, known := units.SI(1, unit)
	return known
}

// ambiguous returns the reason why a bound of a range is an ambiguous number, or "".
func ambiguous(text string) string {
	l := limitsOf(text)
	for _, bound := range []string{l.low, l.high} {
		var wrong *units.Error
		if _, err := units.Read(bound, units.DecimalPoint); errors.As(err, &wrong) && wrong.Ambiguous {
			return wrong.Error()
		}
	}
	return ""
}

// numberEnd returns the length of the number at the start of s: a sign, digits with or without a
// point, and an exponent if digits follow its letter.
func numberEnd(s string) int {
	i := len(s) - len(strings.TrimLeft(s, "+-"))
	if i > 1 {
		return 0
	}
	whole := i + digits(s[i:])
	end := whole
	if strings.HasPrefix(s[end:], ".") {
		end += 1 + digits(s[end+1:])
	}
	if end == i || end == i+1 && whole == i {
		return 0
	}
	exponent := end
	if exponent < len(s) && (s[exponent] == 'e' || s[exponent] == 'E') {
		exponent++
		if exponent < len(s) && (s[exponent] == '+' || s[exponent] == '-') {
			exponent++
		}
		if n := digits(s[exponent:]); n > 0 {
			return exponent + n
		}
	}
	return end
}

func digits(s string) int {
	return len(s) - len(strings.TrimLeft(s, "0123456789"))
}
