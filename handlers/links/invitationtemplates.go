package links

import (
	"html/template"
	"io"
	"sync"
)

// invitationPage is the page for accepting an invitation.
type invitationPage struct {
	frame
	Dataspace, Role, Expires string // Dataspace and Role are "" if it only creates an account
	As                       string // username of the signed-in user of this browser; "": nobody is signed in, and a new user is created
	Nothing                  string // why the invitation is of no use to that user; "" if it is
	Username, Fullname       string // values already entered
	Wrong                    string // name of the invalid field
	Why                      string // why it is invalid
	SignIn, Start            string // addresses of the pages
}

// acceptedPage is the page after an accepted invitation.
type acceptedPage struct {
	frame
	Dataspace, Role string
	Key             string // key of a new user; "": the user had one before
	Start           string // address of the first page
	Service         string // address of the service for the command line
}

// writeInvitation writes the page of an invitation.
func writeInvitation(w io.Writer, p invitationPage) error {
	return invitationPages().ExecuteTemplate(w, "invitation", p)
}

// writeAccepted writes the page after an accepted invitation.
func writeAccepted(w io.Writer, p acceptedPage) error {
	return invitationPages().ExecuteTemplate(w, "accepted", p)
}

// writeAgain writes a page that reloads itself once. A browser that follows a link from another
// site does not send the session with the first request.
func writeAgain(w io.Writer, p problemPage) error {
	return invitationPages().ExecuteTemplate(w, "again", p)
}

// does describes the permissions of each role.
var does = map[string]string{
	"member": "see and download its files",
	"editor": "see and download its files, add new ones, and change them",
	"admin":  "see, add and change its files, and manage its members",
}

var invitationPages = sync.OnceValue(func() *template.Template {
	return template.Must(parsePages().Funcs(template.FuncMap{"does": func(role string) string { return does[role] }}).Parse(invitationText))
})

const invitationText = `
{{- define "wrong"}}<br><strong class="error" id="wrong">{{.}}</strong>{{end}}

{{- define "invitation"}}{{template "head" .}}
{{- if .Dataspace}}
<p>Join <strong>{{.Dataspace}}</strong> as <strong>{{.Role}}</strong>: you can {{does .Role}}.</p>
{{- else}}
<p>You get an account here, in an archive of research data.</p>
{{- end}}
{{- if .Nothing}}
<p role="status">{{.Nothing}}</p>
<p><a class="button main" href="{{.Start}}">Go on</a></p>
{{- else if .As}}
<form method="post">
<input type="hidden" name="as" value="{{.As}}">
<p><button class="main" type="submit">Join as {{.As}}</button></p>
</form>
<p class="dim">You are signed in here as {{.As}}. If that is not you, sign out first, and open this page again.</p>
{{- else}}
<form method="post">
<p><label for="username">Choose a username</label><br>
<input id="username" name="username" value="{{.Username}}" required maxlength="100" pattern="[A-Za-z0-9._@\-]+" title="letters a–z, digits, and . _ - @" autocomplete="username" autocapitalize="none" spellcheck="false"
{{- if eq .Wrong "username"}} aria-invalid="true" aria-describedby="wrong rules" autofocus{{else}} aria-describedby="rules"{{end}}>
{{- if eq .Wrong "username"}}{{template "wrong" .Why}}{{end}}
<br><span class="dim" id="rules">Letters a–z, digits, and . _ - @ are fine. It stays as it is, and the others see it.</span></p>
<p><label for="fullname">Your name</label> <span class="dim">(optional)</span><br>
<input id="fullname" name="fullname" value="{{.Fullname}}" maxlength="500" autocomplete="name"
{{- if eq .Wrong "fullname"}} aria-invalid="true" aria-describedby="wrong"{{end}}>
{{- if eq .Wrong "fullname"}}{{template "wrong" .Why}}{{end}}</p>
<p><button class="main" type="submit">{{if .Dataspace}}Join{{else}}Make my account{{end}}</button></p>
</form>
<p class="dim">You have an account here? <a href="{{.SignIn}}">Sign in</a> first, and open this page again.</p>
{{- end}}
{{- with .Expires}}<p class="dim">The invitation is for one person, until {{.}}.</p>{{end}}
{{- template "foot" .}}{{end}}

{{- define "accepted"}}{{template "head" .}}
<p>You are signed in{{if .Dataspace}}, and {{.Role}} in <strong>{{.Dataspace}}</strong>: you can {{does .Role}}{{end}}.</p>
{{- if .Key}}
<h2>Your key</h2>
<p>With this key you sign in the next time. <strong>It is shown only this once</strong>: copy it now, best into a password manager, and tell it to nobody.</p>
<pre class="key">{{.Key}}</pre>
<p class="dim">Tap or click on it, and all of it is selected.</p>
{{- end}}
<p><a class="button main" href="{{.Start}}">{{if .Key}}I have saved the key: {{end}}{{with .Dataspace}}{{if $.Key}}go{{else}}Go{{end}} to {{.}}{{else}}continue{{end}}</a></p>
{{- if .Key}}
<details><summary>For the command line</summary>
<pre>labshelf login {{.Service}}</pre>
<p class="dim">It asks for the key.</p></details>
{{- end}}
{{- template "foot" .}}{{end}}

{{- define "again"}}<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="0; url={{.Address}}">
<meta name="robots" content="noindex">
<title>{{.Title}}</title>
{{- with .Icon}}<link rel="icon" href="{{$.Base}}/{{.}}">{{end}}
</head>
<body>
<p><a href="{{.Address}}">Go on to the invitation</a></p>
</body>
</html>
{{end}}
`
