// Package input decodes the JSON objects of requests into the inputs of use cases.
//
// Decoding stops at the first invalid field. Required fields come first, the others in the order of
// their names. The input carries the error in Malformed, because a use case finds the object and
// authorizes the caller before it reports invalid fields. Only an invalid parent of a new object is
// reported immediately.
package input

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"labshelf/handlers/internal/body"
	"labshelf/repository/core"
)

// Object is the JSON object of a request.
type Object = body.Object

// members maps each accepted field of an object to the function that reads it.
type members map[string]func(field string, value any) error

// required returns a required string field.
func required(f Object, field string) (string, error) {
	value, sent := f[field]
	if !sent {
		return "", core.Missing(field, "%s is required", field)
	}
	return str(field, value)
}

// read reads the fields, except those in handled, which the caller has read.
func (m members) read(f Object, handled ...string) error {
	for _, field := range slices.Sorted(maps.Keys(f)) {
		if slices.Contains(handled, field) {
			continue
		}
		read, ok := m[field]
		if !ok {
			return unknownField(field, "this request; it takes", slices.AppendSeq(slices.Clone(handled), maps.Keys(m)))
		}
		if err := read(field, f[field]); err != nil {
			return err
		}
	}
	return nil
}

// some reads only the named fields, as far as they are sent.
func (m members) some(f Object, fields ...string) error {
	for _, field := range fields {
		if value, sent := f[field]; sent {
			if err := m[field](field, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// Shown returns the object to be edited, as the caller sees it.
type Shown func() (Object, error)

// edit reads the fields of an edit. A read-only field is accepted with its current value, so that a
// client can send back what GET returned. For another value, edit returns the error of refuse, but
// only if all other fields are valid.
func (m members) edit(f Object, shown Shown, refuse func(field string) error) (refused error) {
	var stored Object
	for _, field := range slices.Sorted(maps.Keys(f)) {
		value := f[field]
		if read, ok := m[field]; ok {
			if err := read(field, value); err != nil {
				return err
			}
			continue
		}
		if stored == nil {
			var err error
			if stored, err = shown(); err != nil {
				return err
			}
		}
		present, known := stored[field]
		switch {
		case !known:
			return unknownField(field, "this object; it can change", slices.Collect(maps.Keys(m)))
		case value == nil:
			return core.Invalid(field, "%s cannot be null, nor be changed", field)
		case refused == nil && !equal(present, value):
			refused = refuse(field)
		}
	}
	return refused
}

// equal compares two decoded JSON values. Numbers are equal if their values are, in whatever
// notation.
func equal(a, b any) bool {
	one, isNumber := a.(json.Number)
	other, both := b.(json.Number)
	if !isNumber || !both {
		return reflect.DeepEqual(a, b)
	}
	x, errX := one.Float64()
	y, errY := other.Float64()
	return one == other || errX == nil && errY == nil && x == y
}
