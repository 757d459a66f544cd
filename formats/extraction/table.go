package extraction

import (
	"bytes"
	"encoding/csv"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"

	"labshelf/formats/descriptive"
	"labshelf/formats/descriptive/units"
)

const (
	maxTable = 64 << 10 // bytes of the beginning that are read
	maxRows  = 200      // lines that are looked at behind the first one
)

// readTable reads the beginning of a table of values with separators: lines # key: value, a
// preamble of lines key,value as instruments write it, the names of the columns, and their units,
// in the names or in a line of their own.
func readTable(in source, to *collector) error {
	raw, err := in.section(0, min(in.size, maxTable))
	if err != nil {
		return err
	}
	if in.size > maxTable { // the last line is not complete
		raw = raw[:bytes.LastIndexByte(raw, '\n')+1]
	}
	lines := strings.Split(strings.ReplaceAll(strings.ReplaceAll(decodeTable(raw), "\r\n", "\n"), "\r", "\n"), "\n")
	t := table{}
	at := 0 // of the first line that is no comment
	if stated := sepLine().FindStringSubmatch(lines[0]); stated != nil {
		t.separator = rune(stated[1][0])
		at++
	}
	for ; at < len(lines) && (isComment(lines[at]) || strings.TrimSpace(lines[at]) == ""); at++ {
		if isComment(lines[at]) {
			t.comments = append(t.comments, strings.TrimSpace(strings.TrimLeft(lines[at], "#%")))
		}
	}
	if t.separator == 0 {
		t.separator = separatorOf(in.name, lines[at:])
	}
	for ; at < len(lines) && len(t.rows) < maxRows; at++ {
		if strings.TrimSpace(lines[at]) != "" {
			t.rows = append(t.rows, row{at, t.split(lines[at])})
		}
	}
	t.convention = t.conventionOf()
	t.find()
	t.describe(to)
	return nil
}

// sepLine is a first line that names the separator. Spreadsheets read and hide it.
var sepLine = lazily(`^(?i:"?sep=)([,;|\t])"?[,;|\t]*$`)

// decodeTable returns a text in UTF-8, of UTF-16 with a byte order mark as well.
func decodeTable(raw []byte) string {
	if bytes.HasPrefix(raw, []byte("\xff\xfe")) || bytes.HasPrefix(raw, []byte("\xfe\xff")) {
		raw, _ = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder().Bytes(raw[:len(raw)&^1])
	}
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	for range utf8.UTFMax - 1 { // the last character may be cut off
		if r, n := utf8.DecodeLastRune(raw); r != utf8.RuneError || n != 1 {
			break
		}
		raw = raw[:len(raw)-1]
	}
	return decode(raw)
}

func isComment(line string) bool { return strings.HasPrefix(line, "#") || strings.HasPrefix(line, "%") }

// row is a line that is not empty.
type row struct {
	line   int // its number, from 0
	fields []string
}

// table is the beginning of a file.
type table struct {
	separator  rune
	convention units.Convention
	comments   []string
	rows       []row

	preamble []row
	names    []string // of the columns; nil: they have none
	units    []string // from a line of their own; may be nil
	data     int      // number of the first line of values; -1: there is none
}

// separators in the order in which they are preferred.
const separators = "\t;,|"

// separatorOf returns what most of the lines have in the same number.
func separatorOf(name string, lines []string) rune {
	if extension := strings.ToLower(path.Ext(name)); extension == ".tsv" || extension == ".tab" {
		return '\t'
	}
	best, most := ',', 0
	for _, separator := range separators {
		if n := alike(lines[:min(len(lines), maxRows)], string(separator)); n > most {
			best, most = separator, n
		}
	}
	return best
}

// alike returns how many lines have a separator in the number in which most of them have it.
func alike(lines []string, separator string) (most int) {
	counts := map[int]int{}
	for _, line := range lines {
		if n := strings.Count(line, separator); n > 0 {
			counts[n]++
			most = max(most, counts[n])
		}
	}
	return most
}

// split splits a line into trimmed fields.
func (t *table) split(line string) []string {
	r := csv.NewReader(strings.NewReader(line))
	r.Comma, r.LazyQuotes = t.separator, true
	fields, err := r.Read()
	if err != nil { // a quote that ends in another line
		fields = strings.Split(line, string(t.separator))
	}
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	return fields
}

// find finds where the values begin, and what is above them. The values are the rows at the end
// that have the same number of fields; of these those whose first field is a number or a time, if
// there are any, and all but the first one if there are none.
func (t *table) find() {
	t.data = -1
	if len(t.rows) == 0 {
		return
	}
	width, first := len(t.rows[len(t.rows)-1].fields), len(t.rows)
	for first > 0 && len(t.rows[first-1].fields) == width {
		first--
	}
	values := len(t.rows)
	for values > first && isValue(t.rows[values-1].fields[0]) {
		values--
	}
	if values == len(t.rows) { // texts
		if first+1 == len(t.rows) || width == 1 || t.areQuantities(t.rows[first:]) {
			t.preamble = t.rows
			return
		}
		values = first + 1
	}
	t.data = t.rows[values].line
	head := values
	if head > first && t.rows[head-1].isUnits() && head-1 > first {
		head--
		t.units = t.rows[head].fields
	}
	if head > first {
		head--
		t.names = t.rows[head].fields
	} else if n := len(t.comments); n > 0 { // as numpy writes them
		if names := t.split(t.comments[n-1]); len(names) == width && width > 1 {
			t.names, t.comments = names, t.comments[:n-1]
		}
	}
	t.preamble = t.rows[:head]
}

