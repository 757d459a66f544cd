package units

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A Convention selects whether a comma or a point precedes the decimals of a number. The other sign
// is accepted, too, unless it can separate thousands.
type Convention bool

// The conventions.
const (
	DecimalPoint Convention = false
	DecimalComma Convention = true
)

// A Quantity is a number with an optional unit.
type Quantity struct {
	Number string // in the form of JSON
	Unit   string // a known unit in NFC; "" for a number alone
	Joined bool   // no space before the unit: 4K
}

// IsLabel reports whether the text can also be a name: 4K. A unit of one letter needs a space
// before it.
func (q Quantity) IsLabel() bool {
	return q.Joined && utf8.RuneCountInString(q.Unit) == 1 && !strings.Contains("°%‰", q.Unit)
}

// Error is the reason why a text is not a quantity.
type Error struct {
	Number    string // in the form of JSON, if the text begins with a number
	Rest      string // the text after the number
	Ambiguous bool   // the text is a number with two readings
	message   string
}

func (e *Error) Error() string { return e.message }

// Read parses a number, or a number and a known unit: −5, 20,5 °C, 1e-3 mol/L, 1 234,5, 1'234. The
// number can exceed 64 bits of floating point. The error is an [*Error] that says how the text was
// parsed.
func Read(text string, c Convention) (Quantity, error) {
	number, rest, err := Cut(text, c)
	unit := norm.NFC.String(strings.TrimSpace(rest))
	if unit == "[pH]" { // in UCUM's form
		unit = "pH"
	}
	_, _, known := SI(1, unit)
	understood := fmt.Sprintf("%q is read as the number %s, and %q after it", text, number, unit)
	switch {
	case err != nil && (unit == "" || known), err == nil && unit == "":
		return Quantity{Number: number}, err
	case err != nil: // no number is ambiguous in a text of several words
		return Quantity{}, &Error{Rest: unit, message: fmt.Sprintf("%q is not a number with a known unit", text)}
	case Continues(unit):
		return Quantity{}, &Error{Number: number, Rest: unit, message: understood + " is not a unit"}
	case !known:
		return Quantity{}, &Error{Number: number, Rest: unit, message: understood + " is not a known unit"}
	}
	q := Quantity{Number: number, Unit: unit, Joined: strings.TrimSpace(rest) == rest}
	if unit == "PM" || q.Joined && isFraction(unit) {
		return Quantity{}, &Error{Number: number, Rest: unit, message: fmt.Sprintf("%q can be read in two ways; write the decimals before the unit", text)}
	}
	return q, nil
}

// Cut returns the number at the beginning of a text, in the form of JSON, and the rest. The error
// is an [*Error].
func Cut(text string, c Convention) (number, rest string, err error) {
	text = strings.TrimSpace(text)
	parts := begins().FindStringSubmatch(text)
	if parts == nil {
		return "", "", &Error{message: fmt.Sprintf("%q does not begin with a number", text)}
	}
	sign, body, exponent := parts[1], parts[2], parts[3]
	if strings.ContainsAny(body, spaces) && !grouped().MatchString(body) { // two numbers, as in 5 1/s
		body, exponent = body[:strings.IndexAny(body, spaces)], ""
	}
	asWritten := sign + body + exponent
	rest = text[len(asWritten):]
	plain, other := decimals(body, c)
	sign, exponent = strings.Replace(sign, minus, "-", 1), strings.Replace(exponent, minus, "-", 1)
	switch {
	case plain == "" && other == "":
		return "", rest, &Error{message: fmt.Sprintf("%q is not a number", asWritten)}
	case plain == "":
		return "", rest, &Error{Ambiguous: true, message: fmt.Sprintf("the number %s can be read in two ways; write %s if it is one number", asWritten, sign+other+exponent)}
	case other != "" && exponent == "":
		return "", rest, &Error{Ambiguous: true, message: fmt.Sprintf("the number %s can be read in two ways; write %s, or %s without a thousands separator",
			asWritten, sign+c.Write(plain), sign+other)}
	}
	return sign + plain + exponent, rest, nil
}

const (
	minus  = "−"
	spaces = " \u00a0\u2007\u2009\u202f"
)

var (
	begins  = lazily(`^([-−]?)([0-9]+(?:[.,'’` + spaces + `][0-9]+)*)([eE][-+−]?[0-9]+)?`)
	plainly = lazily(`^(0|[1-9][0-9]*)(?:[.,]([0-9]+))?$`)
	grouped = lazily(`^[1-9][0-9]{0,2}(?:[.,'’` + spaces + `][0-9]{3})+(?:[.,][0-9]+)?$`)
	decimal = lazily(`^(.*[0-9][^0-9]+[0-9]+)([.,])([0-9]+)$`)
)

// Write formats a JSON number in the convention.
func (c Convention) Write(number string) string {
	if c == DecimalComma {
		return strings.Replace(number, ".", ",", 1)
	}
	return number
}

// decimals returns a number without sign and exponent in the form of JSON, or "" if the text might
// not be one. other is a second reading, or "".
func decimals(body string, c Convention) (number, other string) {
	if parts := plainly().FindStringSubmatch(body); parts != nil {
		foreign := strings.Contains(body, ",") != bool(c)
		if foreign && len(parts[2]) == 3 && parts[1] != "0" && len(parts[1]) <= 3 {
			other = parts[1] + parts[2]
		}
		return strings.Replace(body, ",", ".", 1), other
	}
	if !grouped().MatchString(body) {
		return "", ""
	}
	whole, fraction := body, ""
	if parts := decimal().FindStringSubmatch(body); parts != nil && strings.Count(body, parts[2]) == 1 {
		whole, fraction = parts[1], "."+parts[3]
	}
	groups := strings.FieldsFunc(whole, func(r rune) bool { return r < '0' || r > '9' })
	separator := strings.TrimLeft(whole, "0123456789")
	separator = separator[:strings.IndexAny(separator, "0123456789")]
	if strings.Join(groups, separator) != whole { // all thousands have the same separator
		return "", ""
	}
	whole = strings.Join(groups, "")
	if fraction == "" && strings.Contains("., ", separator) { // 1.234.567 can be a version, and 100 200 two numbers
		return "", whole
	}
	return whole + fraction, ""
}

// isFraction reports whether a unit after a digit can stand for a decimal point: 3V3, 12h5. Areas
// and volumes cannot: 5m2.
func isFraction(unit string) bool {
	last := len(unit) - 1
	if last < 1 || unit[last] < '0' || unit[last] > '9' {
		return false
	}
	_, dimension, bare := SI(1, unit[:last])
	return bare && (dimension != "m" || unit[last] != '2' && unit[last] != '3')
}

var continues = lazily(`^[.,:;'’_+±−–—/-]\s*[0-9½¼¾.,]|^[½¼¾]`)

// Continues reports whether a text is the rest of a number that was cut too early, and cannot be a
// unit: ",5 °C", "/2", ":30", "h30".
func Continues(unit string) bool {
	if _, _, known := SI(1, unit); known {
		return false
	}
	if continues().MatchString(unit) {
		return true
	}
	bare := strings.TrimRight(unit, "0123456789")
	_, _, known := SI(1, bare)
	return known && len(bare) < len(unit)
}

// lazily returns a function that compiles an expression at its first use, to keep the start fast.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
