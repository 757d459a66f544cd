package descriptive

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/unicode/norm"
)

// maxDepth bounds nested lists and groups, including the object of all properties. A quantity does
// not count.
const maxDepth = 8

// Root is the first name in each [Error]'s Field: the member of a record that holds its metadata.
const Root = "metadata"

// Parse parses the JSON form. It rejects, with an [*Error], unknown and duplicate members, null,
// values of the wrong type, invalid UTF-8, numbers that are not finite as a float64, and properties
// that nest deeper than 8 levels. Tags, keywords, units, and names of properties and of sources are
// normalized to NFC. [Metadata.Validate] checks the other rules. The result does not refer to data.
func Parse(data []byte) (m Metadata, err error) {
	options := strict
	if bytes.Contains(data, []byte("null")) { // refusing null doubles the time, so it is used only if the text may contain it
		options = refusingNull
	}
	if err := json.Unmarshal(data, (*fields)(&m), options); err != nil {
		return Metadata{}, parseError(err)
	}
	normalize(m.Tags)
	normalize(m.Keywords)
	if m.Sources, err = m.Sources.normalize(); err != nil {
		return Metadata{}, err
	}
	return m, nil
}

// ParseValue parses the JSON form of the value of one property, with the rules of [Parse].
// Positions in its errors count the bytes of data.
func ParseValue(data []byte) (Value, error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(data))
	v, err := readValue(d, 1)
	if err == nil {
		err = ended(data, d.InputOffset())
	}
	if err != nil {
		return Value{}, parseError(err)
	}
	return v, nil
}

// ended returns an Error if text follows the JSON that ends before byte end.
func ended(data []byte, end int64) error {
	rest := bytes.TrimLeft(data[end:], " \t\r\n")
	if len(rest) == 0 {
		return nil
	}
	return &Error{Root, fmt.Sprintf("must not be followed by other text, which begins at byte %d", len(data)-len(rest))}
}

// fields is Metadata without its methods.
type fields Metadata

// UnmarshalJSON calls Parse.
func (m *Metadata) UnmarshalJSON(data []byte) (err error) {
	*m, err = Parse(data)
	return err
}

// MarshalJSON returns the canonical form.
func (m Metadata) MarshalJSON() ([]byte, error) { return m.Append(nil), nil }

func normalize(texts []string) {
	for i := range texts {
		texts[i] = norm.NFC.String(texts[i])
	}
}

// Values that package json accepts and Parse rejects.
var (
	strict       = json.RejectUnknownMembers(true)
	refusingNull = json.JoinOptions(strict, json.WithUnmarshalers(json.UnmarshalFromFunc(func(d *jsontext.Decoder, _ any) error {
		if d.PeekKind() == jsontext.KindNull {
			_ = d.SkipValue() // a value follows, which the pointer then identifies
			return refuse(d, "must not be null")
		}
		return errors.ErrUnsupported // continue as without this function
	})))
)

// UnmarshalJSONFrom decodes a number of a place.
func (n *Number) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	value, err := d.ReadValue()
	if err != nil {
		return err
	}
	*n = Number(value)
	if !n.isNumber() {
		return refuse(d, "must be a number")
	}
	return nil
}

// UnmarshalJSONFrom decodes the object of all properties.
func (g *Group) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() != jsontext.KindBeginObject {
		if err := d.SkipValue(); err != nil {
			return err
		}
		return refuse(d, "must be an object")
	}
	value, err := readGroup(d, 1)
	*g = value.group
	if value.form == Quantity { // the object of all properties is never a quantity
		*g = Group{{"unit", TextOf(value.unit)}, {"value", NumberOf(Number(value.text))}}
	}
	return err
}

