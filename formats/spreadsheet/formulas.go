package spreadsheet

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// A spreadsheet takes a cell for a formula if it begins with one of four signs, in any width, also
// after white space. If the spreadsheet uses another separator than the file, the text after each
// comma, semicolon, tab and line break is a cell, too, and quotation marks are ordinary text.

// isSign reports whether a formula can begin with r.
func isSign(r rune) bool {
	return strings.ContainsAny(norm.NFKC.String(string(r)), "=+-@")
}

// isBlank reports whether a spreadsheet can skip r before a formula.
func isBlank(r rune) bool {
	return unicode.IsSpace(r) || unicode.In(r, unicode.Cc, unicode.Cf) || r == '"'
}

// startsFormula reports whether a text begins like a formula.
func startsFormula(text string) bool {
	rest := strings.TrimLeftFunc(text, isBlank)
	for _, r := range rest {
		return isSign(r)
	}
	return false
}

// harmless matches a sign that begins a number, or an item of a list in lines.
var harmless = lazily(`^[-+](?:[0-9]+[.]?[0-9]*|[.][0-9]+)(?:[eE][-+]?[0-9]+)?\s*(?:$|[,;\t\n"\]}])`)

// innerSigns returns the positions of the signs at which a formula would begin if the spreadsheet
// used another separator than the file. If armed is true, a sign at the beginning of the text
// counts, too.
func innerSigns(text string, armed bool) (at []int) {
	line := false
	for i, r := range text {
		switch {
		case strings.ContainsRune(",;\t\n\r", r):
			armed, line = true, r == '\n' || r == '\r'
		case isBlank(r):
		case armed && isSign(r):
			item := line && (r == '-' || r == '+') && strings.HasPrefix(text[i+1:], " ") // of a list
			if !item && !harmless().MatchString(text[i:]) {
				at = append(at, i)
			}
			armed = false
		default:
			armed = false
		}
	}
	return at
}

// disarmed returns an equal JSON text in which no sign begins a formula, whatever the separator.
// Outside of strings only numbers have such signs.
func disarmed(json string) string {
	var b strings.Builder
	done := 0
	for _, i := range innerSigns(json, true) {
		r := []rune(json[i:min(len(json), i+4)])[0]
		b.WriteString(json[done:i])
		fmt.Fprintf(&b, `\u%04x`, r)
		done = i + len(string(r))
	}
	return b.String() + json[done:]
}
