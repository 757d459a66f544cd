package links

import (
	"html/template"
	"io"
	"strings"
	"sync"

	"labshelf/handlers/internal/html"
)

// frame is the part that all pages of links share.
type frame struct {
	Base, Style, Icon string // the path of the service, and linked files
	Script            string // "": no script
	Preload           []string
	Title             string
	Message           string // the error for the visitor; "": no error
}

// sharedFile is one file of a share.
type sharedFile struct {
	Name, URL string
	Bytes     int64
	Open      bool // browsers can show it
	Picture   bool // the page can show it as a picture
}

// Size returns the length of the file for people.
func (f sharedFile) Size() string { return html.Size(f.Bytes) }

// sharePage is the page of a share.
type sharePage struct {
	frame
	From, Description, Expires string
	Files                      []sharedFile
	Next, All                  string // addresses of the next page and of the archive; "": none
}

// requestPage is the page of a file request.
type requestPage struct {
	frame
	From, Expires, Limits string
	Received              []string // names of the files just received
	Address               string
}

// problemPage is a page that shows only an error.
type problemPage struct {
	frame
	Address string // target of the password form; "": no password is required
}

// writeShare writes the page of a share.
func writeShare(w io.Writer, p sharePage) error { return pages().ExecuteTemplate(w, "share", p) }

// writeRequest writes the page of a file request.
func writeRequest(w io.Writer, p requestPage) error { return pages().ExecuteTemplate(w, "request", p) }

// writeProblem writes a page that shows an error.
func writeProblem(w io.Writer, p problemPage) error { return pages().ExecuteTemplate(w, "problem", p) }

var pages = sync.OnceValue(parsePages)

func parsePages() *template.Template {
	return template.Must(template.New("links").Funcs(template.FuncMap{"paragraphs": paragraphs}).Parse(pagesText))
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

// paragraphs splits a text at empty lines.
func paragraphs(text string) []string {
	return strings.FieldsFunc(strings.ReplaceAll(text, "\n\n", "\x00"), func(c rune) bool { return c == 0 })
}
