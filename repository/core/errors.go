package core

import (
	"fmt"

	"labshelf/auth/errs"
)

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

// NotWithin returns the error for a field that must be a whole number from least to most.
func NotWithin(field string, least, most uint64) error {
	return Invalid(field, "%s must be a whole number from %d to %d", field, least, most)
}

// PreconditionFailed returns an error of the kind Precondition.
func PreconditionFailed(message string) error {
	return &errs.Error{Kind: errs.Precondition, Code: errs.CodePrecondition, Message: message}
}
