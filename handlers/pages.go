package handlers

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"labshelf/auth/errs"
	"labshelf/docs"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/hosts"
	"labshelf/handlers/internal/html"
)

// assetsPath is the path of everything that the shell of the pages links.
const assetsPath = "/assets/"

// pagesSecurity restricts the pages to what the service itself sends: a script injected into a
// name, a description or a file does not run, and has no network. Frames and images may show what
// the pages have fetched.
const pagesSecurity = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob:; " +
	"media-src 'self'; frame-src 'self' blob:; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// frameSecurity is for the document in which a PDF is drawn. It has no origin, also when it is
// opened alone; it may load its own script and style, compile the decoders of images that it is
// given, and start the worker that it is given. It has no network.
const frameSecurity = "sandbox allow-scripts; default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; worker-src blob:; " +
	"img-src blob: data:; font-src blob: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

// decoderSecurity is for the workers that read files. They have no origin, may load nothing, and
// have no network: the page sends them bytes.
const decoderSecurity = "sandbox allow-scripts; default-src 'none'"

// assetTypes are the kinds of files that the shell can link.
var assetTypes = map[string]string{
	".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".json": "application/json",
	".svg": "image/svg+xml", ".png": "image/png", ".woff2": "font/woff2", ".wasm": "application/wasm", ".html": "text/html; charset=utf-8",
}

// readLinkedAssets returns what the shell is to link. The files are part of the program, so that a
// fault in them is one in it.
func readLinkedAssets(files fs.FS) (l html.Assets) {
	text, err := fs.ReadFile(files, "manifest.json")
	if err == nil {
		err = json.Unmarshal(text, &l)
	}
	if err != nil {
		panic(fmt.Sprintf("handlers: the manifest of the pages: %v", err))
	}
	return l
}

