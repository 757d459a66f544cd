package handlers

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// assetsPath is where everything lies that the shell of the pages links.
const assetsPath = "/assets/"

// pagesSecurity keeps the pages to what the service itself sends: a script that somebody got into a name, a description or a file
// does not run, and could reach nobody. Frames and images may show what the pages have fetched.
const pagesSecurity = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob:; " +
	"media-src 'self'; frame-src 'self' blob:; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// frameSecurity is for the document in which a PDF is drawn. It has no origin, also when it is opened by itself; it may load its own script and
// style, compile the decoders of images that it is given, and start the worker that it is given. It can reach nobody.
const frameSecurity = "sandbox allow-scripts; default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; worker-src blob:; " +
	"img-src blob: data:; font-src blob: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

// assetTypes are the kinds of files that the shell can link.
var assetTypes = map[string]string{
	".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".json": "application/json",
	".svg": "image/svg+xml", ".png": "image/png", ".woff2": "font/woff2", ".wasm": "application/wasm", ".html": "text/html; charset=utf-8",
}

// shell is the one HTML document of the pages: the script makes them of it, by the address. What it says to those without scripts
// reads no record, so it is the same for every id, and open to everybody.
var shell = template.Must(template.New("shell").Parse(`<!doctype html>
<html lang="en" data-base="{{.Base}}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>labshelf</title>
{{- with .Icon}}
<link rel="icon" href="{{$.Base}}/{{.}}">
{{- end}}
<link rel="stylesheet" href="{{.Base}}/{{.Style}}">
{{- range .Preload}}
<link rel="modulepreload" href="{{$.Base}}/{{.}}">
{{- end}}
<script type="module" src="{{.Base}}/{{.Script}}"></script>
</head>
<body>
<div id="app"></div>
<noscript>
{{- if .ID}}
<h1>Resource {{.ID}}</h1>
<p>Whoever has a key and may read it finds</p>
<ul>
<li>the record at <a href="{{.URL}}">{{.URL}}</a>,</li>
<li>the file at <a href="{{.URL}}/data">{{.URL}}/data</a>.</li>
</ul>
{{- end}}
<p>The pages of this service need JavaScript. Its interface at <a href="{{.Base}}/v1">{{.Base}}/v1</a> does not.</p>
</noscript>
</body>
</html>
`))

// linked is what the shell links; package web says the same of each.
type linked struct {
	Script, Style, Icon string
	Preload             []string
}

// shown is what the shell says.
type shown struct {
	linked
	Base    string // the path below which the service lives, "" or like /shelf
	ID, URL string // of a resource; "" on other pages
}

// readLinked returns what the shell is to link. The files are part of the program, so that a fault in them is one in it.
func readLinked(files fs.FS) (l linked) {
	text, err := fs.ReadFile(files, "manifest.json")
	if err == nil {
		err = json.Unmarshal(text, &l)
	}
	if err != nil {
		panic(fmt.Sprintf("handlers: the manifest of the pages: %v", err))
	}
	return l
}

// isPage tells whether a path may be one of the pages: not the interface, nor a slip on the way to it (//v1/sets), nor what is named
// like a file, nor where figures and profiles are looked for, which may be somewhere else.
func isPage(path string) bool {
	if strings.Contains(path, "//") {
		return false
	}
	last := path[strings.LastIndex(path, "/")+1:]
	for _, other := range []string{version + "/", assetsPath, "/metrics/", "/debug/"} {
		if strings.HasPrefix(path+"/", other) {
			return false
		}
	}
	return !strings.Contains(last, ".")
}

// takesHTML tells whether a client has a use for a page. A program that asks for JSON where only a page is has mistaken the address, and
// must not take the page for success.
func takesHTML(accept []string) bool {
	all := strings.ToLower(strings.Join(accept, ","))
	return all == "" || strings.Contains(all, "html") || strings.Contains(all, "*/*") || strings.Contains(all, "text/*")
}

// getPage answers with the shell.
func (a *api) getPage(w http.ResponseWriter, r *request) error {
	about := shown{linked: a.linked, Base: a.prefix}
	at, _ := placeOf(r.Request)
	if id, ok := strings.CutPrefix(at, "/resources/"); ok && !strings.Contains(id, "/") {
		about.ID, about.URL = id, a.shower(r).url("resources", id)
	}
	var page strings.Builder
	if err := shell.Execute(&page, about); err != nil {
		return err
	}
	header, sum := w.Header(), sha256.Sum256([]byte(page.String()))
	header.Set("Content-Security-Policy", pagesSecurity)
	header.Set("Referrer-Policy", "same-origin")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cache-Control", "no-cache")
	if !notModified(w, r, hex.EncodeToString(sum[:16])) {
		writeBody(w, http.StatusOK, "text/html; charset=utf-8", []byte(page.String()))
	}
	return nil
}

// getAsset answers with a file that the shell links. Its name holds the hash of its content, so that it may be kept for ever.
func (a *api) getAsset(w http.ResponseWriter, r *request) error {
	name := r.params.ByName("name")
	kind := assetTypes[path.Ext(name)]
	if kind == "" {
		return errNoSuchPath
	}
	tag, header := name, w.Header()
	file, err := a.config.Pages.Open(path.Join("assets", name))
	if err != nil {
		return errNoSuchPath
	}
	if acceptsGzip(r.Header.Values("Accept-Encoding")) {
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
	if strings.HasPrefix(name, "pdf-") { // for the frame, which has no origin that would be ours
		header.Set("Cross-Origin-Resource-Policy", "cross-origin")
	}
	if path.Ext(name) == ".html" {
		header.Set("Content-Security-Policy", frameSecurity)
	}
	header.Set("Cache-Control", "public, max-age=31536000, immutable")
	if !notModified(w, r, tag) {
		header.Set("Content-Length", strconv.FormatInt(about.Size(), 10))
		_, _ = io.Copy(w, file) // a client that went away gets no error
	}
	return nil
}

// acceptsGzip tells whether a client takes gzip: it names it, and not with a weight of 0.
func acceptsGzip(headers []string) bool {
	for offer := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		coding, weight, _ := strings.Cut(offer, ";")
		if strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			weight = strings.ReplaceAll(strings.ToLower(weight), " ", "")
			return strings.Trim(strings.TrimPrefix(weight, "q="), "0.") != "" || !strings.HasPrefix(weight, "q=0")
		}
	}
	return false
}
