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

// written matches a number as instruments write it: as in JSON, or with a plus sign, with a point
// without a digit before or after it, or with Fortran's D. A number with leading zeros is an
// identifier.
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

// numberIn converts a number to its JSON form. The text follows convention c, or has the form in
// which instruments write numbers. numberIn returns "" for other and for ambiguous texts.
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

// finite returns a number that fits into 64 bits, otherwise "".
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

// quantityOf returns a number with a unit, or a number if unit is "".
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

// said interprets a text: as a number, a number with a known unit, true, false, or a string.
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

// quantityIn reads a number and a known unit. Without a space, a number and a unit of one letter
// are a name: 4K.
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

// labelled is a name, and the unit at its end.
type labelled struct{ name, unit string }

// The ways in which a column's name contains a unit.
var (
	inSquare = lazily(`^(.*\S)\s*\[([^\[\]]+)\]$`)
	inRound  = lazily(`^(.*\S)\s*\(((?:[^()]|\([^()]*\))+)\)$`)
	behind   = lazily(`^(.*?\S)(?: / |, )(.+)$`)
)

// label splits the name of a column: T / °C, T [K], T (K), T, K. Text in square brackets is always
// a unit; other text only if it is a known unit.
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

// value returns the description of a column or variable as a group.
func (l labelled) value(about string) descriptive.Value {
	g := descriptive.Group{}
	for _, p := range [...]struct{ name, text string }{{"description", about}, {"name", l.name}, {"unit", l.unit}} {
		if p.text != "" {
			g = append(g, descriptive.Property{Name: p.name, Value: descriptive.TextOf(p.text)})
		}
	}
	return descriptive.GroupOf(g)
}

// shortest converts a 32-bit number so that it is written with the digits of 32 bits, not of 64
// bits.
func shortest(f float32) float64 {
	exact, _ := strconv.ParseFloat(strconv.FormatFloat(float64(f), 'g', -1, 32), 64) // NaN and infinities are returned unchanged
	return exact
}

// lazily returns a function that compiles an expression at its first use, to keep the start fast.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
