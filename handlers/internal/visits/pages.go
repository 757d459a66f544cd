// Package visits has the pages of links: what people without an account see who have been sent one.
// They are complete without a script; that of a request may have one, which sends many files.
package visits

import (
	"html/template"
	"io"
	"strings"
	"sync"

	"labshelf/handlers/internal/html"
)

// Frame is what every page of a link has.
type Frame struct {
	Base, Style, Icon string // the path below which the service lives, and what a page links there
	Script            string // "": the page has none
	Preload           []string
	Title             string
	Message           string // what went wrong; "": nothing
}

// File is one file of a share.
type File struct {
	Name, URL string
	Bytes     int64
	Open      bool // a browser can show it
	Picture   bool // it can be shown in the page
}

// Size writes the length of the file for people.
func (f File) Size() string { return html.Size(f.Bytes) }

// Share is the page of a share.
type Share struct {
	Frame
	From, Description, Expires string
	Files                      []File
	Next, All                  string // addresses of the next page, and of the archive; "": there is none
}

// Request is the page of a request.
type Request struct {
	Frame
	From, Expires, Limits string
	Received              []string // names of what has just come
	Address               string
}

// Problem is a page that says why there is nothing else.
type Problem struct {
	Frame
	Address string // to which a password goes; "": none is asked for
}

// WriteShare writes the page of a share.
func WriteShare(w io.Writer, p Share) error { return pages().ExecuteTemplate(w, "share", p) }

// WriteRequest writes the page of a request.
func WriteRequest(w io.Writer, p Request) error { return pages().ExecuteTemplate(w, "request", p) }

// WriteProblem writes a page that says what went wrong.
func WriteProblem(w io.Writer, p Problem) error { return pages().ExecuteTemplate(w, "problem", p) }

var pages = sync.OnceValue(parsePages)

func parsePages() *template.Template {
	return template.Must(template.New("visits").Funcs(template.FuncMap{"paragraphs": paragraphs}).Parse(pagesText))
}

const pagesText = `
{{- define "head" -}}
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>{{.Title}}</title>
{{- with .Icon}}<link rel="icon" href="{{$.Base}}/{{.}}">{{end}}
{{- with .Style}}<link rel="stylesheet" href="{{$.Base}}/{{.}}">{{end}}
{{- range .Preload}}<link rel="modulepreload" href="{{$.Base}}/{{.}}">{{end}}
{{- with .Script}}<script type="module" src="{{$.Base}}/{{.}}"></script>{{end}}
</head>
<body>
<main class="visit">
<h1>{{.Title}}</h1>
{{- with .Message}}<p role="alert" class="problem">{{.}}</p>{{end}}
{{- end}}

{{- define "foot"}}
</main>
</body>
</html>
{{end}}

{{- define "share"}}{{template "head" .}}
<p class="dim">{{with .From}}Shared by {{.}}{{end}}{{with .Expires}}{{if $.From}} · {{end}}until {{.}}{{end}}</p>
{{- range paragraphs .Description}}<p>{{.}}</p>{{end}}
{{- if .Files}}
{{- with .All}}<p><a class="button main" href="{{.}}" download>Download all as zip</a></p>{{end}}
<table class="plain">
<thead><tr><th scope="col">File</th><th scope="col" class="end">Size</th></tr></thead>
<tbody>
{{- range .Files}}
<tr><td><a href="{{.URL}}" download>{{.Name}}</a>
{{- if .Open}} <a class="dim" href="{{.URL}}?disposition=inline">Open</a>{{end}}
{{- if .Picture}}<br><img class="glance" src="{{.URL}}?disposition=inline" alt="" loading="lazy">{{end}}</td>
<td class="end">{{.Size}}</td></tr>
{{- end}}
</tbody>
</table>
{{- with .Next}}<p><a class="button" href="{{.}}" rel="next">More files</a></p>{{end}}
{{- else}}
<p>There are no files here.</p>
{{- end}}
{{- template "foot" .}}{{end}}

{{- define "request"}}{{template "head" .}}
<p class="dim">{{with .From}}{{.}} asks for files{{end}}{{with .Expires}}{{if $.From}} · {{end}}until {{.}}{{end}}</p>
{{- if .Received}}
<div role="status"><p>Received, and safe:</p><ul>{{range .Received}}<li>{{.}}</li>{{end}}</ul></div>
{{- end}}
<div id="drop"><form method="post" enctype="multipart/form-data">
<p><label for="files">Files to send</label><br><input id="files" type="file" name="file" multiple required></p>
<p><button class="main" type="submit">Send</button></p>
</form></div>
{{- with .Limits}}<p class="dim">{{.}}</p>{{end}}
<p class="dim">Only the people who asked for them can see them. From a terminal:</p>
<pre>curl -T FILE {{.Address}}/FILE</pre>
{{- template "foot" .}}{{end}}

{{- define "problem"}}{{template "head" .}}
{{- if .Address}}
<form method="post" action="{{.Address}}">
<p><label for="password">Password of this link</label><br><input id="password" type="password" name="password" required autocomplete="off" autofocus></p>
<p><button class="main" type="submit">Open</button></p>
</form>
{{- end}}
{{- template "foot" .}}{{end}}
`

// paragraphs cuts a text at its empty lines.
func paragraphs(text string) []string {
	return strings.FieldsFunc(strings.ReplaceAll(text, "\n\n", "\x00"), func(c rune) bool { return c == 0 })
}