// isPage tells whether a path may be one of the pages: not the interface, nor a mistyped address of
// it (//v1/sets), nor a path named like a file, nor those of metrics and profiles, which may be
// served by another listener.
func isPage(path string) bool {
	if strings.Contains(path, "//") {
		return false
	}
	last := path[strings.LastIndex(path, "/")+1:]
	for _, other := range []string{hosts.Version + "/", assetsPath, "/metrics/", "/debug/"} {
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

// pageRoutes serves the pages for browsers and search engines.
type pageRoutes struct{ *api }

// getPage answers with the shell, and in it the page of what is open at its address.
func (a pageRoutes) getPage(w http.ResponseWriter, r *exchange.Request) error {
	about := html.Document{
		Assets: a.linked, Base: a.hosts.Prefix(), Anonymous: a.repo.Credentials.Anonymous(), AdminsInvite: a.repo.Links.AdminsInvite(), LinkDays: int(a.repo.Links.LinkAge().Hours() / 24),
	}
	at, _ := routed(r.Request)
	status := http.StatusOK
	header := w.Header()
	header.Set("Cache-Control", "no-cache")
	if about.Page = a.manualPage(at); about.Page == nil && about.Anonymous {
		var err error
		if about.Page, status, err = a.openPage(w, r, at); err != nil {
			return err
		}
	}
	if id, ok := strings.CutPrefix(at, "/resources/"); ok && !strings.Contains(id, "/") && about.Page == nil {
		about.ID, about.URL = id, a.presenter(r).url("resources", id)
	}
	page, err := about.Write()
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(page))
	header.Set("Content-Security-Policy", pagesSecurity)
	header.Set("Referrer-Policy", "same-origin")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	if status != http.StatusOK || !exchange.NotModified(w, r, hex.EncodeToString(sum[:16])) {
		exchange.Write(w, status, "text/html; charset=utf-8", []byte(page))
	}
	return nil
}

// getAsset answers with a file that the shell links. Its name holds the hash of its content, so
// that it may be cached for ever.
func (a pageRoutes) getAsset(w http.ResponseWriter, r *exchange.Request) error {
	name := r.Params.ByName("name")
	kind := assetTypes[path.Ext(name)]
	if kind == "" {
		return exchange.ErrNoSuchPath
	}
	tag, header := name, w.Header()
	file, err := a.config.Pages.Open(path.Join("assets", name))
	if err != nil {
		return exchange.ErrNoSuchPath
	}
	if exchange.AcceptsGzip(r) {
		if packed, err := a.config.Pages.Open(path.Join("assets", name+".gz")); err == nil {
			_ = file.Close() // it was only read
			file, tag = packed, name+".gz"
			header.Set("Content-Encoding", "gzip")
		}
	}
	defer func() { _ = file.Close() }()
	about, err := file.Stat()
	if err != nil {
		return err
	}
	header.Add("Vary", "Accept-Encoding")
	header.Set("Content-Type", kind)
	if strings.HasPrefix(name, "pdf-") { // for the frame, which has no origin
		header.Set("Cross-Origin-Resource-Policy", "cross-origin")
	}
	if path.Ext(name) == ".html" {
		header.Set("Content-Security-Policy", frameSecurity)
	}
	if strings.HasPrefix(name, "decode-") {
		header.Set("Content-Security-Policy", decoderSecurity)
	}
	header.Set("Cache-Control", "public, max-age=31536000, immutable")
	if !exchange.NotModified(w, r, tag) {
		header.Set("Content-Length", strconv.FormatInt(about.Size(), 10))
		_, _ = io.Copy(w, file) // a client that went away gets no error
	}
	return nil
}

// pageAddresses are the addresses that a page shares with the interface, which has them below /v1,
// as patterns of path.Match. The test compares them with the table of the pages (web/src/app.tsx).
// All other addresses of the interface have no page.
var pageAddresses = []string{"/dataspaces/?*", "/sets/?*", "/resources/?*", "/resources/?*/versions/?*",
	"/dataspaces/?*/history", "/sets/?*/history", "/resources/?*/history", "/audit", "/webhooks", "/webhooks/?*", "/schemas/?*", "/links", "/users", "/usage", "/search"}

// methods are those of the interface.
var methods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// isAddressOfInterface tells whether a path is one of the interface without its /v1.
func (a pageRoutes) isAddressOfInterface(path, token string) bool {
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

// routesOfPages are those of what pages link, and of what search engines read.
func (a pageRoutes) routesOfPages() []route {
	routes := []route{
		{"GET", assetsPath + ":name", everybody, a.getAsset, plain, light},
		{"GET", "/robots.txt", everybody, a.getRobots, plain, light},
		{"GET", "/sitemap.xml", everybody, a.getSitemap, plain, page},
		{"GET", sitemapPath + ":name", everybody, a.getSitemapPart, plain, page},
	}
	for _, name := range docs.Published() {
		routes = append(routes, route{"GET", docsPath + name, everybody, sendDocument(name), plain, light})
	}
	return routes
}

// docsPath is the path of the documentation: its files, and a page for each.
const docsPath = "/docs/"

// sendDocument returns a handler that sends a file of the documentation as text.
func sendDocument(name string) exchange.Handler {
	return func(w http.ResponseWriter, r *exchange.Request) error {
		text, err := docs.Read(name)
		if err != nil {
			return err
		}
		w.Header().Set("Cache-Control", "no-cache")
		sum := sha256.Sum256(text)
		if !exchange.NotModified(w, r, hex.EncodeToString(sum[:16])) {
			exchange.Write(w, http.StatusOK, "text/plain; charset=utf-8", text)
		}
		return nil
	}
}

// manualPage returns the page for clients without scripts of a part of the documentation, as it is
// written; nil if the address has no such part. The help itself lists all parts.
func (a pageRoutes) manualPage(at string) *html.Page {
	index := &html.Page{Title: "Manual", Lead: "The user guide and the interface reference need JavaScript. The pages of the manual do not."}
	for _, p := range docs.Pages() {
		address := a.hosts.Prefix() + docsPath + p.Name()
		if at == docsPath+p.Name() {
			return &html.Page{Title: p.Title, Up: []html.Link{{Text: "Manual", URL: a.hosts.Prefix() + docsPath + "manual"}}, Text: p.Text()}
		}
		index.Rows = append(index.Rows, html.Row{Link: html.Link{Text: p.Topic(), URL: address}, Note: p.Title})
	}
	if at == "/docs" || at == docsPath+"manual" {
		return index
	}
	return nil
}

// otherPath answers requests that match no route of the interface. The script knows which pages
// exist, and says so of any other address.
func (a pageRoutes) otherPath(w http.ResponseWriter, r *http.Request) {
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
		if err := a.serve(w, r, nil, route{r.Method, "/", everybody, a.getPage, plain, page}); err != nil {
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
func (a pageRoutes) noPrefix() error {
	return &errs.Error{Kind: errs.NotFound, Code: errs.CodeNotFound, Message: fmt.Sprintf(
		"there is nothing at this address: base_url says that every path of this service begins with %s. "+
			"If a proxy removes that prefix, let it pass paths on as they are", a.hosts.Prefix())}
}

// noSuchPath returns the error of an address at which there is nothing. Where only /v1 is missing,
// it names the address that was meant.
func (a pageRoutes) noSuchPath(r *http.Request) error {
	path, token := routed(r)
	if strings.HasPrefix(path+"/", hosts.Version+"/") || !a.isAddressOfInterface(path, token) {
		return exchange.ErrNoSuchPath
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
		"there is nothing at this address; the interface has it below /v1: %s%s", a.hosts.Base(r), meant)}
}
