// Package html makes the HTML documents that the service sends: the shell, in which a script
// renders the pages, and within it what a page shows to clients that run no script. It knows
// nothing of who reads, and of addresses only those that it is given.
package html

import (
	"html/template"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Assets are the paths of what each document links, below Base.
type Assets struct {
	Script, Style, Icon string
	Preload             []string
	Drop                string   // the script of the page of a request link
	DropPreload         []string // what that imports
}

// Document is one HTML document.
type Document struct {
	Assets
	Base         string // the path below which the service lives, "" or like /shelf
	Anonymous    bool   // whether what is open is read without a key
	AdminsInvite bool   // whether admins may invite people into their dataspaces
	LinkDays     int    // how many whole days a link may have at most; 0: any number
	ID, URL      string // of the resource at whose address the document is, where it shows nothing else; "" on other pages
	Page         *Page  // nil: the script renders all
}

// Page is what a document shows without a script. What is empty is left out.
type Page struct {
	Title       string
	Description string // for search engines, of one line
	Canonical   string // the one address of the page, absolute
	Dataset     any    // what the page is about as JSON-LD: a value that encoding/json writes

	Up        []Link // what contains it, from the top
	Notice    string // what has become of it
	Lead      string // text of several lines
	Text      string // a document, shown as it is written
	Downloads []Link
	Facts     []Fact
	Heading   string // of the rows
	Rows      []Row
	More      []Link // other pages of the rows
}

// Link is a text that may lead somewhere.
type Link struct{ Text, URL string }

// Fact is a name with its values.
type Fact struct {
	Name   string
	Values []Link
}

// Row is an object in a list.
type Row struct {
	Link
	Note    string    // such as its type
	Bytes   int64     // of its file
	Changed time.Time // zero: is not said
	File    string    // address of its file; "" of what is none
}

// Write returns the document.
func (d Document) Write() (string, error) {
	var out strings.Builder
	err := document().Execute(&out, d)
	return out.String(), err
}

// document is the template of all documents. Its text for browsers without scripts reads no record
// where there is no page, so that it is the same for every id.
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

// Size writes a number of bytes as the pages of the script do (web/src/format.ts): in units of
// 1,000, with one digit behind the point below 100.
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

// day writes a day for people, in UTC.
func day(t time.Time) string { return t.UTC().Format("2 January 2006") }
