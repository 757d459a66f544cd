package spreadsheet

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"labshelf/formats/descriptive"
)

// order is the order of the day and the month in a date.
type order uint8

const (
	anyOrder   order = iota // only one reading is possible
	dayFirst                // 02/01/2026
	monthFirst              // 1/2/2026
)

// moment is a day, and optionally a time, as a spreadsheet shows it. A part that is not shown is 0.
type moment struct {
	year, month, day int
	clock            string // HH:MM:SS; "" for none
	inexact          bool   // the time also had fractions of a second or an offset
	order            order
}

var (
	clockPart = lazily(`(?i)(?:^|[ T]) *([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?([.,][0-9]+)?(?: *([AP])\.?M\.?)?(Z|[+-][0-9]{2}:?[0-9]{2})?$`)
	numeric   = lazily(`^([0-9]{1,4})([./-]) ?([0-9]{1,2})([./-]) ?([0-9]{1,4})\.?$`)
	two       = lazily(`^([0-9]{1,4})[./-]([0-9]{1,4})\.?$`)
	named     = lazily(`^(?:([0-9]{1,2})\.?[-/ ]*)?(\pL{3,10})\.?[-/ ]*(?:([0-9]{1,2}), ?)?([0-9]{1,4})?$`)
)

// months are the names of the months in spreadsheets: in English, German, French, Spanish, Italian,
// Dutch and Portuguese.
var months = [...]string{
	"jan january januar jän jänner janv janvier ene enero gen gennaio januari janeiro",
	"feb february februar févr février febrero febbraio februari fev fevereiro",
	"mar march mär mrz märz mars marzo mrt maart março",
	"apr april avr avril abr abril aprile",
	"may mai mayo mag maggio mei maio",
	"jun june juni juin junio giu giugno junho",
	"jul july juli juil juillet julio lug luglio julho",
	"aug august août ago agosto augustus",
	"sep sept september septembre septiembre set settembre setembro",
	"oct october okt oktober octobre octubre ott ottobre out outubro",
	"nov november novembre noviembre novembro",
	"dec december dez dezember déc décembre dic diciembre dicembre dezembro",
}

// monthOf returns the month with this name, or 0.
func monthOf(word string) int {
	word = strings.ToLower(word)
	for i, names := range months {
		if slices.Contains(strings.Fields(names), word) {
			return i + 1
		}
	}
	return 0
}

// monthAndNumber reports whether a text could be a month with a day or a year, such as MAR1.
func monthAndNumber(text string) bool {
	parts := named().FindStringSubmatch(text)
	return parts != nil && parts[1]+parts[3]+parts[4] != "" && monthOf(parts[2]) > 0
}

// shown says whether a spreadsheet shows a text, or the text was entered. Spreadsheets show no
// dates of two numbers.
type shown bool

// moments returns the readings of a text as a date, or nothing if it is not a date.
func moments(text string, by shown) []moment {
	day, m := strings.TrimSpace(text), moment{}
	if at := clockPart().FindStringIndex(day); at != nil {
		m = clockOf(clockPart().FindStringSubmatch(day))
		day = strings.TrimSuffix(day[:at[0]], ",")
	}
	var all []moment
	if p := numeric().FindStringSubmatch(day); p != nil && p[2] == p[4] {
		all = ofThreeNumbers(p[1], p[2], p[3], p[5])
	} else if p := two().FindStringSubmatch(day); p != nil && !bool(by) {
		a, b := atoi(p[1]), atoi(p[2])
		all = []moment{{month: a, day: b}, {month: b, day: a}, {month: a, year: b}, {month: b, year: a}}
	} else if monthAndNumber(day) {
		p := named().FindStringSubmatch(day)
		all = ofNamedMonth(monthOf(p[2]), p[1]+p[3], p[4])
	}
	all = slices.DeleteFunc(all, func(m moment) bool { return m.month < 1 || m.month > 12 || m.day > 31 })
	for i := range all {
		all[i].clock, all[i].inexact = m.clock, m.inexact
	}
	return all
}

func ofThreeNumbers(first, sign, second, third string) []moment {
	a, b, c := atoi(first), atoi(second), atoi(third)
	switch {
	case len(first) == 4:
		return []moment{{year: a, month: b, day: c}}
	case len(first) > 2 || len(third) != 2 && len(third) != 4:
		return nil
	case sign == ".":
		return []moment{{day: a, month: b, year: c}}
	case a == b:
		return []moment{{day: a, month: b, year: c}}
	}
	return []moment{{day: a, month: b, year: c, order: dayFirst}, {month: a, day: b, year: c, order: monthFirst}}
}

