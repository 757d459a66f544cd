package spreadsheet

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"labshelf/formats/descriptive"
	"labshelf/formats/descriptive/units"
)

// protection precedes a text that this package or a spreadsheet would read as another value.
const protection = "'"

// minus is the sign before a negative quantity: a spreadsheet takes text that begins with a hyphen
// for a formula unless it is a number.
const minus = "−"

// A dialect is the way in which numbers are written. It depends on the separator of a file.
type dialect struct{ convention units.Convention }

// dialectOf returns the dialect of a separator: with decimal commas, spreadsheets separate by
// semicolons.
func dialectOf(separator rune) dialect { return dialect{units.Convention(separator == ';')} }

// cellOf formats a value so that valueOf returns the same value.
func (d dialect) cellOf(v descriptive.Value) string {
	switch v.Form() {
	case descriptive.Text, descriptive.Time:
		return d.textCell(v.Text())
	case descriptive.Decimal:
		return d.numberCell(v.Text())
	case descriptive.Quantity:
		number := d.numberCell(v.Text())
		if rest, negative := strings.CutPrefix(number, "-"); negative {
			number = minus + rest
		}
		cell := number + " " + v.Unit()
		if read, err := d.valueOf(cell); err == nil && read.Equal(v) {
			return cell
		}
	case descriptive.Truth:
		if v.Bool() {
			return "true"
		}
		return "false"
	}
	return jsonOf(v)
}

func (d dialect) numberCell(number string) string {
	return d.convention.Write(number)
}

// textCell formats a string. It adds the protection unless the string is safe.
func (d dialect) textCell(text string) string {
	if strings.Contains(text, "\r") || len(innerSigns(text, false)) > 0 { // CSV readers drop carriage returns
		quoted, _ := jsontext.AppendQuote(nil, text)
		return disarmed(string(quoted))
	}
	if text == "" || tempting(text) {
		return protection + text
	}
	if read, err := d.valueOf(text); err != nil || !read.Equal(descriptive.TextOf(text)) {
		return protection + text
	}
	return text
}

// convertible matches text that spreadsheets take for numbers, dates, times, amounts of money or
// fractions.
var convertible = lazily(`^[-+(]?[$€£¥]? ?[0-9.,][-0-9.,:/ eE+%$€£¥)aApPmM]*$`)

// tempting reports whether a spreadsheet might change a text. Days and times are not included,
// since their changes are recognized.
func tempting(text string) bool {
	if startsFormula(text) || strings.HasPrefix(text, "\t") || strings.HasPrefix(text, protection) {
		return true
	}
	return descriptive.TextOf(text).Form() != descriptive.Time && (convertible().MatchString(text) || monthAndNumber(text))
}

// jsonOf returns the JSON of a value.
func jsonOf(v descriptive.Value) string {
	text := descriptive.Metadata{Properties: descriptive.Group{{Name: "a", Value: v}}}.Append(nil)
	return disarmed(strings.TrimSuffix(strings.TrimPrefix(string(text), `{"properties":{"a":`), "}}"))
}

// valueOfJSON parses the JSON of a value. Positions in its errors count the bytes of text.
func valueOfJSON(text string) (descriptive.Value, error) {
	v, err := descriptive.ParseValue([]byte(text))
	var wrong *descriptive.Error
	if !errors.As(err, &wrong) {
		return v, err
	}
	if position, invalid := strings.CutPrefix(wrong.Rule, "must be valid JSON; "); invalid {
		return v, fmt.Errorf("the JSON is not valid %s", position)
	}
	return v, fmt.Errorf("the JSON %s", wrong.Rule)
}

// textOf parses the cell of a member that is a string.
func textOf(cell string) string {
	if text, protected := strings.CutPrefix(cell, protection); protected {
		return text
	}
	text := strings.TrimSpace(cell)
	var unquoted string
	if strings.HasPrefix(text, `"`) && json.Unmarshal([]byte(text), &unquoted) == nil {
		return unquoted
	}
	return text
}

// valueOf parses a cell that is not empty. An error says that the cell is invalid or ambiguous.
func (d dialect) valueOf(cell string) (descriptive.Value, error) {
	text := strings.TrimSpace(cell)
	if strings.HasPrefix(cell, protection) || strings.HasPrefix(text, `"`) {
		return descriptive.TextOf(textOf(cell)), nil
	}
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		return valueOfJSON(strings.Repeat(" ", strings.Index(cell, text)) + text) // blanks keep the positions in errors
	}
	if truth, ok := truthOf(text); ok {
		return descriptive.TruthOf(truth), nil
	}
	q, err := units.Read(text, d.convention)
	var wrong *units.Error
	switch {
	case errors.As(err, &wrong) && wrong.Ambiguous:
		return descriptive.Value{}, err
	case err == nil && q.Unit == "":
		return descriptive.NumberOf(descriptive.Number(q.Number)), nil
	case err == nil && !q.IsLabel():
		return descriptive.QuantityOf(descriptive.Number(q.Number), q.Unit), nil
	}
	if date, ok, err := dateTyped(text); ok || err != nil {
		return descriptive.TextOf(date), err
	}
	return descriptive.TextOf(text), nil
}

// cutUnit splits a quantity into its number as written, and its unit. It tries both conventions: a
// spreadsheet may have changed the decimal sign.
func cutUnit(text string) (number, unit string, ok bool) {
	for _, c := range []units.Convention{units.DecimalPoint, units.DecimalComma} {
		if q, err := units.Read(text, c); err == nil && q.Unit != "" && !q.IsLabel() {
			return q.Number, q.Unit, true
		}
	}
	return "", "", false
}

// Numbers with separators between thousands.
var (
	thousands = lazily(`^-?[1-9][0-9]{0,2}(?:(?:\.[0-9]{3})+|(?:,[0-9]{3})+)$`)
	grouping  = strings.NewReplacer(".", "", ",", "")
)

// lazily returns a function that compiles an expression at its first use, to keep the start fast.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
