package input

import (
	"cmp"
	"net/url"
	"strconv"

	"labshelf/repository/core"
	"labshelf/repository/watch"
)

// AuditTree decodes the optional query parameter size.
func AuditTree(query url.Values) (in watch.AuditTree) {
	in.Malformed = number(query, "size", &in.Size)
	return in
}

// AuditClaim decodes the optional query parameters entry, from and size.
func AuditClaim(query url.Values) (in watch.AuditClaim) {
	in.Malformed = cmp.Or(number(query, "size", &in.Size), number(query, "from", &in.From), number(query, "entry", &in.Entry))
	return in
}

// number reads a whole number in decimal notation. A missing or empty parameter is nil.
func number(query url.Values, name string, at **uint64) error {
	text := query.Get(name)
	if text == "" {
		return nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || strconv.FormatUint(n, 10) != text {
		return core.Invalid(name, "%s must be a whole number", name)
	}
	*at = &n
	return nil
}
