package core

import (
	"errors"
	"strconv"
)

// Input is embedded in the input types of use cases.
type Input struct {
	// Malformed is set by a gateway that could not decode the whole input: a field is unknown, has
	// a value of another type, or is read-only. A use case returns it after it has authorised the
	// caller and checked the other fields.
	Malformed error
}

// Without returns Malformed if required, the value of a required field, is empty.
func (in Input) Without(required string) error {
	if required == "" {
		return in.Malformed
	}
	return nil
}

// Set sets a field of an object. A nil value leaves the field unchanged.
func Set[T any](at *T, value *T) {
	if value != nil {
		*at = *value
	}
}

// Set sets a string if the value obeys the rule. A nil value leaves the string unchanged.
func (rule TextRule) Set(at *string, field string, value *string) error {
	if value == nil {
		return nil
	}
	if err := rule.Check(field, *value); err != nil {
		return err
	}
	*at = *value
	return nil
}

// ErrOutdated reports that the version in Match.Read is not the present one. The caller must read
// the object again and repeat the edit.
var ErrOutdated = errors.New("the object has changed since the caller read it")

// NumberWithin parses a whole number in decimal notation, from least to most.
func NumberWithin(field, text string, least, most uint64) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n < least || n > most || strconv.FormatUint(n, 10) != text {
		return 0, NotWithin(field, least, most)
	}
	return n, nil
}

// ValueOf returns the string, or "" for nil.
func ValueOf(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
