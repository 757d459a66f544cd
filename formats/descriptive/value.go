package descriptive

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Form is one of the seven forms of a value.
type Form uint8

// The forms of values. Text is the form of the zero Value, which is the empty string.
const (
	Text       Form = iota
	Decimal         // a number, as it was written
	Truth           // true or false
	Time            // a string with a day or a time of ISO 8601: 2026-01-02, 2026-01-02T10:20Z, 2026-01-02T10:20:30.5+02:00
	Quantity        // a number with a unit: {"value":20,"unit":"°C"}
	List            // an ordered list of values
	Properties      // a group of named values
)

// Value is the value of a property. The zero value is the empty string.
type Value struct {
	form  Form
	text  string // of Text and Time the string; of Decimal and Quantity the number; of Truth "true" or "false"
	unit  string
	list  []Value
	group Group
}

// Number is a JSON number as it was written, whose value is finite as a float64. "" means no
// number.
type Number string

// Float returns the value, or 0 for "".
func (n Number) Float() float64 {
	value, _ := strconv.ParseFloat(string(n), 64) // "" is 0, and so are numbers that Validate rejects
	return value
}

// Group holds named values, sorted by name. Names are unique.
type Group []Property

// Property is a value with its name: letters, marks and digits of any script, space and _ - ( ) / %
// °, at most 100 bytes in NFC. It begins with a letter or a digit, and does not end with a space.
type Property struct {
	Name  string
	Value Value
}

// TextOf returns a string as a value. A day or a time gets the form Time.
func TextOf(text string) Value {
	if _, ok := parseTime(text); ok {
		return Value{form: Time, text: text}
	}
	return Value{text: text}
}

// NumberOf returns a number as a value.
func NumberOf(n Number) Value { return Value{form: Decimal, text: string(n)} }

// TruthOf returns a boolean as a value.
func TruthOf(b bool) Value { return Value{form: Truth, text: strconv.FormatBool(b)} }

// QuantityOf returns a number with a unit.
func QuantityOf(n Number, unit string) Value {
	return Value{form: Quantity, text: string(n), unit: unit}
}

// ListOf returns a list, which keeps the slice values.
func ListOf(values ...Value) Value { return Value{form: List, list: values} }

// GroupOf returns a group as a value. A group with exactly a number called value and a string
// called unit becomes a Quantity.
func GroupOf(g Group) Value {
	if len(g) == 2 {
		value, _ := g.Get("value")
		unit, ok := g.Get("unit")
		if ok && value.form == Decimal && (unit.form == Text || unit.form == Time) {
			return QuantityOf(Number(value.text), unit.text)
		}
	}
	return Value{form: Properties, group: g}
}

// Form returns the form of v.
func (v Value) Form() Form { return v.form }

// Text returns the string of the forms Text and Time, and the number of Decimal and Quantity as it
// was written; "" for the others.
func (v Value) Text() string {
	if v.form == Truth {
		return ""
	}
	return v.text
}

// Float returns the number of the forms Decimal and Quantity; 0 for the others.
func (v Value) Float() float64 {
	if v.form != Decimal && v.form != Quantity {
		return 0
	}
	return Number(v.text).Float()
}

// Unit returns the unit of a Quantity as it was written; "" for the others.
func (v Value) Unit() string { return v.unit }

// Bool returns the value of a Truth; false for the others.
func (v Value) Bool() bool { return v.form == Truth && v.text == "true" }

// Time returns the beginning of the day or time of the form Time, in UTC if it has no offset; the
// zero time for the others.
func (v Value) Time() time.Time {
	if v.form != Time {
		return time.Time{}
	}
	t, _ := parseTime(v.text)
	return t
}

// List returns the values of a List; nil for the others.
func (v Value) List() []Value { return v.list }

// Group returns the named values of a group; nil for the others.
func (v Value) Group() Group { return v.group }

// Equal reports whether both have the same canonical form: 1.0 is not 1.
func (v Value) Equal(other Value) bool { return string(v.append(nil)) == string(other.append(nil)) }

// Get returns the value of a name.
func (g Group) Get(name string) (v Value, ok bool) {
	i, ok := g.find(name)
	if !ok {
		return Value{}, false
	}
	return g[i].Value, true
}

// With returns a copy of g in which the name has this value.
func (g Group) With(name string, v Value) Group {
	i, ok := g.find(name)
	if !ok {
		return slices.Insert(slices.Clip(g), i, Property{name, v})
	}
	g = slices.Clone(g)
	g[i].Value = v
	return g
}

// Without returns a copy of g without the name.
func (g Group) Without(name string) Group {
	return slices.DeleteFunc(slices.Clone(g), func(p Property) bool { return p.Name == name })
}

func (g Group) find(name string) (int, bool) {
	return slices.BinarySearchFunc(g, name, func(p Property, name string) int { return cmp.Compare(p.Name, name) })
}

// Leaves yields the strings, numbers, booleans, times and quantities in g, in the order of the
// canonical form, each with its path: the names that lead to it, with dots between. The elements of
// a list have the path of the list.
func (g Group) Leaves() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) { g.leaves("", yield) }
}

func (g Group) leaves(prefix string, yield func(string, Value) bool) bool {
	for _, p := range g {
		if !p.Value.leaves(prefix+p.Name, yield) {
			return false
		}
	}
	return true
}

func (v Value) leaves(path string, yield func(string, Value) bool) bool {
	switch v.form {
	case List:
		for _, element := range v.list {
			if !element.leaves(path, yield) {
				return false
			}
		}
		return true
	case Properties:
		return v.group.leaves(path+".", yield)
	}
	return yield(path, v)
}

// isNumber reports whether n is valid in JSON and finite.
func (n Number) isNumber() bool {
	value := jsontext.Value(n)
	if value.Kind() != jsontext.KindNumber || !value.IsValid() || strings.TrimSpace(string(n)) != string(n) {
		return false
	}
	_, err := strconv.ParseFloat(string(n), 64)
	return err == nil // an error means that it is out of range
}
