package core

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"labshelf/auth/errs"
)

// Fields are the fields that a request sets, by their names in the API. Values are decoded JSON:
// string, bool, json.Number, nil, []any or map[string]any. The fields metadata and schema are a
// json.RawMessage. Use cases decode the fields themselves, because the order of checks is fixed:
// they look up the parent and authorise the caller first.
type Fields = map[string]any

// Setters maps the names of the fields that a request may set to functions that check and set a
// value.
type Setters[T any] map[string]func(object *T, field string, value any) error

// TextSetter returns a setter for a string that must obey rule.
func TextSetter[T any](rule TextRule, at func(*T) *string) func(*T, string, any) error {
	return func(object *T, field string, value any) error {
		s, err := StringValue(field, value)
		if err != nil {
			return err
		}
		if err := rule.Check(field, s); err != nil {
			return err
		}
		*at(object) = s
		return nil
	}
}

// BoolSetter returns a setter for a boolean.
func BoolSetter[T any](at func(*T) *bool) func(*T, string, any) error {
	return func(object *T, field string, value any) error {
		b, ok := value.(bool)
		if !ok {
			return Invalid(field, "%s must be true or false", field)
		}
		*at(object) = b
		return nil
	}
}

// StringValue returns the value of a field that must be a string.
func StringValue(field string, value any) (string, error) {
	s, ok := value.(string)
	if !ok {
		return "", Invalid(field, "%s must be a string", field)
	}
	return s, nil
}

// StringsValue returns the value of a field that must be a list of strings.
func StringsValue(field string, value any) ([]string, error) {
	list, ok := value.([]any)
	texts := make([]string, len(list))
	for i, item := range list {
		var text bool
		texts[i], text = item.(string)
		ok = ok && text
	}
	if !ok {
		return nil, Invalid(field, "%s must be a list of strings", field)
	}
	return texts, nil
}

// Required returns the value of a field that must be present and a string.
func Required(f Fields, field string) (string, error) {
	value, sent := f[field]
	if !sent {
		return "", Missing(field, "%s is required", field)
	}
	return StringValue(field, value)
}

// SetFields sets the fields of a new object. It skips the fields in handled, which the caller has
// processed.
func SetFields[T any](object *T, f Fields, may Setters[T], handled ...string) error {
	for _, field := range slices.Sorted(maps.Keys(f)) {
		if slices.Contains(handled, field) {
			continue
		}
		set, ok := may[field]
		if !ok {
			return UnknownField(field, "this request; it takes", slices.AppendSeq(slices.Clone(handled), maps.Keys(may)))
		}
		if err := set(object, field, f[field]); err != nil {
			return err
		}
	}
	return nil
}

// Edit is a requested change. Only the given fields change.
type Edit[T any] struct {
	Fields Fields
	Match  Match
	// Shown returns the object as a client sees it. A read-only field may be sent with the value
	// shown, so that clients can edit and send back the result of GET.
	Shown func(T) Fields
}

// ApplyEdit sets the fields of object, the stored record, and reports whether a field has changed.
// refuse makes the error for a read-only field. It is returned only if all other fields are valid.
func ApplyEdit[T any](object *T, edit Edit[T], may Setters[T], refuse func(field string) error) (changed bool, err error) {
	before := *object
	var shown Fields
	var refused error
	for _, field := range slices.Sorted(maps.Keys(edit.Fields)) {
		value := edit.Fields[field]
		if set, ok := may[field]; ok {
			if err := set(object, field, value); err != nil {
				return false, err
			}
			continue
		}
		if shown == nil {
			shown = edit.Shown(before)
		}
		stored, known := shown[field]
		switch {
		case !known:
			return false, UnknownField(field, "this object; it can change", slices.Collect(maps.Keys(may)))
		case value == nil:
			return false, Invalid(field, "%s cannot be null, nor be changed", field)
		case !Equal(stored, value) && refused == nil:
			refused = refuse(field)
		}
	}
	if refused != nil {
		return false, refused
	}
	return !reflect.DeepEqual(before, *object), nil
}

// Equal compares two decoded JSON values. Numbers are equal if their values are, in whatever
// notation.
func Equal(a, b any) bool {
	one, isNumber := a.(json.Number)
	other, both := b.(json.Number)
	if !isNumber || !both {
		return reflect.DeepEqual(a, b)
	}
	x, errX := one.Float64()
	y, errY := other.Float64()
	return one == other || errX == nil && errY == nil && x == y
}

// UnknownField returns the error for a field that is not among the accepted ones.
func UnknownField(field, of string, accepted []string) error {
	slices.Sort(accepted)
	return &errs.Error{Kind: errs.Invalid, Code: errs.CodeUnknownField, Field: Shorten(field),
		Message: strconv.Quote(Shorten(field)) + " is not a field of " + of + " " + strings.Join(accepted, ", ")}
}

// ReadOnly returns the usual error for a change to a read-only field.
func ReadOnly(field string) error {
	return Conflict(errs.CodeReadOnlyField, field, "%s cannot be changed; leave it out or send it as it is", field)
}

// Invalid returns an error of the kind Invalid about the value of a field.
func Invalid(field, format string, args ...any) *errs.Error {
	return &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidField, Field: field, Message: fmt.Sprintf(format, args...)}
}

// Missing returns an error of the kind Invalid about a field that was left out.
func Missing(field, format string, args ...any) *errs.Error {
	return &errs.Error{Kind: errs.Invalid, Code: errs.CodeMissingField, Field: field, Message: fmt.Sprintf(format, args...)}
}

// Conflict returns an error of the kind Conflict.
func Conflict(code errs.Code, field, format string, args ...any) *errs.Error {
	return &errs.Error{Kind: errs.Conflict, Code: code, Field: field, Message: fmt.Sprintf(format, args...)}
}

// NumberWithin parses a whole number in decimal notation, from least to most.
func NumberWithin(field, text string, least, most uint64) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n < least || n > most || strconv.FormatUint(n, 10) != text {
		return 0, NotWithin(field, least, most)
	}
	return n, nil
}

// NotWithin returns the error for a field that must be a whole number from least to most.
func NotWithin(field string, least, most uint64) error {
	return Invalid(field, "%s must be a whole number from %d to %d", field, least, most)
}

// ValueOf returns the string, or "" for nil.
func ValueOf(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
