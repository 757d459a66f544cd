package units_test

import (
	"errors"
	"strings"
	"testing"

	"labshelf/formats/descriptive/units"
)

// TestRead tests how strings with a number are parsed, in both conventions. "two" means an
// ambiguous number, "" means that the string is not a quantity.
func TestRead(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, point, comma string }{
		{"20", "20", ""}, {"-20.5", "-20.5", ""}, {"−20.5", "-20.5", ""}, {"20,5", "20.5", ""}, {"5e-3", "5e-3", ""}, {"5e−3 m", "5e-3 m", ""}, {"1E5", "1E5", ""},
		{" 20,5 °C ", "20.5 °C", ""}, {"20,5°C", "20.5 °C", ""}, {"20.5\u00a0°C", "20.5 °C", ""}, {"20,5\u202f℃", "20.5 ℃", ""}, {"20 º", "20 º", ""}, {"50%", "50 %", ""},
		{"5 \u00b5m", "5 \u00b5m", ""}, {"5 \u03bcm", "5 \u03bcm", ""}, {"5 \u2126", "5 \u03a9", ""}, {"5 \u03a9", "5 \u03a9", ""}, {"5 1/s", "5 1/s", ""}, {"4K", "4 K", ""}, {"5m2", "5 m2", ""},
		{"20 ° C", "20 ° C", ""}, {"100 counts/s", "100 counts/s", ""}, {"0,5 OD600", "0.5 OD600", ""}, {"3 px", "3 px", ""}, {"3000 rpm", "3000 rpm", ""}, {"20 mAU", "20 mAU", ""}, {"7.4 pH", "7.4 pH", ""}, {"7,4 [pH]", "7.4 pH", ""}, {"7.4 mpH", "", ""},
		{"1.234", "1.234", "two"}, {"1,234", "two", "1.234"}, {"1,234 mm", "two", "1.234 mm"}, {"-1.234 mm", "-1.234 mm", "two"}, {"0,234", "0.234", ""}, {"1234,567", "1234.567", ""},
		{"1.234,5", "1234.5", ""}, {"1,234.5", "1234.5", ""}, {"1 234,5", "1234.5", ""}, {"1\u202f234,5", "1234.5", ""}, {"1'234", "1234", ""}, {"1’234’567.5 m", "1234567.5 m", ""},
		{"12\u00a0345\u00a0678", "12345678", ""}, {"1.234.567,8", "1234567.8", ""}, {"1,234,567.8 kg", "1234567.8 kg", ""}, {"1.234,567", "1234.567", ""}, {"1 234.567", "1234.567", ""},
		{"1.234.567", "two", "two"}, {"1,234,567", "two", "two"}, {"1 234", "two", "two"}, {"100 200 mm", "two", "two"}, {"1,234 samples in all", "", ""}, {"12 500 g force", "", ""},
		{"12h30", "", ""}, {"12 h30", "", ""}, {"12h5", "", ""}, {"3V3", "", ""}, {"2k7", "", ""}, {"12°30", "", ""}, {"5/2", "", ""}, {"1/2", "", ""}, {"½", "", ""}, {"2½ mm", "", ""}, {"5-7 mm", "", ""}, {"5–7 mm", "", ""},
		{"5±2 mm", "", ""}, {"5 ± 2 mm", "", ""}, {"5 to 7 mm", "", ""}, {"12:30", "", ""}, {"2026-01-02", "", ""}, {"02.01.2026", "", ""}, {"0x10", "", ""}, {"1_000", "", ""}, {"٣", "", ""}, {"５", "", ""},
		{"NaN", "", ""}, {"Infinity", "", ""}, {"-", "", ""}, {"", "", ""}, {"007", "", ""}, {"1.2.3", "", ""}, {"1..2", "", ""}, {".5", "", ""}, {"5.", "", ""}, {"+5", "", ""}, {"--5", "", ""}, {"1,23,456", "", ""}, {"1,234.567,8", "", ""},
		{"1.234 567", "", ""}, {"20 °C?", "", ""}, {"20 °C 5", "", ""}, {"20 zork", "", ""}, {"5 PM", "", ""}, {"10:30 PM", "", ""}, {"20\x00°C", "", ""}, {"20 \xff", "", ""}, {"<5 mm", "", ""}, {"5 e3", "", ""},
	} {
		if test.comma == "" {
			test.comma = test.point
		}
		for convention, want := range map[units.Convention]string{units.DecimalPoint: test.point, units.DecimalComma: test.comma} {
			q, err := units.Read(test.text, convention)
			got := strings.TrimSpace(q.Number + " " + q.Unit)
			var wrong *units.Error
			switch {
			case errors.As(err, &wrong) && wrong.Ambiguous:
				got = "two"
			case err != nil && (wrong == nil || err.Error() == "" || got != ""):
				t.Errorf("%q: %q with %v", test.text, got, err)
			}
			if got != want {
				t.Errorf("%q with a decimal comma %t: %q, %v, want %q", test.text, convention, got, err, want)
			}
		}
	}
}

// TestReadError tests that an error says how the string was parsed.
func TestReadError(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"12h30":   `"12h30" is read as the number 12, and "h30" after it is not a unit`,
		"5/2":     `"5/2" is read as the number 5, and "/2" after it is not a unit`,
		"20,5 xy": `"20,5 xy" is read as the number 20.5, and "xy" after it is not a known unit`,
		"3V3":     `"3V3" can be read in two ways; write the decimals before the unit`,
		"1,234":   `the number 1,234 can be read in two ways; write 1.234, or 1234 without a thousands separator`,
		"1 234":   `the number 1 234 can be read in two ways; write 1234 if it is one number`,
		"Ada":     `"Ada" does not begin with a number`,
		"007":     `"007" is not a number`,
	} {
		if _, err := units.Read(text, units.DecimalPoint); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestContinues distinguishes unknown units from numbers that were cut too early.
func TestContinues(t *testing.T) {
	t.Parallel()
	for unit, want := range map[string]bool{
		",5 °C": true, "/2": true, "h30": true, ":30": true, "±2 mm": true, "-7 mm": true, "–7 mm": true, ".5": true, "½ mm": true, "'234": true, "_000": true, "m75": true,
		"samples": false, "°C": false, "1/s": false, "OD600": false, "mmHg": false, "-": false, "'": false, "/mL": false, "10^6/mL": false, "m^0.5": false, "CO2": false, "": false,
	} {
		if got := units.Continues(unit); got != want {
			t.Errorf("%q: %t", unit, got)
		}
	}
}

// FuzzRead tests that a parsed quantity has a JSON number and a known unit, and reading its text
// again gives the same quantity.
func FuzzRead(f *testing.F) {
	for _, text := range []string{"20,5 °C", "1 234,5", "1.234.567", "5 1/s", "−5e−3m", "12h30"} {
		f.Add(text, true)
	}
	f.Fuzz(func(t *testing.T, text string, comma bool) {
		q, err := units.Read(text, units.Convention(comma))
		if err != nil {
			return
		}
		if strings.ContainsAny(q.Number, ", −'") {
			t.Fatalf("%q is %q", text, q.Number)
		}
		again, err := units.Read(q.Number+" "+q.Unit, units.DecimalPoint)
		if err != nil || again.Number != q.Number || again.Unit != q.Unit {
			t.Fatalf("%q is %+v, but its text is %+v, %v", text, q, again, err)
		}
	})
}
