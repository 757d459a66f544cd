package handlers

import (
	"net/http"
	"slices"
	"strings"

	"labshelf/auth/errs"
	"labshelf/handlers/internal/redact"
)

// activeDestinations are the values of Sec-Fetch-Dest with which a browser requests something
// to execute in, or to apply to, the document that loads it.
var activeDestinations = []string{"script", "style", "worker", "sharedworker", "serviceworker", "audioworklet", "paintworklet", "json", "xslt"}

// errActiveContent is the error of a page that loads stored data as its own code.
var errActiveContent = &errs.Error{Kind: errs.Forbidden, Code: errs.CodeForbidden,
	Message: "a page cannot load this address as a script, style sheet or worker"}

// loadsActiveContent reports whether a browser loads the path below the base path as code or
// style of a page. The policy of the pages trusts the whole origin, so only assetsPath answers
// such requests.
func loadsActiveContent(r *http.Request, path string) bool {
	return r.Header["Sec-Fetch-Dest"] != nil && !strings.HasPrefix(path, assetsPath) &&
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

// activeTypes are the media types that a browser executes or applies despite nosniff:
// https://mimesniff.spec.whatwg.org/#javascript-mime-type.
var activeTypes = []string{
	"application/ecmascript", "application/javascript", "application/x-ecmascript", "application/x-javascript", "text/css", "text/ecmascript",
	"text/javascript", "text/javascript1.0", "text/javascript1.1", "text/javascript1.2", "text/javascript1.3", "text/javascript1.4",
	"text/javascript1.5", "text/jscript", "text/livescript", "text/x-ecmascript", "text/x-javascript",
}

// inertType returns the Content-Type with which a file of an active type is sent. Browsers
// leave out Sec-Fetch-Dest over plain HTTP, so a request without it and without a key of its
// own gets scripts and style sheets as plain text.
func inertType(r *http.Request, kind string) string {
	if r.Header["Sec-Fetch-Dest"] != nil {
		return kind
	}
	sent := r.Header.Get("Authorization")
	if scheme, _, _ := strings.Cut(sent, " "); sent != "" && !strings.EqualFold(scheme, "Basic") { // which no browser adds on its own
		return kind
	}
	return "text/plain; charset=utf-8"
}

func isActiveType(kind string) bool {
	essence, _, _ := strings.Cut(kind, ";")
	return slices.Contains(activeTypes, strings.ToLower(strings.TrimSpace(essence)))
}
