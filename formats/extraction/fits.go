package extraction

import (
	"strings"

	"labshelf/formats/descriptive"
)

// The records of FITS: cards of 80 bytes, in blocks of 36.
const (
	cardSize   = 80
	blockSize  = 36 * cardSize
	maxHeaders = 512 // blocks of a header that are read: 18,432 cards
)

// structure are the keywords that describe the layout of the file, or verify it.
var structure = map[string]bool{"SIMPLE": true, "EXTEND": true, "CHECKSUM": true, "DATASUM": true, "PCOUNT": true, "GCOUNT": true, "LONGSTRN": true}

// readFITS reads the keywords of the primary header of FITS 4.0, including HIERARCH, CONTINUE, and
// units at the beginning of comments.
func readFITS(in source, to *collector) error {
	h := fitsHeader{to: to}
	for block := range int64(maxHeaders) {
		cards, err := in.section(block*blockSize, blockSize)
		if err != nil {
			return err
		}
		for at := 0; at < blockSize; at += cardSize {
			if h.card(decode(cards[at : at+cardSize])) {
				h.flush()
				to.text("COMMENT", strings.Join(h.comments, "\n"))
				to.text("HISTORY", strings.Join(h.history, "\n"))
				return nil
			}
		}
	}
	return malformed("a FITS header without END")
}

// fitsHeader is a header that is being read.
type fitsHeader struct {
	to                *collector
	comments, history []string

	keyword string // of a text that may continue in the next card; "" without one
	text    string
}

// card reads a card; end reports whether it was the last one.
func (h *fitsHeader) card(card string) (end bool) {
	if len(card) < 8 {
		return false
	}
	keyword, rest := strings.TrimRight(card[:8], " "), card[8:]
	if keyword == "CONTINUE" && h.keyword != "" && strings.HasSuffix(h.text, "&") {
		more, _ := quoted(strings.TrimLeft(rest, " "))
		h.text = strings.TrimSuffix(h.text, "&") + more
		return false
	}
	h.flush()
	switch {
	case keyword == "END":
		return strings.TrimSpace(rest) == ""
	case keyword == "COMMENT":
		h.comments = appendLine(h.comments, rest)
	case keyword == "HISTORY":
		h.history = appendLine(h.history, rest)
	case keyword == "HIERARCH":
		if name, value, ok := strings.Cut(rest, "="); ok {
			h.keep(strings.TrimSpace(name), value)
		}
	case strings.HasPrefix(rest, "= ") && keyword != "" && !structure[keyword]:
		h.keep(keyword, rest[2:])
	}
	return false
}

// maxLines bounds the lines of comments that are kept: together they are longer than the longest
// text.
const maxLines = 2 * maxText / cardSize

func appendLine(lines []string, line string) []string {
	if len(lines) == maxLines {
		return lines
	}
	return append(lines, strings.TrimRight(line, " "))
}

// flush adds the collected text, which does not continue.
func (h *fitsHeader) flush() {
	if h.keyword != "" {
		h.to.text(h.keyword, h.text)
	}
	h.keyword = ""
}

// keep adds the value of a card. It holds back a text until the next card shows whether it
// continues.
func (h *fitsHeader) keep(keyword, field string) {
	field = strings.TrimSpace(field)
	if text, ok := quoted(field); ok {
		h.keyword, h.text = keyword, text
		return
	}
	value, comment, _ := strings.Cut(field, "/")
	value = strings.TrimSpace(value)
	switch n := number(value); {
	case value == "T" || value == "F":
		h.to.add(keyword, descriptive.TruthOf(value == "T"))
	case n != "":
		h.to.add(keyword, quantityOf(n, commentedUnit(comment)))
	default: // a complex number, or no value
		h.to.text(keyword, value)
	}
}

// quoted returns the text at the beginning of a field, without trailing spaces. It is not ok if the
// field has no quoted text.
func quoted(field string) (text string, ok bool) {
	rest, ok := strings.CutPrefix(field, "'")
	if !ok {
		return "", false
	}
	var b strings.Builder
	for {
		before, after, closed := strings.Cut(rest, "'")
		b.WriteString(before)
		if rest = after; !closed || !strings.HasPrefix(after, "'") {
			return strings.TrimRight(b.String(), " "), true
		}
		b.WriteByte('\'')
		rest = after[1:]
	}
}

// commentedUnit returns the unit in brackets at the beginning of a comment, if the unit is known.
func commentedUnit(comment string) string {
	inner, ok := strings.CutPrefix(strings.TrimSpace(comment), "[")
	unit, _, closed := strings.Cut(inner, "]")
	if ok && closed && isUnit(strings.TrimSpace(unit)) {
		return strings.TrimSpace(unit)
	}
	return ""
}
