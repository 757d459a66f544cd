package paging_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"labshelf/paging"
)

// sample is 2015-03-30T16:09:44Z in microseconds.
const sample = int64(1427731784) * 1e6

func TestParseInstantAccepts(t *testing.T) {
	t.Parallel()
	const day = int64(86400) * 1e6
	midnight := sample - sample%day
	for _, c := range []struct {
		in          string
		floor, ceil int64
	}{
		{"2015-03-30T16:09:44Z", sample, sample},
		{"2015-03-30t16:09:44z", sample, sample},
		{"2015-03-30T16:09:44", sample, sample},
		{"2015-03-30T16:09Z", sample - 44e6, sample - 44e6},
		{"2015-03-30T16:09", sample - 44e6, sample - 44e6},
		{"2015-03-30T16:09+0100", sample - 44e6 - 3600e6, sample - 44e6 - 3600e6},
		{"2015-03-30 16:09:44", sample, sample},
		{"2015-03-30 16:09", sample - 44e6, sample - 44e6},
		{"2015-03-30 18:09:44+02:00", sample, sample},
		{"2015-03-30 18:09:44 02:00", sample, sample},
		{"2015-03-30 16:09:44.5Z", sample + 5e5, sample + 5e5},
		{"2015-03-30T18:09:44+02:00", sample, sample},
		{"2015-03-30T18:09:44+0200", sample, sample},
		{"2015-03-30T18:09:44+02", sample, sample},
		{"2015-03-30T18:09:44 02:00", sample, sample},
		{"2015-03-30T18:09:44 0200", sample, sample},
		{"2015-03-30T18:09:44 02", sample, sample},
		{"2015-03-30T18:09:44.5 02:00", sample + 5e5, sample + 5e5},
		{"2015-03-30T12:39:44-03:30", sample, sample},
		{"2015-03-30T16:09:44-00:00", sample, sample},
		{"2015-03-31T16:08:44+23:59", sample, sample},
		{"2015-03-30T16:09:44.090Z", sample + 90_000, sample + 90_000},
		{"2015-03-30T16:09:44.000001Z", sample + 1, sample + 1},
		{"2015-03-30T16:09:44.0000011", sample + 1, sample + 2},
		{"2015-03-30T16:09:44.00000110", sample + 1, sample + 2},
		{"2015-03-30T16:09:44.0000010000000", sample + 1, sample + 1},
		{"2015-03-30T16:09:44.999999" + strings.Repeat("9", 500) + "Z", sample + 999_999, sample + 1_000_000},
		{"2015-03-30T16:09:44.000000" + strings.Repeat("0", 500) + "1Z", sample, sample + 1},
		{"2015-03-30", midnight, midnight},
		{"2015-03", midnight - 29*day, midnight - 29*day},
		{"2015", midnight - 88*day, midnight - 88*day},
		{"2016-02-29", 1456704000 * 1e6, 1456704000 * 1e6},
		{"1970", 0, 0},
		{"1970-01-01T00:00:00.0000001Z", 0, 1},
		{"1969-12-31T23:59:59.9999999Z", 0, 0},
		{"1969", 0, 0},
		{"0000", 0, 0},
		{"0001-01-01T00:00:00+23:59", 0, 0},
		{"9999-12-31T23:59:59.9999999-23:59", 253402387139999999, 253402387140000000},
	} {
		floor, ceil, err := paging.ParseInstant(c.in)
		if err != nil || floor != c.floor || ceil != c.ceil {
			t.Errorf("ParseInstant(%.60q) = %d, %d, %v; want %d, %d", c.in, floor, ceil, err, c.floor, c.ceil)
		}
	}
}