func ofNamedMonth(month int, day, number string) []moment {
	switch {
	case day != "":
		return []moment{{month: month, day: atoi(day), year: atoi(number)}}
	case len(number) >= 2:
		return []moment{{month: month, year: atoi(number)}, {month: month, day: atoi(number)}}
	}
	return []moment{{month: month, day: atoi(number)}}
}

// atoi parses a few digits; no digits are 0.
func atoi(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// clockOf reads the parts of clockPart.
func clockOf(parts []string) (m moment) {
	hour := atoi(parts[1])
	if half := strings.ToUpper(parts[5]); half != "" {
		hour %= 12
		if half == "P" {
			hour += 12
		}
	}
	m.clock = fmt.Sprintf("%02d:%s:%02d", hour, parts[2], atoi(parts[3]))
	m.inexact = parts[4]+parts[6] != ""
	return m
}

// same reports whether both can be the same day and time. Parts that are not shown match, but both
// must show the month and another part.
func (m moment) same(other moment) bool {
	equal := func(a, b int) bool { return a == b || a == 0 || b == 0 }
	year, otherYear := m.year, other.year
	if min(year, otherYear) < 100 {
		year, otherYear = year%100, otherYear%100
	}
	known := m.day > 0 && other.day > 0 || m.year > 0 && other.year > 0
	return known && m.month == other.month && equal(m.day, other.day) && equal(year, otherYear) && sameClock(m.clock, other.clock)
}

// sameClock compares times; one of them may lack the seconds. Midnight equals no time.
func sameClock(a, b string) bool {
	const midnight = "00:00:00"
	a, b = strings.TrimSuffix(a, midnight), strings.TrimSuffix(b, midnight)
	return a == b || a != "" && b != "" && a[:5] == b[:5] && (strings.HasSuffix(a, ":00") || strings.HasSuffix(b, ":00"))
}

// dateTyped parses a date as people enter it or a spreadsheet shows it, and returns it in ISO 8601.
// An error says that the date is ambiguous, or that a spreadsheet may have made it of another
// value.
func dateTyped(text string) (iso string, ok bool, err error) {
	if withT := strings.Replace(text, " ", "T", 1); descriptive.TextOf(withT).Form() == descriptive.Time {
		return withT, true, nil
	}
	found := slices.DeleteFunc(moments(text, true), func(m moment) bool { return m.inexact || m.year >= 100 && m.day > 0 && !m.exists() })
	switch {
	case len(found) == 0:
		return "", false, nil
	case found[0].day == 0 || found[0].year == 0:
		if !abbreviated().MatchString(text) {
			return "", false, nil
		}
		return "", false, fmt.Errorf("%s looks like a date that a spreadsheet has made of another value; write a date such as 2026-01-31, or a string as '%[1]s", text)
	case found[0].year < 1000:
		return "", false, fmt.Errorf("the date %s must have a year of four digits, such as 2026-01-31; write a string as '%[1]s", text)
	case len(found) > 1:
		return "", false, fmt.Errorf("the date %s can be read in two ways; write %s or %s", text, found[0].iso(), found[1].iso())
	}
	return found[0].iso(), true, nil
}

// abbreviated matches a date without a year or a day, as English and German spreadsheets show it.
var abbreviated = lazily(`^(?:[0-9]{1,2}(?:-|\. ))?(?:Jan|Feb|Mar|Mär|Mrz|Apr|May|Mai|Jun|Jul|Aug|Sep|Oct|Okt|Nov|Dec|Dez)(?:[- ][0-9]{2})?$`)

// exists reports whether the month has this day.
func (m moment) exists() bool {
	return time.Date(m.year, time.Month(m.month), m.day, 0, 0, 0, 0, time.UTC).Day() == m.day
}

// iso formats a moment with a year, a month and a day.
func (m moment) iso() string {
	text := fmt.Sprintf("%04d-%02d-%02d", m.year, m.month, m.day)
	if m.clock == "" {
		return text
	}
	return text + "T" + strings.TrimSuffix(m.clock, ":00")
}
