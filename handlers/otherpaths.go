package handlers

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"labshelf/auth/errs"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/hosts"
	"labshelf/handlers/pages"
)

// isPage reports whether a path may belong to a page. These paths do not: the API, mistyped
// addresses of it (//v1/sets), file names, and the paths of metrics and profiles, which another
// listener may serve.
func isPage(path string) bool {
	if strings.Contains(path, "//") {
		return false
	}
	last := path[strings.LastIndex(path, "/")+1:]
	for _, other := range []string{hosts.Version + "/", pages.AssetsPath, "/metrics/", "/debug/"} {
		if strings.HasPrefix(path+"/", other) {
			return false
		}
	}
	return !strings.Contains(last, ".")
}

// takesHTML reports whether a client accepts a page. A program that requests JSON from the address
// of a page has mistaken the address, and must not take the page for success.
func takesHTML(accept []string) bool {
	all := strings.ToLower(strings.Join(accept, ","))
	return all == "" || strings.Contains(all, "html") || strings.Contains(all, "*/*") || strings.Contains(all, "text/*")
}

// pageAddresses are the addresses that pages share with the API, which serves them below /v1. They
// are patterns of path.Match. A test compares them with the table of the pages (web/src/app.tsx).
// No other address of the API has a page.
var pageAddresses = []string{"/dataspaces/?*", "/sets/?*", "/resources/?*", "/resources/?*/versions/?*",
	"/dataspaces/?*/history", "/sets/?*/history", "/resources/?*/history", "/audit", "/webhooks", "/webhooks/?*", "/schemas/?*", "/links", "/users", "/usage", "/search"}

// methods are the methods of the API.
var methods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// isAddressOfInterface reports whether a path belongs to the API when /v1 is put before it.
func (a *api) isAddressOfInterface(path, token string) bool {
	if path == "" { // the root below a base path; /v1 alone is the welcome text
		return false
	}
	router := a.allRoutes
	if token != "" {
		router = a.listings
	}
	for _, method := range methods {
		if handle, _, _ := router.Lookup(method, hosts.Version+path); handle != nil {
			return true
		}
	}
	return false
}

// sharedWithPage reports whether an address of the API is also the address of a page.
func sharedWithPage(address string) bool {
	return slices.ContainsFunc(pageAddresses, func(pattern string) bool {
		shared, err := path.Match(pattern, address)
		return shared && err == nil
	})
}

// otherPath answers requests that match no route. It sends the page shell for every possible page;
// the script of the shell reports unknown addresses.
func (a *api) otherPath(w http.ResponseWriter, r *http.Request) {
	path, token := routed(r)
	header := w.Header()
	if a.config.Pages == nil || !isPage(path) {
		exchange.WriteProblem(w, r, a.noSuchPath(r))
		return
	}
	header.Add("Vary", "Accept, Authorization")
	reading := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case token != "", r.Header.Get("Authorization") != "", !sharedWithPage(path) && a.isAddressOfInterface(path, token),
		reading && !takesHTML(r.Header.Values("Accept")):
		exchange.WriteProblem(w, r, a.noSuchPath(r))
	case reading:
		noteRoute(w, r.Method, "/")
		show := func(w http.ResponseWriter, r *exchange.Request) error { return a.pages.Show(w, r, path) }
		if err := a.serve(w, r, nil, route{r.Method, "/", everybody, show, plain, page}); err != nil {
			exchange.WriteProblem(w, r, err)
		}
	case r.Method == http.MethodOptions:
		header.Set("Allow", "GET, HEAD, OPTIONS")
		w.WriteHeader(http.StatusNoContent)
	default:
		header.Set("Allow", "GET, HEAD, OPTIONS")
		exchange.WriteProblem(w, r, exchange.ErrMethod)
	}
}

// noPrefix returns the error for an address without the path of base_url, which a proxy may have
// removed.
func (a *api) noPrefix() error {
	return &errs.Error{Kind: errs.NotFound, Code: errs.CodeNotFound, Message: fmt.Sprintf(
		"there is nothing at this address: base_url says that every path of this service begins with %s. "+
			"If a proxy removes that prefix, configure it to forward paths unchanged", a.hosts.Prefix())}
}

// noSuchPath returns the error for an unknown address. If only /v1 is missing, the message names
// the complete address.
func (a *api) noSuchPath(r *http.Request) error {
	path, token := routed(r)
	if strings.HasPrefix(path+"/", hosts.Version+"/") || !a.isAddressOfInterface(path, token) {
		return exchange.ErrNoSuchPath
	}
	meant := (&url.URL{Path: path}).EscapedPath()
	if token != "" {
		meant += exchange.Results + token
	}
	const most = 200 // bytes
	if len(meant) > most {
		meant = meant[:most] + "…"
	}
	return &errs.Error{Kind: errs.NotFound, Code: errs.CodeNotFound, Message: fmt.Sprintf(
		"there is nothing at this address; all addresses of the API begin with /v1: %s%s", a.hosts.Base(r), meant)}
}
