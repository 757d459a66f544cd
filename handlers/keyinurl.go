package handlers

import (
	"net/url"
	"slices"
	"strings"

	"labshelf/auth/errs"
	"labshelf/handlers/internal/redact"
	"labshelf/repository/core"
)

func keyInURL(field string) error {
	return &errs.Error{Kind: errs.Invalid, Code: errs.CodeKeyInURL, Field: field,
		Message: "a key must not be in a URL; send it in the Authorization header, and revoke this one if it is real"}
}

// refuseKey returns an error for credentials in a query, because logs, histories and Referer
// headers would keep them.
func refuseKey(query url.Values) error {
	for name, values := range query {
		suspect := slices.Contains([]string{"key", "apikey", "api_key", "access_token", "authorization"}, strings.ToLower(name))
		if suspect || slices.ContainsFunc(values, redact.IsKey) {
			return keyInURL(core.Shorten(name))
		}
		if redact.IsKey(name) {
			return keyInURL("")
		}
	}
	return nil
}
