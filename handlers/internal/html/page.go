// Package html renders the HTML documents of the service: the shell, in which a script renders the
// pages, and the content for clients without a script. It knows nothing about callers, and uses
// only the addresses that it receives.
package html

import (
	"html/template"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Assets are the paths of the files that each document links, below Base.
type Assets struct {
	Script, Style, Icon string
	Preload             []string
	Drop                string   // script of the page of a file request
	DropPreload         []string // files that Drop imports
}

// Document is one HTML document.
type Document struct {
	Assets
	Base         string // base path of the service: "" or like /shelf
	Anonymous    bool   // open data can be read without a key
	AdminsInvite bool   // admins may invite people into their dataspaces
	LinkDays     int    // maximum lifetime of a link in whole days; 0: no limit
	ID, URL      string // the resource of a document that shows only this resource; "" on other pages
	Page         *Page  // nil: the script renders everything
}

// Page is the content of a document for clients without a script. Empty fields are not rendered.
type Page struct {
	Title       string
	Description string // one line for search engines
	Canonical   string // absolute, canonical address of the page
	Dataset     any    // JSON-LD of the page's subject, as a value for encoding/json

	Up        []Link // containing objects, starting at the top
	Notice    string // notice about the state of the object
	Lead      string // text with several lines
	Text      string // a document, shown verbatim
	Downloads []Link
	Facts     []Fact
	Heading   string // heading of the rows
	Rows      []Row
	More      []Link // other pages of the rows
}

// Link is a text with an optional target.
type Link struct{ Text, URL string }

// Fact is a name with its values.
type Fact struct {
	Name   string
	Values []Link
}

// Row is an entry of a list.
type Row struct {
	Link
	Note    string    // for example the type
	Bytes   int64     // size of the file
	Changed time.Time // zero: not shown
	File    string    // address of the file; "": the entry is not a file
}

// Write renders the document.
func (d Document) Write() (string, error) {
	var out strings.Builder
	err := document().Execute(&out, d)
	return out.String(), err
}

// document is the template of all documents. If a document has no page, the text for browsers
// without scripts depends on no record. It is the same for every id.
var document = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("document").Funcs(template.FuncMap{"size": Size, "day": day}).Parse(documentText))
})

const documentText = `<!doctype html>
<html lang="en" data-base="{{.Base}}"{{if .Anonymous}} data-anonymous{{end}}{{if .AdminsInvite}} data-admins-invite{{end}}{{with .LinkDays}} data-link-days="{{.}}"{{end}}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{{with .Page}}{{.Title}} · {{end}}labshelf</title>
{{- with .Page}}
{{- with .Description}}
<meta name="description" content="{{.}}">
{{- end}}
{{- with .Canonical}}
<link rel="canonical" href="{{.}}">
{{- end}}
{{- with .Dataset}}
<script type="application/ld+json">{{.}}</script>
{{- end}}
{{- end}}
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
<div id="app">{{with .Page}}
<header class="bar"><a class="brand" href="{{$.Base}}/">labshelf</a></header>
{{template "page" .}}
{{end}}</div>
{{- if not .Page}}
<noscript>
{{- if .ID}}
<h1>Resource {{.ID}}</h1>
<p>With a key that may read it:</p>
<ul>
<li>record: <a href="{{.URL}}">{{.URL}}</a></li>
<li>file: <a href="{{.URL}}/data">{{.URL}}/data</a></li>
</ul>
{{- end}}
<p>The pages of this service need JavaScript. Its interface at <a href="{{.Base}}/v1">{{.Base}}/v1</a> does not.</p>
</noscript>
{{- end}}
</body>
</html>
{{define "page"}}<main id="main">
{{- with .Up}}
<nav class="breadcrumbs" aria-label="Breadcrumbs"><ol>{{range .}}<li>{{template "link" .}}</li>{{end}}</ol></nav>
{{- end}}
<div class="title"><div><h1>{{.Title}}</h1>{{with .Lead}}<p class="preserve prose">{{.}}</p>{{end}}</div>
{{- with .Downloads}}<div class="actions">{{range .}}<a class="button primary" href="{{.URL}}" download>{{.Text}}</a>{{end}}</div>{{end}}</div>
{{- with .Notice}}
<p class="note" role="status">{{.}}</p>
{{- end}}
{{- with .Facts}}
<section class="sheet" aria-label="About it"><dl class="facts">
{{- range .}}
<div><dt>{{.Name}}</dt>{{range .Values}}<dd>{{template "link" .}}</dd>{{end}}</div>
{{- end}}
</dl></section>
{{- end}}
{{- with .Heading}}
<h2>{{.}}</h2>
{{- end}}
{{- with .Rows}}
<ul class="plain-list">
{{- range .}}
<li><a href="{{.URL}}">{{.Text}}</a> <span class="dim">{{.Note}}{{if .File}} · {{size .Bytes}}{{end}}{{if not .Changed.IsZero}} · <time datetime="{{.Changed.Format "2006-01-02T15:04:05Z07:00"}}">{{day .Changed}}</time>{{end}}</span>
{{- with .File}} <a href="{{.}}" download>Download</a>{{end}}</li>
{{- end}}
</ul>
{{- end}}
{{- with .Text}}
<pre class="preserve prose">{{.}}</pre>
{{- end}}
{{- with .More}}
<p class="pages">{{range .}}{{template "link" .}} {{end}}</p>
{{- end}}
</main>{{end}}
{{define "link"}}{{if .URL}}<a href="{{.URL}}">{{.Text}}</a>{{else}}{{.Text}}{{end}}{{end}}
`

// Size formats a number of bytes like the pages (web/src/format.ts): in units of 1,000, with one
// decimal below 100.
func Size(bytes int64) string {
	units, at, n := []string{"B", "kB", "MB", "GB", "TB", "PB", "EB"}, 0, float64(bytes)
	for n >= 999.5 {
		n, at = n/1000, at+1
	}
	digits := 0
	if at > 0 && n < 99.95 {
		digits = 1
	}
	return strconv.FormatFloat(n, 'f', digits, 64) + " " + units[at]
}

// day formats a day for people, in UTC.
func day(t time.Time) string { return t.UTC().Format("2 January 2006") }