// decimals are numbers that tell the convention of a file: three digits behind a sign may be a
// thousand.
var decimals = lazily(`^[-+−]?[0-9]+([.,])(?:[0-9]{1,2}|[0-9]{4,})(?:[eE][-+]?[0-9]+)?(?:[^0-9.,].*)?$`)

// conventionOf returns how most numbers are written. A file without decimals is read as the import
// of metadata reads it.
func (t *table) conventionOf() units.Convention {
	if t.separator == ',' {
		return units.DecimalPoint
	}
	seen := map[string]int{}
	for _, row := range t.rows {
		for _, field := range row.fields {
			if parts := decimals().FindStringSubmatch(field); parts != nil {
				seen[parts[1]]++
			}
		}
	}
	if seen[","] == seen["."] {
		return units.Convention(t.separator == ';')
	}
	return units.Convention(seen[","] > seen["."])
}

// isValue tells whether a field is a number or a time.
func isValue(field string) bool {
	return numberIn(field, units.DecimalPoint) != "" || numberIn(field, units.DecimalComma) != "" || descriptive.TextOf(strings.Replace(field, " ", "T", 1)).Form() == descriptive.Time
}

// areQuantities reports whether each row is a name, a number and its unit.
func (t *table) areQuantities(rows []row) bool {
	return !slices.ContainsFunc(rows, func(r row) bool {
		if len(r.fields) != 3 || numberIn(r.fields[1], t.convention) == "" {
			return true
		}
		unit, known := unitOf(r.fields[2])
		return unit == "" || !known
	})
}

// isUnits tells whether the fields are units, in brackets or not.
func (r row) isUnits() bool {
	some := false
	for _, field := range r.fields {
		unit, known := unitOf(field)
		if !known {
			return false
		}
		some = some || unit != ""
	}
	return some
}

// unitOf returns the unit that is alone in a field; "" if there is none in it.
func unitOf(field string) (unit string, known bool) {
	bare := strings.TrimSpace(strings.Trim(field, "[]()"))
	if bare == "" || bare == "-" {
		return "", true
	}
	return bare, isUnit(bare) || strings.HasPrefix(field, "[") && strings.HasSuffix(field, "]")
}

// describe adds what was found.
func (t *table) describe(to *collector) {
	if t.data > 0 {
		to.add("header lines", integer(t.data))
	}
	var columns []descriptive.Value
	for i, name := range t.names[:min(len(t.names), maxList)] {
		column := label(name)
		if i < len(t.units) && column.unit == "" {
			column.unit, _ = unitOf(t.units[i])
		}
		columns = append(columns, column.value(""))
	}
	if t.names != nil {
		to.add("columns", descriptive.ListOf(columns...))
	}
	for _, comment := range t.comments {
		t.stated(to, comment)
	}
	for _, row := range t.preamble {
		t.row(to, row.fields)
	}
}

// row adds what a line of a preamble states: key,value or key,value,unit, or in one field key:
// value.
func (t *table) row(to *collector, fields []string) {
	for len(fields) > 0 && fields[len(fields)-1] == "" {
		fields = fields[:len(fields)-1]
	}
	switch {
	case len(fields) == 1:
		t.stated(to, fields[0])
	case len(fields) == 2 && t.separator == ',' && beforeComma().MatchString(fields[0]) && afterComma().MatchString(fields[1]):
		t.stated(to, fields[0]+","+fields[1])
	case len(fields) == 2:
		t.pair(to, fields[0], fields[1])
	case len(fields) == 3:
		unit, known := unitOf(fields[2])
		if n := numberIn(fields[1], t.convention); n != "" && known && unit != "" {
			to.add(strings.TrimRight(fields[0], ":= "), descriptive.QuantityOf(n, unit))
		}
	}
}

// A decimal comma in a line that commas separate: T: 20,5 °C.
var (
	beforeComma = lazily(`[:=]\s*[-+−]?[0-9.]+$`)
	afterComma  = lazily(`^[0-9]`)
)

// stated adds what a line states: key: value, key = value, or key and value, or key, value and
// unit, with separators between.
func (t *table) stated(to *collector, line string) {
	for _, between := range []string{":", "="} {
		if key, value, ok := strings.Cut(line, between); ok && len(key) <= maxName && !strings.HasPrefix(value, "//") {
			t.pair(to, key, value)
			return
		}
	}
	key, value, ok := strings.Cut(line, string(t.separator))
	if !ok || len(key) > maxName || strings.HasPrefix(value, "//") {
		return
	}
	if strings.Count(value, string(t.separator)) == 1 {
		if fields := t.split(line); t.areQuantities([]row{{fields: fields}}) {
			t.row(to, fields)
			return
		}
	}
	t.pair(to, key, value)
}

// pair adds a value under the name of its key, from which a unit goes to the value.
func (t *table) pair(to *collector, key, value string) {
	name := label(strings.TrimRight(strings.TrimSpace(key), ":="))
	value = clean(value)
	if n := numberIn(value, t.convention); n != "" && name.unit != "" {
		to.add(name.name, descriptive.QuantityOf(n, name.unit))
		return
	}
	to.add(clean(key), said(value, t.convention))
}
