package spreadsheet

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// place is the first occurrence of something. The zero place means that it never occurred.
type place struct {
	row    int
	column string
}

func (p *place) note(at place) {
	if p.row == 0 {
		*p = at
	}
}

// evidence collects facts that only the whole file shows: its encoding, and the order of its dates.
// An edit without evidence is rejected.
type evidence struct {
	unicode, ansi place          // cells beyond ASCII: in UTF-8, and in another encoding
	known         map[rune]bool  // characters in unedited cells of another encoding, which confirm the decoding
	doubts        map[rune]place // characters in edited cells
	lost          place          // an edited cell with a question mark, which may replace another character
	orders        [3]place       // cells that are unedited if their date is read in this order
}

// everywhere are characters with the same byte in all encodings that Windows calls ANSI.
const everywhere = "\u00a0¦§©«¬®°±µ¶·»„…†‡‰‹‘’“”•–—™›"

// proven records that a cell in another encoding than UTF-8 was decoded correctly.
func (e *evidence) proven(cell string) {
	if e.known == nil {
		e.known = map[rune]bool{}
	}
	for _, char := range cell {
		e.known[char] = true
	}
}

// header records the name of a column that is not in UTF-8.
func (e *evidence) header(name string) {
	e.ansi.note(place{1, name})
	e.doubt(place{1, name}, name)
}

func (e *evidence) doubt(at place, text string) {
	if e.doubts == nil {
		e.doubts = map[rune]place{}
	}
	for _, char := range text {
		if _, there := e.doubts[char]; !there && char >= utf8.RuneSelf && !strings.ContainsRune(everywhere, char) {
			e.doubts[char] = at
		}
	}
}

// edited records an edited cell.
func (e *evidence) edited(at place, shown, cell string, ansi bool) {
	if ansi {
		e.doubt(at, cell)
	}
	if strings.Count(cell, "?") > strings.Count(shown, "?") && lossy(shown) != shown {
		e.lost.note(at)
	}
}

// lossy returns a text as it is after saving it as Windows-1252.
func lossy(text string) string {
	var saved strings.Builder
	for _, char := range text {
		_, ok := charmap.Windows1252.EncodeRune(char)
		switch {
		case ok:
		case string(char) == minus:
			char = '-'
		default:
			char = '?'
		}
		saved.WriteRune(char)
	}
	return saved.String()
}

const saveAsUTF8 = "; save the file as CSV UTF-8"

// Problems returns the problems of the whole file. Call it after the last row.
func (r *Reader) Problems() (problems []Problem) {
	e := r.evidence
	refuse := func(at place, format string, args ...any) {
		problems = append(problems, Problem{at.row, at.column, fmt.Sprintf(format, args...)})
	}
	unproven := slices.DeleteFunc(slices.Sorted(maps.Keys(e.doubts)), func(char rune) bool { return e.known[char] })
	switch {
	case e.ansi.row == 0:
	case e.unicode.row > 0:
		refuse(e.ansi, "this is not UTF-8, but row %d, column %s is"+saveAsUTF8, e.unicode.row, e.unicode.column)
	case e.lost.row > 0:
		refuse(e.lost, "the question mark may have replaced another character"+saveAsUTF8)
	case len(unproven) > 0:
		refuse(e.doubts[unproven[0]], "the file is not UTF-8, so the character %c in this cell is uncertain"+saveAsUTF8, unproven[0])
	}
	if day, month := e.orders[dayFirst], e.orders[monthFirst]; day.row > 0 && month.row > 0 {
		refuse(month, "the day is first in row %d, column %s, but the month is first here, unless a spreadsheet changed this date; write dates such as 2026-01-31", day.row, day.column)
	}
	return problems
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