func TestParseInstantRefuses(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"", " ", "now", "yesterday", "20", "201", "20150", "20150330", "1427731784000", "-2015", "+2015",
		"2015-", "2015-3", "2015-03-", "2015-03-3", "2015-3-30", "15-03-30", "2015/03/30", "30.03.2015",
		"2015-00", "2015-13", "2015-13-01", "2015-00-01", "2015-01-00", "2015-02-29", "2015-02-30", "2015-04-31",
		"2015-03-30T", "2015-03-30T16", "2015-03-30T1609", "2015-03-30T16:9", "2015-03-30T6:09", "2015-03-30T16:09:4",
		"2015-03-30T16:09:", "2015-03-30  16:09:44", "2015-03-30 16", "2015-03-30 ", "2015-03-30 +02:00", "2015-03-30T16:09:44.", "2015-03-30T16:09:44.Z",
		"2015-03-30T16:09:44,090Z", "2015-03-30T16:09.5Z", "2015-03-30T16:09:44.0.1Z",
		"2015-03-30T24:00", "2015-03-30T24:00:00Z", "2015-03-30T25:00Z", "2015-03-30T16:60", "2015-06-30T23:59:60Z",
		"2015-03-30Z", "2015-03-30+02:00", "2015-03Z", "2015Z",
		"2015-03-30T16:09:44ZZ", "2015-03-30T16:09:44Z ", " 2015-03-30T16:09:44Z", "2015-03-30T16:09:44 ",
		"2015-03-30T16:09:44+", "2015-03-30T16:09:44+2", "2015-03-30T16:09:44+02:", "2015-03-30T16:09:44+02:0",
		"2015-03-30T16:09:44+020", "2015-03-30T16:09:44+02:000", "2015-03-30T16:09:44+24:00", "2015-03-30T16:09:44+02:60",
		"2015-03-30T16:09:44 +02:00", "2015-03-30T16:09:44  02:00", "2015-03-30T16:09:44+02:00Z", "2015-03-30T16:09:44CET",
		"2015-03-30T16:09:44Z\n", "2015-03-30T16:09:44Z\x00", "٢٠١٥", "2015-03-30T16:09:44−02:00",
		"2015-W14", "2015-089", "P1D", "2015-03-30T16:09:44-2:00", "2015-03-30T-1:09:44",
	} {
		floor, ceil, err := paging.ParseInstant(in)
		var refused *paging.Error
		if !errors.As(err, &refused) || floor != 0 || ceil != 0 {
			t.Errorf("ParseInstant(%q) = %d, %d, %v; want an *Error", in, floor, ceil, err)
			continue
		}
		if !strings.Contains(refused.Message, "2015-03-30T18:09:44+02:00") {
			t.Errorf("ParseInstant(%q): %q shows no example", in, refused.Message)
		}
	}
}

// FuzzParseInstant compares ParseInstant with package time: time.Parse accepts each accepted string
// in one of the layouts, with the same instant.
func FuzzParseInstant(f *testing.F) {
	for _, seed := range []string{
		"2015", "2015-03", "2015-03-30", "2015-03-30T16:09", "2015-03-30T16:09:44", "2015-03-30T16:09:44.0900001Z",
		"2015-03-30t16:09:44z", "2015-03-30 16:09", "2015-03-30T16:09:44 02:00", "2015-03-30T16:09:44-0330", "2015-03-30T16:09:44+02",
		"1969-12-31T23:59:59.9999999Z", "2015-02-30", "2015-06-30T23:59:60Z", "2015-03-30T24:00", "0000-02-29",
	} {
		f.Add(seed)
	}
	fine := regexp.MustCompile(`\.\d{6}\d*[1-9]`)
	offset := regexp.MustCompile(` (\d\d:?(\d\d)?)$`)
	blank := regexp.MustCompile(`^(\d{4}-\d\d-\d\d) `)
	f.Fuzz(func(t *testing.T, in string) {
		floor, ceil, err := paging.ParseInstant(in)
		plain := offset.ReplaceAllString(blank.ReplaceAllString(strings.ToUpper(in), "${1}T"), "+$1")
		want, known := parseTime(plain)
		if err != nil {
			if known && !looser.MatchString(plain) {
				t.Fatalf("ParseInstant(%q): %v; time.Parse reads %v", in, err, want)
			}
			return
		}
		if !known {
			t.Fatalf("ParseInstant(%q) = %d, %d; but time.Parse refuses it", in, floor, ceil)
		}
		beyond := fine.MatchString(in) && want.UnixMicro() >= 0
		if floor != max(0, want.UnixMicro()) || (ceil != floor) != beyond || ceil < floor || ceil > floor+1 {
			t.Fatalf("ParseInstant(%q) = %d, %d; time.Parse reads %v", in, floor, ceil, want)
		}
	})
}

// looser matches strings that only package time accepts: a comma, an hour of one digit, and offsets
// of 24 hours or 60 minutes.
var looser = regexp.MustCompile(`,|T\d:|[+-]24|[+-]\d\d:?60$`)

func parseTime(s string) (time.Time, bool) {
	layouts := []string{"2006", "2006-01", "2006-01-02"}
	for _, clock := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05"} {
		for _, zone := range []string{"", "Z07:00", "Z0700", "Z07"} {
			layouts = append(layouts, clock+zone)
		}
	}
	for _, layout := range layouts {
		if found, err := time.Parse(layout, s); err == nil {
			return found, true
		}
	}
	return time.Time{}, false
}
