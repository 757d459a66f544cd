package repository

import (
	"errors"
	"fmt"

	"labshelf/errs"
)

// ErrUnknownKey is the cause of the refusal of an unknown key. One that is expired or revoked has another.
var ErrUnknownKey = errors.New("nobody has this key")

func invalid(field, format string, args ...any) *errs.Error {
	return &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidField, Field: field, Message: fmt.Sprintf(format, args...)}
}

func missing(field, format string, args ...any) *errs.Error {
	return &errs.Error{Kind: errs.Invalid, Code: errs.CodeMissingField, Field: field, Message: fmt.Sprintf(format, args...)}
}

func forbidden(format string, args ...any) *errs.Error {
	return &errs.Error{Kind: errs.Forbidden, Code: errs.CodeForbidden, Message: fmt.Sprintf(format, args...)}
}

func conflict(code errs.Code, field, format string, args ...any) *errs.Error {
	return &errs.Error{Kind: errs.Conflict, Code: code, Field: field, Message: fmt.Sprintf(format, args...)}
}
