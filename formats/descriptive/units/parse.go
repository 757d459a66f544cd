package units

import (
	"math"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Bounds of an expression.
const (
	maxPower  = 9
	maxNested = 4 // nested parentheses
)

// spellings unify signs with the same meaning. A degree sign with a space before C is a degree
// Celsius, not a product of an angle and a charge.
var spellings = strings.NewReplacer(
	"° C", "°C", "° F", "°F", "º C", "°C", "º F", "°F", "˚ C", "°C", "˚ F", "°F", "deg C", "°C", "deg F", "°F",
	"º", "°", "˚", "°",
	"**", "^", "*", "·", "⋅", "·", "∙", "·", "×", "·", ".", "·", "−", "-",
	"⁰", "0", "¹", "1", "²", "2", "³", "3", "⁴", "4", "⁵", "5", "⁶", "6", "⁷", "7", "⁸", "8", "⁹", "9", "⁻", "-",
)

// normalize returns the unit with one spelling for each sign. In NFC the signs for ångström, ohm
// and kelvin become the letters that they look like.
func normalize(unit string) string {
	if len(unit) > MaxBytes {
		return ""
	}
	return strings.TrimSpace(spellings.Replace(norm.NFC.String(unit)))
}

// parser parses an expression of units from left to right.
type parser struct {
	rest   string
	known  map[string]scale
	nested int
	offset bool // a unit with an offset occurred
}

// parse returns the scale of a normalized unit; known has the scales of the symbols.
func parse(unit string, known map[string]scale) (s scale, ok bool) {
	if s, ok = known[unit]; ok {
		return s, true
	}
	p := &parser{rest: unit, known: known}
	s, ok = p.product()
	// A degree Celsius within an expression is a difference. If the expression has the dimension of
	// a temperature, it is ambiguous.
	if !ok || p.rest != "" || p.offset && s.dimension == kelvin {
		return scale{}, false
	}
	return s, true
}

// product parses factors until a closing parenthesis or the end.
func (p *parser) product() (s scale, ok bool) {
	s, ok = p.factor()
	for ok {
		sign := p.sign()
		if sign == 0 {
			return s, true
		}
		var next scale
		if next, ok = p.factor(); !ok {
			return scale{}, false
		}
		s = s.times(next, sign)
	}
	return scale{}, false
}

// sign parses the sign between two factors, and returns the power of the second one: -1 after a
// slash, otherwise 1; 0 without a sign.
func (p *parser) sign() int {
	before := len(p.rest)
	p.rest = strings.TrimLeft(p.rest, " ")
	power := 1
	switch {
	case p.rest == "" || p.rest[0] == ')':
		return 0
	case p.rest[0] == '/':
		p.rest, power = p.rest[1:], -1
	case strings.HasPrefix(p.rest, "·"):
		p.rest = p.rest[len("·"):]
	case len(p.rest) == before && p.rest[0] != '(':
		return 0
	}
	p.rest = strings.TrimLeft(p.rest, " ")
	return power
}

// factor parses a unit, a 1 or a product in parentheses, with its power.
func (p *parser) factor() (s scale, ok bool) {
	switch {
	case strings.HasPrefix(p.rest, "("):
		p.nested++
		p.rest = strings.TrimLeft(p.rest[1:], " ")
		if p.nested > maxNested {
			return scale{}, false
		}
		if s, ok = p.product(); !ok || !strings.HasPrefix(p.rest, ")") {
			return scale{}, false
		}
		p.rest = p.rest[1:]
		p.nested--
	case strings.HasPrefix(p.rest, "1"):
		p.rest = p.rest[1:]
		return scale{factor: 1}, true
	default:
		end := strings.IndexAny(p.rest, " ·/()^-+0123456789")
		if end < 0 {
			end = len(p.rest)
		}
		if s, ok = p.known[p.rest[:end]]; !ok {
			return scale{}, false
		}
		p.rest = p.rest[end:]
		p.offset = p.offset || s.offset != 0
		s.offset = 0
	}
	power, ok := p.power()
	return scale{factor: 1}.times(s, power), ok
}

// power parses the power of a factor; the default is 1.
func (p *parser) power() (power int, ok bool) {
	text := strings.TrimPrefix(p.rest, "^")
	explicit := len(text) < len(p.rest)
	sign := 1
	if text != "" && (text[0] == '-' || text[0] == '+') {
		explicit = true
		if text[0] == '-' {
			sign = -1
		}
		text = text[1:]
	}
	if text == "" || text[0] < '0' || text[0] > '9' {
		return 1, !explicit
	}
	power = int(text[0] - '0')
	p.rest = text[1:]
	if next, _ := utf8.DecodeRuneInString(p.rest); next >= '0' && next <= '9' || power == 0 || power > maxPower {
		return 0, false
	}
	return sign * power, true
}

// times returns s times a power of t.
func (s scale) times(t scale, power int) scale {
	s.factor *= math.Pow(t.factor, float64(power))
	for i := range s.dimension {
		s.dimension[i] += power * t.dimension[i]
	}
	return s
}
