package schemas

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	maxDigits   = 400     // characters of a number, and its exponent: the time of exact arithmetic grows with both
	maxPointers = 1 << 20 // bytes of the pointers to all subschemas, which identify them
)

// limits bound the text that decode reads.
type limits struct {
	bytes, subschemas int    // with 0 subschemas, the number of objects is not limited
	what              string // the decoded text: "schema" or "value"
}

// parsed is a JSON text that was read.
type parsed struct {
	value  any                 // with numbers as json.Number
	orders map[string][]string // names in each object called "properties", in order, by its JSON pointer
}

// decoder reads one text.
type decoder struct {
	limits
	parsed
	from        *jsontext.Decoder
	schemas     int
	pointerSize int
}

// decode decodes a text of one JSON value. It rejects duplicate names in an object. An error is an
// *Error.
func decode(text []byte, l limits) (parsed, error) {
	if len(text) > l.bytes {
		return parsed{}, &Error{Rule: "size", Message: fmt.Sprintf("the %s has %d bytes; at most %d are allowed", l.what, len(text), l.bytes)}
	}
	d := &decoder{limits: l, from: jsontext.NewDecoder(bytes.NewReader(text)), parsed: parsed{orders: map[string][]string{}}}
	value, err := d.read(0)
	if err == nil {
		if _, err = d.from.ReadToken(); errors.Is(err, io.EOF) {
			d.value = value
			return d.parsed, nil
		}
		if err == nil {
			err = errors.New("there is extra text after the value")
		}
	}
	var own *Error
	if errors.As(err, &own) {
		return parsed{}, own
	}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		return parsed{}, &Error{Path: string(syntax.JSONPointer), Rule: "json", Message: fmt.Sprintf("the %s is not JSON at byte %d: %v", l.what, syntax.ByteOffset, syntax.Err)}
	}
	return parsed{}, &Error{Rule: "json", Message: fmt.Sprintf("the %s is not JSON: %v", l.what, err)}
}

// read reads the next value.
func (d *decoder) read(depth int) (any, error) {
	token, err := d.from.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case '{':
		return d.object(depth + 1)
	case '[':
		return d.array(depth + 1)
	case '0':
		return d.number(token.String())
	case '"':
		return token.String(), nil
	case 'n':
		return nil, nil
	}
	value := token.Bool()
	_, err = d.enter(depth)
	return value, err
}

func (d *decoder) object(depth int) (any, error) {
	pointer, err := d.enter(depth)
	if err != nil {
		return nil, err
	}
	object := map[string]any{}
	var names []string
	for d.from.PeekKind() != '}' {
		token, err := d.from.ReadToken()
		if err != nil {
			return nil, err
		}
		name := token.String()
		if object[name], err = d.read(depth); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	if strings.HasSuffix(pointer, "/properties") {
		d.orders[pointer] = names
	}
	_, err = d.from.ReadToken()
	return object, err
}

func (d *decoder) array(depth int) (any, error) {
	if _, err := d.enter(depth); err != nil {
		return nil, err
	}
	array := []any{}
	for d.from.PeekKind() != ']' {
		item, err := d.read(depth)
		if err != nil {
			return nil, err
		}
		array = append(array, item)
	}
	_, err := d.from.ReadToken()
	return array, err
}

// enter counts an object, an array or a boolean that has just begun. It returns the pointer if this
// may be a subschema.
func (d *decoder) enter(depth int) (pointer string, err error) {
	if depth > MaxDepth {
		return "", &Error{Path: d.path(), Rule: "depth", Message: fmt.Sprintf("the %s has objects and arrays nested more than %d deep", d.what, MaxDepth)}
	}
	if d.subschemas == 0 {
		return "", nil
	}
	if d.schemas++; d.schemas > d.subschemas {
		return "", &Error{Rule: "size", Message: fmt.Sprintf("the %s has more than %d objects, arrays and booleans", d.what, d.subschemas)}
	}
	pointer = d.path()
	if d.pointerSize += len(pointer); d.pointerSize > maxPointers {
		return "", &Error{Rule: "size", Message: fmt.Sprintf("the names in the %s are too long for its depth", d.what)}
	}
	return pointer, nil
}

// path returns the pointer to the value that was read last. It is slow.
func (d *decoder) path() string { return string(d.from.StackPointer()) }

// number returns a number whose size exact arithmetic can handle.
func (d *decoder) number(text string) (any, error) {
	_, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	power, err := strconv.Atoi(exponent)
	if len(text) > maxDigits || exponent != "" && (err != nil || power > maxDigits || power < -maxDigits) {
		return nil, &Error{Path: d.path(), Rule: "number", Message: fmt.Sprintf("a number has at most %d digits, and an exponent up to %[1]d", maxDigits)}
	}
	return json.Number(text), nil
}

// escapePointer escapes a name for a JSON pointer.
func escapePointer(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// pointerTo returns the JSON pointer of the names.
func pointerTo(names []string) string {
	var b strings.Builder
	for _, name := range names {
		b.WriteString("/" + escapePointer(name))
	}
	return b.String()
}
