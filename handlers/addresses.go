package handlers

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"labshelf/errs"
)

// pageAddresses are the addresses that a page shares with the interface, which has them below /v1. The test compares them with the table
// of the pages (web/src/app.tsx). All other addresses of the interface have no page.
var pageAddresses = []string{"/dataspaces/:", "/sets/:", "/resources/:", "/users", "/usage"}

// methods are those of the interface.
var methods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// isAddressOfInterface tells whether a request lacks nothing but /v1 to be one to the interface.
func (a *api) isAddressOfInterface(path, token string) bool {
	if path == "" { // the root below a base path, of which /v1 is the welcome of the interface
		return false
	}
	router := a.whole
	if token != "" {
		router = a.listings
	}
	for _, method := range methods {
		if handle, _, _ := router.Lookup(method, version+path); handle != nil {
			return true
		}
	}
	return false
}

// sharedWithPage tells whether an address of the interface is one of a page, too.
func sharedWithPage(path string) bool {
	for _, address := range pageAddresses {
		kind, ofOne := strings.CutSuffix(address, ":")
		if rest, found := strings.CutPrefix(path, kind); found && (ofOne && rest != "" && !strings.Contains(rest, "/") || !ofOne && rest == "") {
			return true
		}
	}
	return false
}

// otherPath answers what no route of the interface does. The script knows which pages there are; of what it does not know, it says so.
func (a *api) otherPath(w http.ResponseWriter, r *http.Request) {
	path, token := placeOf(r)
	header := w.Header()
	if a.config.Pages == nil || !isPage(path) {
		writeProblem(w, r, a.noSuchPath(r))
		return
	}
	header.Add("Vary", "Accept, Authorization")
	reading := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case token != "", r.Header.Get("Authorization") != "", !sharedWithPage(path) && a.isAddressOfInterface(path, token),
		reading && !takesHTML(r.Header.Values("Accept")):
		writeProblem(w, r, a.noSuchPath(r))
	case reading:
		noteRoute(w, r.Method, "/")
		if err := a.serve(w, r, nil, route{r.Method, "/", everybody, a.getPage, plain}); err != nil {
			writeProblem(w, r, err)
		}
	case r.Method == http.MethodOptions:
		header.Set("Allow", "GET, HEAD, OPTIONS")
		w.WriteHeader(http.StatusNoContent)
	default:
		header.Set("Allow", "GET, HEAD, OPTIONS")
		writeProblem(w, r, errMethod)
	}
}

// noSuchPath answers an address at which there is nothing. Where only /v1 is missing it names the address that was meant.
func (a *api) noSuchPath(r *http.Request) error {
	path, token := placeOf(r)
	if strings.HasPrefix(path+"/", version+"/") || !a.isAddressOfInterface(path, token) {
		return errNoSuchPath
	}
	meant := (&url.URL{Path: path}).EscapedPath()
	if token != "" {
		meant += results + token
	}
	const most = 200 // bytes
	if len(meant) > most {
		meant = meant[:most] + "…"
	}
	return &errs.Error{Kind: errs.NotFound, Code: errs.CodeNotFound, Message: fmt.Sprintf(
		"there is nothing at this address; the interface has it below /v1: %s%s", a.base(&request{Request: r}), meant)}
}
