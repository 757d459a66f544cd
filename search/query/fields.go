package query

import (
	"strings"

	"labshelf/search"
	"labshelf/search/words"
)

// reader makes a clause from the value of a field.
type reader func(value) (Clause, error)

// fields maps the folded names of fields that are not properties.
var fields = map[string]reader{
	"name":     func(v value) (Clause, error) { return readWords(Name, v) },
	"creator":  func(v value) (Clause, error) { return readWords(Creator, v) },
	"tag":      readTag,
	"by":       readBy,
	"in":       readIn,
	"type":     readType,
	"is":       readIs,
	"size":     func(v value) (Clause, error) { return readSpan(Size, v, sizePoint, sizeRule) },
	"modified": func(v value) (Clause, error) { return readSpan(Modified, v, datePoint, dateRule) },
	"created":  func(v value) (Clause, error) { return readSpan(Created, v, datePoint, dateRule) },
	"year":     func(v value) (Clause, error) { return readSpan(Year, v, yearPoint, yearRule) },
}

// The accepted values of range fields, for their errors.
const (
	sizeRule = "a size is a number and kB, MB, GB, TB, KiB, MiB, GiB, TiB or nothing, as in >1.5GB, 10kB..2MB or 0"
	dateRule = "a date is a year, month, day or time of day in UTC, as in 2026, >2026-01, 2026-01-05.. or 2026-01-05T10:30"
	yearRule = "a year has four digits, as in 2026, >=2020 or 2020..2026"
)

// kinds maps the values of "type:" that are kinds of documents.
var kinds = map[string]search.Kind{
	"dataspace": search.Dataspace,
	"set":       search.Set,
	"file":      search.Resource,
}

func readWords(field Field, v value) (Clause, error) {
	c, ok := wordsOf(field, v)
	if !ok {
		return Clause{}, v.refuse("a condition must contain a letter or digit")
	}
	return c, nil
}

func readTag(v value) (Clause, error) {
	c := Clause{Field: Tag, Text: words.Fold(v.text)}
	if others := words.Spellings(v.text); others != nil {
		c.Others = [][]words.Spelling{others}
	}
	return c, nil
}

// readBy parses a username, which is ASCII: müller can stand for muller or mueller, but muller
// only for itself.
func readBy(v value) (Clause, error) {
	c := Clause{Field: By, Text: words.Fold(v.text)}
	if others := words.Spellings(v.text); others != nil && c.Text != strings.ToLower(v.text) {
		c.Others = [][]words.Spelling{others}
	}
	return c, nil
}

func readIn(v value) (Clause, error) {
	return Clause{Field: In, Text: v.text}, nil
}

func readType(v value) (Clause, error) {
	text := strings.ToLower(v.text)
	if kind, ok := kinds[text]; ok {
		return Clause{Field: OfKind, Kind: kind}, nil
	}
	return Clause{Field: Type, Text: strings.TrimSuffix(text, "/*")}, nil
}

func readIs(v value) (Clause, error) {
	if words.Fold(v.text) != "incomplete" {
		return Clause{}, v.refuse("is: must be is:incomplete")
	}
	return Clause{Field: Incomplete}, nil
}

func readSpan(field Field, v value, point func(string) (Span, bool), rule string) (Clause, error) {
	span, ok := spanOf(v.text, point)
	switch {
	case !ok:
		return Clause{}, v.refuse("%s", rule)
	case span.From >= span.To:
		return Clause{}, v.refuse("the range ends before it begins")
	}
	return Clause{Field: field, Span: &span}, nil
}

// readProperty returns the readings of the value of a property.
func readProperty(v value) (Clause, error) {
	c := Clause{Field: Property, Whole: true}
	if span, ok := spanOf(v.text, datePoint); ok {
		c.Span = &span
	}
	if numbers, ok := numbersOf(v.text); ok {
		c.Numbers = &numbers
	}
	isRange := c.Span != nil || c.Numbers != nil
	compared := comparisonOf(v.text) != ""
	switch {
	case c.Span != nil && c.Span.From >= c.Span.To, c.Numbers != nil && c.Numbers.isEmpty():
		return Clause{}, v.refuse("the range ends before it begins")
	case !isRange && (compared || strings.Contains(v.text, "..")) && ambiguous(v.text) != "":
		return Clause{}, v.refuse("%s", ambiguous(v.text))
	case compared && !isRange:
		return Clause{}, v.refuse("comparisons require a number, a quantity such as 20C, or a date")
	case !compared && (!isRange || !strings.Contains(v.text, "..")):
		c.setWords(v.text)
	}
	if len(c.Words) == 0 && !isRange {
		return Clause{}, v.refuse("a condition must contain a letter or digit")
	}
	return c, nil
}
