package repository

import (
	"errors"
	"fmt"
)

// ErrUnknownKey is the cause of the refusal of a key that belongs to nobody. One that is expired or revoked has another.
var ErrUnknownKey = errors.New("nobody has this key")

func invalid(field, format string, args ...any) *Error {
	return &Error{Kind: Invalid, Code: CodeInvalidField, Field: field, Message: fmt.Sprintf(format, args...)}
}

func missing(field, format string, args ...any) *Error {
	return &Error{Kind: Invalid, Code: CodeMissingField, Field: field, Message: fmt.Sprintf(format, args...)}
}

func forbidden(format string, args ...any) *Error {
	return &Error{Kind: Forbidden, Code: CodeForbidden, Message: fmt.Sprintf(format, args...)}
}

func conflict(code Code, field, format string, args ...any) *Error {
	return &Error{Kind: Conflict, Code: code, Field: field, Message: fmt.Sprintf(format, args...)}
}
