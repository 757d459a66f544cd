package display

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Bytes formats a number of bytes in units of 1,024, with two or three digits: 512 B, 1.5 KiB, 20
// MiB.
func Bytes(bytes int64) string {
	if bytes < 1024 {
		return fmt.Sprintf("%d B", bytes)
	}
	amount, unit := float64(bytes)/1024, 0
	for amount >= 999.5 && unit < len(units)-1 {
		amount, unit = amount/1024, unit+1
	}
	if amount < 9.95 {
		return fmt.Sprintf("%.1f %ciB", amount, units[unit])
	}
	return fmt.Sprintf("%.0f %ciB", amount, units[unit])
}

const units = "KMGTPE"

// bytesIn maps units, in capitals, to bytes.
var bytesIn = map[string]int64{
	"": 1, "B": 1,
	"KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "PB": 1e15,
	"KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40, "PIB": 1 << 50,
}

// ParseBytes parses a number of bytes, with or without a unit such as MB (10^6) or MiB (2^20). The
// case of letters does not matter. Its error states the rule.
func ParseBytes(text string) (int64, error) {
	digits := strings.TrimRightFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	unit, known := bytesIn[strings.ToUpper(strings.TrimSpace(text[len(digits):]))]
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || !known || int64(n) > math.MaxInt64/unit {
		return 0, errors.New("must be a whole number of bytes, or one with a unit such as 500MB, 10GB or 10GiB")
	}
	return int64(n) * unit, nil
}

// day and year are the longest units of Duration. A year has 365 days.
const (
	day  = 24 * time.Hour
	year = 365 * day
)

// Duration formats a duration in its largest one or two units, rounded: 120 µs, 250 ms, 42 s, 3 min
// 20 s, 5 h 10 min, 12 days 4 h, 10 years.
func Duration(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + Duration(-d)
	case d > 0 && d < 10*time.Millisecond:
		return strconv.FormatInt(d.Microseconds(), 10) + " µs"
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	}
	if d = d.Round(time.Second); d < time.Minute {
		return inUnits(d, time.Second, "s", 0, "")
	}
	if d < time.Hour {
		return inUnits(d, time.Minute, "min", time.Second, "s")
	}
	if d = d.Round(time.Minute); d < 2*day {
		return inUnits(d, time.Hour, "h", time.Minute, "min")
	}
	if d = d.Round(time.Hour); d < year-day {
		return inUnits(d, day, "days", time.Hour, "h")
	}
	years := strings.TrimSuffix(strconv.FormatFloat(d.Hours()/year.Hours(), 'f', 1, 64), ".0")
	if years == "1" {
		return "1 year"
	}
	return years + " years"
}

// inUnits formats d in a large unit, and the remainder in a small one. It omits a remainder below
// one small unit.
func inUnits(d, large time.Duration, largeName string, small time.Duration, smallName string) string {
	text := strconv.FormatInt(int64(d/large), 10) + " " + largeName
	if small > 0 && d%large >= small {
		text += " " + strconv.FormatInt(int64(d%large/small), 10) + " " + smallName
	}
	return text
}

// Files formats a number of files.
func Files(n int) string {
	if n == 1 {
		return "1 file"
	}
	return strconv.Itoa(n) + " files"
}

// Time formats a time in the local time zone.
func Time(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.Local().Format("2006-01-02 15:04")
}
