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
	maxTable = 64 << 10 // bytes at the beginning that are read
	maxRows  = 200      // lines after the first one that are inspected
)

// readTable reads the beginning of a table of separated values: lines "# key: value", a preamble of
// lines "key,value" as instruments write them, the names of the columns, and their units, in the
// names or in a separate line.
func readTable(in source, to *collector) error {
	raw, err := in.section(0, min(in.size, maxTable))
	if err != nil {
		return err
	}
	if in.size > maxTable { // the last line may be incomplete
		raw = raw[:bytes.LastIndexByte(raw, '\n')+1]
	}
	lines := strings.Split(strings.ReplaceAll(strings.ReplaceAll(decodeTable(raw), "\r\n", "\n"), "\r", "\n"), "\n")
	t := table{}
	at := 0 // of the first line that is not a comment
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

// sepLine matches a first line that names the separator. Spreadsheets read and hide it.
var sepLine = lazily(`^(?i:"?sep=)([,;|\t])"?[,;|\t]*$`)

// decodeTable decodes a text in UTF-8, or in UTF-16 with a byte order mark.
func decodeTable(raw []byte) string {
	if bytes.HasPrefix(raw, []byte("\xff\xfe")) || bytes.HasPrefix(raw, []byte("\xfe\xff")) {
		raw, _ = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder().Bytes(raw[:len(raw)&^1])
	}
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	for range utf8.UTFMax - 1 { // the last character may be truncated
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
	names    []string // of the columns; nil: without names
	units    []string // from a separate line; may be nil
	data     int      // number of the first line of values, or -1
}

// separators in order of preference.
const separators = "\t;,|"

// separatorOf returns the separator that occurs equally often in most lines.
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

// alike returns the number of lines in which a separator occurs as often as in most lines.
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
	if err != nil { // a quoted field that ends in another line
		fields = strings.Split(line, string(t.separator))
	}
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	return fields
}

// find finds the first row of values, and the rows above it. The values are the last rows with
// equal numbers of fields. If the first field of some of them is a number or a time, only these are
// values; otherwise all of them except the first one.
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
	if values == len(t.rows) { // all values are strings
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
	} else if n := len(t.comments); n > 0 { // as numpy writes column names
		if names := t.split(t.comments[n-1]); len(names) == width && width > 1 {
			t.names, t.comments = names, t.comments[:n-1]
		}
	}
	t.preamble = t.rows[:head]
}

// decimals matches numbers that show the convention of a file: with three digits after the sign, it
// may separate thousands.
var decimals = lazily(`^[-+−]?[0-9]+([.,])(?:[0-9]{1,2}|[0-9]{4,})(?:[eE][-+]?[0-9]+)?(?:[^0-9.,].*)?$`)

// conventionOf returns the convention of most numbers. A file without decimals is read as the
// import of metadata reads it.
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

// isValue reports whether a field is a number or a time.
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

// isUnits reports whether the fields are units, in brackets or not.
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

// unitOf returns the unit in a field that contains nothing else. unit is "" for an empty field.
func unitOf(field string) (unit string, known bool) {
	bare := strings.TrimSpace(strings.Trim(field, "[]()"))
	if bare == "" || bare == "-" {
		return "", true
	}
	return bare, isUnit(bare) || strings.HasPrefix(field, "[") && strings.HasSuffix(field, "]")
}

// describe adds the names, units and values that were found.
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

// row adds a line of a preamble: key,value or key,value,unit, or key: value in one field.
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

// A decimal comma in a line with commas as separators: T: 20,5 °C.
var (
	beforeComma = lazily(`[:=]\s*[-+−]?[0-9.]+$`)
	afterComma  = lazily(`^[0-9]`)
)

// stated adds a line with a key and a value: key: value, key = value, or key, value and optionally
// unit, separated.
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

// pair adds a value under the name in key. A unit in key becomes the unit of the value.
func (t *table) pair(to *collector, key, value string) {
	name := label(strings.TrimRight(strings.TrimSpace(key), ":="))
	value = clean(value)
	if n := numberIn(value, t.convention); n != "" && name.unit != "" {
		to.add(name.name, descriptive.QuantityOf(n, name.unit))
		return
	}
	to.add(clean(key), said(value, t.convention))
}
