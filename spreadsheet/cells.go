package spreadsheet

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/unicode/norm"

	"labshelf/descriptive"
	"labshelf/descriptive/units"
)

// protection is before a text that would be read as something else, by this package or by a spreadsheet.
const protection = "'"

// A minus before a quantity is this sign, since a spreadsheet takes what begins with a hyphen for a formula unless it is a number.
const minus = "−"

// A dialect is how numbers are written: it goes with the separator of a file.
type dialect struct{ decimalComma bool }

// dialectOf returns what goes with a separator: where commas are in numbers, spreadsheets separate by semicolons.
func dialectOf(separator rune) dialect { return dialect{decimalComma: separator == ';'} }

// cellOf writes a value so that valueOf reads the same.
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
	if d.decimalComma {
		return strings.Replace(number, ".", ",", 1)
	}
	return number
}

// textCell writes a text, protected unless it is one to everybody.
func (d dialect) textCell(text string) string {
	if strings.Contains(text, "\r") { // what reads CSV takes no notice of them
		quoted, _ := jsontext.AppendQuote(nil, text)
		return string(quoted)
	}
	if text == "" || tempting(text) {
		return protection + text
	}
	if read, err := d.valueOf(text); err != nil || !read.Equal(descriptive.TextOf(text)) {
		return protection + text
	}
	return text
}

// formulas are what a formula or a protected text begins with.
const formulas = "=+-@\t" + protection

// convertible is what spreadsheets take for numbers, dates, times, amounts of money or fractions.
var convertible = lazily(`^[-+(]?[$€£¥]? ?[0-9.,][-0-9.,:/ eE+%$€£¥)aApPmM]*$`)

// tempting tells whether a spreadsheet might not leave a text as it is. Days and times come back in a form that is known.
func tempting(text string) bool {
	if strings.ContainsRune(formulas, rune(text[0])) {
		return true
	}
	return descriptive.TextOf(text).Form() != descriptive.Time && (convertible().MatchString(text) || monthAndNumber(text))
}

// jsonOf returns the JSON of a value.
func jsonOf(v descriptive.Value) string {
	text := descriptive.Metadata{Properties: descriptive.Group{{Name: "a", Value: v}}}.Append(nil)
	return strings.TrimSuffix(strings.TrimPrefix(string(text), `{"properties":{"a":`), "}}")
}

// valueOfJSON reads the JSON of a value.
func valueOfJSON(text string) (descriptive.Value, error) {
	m, err := descriptive.Parse([]byte(`{"properties":{"a":` + text + `}}`))
	var wrong *descriptive.Error
	if errors.As(err, &wrong) {
		return descriptive.Value{}, fmt.Errorf("the JSON %s", strings.TrimPrefix(wrong.Rule, "must be valid JSON; "))
	}
	v, _ := m.Properties.Get("a")
	return v, err
}

// textOf reads the cell of a member that is a text.
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

// valueOf reads a cell that is not empty. An error says what is wrong with it or can be read in two ways.
func (d dialect) valueOf(cell string) (descriptive.Value, error) {
	text := strings.TrimSpace(cell)
	if strings.HasPrefix(cell, protection) || strings.HasPrefix(text, `"`) {
		return descriptive.TextOf(textOf(cell)), nil
	}
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		return valueOfJSON(text)
	}
	if truth, ok := truthOf(text); ok {
		return descriptive.TruthOf(truth), nil
	}
	if number, ok, err := d.number(text); ok || err != nil {
		return descriptive.NumberOf(number), err
	}
	if number, unit, ok := cutUnit(text); ok {
		if number, ok, err := d.number(number); ok || err != nil {
			return descriptive.QuantityOf(number, unit), err
		}
	}
	if date, ok, err := dateTyped(text); ok || err != nil {
		return descriptive.TextOf(date), err
	}
	return descriptive.TextOf(text), nil
}

// spaces are what stands between a number and its unit: also the ones at which no line breaks, which spreadsheets write.
const spaces = `[ \x{a0}\x{202f}]`

// quantity is a number, and behind it a unit.
var quantity = lazily(`^([-−]?[0-9][0-9.,]*(?:[eE][-+]?[0-9]+)?)(` + spaces + `*)(1/.+|[^\s0-9.,+-].*)$`)

// cutUnit splits a quantity into its number and a unit that is known. Between them there is a space, unless the unit is a sign or has several letters:
// 4K may be anything.
func cutUnit(text string) (number, unit string, ok bool) {
	parts := quantity().FindStringSubmatch(text)
	if parts == nil {
		return "", "", false
	}
	number, unit = parts[1], norm.NFC.String(parts[3])
	if parts[2] == "" && utf8.RuneCountInString(unit) == 1 && !strings.Contains("°%‰", unit) {
		return "", "", false
	}
	_, _, ok = units.SI(1, unit)
	return number, unit, ok
}

// Numbers as JSON writes them, but with a comma or a point, and ones with signs between thousands.
var (
	decimal   = lazily(`^-?(?:0|[1-9][0-9]*)(?:[.,][0-9]+)?(?:[eE][-+]?[0-9]+)?$`)
	thousands = lazily(`^-?[1-9][0-9]{0,2}(?:(?:\.[0-9]{3})+|(?:,[0-9]{3})+)$`)
	grouping  = strings.NewReplacer(".", "", ",", "")
)

// number reads a number. A file that is separated by semicolons has decimal commas, others have points; the other sign is read, too, unless it may be
// there for the thousands, which is an error.
func (d dialect) number(text string) (_ descriptive.Number, ok bool, _ error) {
	text = strings.Replace(text, minus, "-", 1)
	point, foreign := strings.Replace(text, ",", ".", 1), ","
	if d.decimalComma {
		foreign = "."
	}
	switch {
	case thousands().MatchString(text) && (strings.Contains(text, foreign) || !decimal().MatchString(text)):
		return "", false, fmt.Errorf("the number %s can be read in two ways; write %s, or without a sign between the thousands %s", text, d.numberCell(point), grouping.Replace(text))
	case !decimal().MatchString(text):
		return "", false, nil
	}
	return descriptive.Number(point), true, nil
}

// lazily compiles an expression at its first use, so that a start does not pay for it.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
