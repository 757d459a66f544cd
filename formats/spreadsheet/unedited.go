package spreadsheet

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"
)

// truths are the words with which spreadsheets show true and false: in English, German, French,
// Spanish, Italian, Portuguese, Dutch, Polish, Russian.
var truths = [2][]string{
	{"FALSE", "FALSCH", "FAUX", "FALSO", "ONWAAR", "FAŁSZ", "ЛОЖЬ"},
	{"TRUE", "WAHR", "VRAI", "VERDADERO", "VERO", "VERDADEIRO", "WAAR", "PRAWDA", "ИСТИНА"},
}

// truthOf parses true and false in any case, and the words of spreadsheets for them.
func truthOf(text string) (truth, ok bool) {
	if lower := strings.ToLower(text); lower == "true" || lower == "false" {
		return lower == "true", true
	}
	truth = slices.Contains(truths[1], text)
	return truth, truth || slices.Contains(truths[0], text)
}

// verdict is the result of comparing a cell with the current value.
type verdict uint8

const (
	edited   verdict = iota
	unedited         // a spreadsheet may have made the change
	doubtful         // a spreadsheet or a person may have made the change
)

// compare reports whether a spreadsheet may have made the cell from the text shown, which has no
// protection. The order is the one in which a date was read.
func compare(shown, cell string) (verdict, order) {
	if strings.TrimSpace(lines.Replace(shown)) == strings.TrimSpace(lines.Replace(cell)) || isCut(shown, cell) || lossy(shown) == cell {
		return unedited, anyOrder
	}
	if was, ok := truthOf(shown); ok {
		if is, ok := truthOf(cell); ok && was == is {
			return unedited, anyOrder
		}
	}
	if sameNumber(shown, cell) || sameTime(shown, cell) {
		return unedited, anyOrder
	}
	for _, was := range moments(shown, false) {
		for _, is := range moments(cell, true) {
			if was.same(is) {
				return unedited, is.order
			}
		}
	}
	if ungrouped(shown) != shown && ungrouped(shown) == ungrouped(cell) || mistaken(shown) == cell {
		return doubtful, anyOrder
	}
	return edited, anyOrder
}

// lines normalizes line breaks, which spreadsheets change.
var lines = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u00a0", " ")

// isCut reports whether a spreadsheet has truncated a text at 32,767 characters.
func isCut(shown, cell string) bool {
	const most = 32767
	return len(cell) >= most && strings.HasPrefix(shown, cell) && len(utf16.Encode([]rune(cell))) == most
}

// digits are the significant digits to which spreadsheets round: in a cell with an exponent, and in
// other cells.
var digits = [2][]int{{3, 6, 15}, {9, 10, 15}}

var (
	anyNumber  = lazily(`^[-+]?[0-9]*(?:[.,][0-9]*)?(?:[eE][-+]?[0-9]+)?$`)
	percentage = lazily(`^([-−]?[0-9.,]+)[ \x{a0}\x{202f}]?%$`) // some languages put a space before the sign
)

// sameNumber reports whether both are the same number, or the cell is the shown number, rounded.
func sameNumber(shown, cell string) bool {
	if was, is := percentage().FindStringSubmatch(shown), percentage().FindStringSubmatch(cell); was != nil && is != nil {
		w, ok := float(was[1])
		i, too := float(is[1])
		return ok && too && (w == i || slices.ContainsFunc([]float64{w, significant(w, 15)}, func(w float64) bool {
			return math.Round(w) == i || math.Round(w*100)/100 == i
		}))
	}
	if was, unit, ok := cutUnit(shown); ok { // text for a spreadsheet, which does not round it
		is, its, too := cutUnit(cell)
		w, _ := float(was)
		i, number := float(is)
		return too && unit == its && number && w == i
	}
	was, ok := float(shown)
	is, too := float(cell)
	if !ok || !too {
		return false
	}
	if was == is {
		return true
	}
	exponent := 1
	if strings.ContainsAny(cell, "eE") {
		exponent = 0
	}
	for _, n := range digits[exponent] {
		if significant(was, n) == is {
			return true
		}
	}
	return exponent == 1 && (rounds(was, is, 9) || rounds(was, is, 10))
}

// significant returns a number rounded to the given number of significant digits.
func significant(n float64, digits int) float64 {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(n, 'e', digits-1, 64), 64)
	return rounded
}

// rounds reports whether rounding the first number to some decimals gives the second, which must
// not be 0.
func rounds(was, is float64, decimals int) bool {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(was, 'f', decimals, 64), 64)
	return rounded == is && is != 0
}

// float reads a number with a comma or a point.
func float(text string) (float64, bool) {
	text = strings.TrimSpace(strings.Replace(text, minus, "-", 1))
	if !anyNumber().MatchString(text) {
		return 0, false
	}
	n, err := strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64)
	return n, err == nil
}

// ungrouped removes the separators between the thousands of a number; it returns other texts
// unchanged.
func ungrouped(text string) string {
	if thousands().MatchString(text) {
		return grouping.Replace(text)
	}
	return text
}

// hours matches text that a spreadsheet takes for an hour: 5 A is five o'clock.
var hours = lazily(`^([0-9]{1,2}) ?([aApP])$`)

// sameTime reports whether both are the same time of the day.
func sameTime(shown, cell string) bool {
	if parts := hours().FindStringSubmatch(shown); parts != nil {
		shown = parts[1] + ":00 " + parts[2] + "M"
	}
	was, is := clockPart().FindStringSubmatch(shown), clockPart().FindStringSubmatch(cell)
	if was == nil || is == nil || was[0] != shown || is[0] != cell {
		return false
	}
	return sameClock(clockOf(was).clock, clockOf(is).clock)
}

// mistaken returns the result of reading UTF-8 as Windows-1252. It returns a text unchanged if it
// is ASCII, or cannot be read as Windows-1252.
func mistaken(text string) string {
	wrong, err := charmap.Windows1252.NewDecoder().String(text)
	if err != nil {
		return text
	}
	return wrong
}
