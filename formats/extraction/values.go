package extraction

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"labshelf/formats/descriptive"
	"labshelf/formats/descriptive/units"
)

// written is a number as instruments write it: what JSON has, a plus sign, a point without a digit
// before or behind it, and the D of Fortran. Zeros before another digit belong to an identifier,
// not to a number.
var written = lazily(`^([+-]?)(0|[1-9][0-9]*)?(?:\.([0-9]*))?(?:[eEdD]([+-]?[0-9]+))?$`)

// number returns a number in the form of JSON, or "".
func number(text string) descriptive.Number {
	part := written().FindStringSubmatch(text)
	if part == nil || part[2] == "" && part[3] == "" || len(text) > maxName {
		return ""
	}
	n := strings.TrimPrefix(part[1], "+")
	if part[2] == "" {
		part[2] = "0"
	}
	n += part[2]
	if part[3] != "" {
		n += "." + part[3]
	}
	if part[4] != "" {
		n += "e" + part[4]
	}
	return finite(n)
}

// numberIn returns the number that a text is, in a convention or as instruments write it, in the
// form of JSON; "" for others, and for one that can be read in two ways.
func numberIn(text string, c units.Convention) descriptive.Number {
	bare := strings.TrimPrefix(text, "+")
	q, err := units.Read(bare, c)
	if wrong, is := errors.AsType[*units.Error](err); len(text) > maxName || is && wrong.Ambiguous {
		return ""
	}
	if err == nil && q.Unit == "" {
		return finite(q.Number)
	}
	if c == units.DecimalComma && !strings.Contains(text, ".") {
		text = strings.Replace(text, ",", ".", 1)
	}
	return number(text)
}

// finite returns a number that fits into 64 bits; "" for others.
func finite(n string) descriptive.Number {
	if _, err := strconv.ParseFloat(n, 64); err != nil {
		return ""
	}
	return descriptive.Number(n)
}

// numberOf returns a number; not ok if it is not finite.
func numberOf(f float64) (descriptive.Value, bool) {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return descriptive.Value{}, false
	}
	return descriptive.NumberOf(formatted(f)), true
}

func formatted(f float64) descriptive.Number {
	return descriptive.Number(strconv.FormatFloat(f, 'g', -1, 64))
}

func integer[T int | int64 | uint64 | uint32 | uint16](n T) descriptive.Value {
	return descriptive.NumberOf(descriptive.Number(strconv.FormatInt(int64(n), 10)))
}

// quantityOf returns a number with a unit; without one the number.
func quantityOf(n descriptive.Number, unit string) descriptive.Value {
	if unit = clean(unit); unit == "" {
		return descriptive.NumberOf(n)
	}
	return descriptive.QuantityOf(n, unit)
}

func isUnit(text string) bool {
	_, _, known := units.SI(1, text)
	return known
}

// said returns what a text states: a number, a number with a unit that is known, true, false, or
// the text.
func said(text string, c units.Convention) descriptive.Value {
	text = clean(text)
	if n := numberIn(text, c); n != "" {
		return descriptive.NumberOf(n)
	}
	if v, ok := quantityIn(text, c); ok {
		return v
	}
	switch strings.ToLower(text) {
	case "true":
		return descriptive.TruthOf(true)
	case "false":
		return descriptive.TruthOf(false)
	}
	return descriptive.TextOf(text)
}

// quantityIn reads a number and a unit that is known. Nothing between them makes a name of a unit
// of one letter: 4K.
func quantityIn(text string, c units.Convention) (v descriptive.Value, ok bool) {
	number, unit, _ := strings.Cut(text, " ")
	if n := numberIn(number, c); n != "" { // +5.5D3 mm
		if q, err := units.Read("0 "+unit, c); err == nil && q.Unit != "" {
			return descriptive.QuantityOf(n, q.Unit), true
		}
	}
	q, err := units.Read(text, c)
	n := finite(q.Number)
	return descriptive.QuantityOf(n, q.Unit), err == nil && n != "" && q.Unit != "" && !q.IsLabel()
}

// labelled is a name with the unit that it ends with.
type labelled struct{ name, unit string }

// The ways of a unit in the name of a column.
var (
	inSquare = lazily(`^(.*\S)\s*\[([^\[\]]+)\]$`)
	inRound  = lazily(`^(.*\S)\s*\(((?:[^()]|\([^()]*\))+)\)$`)
	behind   = lazily(`^(.*?\S)(?: / |, )(.+)$`)
)

// label splits the name of a column: T / °C, T [K], T (K), T, K. In square brackets everything is a
// unit; elsewhere what is known as one.
func label(text string) labelled {
	text = clean(text)
	for _, way := range [...]*regexp.Regexp{inSquare(), inRound(), behind()} {
		m := way.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		if unit := strings.TrimSpace(m[2]); unit != "" && len(unit) <= maxUnit && (way == inSquare() || isUnit(unit)) {
			return labelled{m[1], unit}
		}
	}
	return labelled{text, ""}
}

const maxUnit = 50 // bytes

// value returns a column, or a variable, as a group.
func (l labelled) value(about string) descriptive.Value {
	g := descriptive.Group{}
	for _, p := range [...]struct{ name, text string }{{"description", about}, {"name", l.name}, {"unit", l.unit}} {
		if p.text != "" {
			g = append(g, descriptive.Property{Name: p.name, Value: descriptive.TextOf(p.text)})
		}
	}
	return descriptive.GroupOf(g)
}

// shortest returns a number of 32 bits as it would be written, not with the digits that 64 bits
// make of it.
func shortest(f float32) float64 {
	exact, _ := strconv.ParseFloat(strconv.FormatFloat(float64(f), 'g', -1, 32), 64) // of what is no number it is itself
	return exact
}

// lazily compiles an expression at its first use, so that a start does not pay for it.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
