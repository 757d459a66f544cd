package spreadsheet

import (
	"io"
	"strings"
)

// byteOrderMark tells spreadsheets that a file is UTF-8.
const byteOrderMark = "\ufeff"

// Writer writes objects as CSV: UTF-8 with a byte order mark, lines that end with CR LF.
type Writer struct {
	to        io.Writer
	separator rune
	columns   []column
	line      []byte
}

// NewWriter writes the header, and returns a Writer of rows with these columns. The separator is a
// comma or a semicolon. With semicolons, numbers have decimal commas, as spreadsheets expect.
func NewWriter(to io.Writer, c Columns, separator rune) (*Writer, error) {
	w := &Writer{to: to, separator: separator, columns: c.all(), line: []byte(byteOrderMark)}
	w.field(columnID)
	w.field(columnETag)
	w.field(columnName)
	for _, column := range w.columns {
		w.field(column.name)
	}
	return w, w.end()
}

// Write writes a row. It omits values without a column.
func (w *Writer) Write(o Object) error {
	d := dialectOf(w.separator)
	w.field(o.ID)
	w.field(o.ETag)
	w.field(d.textCell(o.Name))
	m := contentOf(o.Metadata)
	for _, column := range w.columns {
		w.field(column.cell(d, m))
	}
	return w.end()
}

// field appends a field and a separator.
func (w *Writer) field(text string) {
	if strings.ContainsAny(text, "\"\n\r"+string(w.separator)) || strings.TrimSpace(text) != text {
		text = `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
	}
	w.line = append(append(w.line, text...), byte(w.separator))
}

func (w *Writer) end() error {
	w.line[len(w.line)-1] = '\r'
	_, err := w.to.Write(append(w.line, '\n'))
	w.line = w.line[:0]
	return err
}