func readValue(d *jsontext.Decoder, depth int) (Value, error) {
	switch kind := d.PeekKind(); {
	case (kind == jsontext.KindBeginObject || kind == jsontext.KindBeginArray) && depth >= maxDepth:
		return Value{}, refuse(d, "must not nest lists and groups deeper than %d levels", maxDepth)
	case kind == jsontext.KindBeginObject:
		return readGroup(d, depth+1)
	case kind == jsontext.KindBeginArray:
		return readList(d, depth+1)
	}
	token, err := d.ReadToken()
	if err != nil {
		return Value{}, err
	}
	switch token.Kind() {
	case jsontext.KindNull:
		return Value{}, refuse(d, "must not be null")
	case jsontext.KindTrue, jsontext.KindFalse:
		return TruthOf(token.Bool()), nil
	case jsontext.KindString:
		return TextOf(token.String()), nil
	}
	n := Number(token.String())
	if !n.isNumber() {
		return Value{}, refuse(d, "must be a number that fits into 64 bits of floating point")
	}
	return NumberOf(n), nil
}

func readList(d *jsontext.Decoder, depth int) (Value, error) {
	if _, err := d.ReadToken(); err != nil {
		return Value{}, err
	}
	list := []Value{}
	for d.PeekKind() != jsontext.KindEndArray {
		v, err := readValue(d, depth)
		if err != nil {
			return Value{}, err
		}
		list = append(list, v)
	}
	_, err := d.ReadToken()
	return ListOf(list...), err
}

func readGroup(d *jsontext.Decoder, depth int) (Value, error) {
	if _, err := d.ReadToken(); err != nil {
		return Value{}, err
	}
	group := Group{}
	for d.PeekKind() != jsontext.KindEndObject {
		name, err := d.ReadToken()
		if err != nil {
			return Value{}, err
		}
		p := Property{Name: norm.NFC.String(name.String())}
		if p.Value, err = readValue(d, depth); err != nil {
			return Value{}, err
		}
		group = append(group, p)
	}
	slices.SortFunc(group, byName)
	for i := 1; i < len(group); i++ {
		if group[i].Name == group[i-1].Name { // the names differed only before normalization
			return Value{}, &Error{fieldOf(d.StackPointer().Parent().AppendToken(group[i].Name)), "must not occur twice"}
		}
	}
	_, err := d.ReadToken()
	v := GroupOf(group)
	v.unit = norm.NFC.String(v.unit)
	return v, err
}

// refuse returns an Error about the value that was read last.
func refuse(d *jsontext.Decoder, format string, args ...any) error {
	return &Error{fieldOf(d.StackPointer()), fmt.Sprintf(format, args...)}
}

// fieldOf formats a pointer as the Field of an Error.
func fieldOf(at jsontext.Pointer) string {
	field := Root
	for name := range at.Tokens() {
		field += "." + shorten(name)
	}
	return field
}

// shorten truncates a text that exceeds all bounds.
func shorten(text string) string {
	const most = 100
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// wanted maps Go types to rules about their JSON.
var wanted = map[reflect.Kind]string{
	reflect.String: "must be a string",
	reflect.Int:    "must be a whole number",
	reflect.Slice:  "must be a list",
	reflect.Struct: "must be an object",
	reflect.Map:    "must be an object",
}

// parseError returns the Error for an error of the decoder.
func parseError(err error) error {
	var known *Error
	var syntax *jsontext.SyntacticError
	var semantic *json.SemanticError
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &syntax):
		return &Error{fieldOf(syntax.JSONPointer), "must not occur twice"}
	case errors.As(err, &syntax):
		return &Error{fieldOf(syntax.JSONPointer), fmt.Sprintf("must be valid JSON; at byte %d: %v", syntax.ByteOffset, syntax.Err)}
	case errors.Is(err, json.ErrUnknownName) && errors.As(err, &semantic):
		return &Error{fieldOf(semantic.JSONPointer), "is unknown"}
	case errors.As(err, &semantic) && semantic.GoType != nil && wanted[semantic.GoType.Kind()] != "":
		return &Error{fieldOf(semantic.JSONPointer), wanted[semantic.GoType.Kind()]}
	}
	return &Error{Root, "must be valid JSON"}
}
