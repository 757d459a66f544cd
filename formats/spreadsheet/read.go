package spreadsheet

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/unicode/norm"
)

// Bounds of a file.
const (
	MaxRows     = 100_000 // including the header
	maxRowBytes = 1 << 20
	maxHeader   = 256 << 10
)

// Reader reads a file that a spreadsheet has saved: separated by commas, semicolons or tabs, in
// UTF-8, UTF-16 or Windows-1252.
type Reader struct {
	rows     *csv.Reader
	bound    *bound
	dialect  dialect
	id, etag int // positions of these columns
	name     int // -1: the column is missing
	columns  []headed
	width    int // of the header
	row      int // of the last row
	line     int // first line of the next row
	stated   int // lines before the header that name the separator
	evidence evidence
}

// headed is a column with its position.
type headed struct {
	column
	position int
}

// NewReader reads the header. An error of the header is a *Problem; other errors are errors of
// reading the file.
func NewReader(from io.Reader) (*Reader, error) {
	buffered := bufio.NewReaderSize(from, maxHeader)
	start, err := buffered.Peek(4)
	if err != nil && err != io.EOF {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(start, []byte("PK\x03\x04")):
		return nil, &Problem{Message: "this is a workbook; save it as CSV UTF-8"}
	case bytes.HasPrefix(start, []byte{0xff, 0xfe}) || bytes.HasPrefix(start, []byte{0xfe, 0xff}):
		buffered = bufio.NewReaderSize(unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder().Reader(buffered), maxHeader)
	case bytes.HasPrefix(start, []byte(byteOrderMark)):
		_, _ = buffered.Discard(len(byteOrderMark)) // in the buffer, so it cannot fail
	}
	if start, err = buffered.Peek(maxHeader); err != nil && err != io.EOF {
		return nil, err
	}
	separators := []rune{',', ';', '\t'}
	r := &Reader{bound: &bound{from: buffered}, line: 1}
	if stated := sepLine().FindSubmatch(start); stated != nil {
		_, _ = buffered.Discard(len(stated[0])) // in the buffer, so it cannot fail
		start, r.stated = start[len(stated[0]):], 1
		separators = append([]rune{rune(stated[1][0])}, separators...) // a program that saved this line as a row uses its own separator
	}
	for _, separator := range separators {
		if slices.Contains(firstRow(start, separator), columnID) {
			r.rows = newCSV(r.bound, separator)
			r.dialect = dialectOf(separator)
			return r, r.readHeader()
		}
	}
	return nil, &Problem{Row: 1, Message: "the header must have the columns id and etag, separated by commas, semicolons or tabs; " +
		"if a spreadsheet shows a whole row in one cell, open the file so that its columns are separated"}
}

// sepLine matches a line before the header that names the separator. Spreadsheets read and hide it.
var sepLine = lazily(`^(?i:"?sep=)([,;|\t])"?[,;|\t]*(?:\r?\n|\r)`)

func newCSV(from io.Reader, separator rune) *csv.Reader {
	rows := csv.NewReader(from)
	rows.Comma, rows.FieldsPerRecord = separator, -1
	return rows
}

// firstRow parses a header as far as possible.
func firstRow(start []byte, separator rune) []string {
	fields, _ := newCSV(bytes.NewReader(start), separator).Read() // errors are reported later
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	return fields
}

// readHeader reads the names of the columns.
func (r *Reader) readHeader() error {
	fields, err := r.next()
	if err != nil {
		return err
	}
	r.width = len(fields)
	positions := map[string]int{}
	for i, field := range fields {
		field, ansi := decode(field)
		name := norm.NFC.String(strings.TrimSpace(field))
		if ansi {
			r.evidence.header(name)
		}
		if _, twice := positions[name]; twice && name != "" {
			return &Problem{1, name, "must not occur twice"}
		}
		positions[name] = i
		c, known := columnOf(name)
		switch {
		case known:
			r.columns = append(r.columns, headed{c, i})
		case !slices.Contains([]string{"", columnID, columnETag, columnName}, name):
			return &Problem{1, name, "is unknown; the column of a property is named properties.NAME"}
		}
	}
	etag, ok := positions[columnETag]
	if !ok {
		return &Problem{1, columnETag, "is required: it shows whether somebody has changed the file since the export"}
	}
	r.id, r.etag, r.name = positions[columnID], etag, -1
	if name, ok := positions[columnName]; ok {
		r.name = name
	}
	others := map[string]bool{}
	for _, c := range r.columns {
		others[c.path] = c.kind == propertyColumn
	}
	for i := range r.columns {
		r.columns[i].others = others
	}
	return nil
}

// next reads a row, including empty ones.
func (r *Reader) next() ([]string, error) {
	r.bound.left = maxRowBytes
	fields, err := r.rows.Read()
	var wrong *csv.ParseError
	switch {
	case errors.Is(err, errLong):
		return nil, &Problem{Row: r.row + 1, Message: fmt.Sprintf("the row has more than %d bytes, or a quotation mark is not closed", maxRowBytes)}
	case errors.As(err, &wrong):
		return nil, &Problem{Row: r.row + 1 + wrong.StartLine - r.line, Message: fmt.Sprintf("the row cannot be read, in line %d of the file: %v", r.stated+wrong.Line, wrong.Err)}
	case err != nil:
		return nil, err
	}
	line, _ := r.rows.FieldPos(0)
	r.row += 1 + line - r.line // empty lines count as rows, too
	r.line = line + 1
	for _, field := range fields {
		r.line += strings.Count(field, "\n")
	}
	if r.row > MaxRows {
		return nil, &Problem{Row: r.row, Message: fmt.Sprintf("a file must have at most %d rows", MaxRows)}
	}
	return fields, nil
}

// Read returns the next row that is not empty. The error at the end is io.EOF. A row that cannot be
// read is a *Problem, and reading cannot continue after it.
func (r *Reader) Read() (Line, error) {
	for {
		cells, err := r.next()
		if err != nil {
			return Line{}, err
		}
		if slices.ContainsFunc(cells, func(cell string) bool { return strings.TrimSpace(cell) != "" }) {
			l := Line{Row: r.row, of: r, cells: cells}
			l.ID, l.ETag = l.plain(r.id), strings.Trim(l.plain(r.etag), `"`)
			return l, nil
		}
	}
}

// errLong is the error of a row that is too long.
var errLong = errors.New("the row is too long")

// bound limits the number of bytes: an open quotation mark would make the rest of a file one cell.
type bound struct {
	from io.Reader
	left int
}

func (b *bound) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errLong
	}
	n, err := b.from.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// decode returns a cell in UTF-8, and reports whether it was not UTF-8. Other text is decoded as
// Windows-1252.
func decode(cell string) (text string, ansi bool) {
	if utf8.ValidString(cell) {
		return cell, false
	}
	return mistaken(cell), true
}
