package input

import (
	"slices"
	"strconv"
	"strings"

	"labshelf/auth/errs"
	"labshelf/repository/core"
)

// unknownField returns the error for a field that is not among the accepted ones.
func unknownField(field, of string, accepted []string) error {
	slices.Sort(accepted)
	return &errs.Error{Kind: errs.Invalid, Code: errs.CodeUnknownField, Field: core.Shorten(field),
		Message: strconv.Quote(core.Shorten(field)) + " is not a field of " + of + " " + strings.Join(accepted, ", ")}
}

// readOnly returns the usual error for a change to a read-only field.
func readOnly(field string) error {
	return core.Conflict(errs.CodeReadOnlyField, field, "%s cannot be changed; leave it out or send it as it is", field)
}
