package units_test

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"labshelf/formats/descriptive/units"
)

// TestReference compares every symbol with every prefix, and products, with the results of pint,
// which testdata/reference.py writes.
func TestReference(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/pint.tsv")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) != 4 {
			t.Fatalf("%q", line)
		}
		seen[fields[0]] = true
		for i, value := range []float64{1, 100} {
			want, err := strconv.ParseFloat(fields[2+i], 64)
			if err != nil {
				t.Fatal(err)
			}
			got, dimension, ok := units.SI(value, fields[0])
			if !ok || dimension != fields[1] || math.Abs(got-want) > tolerance(fields[0])*math.Abs(want) {
				t.Errorf("%v %s: %v %s %t, want %v %s", value, fields[0], got, dimension, ok, want, fields[1])
			}
		}
	}
	for _, symbol := range units.Symbols() {
		if !seen[symbol] {
			t.Errorf("%s was not compared", symbol)
		}
	}
	if len(seen) < len(units.Symbols())+40 {
		t.Errorf("%d units, and %d symbols", len(seen), len(units.Symbols()))
	}
}

// TestCustomary tests that counts are only compared with counts of the same kind.
func TestCustomary(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ unit, other, dimension string }{
		{"counts/s", "cps", "s^-1 count"}, {"kcounts", "kcts", "count"}, {"cells/mL", "CFU cm-3", "m^-3 cell"}, {"px/mm", "pixels/mm", "m^-1 px"}, {"mOD", "mOD", "OD"}, {"OD600", "Abs", "OD"},
		{"kbp", "kb", "bp"}, {"a.u.", "arb.u.", "a.u."}, {"RPM", "rpm", "s^-1 rad"}, {"xg", "RCF", "m s^-2"}, {"º C", "°C", "K"}, {"deg C", "°C", "K"}, {"º", "deg", "rad"}, {"wt%", "%", "1"}, {"hours", "h", "s"},
		{"sccm", "mL/min", "m^3 s^-1"}, {"mmH2O", "mmH2O", "m^-1 kg s^-2"}, {"dB/m", "dB m^-1", "m^-1 dB"}, {"Oe", "Oe", "m^-1 A"}, {"mAU min", "mAU min", "s AU"}, {"reads", "reads", "read"}, {"[pH]", "pH", "pH"}, {"pH/min", "[pH]/min", "s^-1 pH"},
	} {
		a, first, ok := units.SI(3, test.unit)
		b, second, also := units.SI(3, test.other)
		if !ok || !also || first != test.dimension || second != first || !units.Equal(a, b) {
			t.Errorf("3 %s is %v %s %t, but 3 %s is %v %s %t", test.unit, a, first, ok, test.other, b, second, also)
		}
	}
}

// tolerance returns the allowed difference from pint. In pint, parsec uses the tangent of an
// arcsecond, as before 2015, and gauss uses the measured permeability of the vacuum.
func tolerance(unit string) float64 {
	if strings.HasSuffix(unit, "pc") || strings.HasSuffix(unit, "G") {
		return 1e-10
	}
	return 1e-12
}

func TestSame(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		value float64
		unit  string
		other float64
		as    string
	}{
		{0.5, "mm", 500, "µm"}, {500, "\u03bcm", 500, "\u00b5m"}, {500, "um", 500, "µm"}, {1, "\u212b", 1, "\u00c5"}, {1, "\u2126", 1, "ohm"}, {1, "\u212a", 1, "K"},
		{20, "°C", 293.15, "K"}, {20, "degC", 68, "°F"}, {-40, "°C", -40, "°F"}, {20, " °C ", 20, "℃"}, {1, "W/(m °C)", 1, "W m-1 K-1"},
		{760, "Torr", 1, "atm"}, {1, "mbar", 1, "hPa"}, {1, "M", 1000, "mmol/L"}, {60, "rpm", 360, "°/s"}, {1, "%", 10000, "ppm"}, {50, "%", 0.5, "1"},
		{1, "kWh", 3.6, "MJ"}, {1, "T", 10000, "G"}, {1, "m / s", 3.6, "km/h"}, {1, "m  s^-1", 1, "m·s⁻¹"}, {1, "s", 1, "1/Hz"}, {1, "m^+2", 1, "m2"},
	} {
		a, first, ok := units.SI(test.value, test.unit)
		b, second, also := units.SI(test.other, test.as)
		if !ok || !also || first != second || !units.Equal(a, b) || units.Compare(a, b) != 0 {
			t.Errorf("%v %s is %v %s %t, and %v %s is %v %s %t", test.value, test.unit, a, first, ok, test.other, test.as, b, second, also)
		}
	}
}

func TestUnknown(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{
		"", " ", "xyz", "kkg", "µmin", "m°C", "metre", "kilogram", "bits", "m/", "/s", "m//s", "m··s", "(m", "m)", "()", "m^", "m^-", "m^x", "m^10", "m0", "m^0.5", "m^1/2", "100 g",
		"m^-2.5", "10^3", "2", "m(s", "°C s/s", "(°C)", "((((((m))))))", "m^^2", "m\x00", "\xff", "m s^", "m +s", strings.Repeat("m ", 100), "((Ym^9)^9)^9",
	} {
		if si, dimension, ok := units.SI(1, unit); ok {
			t.Errorf("%q is %v %s", unit, si, dimension)
		}
	}
	for _, value := range []float64{math.NaN(), math.Inf(1), 1e300} {
		if _, _, ok := units.SI(value, "Ym"); ok {
			t.Errorf("%v Ym", value)
		}
	}
	if _, first, _ := units.SI(1, "rpm"); first != "s^-1 rad" {
		t.Error(first)
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b float64
		want int
	}{
		{1, 1, 0}, {1, 1 + 1e-10, 0}, {1, 1 + 1e-8, -1}, {-1, -1 - 1e-8, 1}, {0, 0, 0}, {0, 1e-300, -1}, {1e-20, 1.1e-20, -1}, {-5, 5, -1},
	} {
		if got := units.Compare(test.a, test.b); got != test.want {
			t.Errorf("%v and %v: %d, want %d", test.a, test.b, got, test.want)
		}
		if got := units.Compare(test.b, test.a); got != -test.want {
			t.Errorf("%v and %v: %d, want %d", test.b, test.a, got, -test.want)
		}
	}
}

// FuzzSI tests that no string makes the parser panic. A unit multiplied by itself has twice its
// powers. Surrounding white space has no effect.
func FuzzSI(f *testing.F) {
	for _, unit := range []string{"kg·m^-3", "W/(m² K)", "°C", "((m)/(s))^2", "1/cm"} {
		f.Add(unit)
	}
	f.Fuzz(func(t *testing.T, unit string) {
		si, dimension, ok := units.SI(2, unit)
		if !ok || len(unit) > units.MaxBytes/2-10 {
			return
		}
		if again, same, ok := units.SI(2, "\t"+unit+" "); !ok || again != si || same != dimension {
			t.Fatalf("%q: %v %s, with spaces %v %s", unit, si, dimension, again, same)
		}
		quotient := fmt.Sprintf("(%s)/(%s)", unit, unit)
		if one, none, ok := units.SI(1, quotient); ok && (none != "1" || !units.Equal(one, 1)) {
			t.Fatalf("%s is %v %s", quotient, one, none)
		}
	})
}

func BenchmarkSI(b *testing.B) {
	for _, unit := range []string{"°C", "W/(m² K)"} {
		b.Run(strings.ReplaceAll(unit, "/", "_"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, ok := units.SI(20, unit); !ok {
					b.Fatal(unit)
				}
			}
		})
	}
}
