package handlers

import (
	"net/http"
	"slices"
	"strings"

	"labshelf/auth/errs"
	"labshelf/handlers/internal/redact"
	"labshelf/handlers/pages"
)

// activeDestinations are the values of Sec-Fetch-Dest of requests for content that the loading
// document executes or applies.
var activeDestinations = []string{"script", "style", "worker", "sharedworker", "serviceworker", "audioworklet", "paintworklet", "json", "xslt"}

// errActiveContent is the error of a page that loads stored data as its own code.
var errActiveContent = &errs.Error{Kind: errs.Forbidden, Code: errs.CodeForbidden,
	Message: "a page cannot load this address as a script, style sheet or worker"}

// loadsActiveContent reports whether a browser loads the path below the base path as code or style
// of a page. The policy of the pages trusts the whole origin, so only pages.AssetsPath answers such
// requests.
func loadsActiveContent(r *http.Request, path string) bool {
	return r.Header["Sec-Fetch-Dest"] != nil && !strings.HasPrefix(path, pages.AssetsPath) &&
		slices.Contains(activeDestinations, strings.ToLower(r.Header.Get("Sec-Fetch-Dest")))
}

// refusedAddress returns why no route may answer a request for the path below the base path:
// it contains a key, or a page loads it as code.
func refusedAddress(r *http.Request, path string) error {
	switch {
	case redact.HasKey(path):
		return keyInURL("")
	case loadsActiveContent(r, path):
		return errActiveContent
	}
	return nil
}
