// Package units compares quantities: it parses the symbols of units and converts to SI.
//
// It knows the units of SI with all prefixes (µ also as μ or u), the units in use with SI (min, h,
// d, L, t, Da, eV, °C, bar, M for mol/L, %, ppm, …), and some units of laboratories (°F, atm, Torr,
// mmHg, G, cal, rpm, psi, counts, px, OD600, …). A space, · * or . multiplies units. A slash
// divides by the next factor only: J/kg K is J K/kg, and differs from J/(kg K). Powers are m2, m^2,
// m**2 or m², and s-1, s^-1 or s⁻¹. Case matters.
//
// An angle has a dimension here, so that revolutions and oscillations differ: rpm is not Hz.
package units

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// MaxBytes is the length of the longest unit that is parsed.
const MaxBytes = 100

// SI converts a quantity to the coherent unit of SI. The dimension is that unit: base units (m kg s
// A K mol cd rad bit, in this order) with their powers, such as m^2 kg s^-2, or 1. Counted things
// follow as separate dimensions. Quantities are comparable if their dimensions are equal. It is not
// ok if the unit is unknown or the result is not finite.
//
// Degrees Celsius and Fahrenheit are temperatures if they stand alone, and differences as factors.
// C is the coulomb.
func SI(value float64, unit string) (inSI float64, dimension string, ok bool) {
	known, ok := parse(normalize(unit), index())
	if !ok {
		return 0, "", false
	}
	inSI = value*known.factor + known.offset
	if math.IsInf(inSI, 0) || math.IsNaN(inSI) || known.factor == 0 {
		return 0, "", false
	}
	return inSI, known.dimension.String(), true
}

// tolerance is the greatest difference of equal values, relative to the larger one.
const tolerance = 1e-9

// Equal reports whether two finite values of one dimension are equal except for errors of
// conversion, up to a billionth.
func Equal(a, b float64) bool {
	return a == b || math.Abs(a-b) <= tolerance*max(math.Abs(a), math.Abs(b))
}

// Compare returns 0 if Equal is true, otherwise -1 if a is less than b, and 1 if it is greater.
func Compare(a, b float64) int {
	switch {
	case Equal(a, b):
		return 0
	case a < b:
		return -1
	}
	return 1
}

// Symbols returns each symbol that other programs know, with each of its prefixes, in the order of
// the table. The form without a prefix comes first.
func Symbols() (symbols []string) {
	for _, row := range units {
		for _, symbol := range strings.Fields(row.symbols) {
			symbols = append(symbols, symbol)
			for _, prefix := range strings.Fields(row.prefixes) {
				symbols = append(symbols, prefix+symbol)
			}
		}
	}
	return symbols
}

// The base units, by their symbols in the table, in the order of a dimension.
var (
	bases = [...]string{
		"metre", "kilogram", "second", "ampere", "kelvin", "mole", "candela", "radian", "bits", "counted", "pixels_each", "frames_each", "cells_each", "copies_each", "reads_each",
		"particles_each", "base_pairs", "international_units", "absorbance", "own_units", "arbitrary_units", "decibel", "decibel_level", "turbidity", "salinity", "acidity",
	}
	called = [...]string{
		"m", "kg", "s", "A", "K", "mol", "cd", "rad", "bit", "count", "px", "frame", "cell", "copy", "read",
		"particle", "bp", "IU", "OD", "AU", "a.u.", "dB", "dBm", "FTU", "PSU", "pH",
	}
)

// dimension holds the powers of the base units.
type dimension [len(bases)]int

// kelvin is the only dimension whose units have offsets.
var kelvin = dimension{4: 1}

func (d dimension) String() string {
	var b []byte
	for i, power := range d {
		if power == 0 {
			continue
		}
		if b != nil {
			b = append(b, ' ')
		}
		b = append(b, called[i]...)
		if power != 1 {
			b = strconv.AppendInt(append(b, '^'), int64(power), 10)
		}
	}
	if b == nil {
		return "1"
	}
	return string(b)
}

// scale is the meaning of a unit in SI.
type scale struct {
	factor, offset float64
	dimension      dimension
}

// index contains the scale of each symbol with each of its prefixes.
var index = sync.OnceValue(makeIndex)

func makeIndex() map[string]scale {
	known := make(map[string]scale, 2048)
	for i, base := range bases {
		s := scale{factor: 1}
		s.dimension[i] = 1
		known[base] = s
	}
	for _, row := range slices.Concat(units[:], customary[:]) {
		s, _ := parse(row.of, known) // a test checks that every row is valid
		s.factor *= row.factor
		s.offset = row.offset
		for _, symbol := range strings.Fields(row.symbols) {
			symbol = normalize(symbol)
			known[symbol] = s
			for _, prefix := range strings.Fields(row.prefixes) {
				known[prefix+symbol] = scale{factor: s.factor * prefixes[prefix], dimension: s.dimension}
			}
		}
	}
	for _, base := range bases {
		delete(known, base)
	}
	return known
}
