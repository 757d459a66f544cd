package core

import "errors"

// Input is embedded in the inputs of use cases.
type Input struct {
	// Malformed is set by a gateway that could not fill in the rest of the input: a field has a
	// value of another type, is unknown, or cannot be changed. A use case returns it after it has
	// authorised the caller and checked the fields that are set.
	Malformed error
}

// Without returns Malformed if required, a field that every request has, is empty.
func (in Input) Without(required string) error {
	if required == "" {
		return in.Malformed
	}
	return nil
}

// Set stores a value that an input has. A nil value leaves the field as it is.
func Set[T any](at *T, value *T) {
	if value != nil {
		*at = *value
	}
}

// Set stores a string that an input has, if it obeys the rule. A nil value leaves the field as it
// is.
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

// ErrOutdated is the error of an edit whose Match.Read names a version that is not the present one.
// The caller reads the object again and repeats the edit.
var ErrOutdated = errors.New("the object has changed since the caller read it")
