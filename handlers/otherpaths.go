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

// isPage tells whether a path may be one of the pages: not the interface, nor a mistyped address of
// it (//v1/sets), nor a path named like a file, nor those of metrics and profiles, which may be
// served by another listener.
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

// takesHTML tells whether a client accepts a page. A program that asks for JSON where only a page
// is has mistaken the address, and must not take the page for success.
func takesHTML(accept []string) bool {
	all := strings.ToLower(strings.Join(accept, ","))
	return all == "" || strings.Contains(all, "html") || strings.Contains(all, "*/*") || strings.Contains(all, "text/*")
}

// pageAddresses are the addresses that a page shares with the interface, which has them below /v1,
// as patterns of path.Match. The test compares them with the table of the pages (web/src/app.tsx).
// All other addresses of the interface have no page.
var pageAddresses = []string{"/dataspaces/?*", "/sets/?*", "/resources/?*", "/resources/?*/versions/?*",
	"/dataspaces/?*/history", "/sets/?*/history", "/resources/?*/history", "/audit", "/webhooks", "/webhooks/?*", "/schemas/?*", "/links", "/users", "/usage", "/search"}

// methods are those of the interface.
var methods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// isAddressOfInterface tells whether a path is one of the interface without its /v1.
func (a *api) isAddressOfInterface(path, token string) bool {
	if path == "" { // the root below a base path, of which /v1 is the welcome of the interface
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

// sharedWithPage tells whether an address of the interface is one of a page, too.
func sharedWithPage(address string) bool {
	return slices.ContainsFunc(pageAddresses, func(pattern string) bool {
		shared, err := path.Match(pattern, address)
		return shared && err == nil
	})
}

// otherPath answers requests that match no route of the interface. The script knows which pages
// exist, and says so of any other address.
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

// noPrefix is the error of an address without the path of base_url, which a proxy may have removed.
func (a *api) noPrefix() error {
	return &errs.Error{Kind: errs.NotFound, Code: errs.CodeNotFound, Message: fmt.Sprintf(
		"there is nothing at this address: base_url says that every path of this service begins with %s. "+
			"If a proxy removes that prefix, let it pass paths on as they are", a.hosts.Prefix())}
}

// noSuchPath returns the error of an address at which there is nothing. Where only /v1 is missing,
// it names the address that was meant.
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
		"there is nothing at this address; the interface has it below /v1: %s%s", a.hosts.Base(r), meant)}
}
