package handlers

import (
	_ "embed"
	"html/template"
	"net/http"
	"strings"
	"time"
)

//go:embed openapi.json
var openapiJSON []byte

//go:embed openapi.yaml
var openapiYAML []byte

// serveDocument serves the description of the interface.
func serveDocument(contentType string, document []byte) func(http.ResponseWriter, *request) error {
	return func(w http.ResponseWriter, _ *request) error {
		writeBody(w, http.StatusOK, contentType, document)
		return nil
	}
}

type statusJSON struct {
	Status   string `json:"status"`
	Hostname string `json:"hostname"`
	Version  string `json:"version"`
	// ClockBehind is how many ms the clock is behind the last change; shown to sysadmins, where it is more than a minute.
	ClockBehind int64 `json:"clockBehind,omitempty"`
}

// getStatus tells strangers how the service is, without detail, and sysadmins who send their key a little more.
func (a *api) getStatus(w http.ResponseWriter, r *request) error {
	shown, status := statusJSON{Status: "OK", Hostname: a.config.Hostname, Version: a.config.Version}, http.StatusOK
	if caller, err := a.authenticate(r.Request); err == nil && caller.Sysadmin && a.repo.Health().ClockBehind > time.Minute {
		shown.ClockBehind = a.repo.Health().ClockBehind.Milliseconds()
	}
	switch err := a.repo.Ready(r.Context()); {
	case err != nil:
		shown.Status, status = "FAILING", http.StatusServiceUnavailable
		noteError(w, err, status)
	case a.repo.Health().ReadOnly != nil:
		shown.Status = "READ-ONLY"
	}
	writeJSON(w, status, shown)
	return nil
}

const welcome = `labshelf, a research data repository.

interface    /v1 (every request but these needs a key in the Authorization header)
description  /v1/openapi.yaml, /v1/openapi.json
status       /v1/status
`

// serveWelcome answers people who open the address.
func serveWelcome(w http.ResponseWriter, _ *request) error {
	writeBody(w, http.StatusOK, "text/plain; charset=utf-8", []byte(welcome))
	return nil
}

// view is where viewDataUrl leads when no catalogue is configured. It reads no record, so it says the same of every id.
var view = template.Must(template.New("view").Parse(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Resource {{.ID}}</title>
<h1>Resource {{.ID}}</h1>
<p>Whoever has a key and may read it finds
<ul>
<li>the record at <a href="{{.URL}}">{{.URL}}</a>,
<li>the file at <a href="{{.URL}}/data">{{.URL}}/data</a>.
</ul>
`))

func (a *api) viewResource(w http.ResponseWriter, r *request) error {
	var page strings.Builder
	err := view.Execute(&page, resourceJSON{ID: r.id(), URL: a.shower(r).url("resources", r.id())})
	if err != nil {
		return err
	}
	w.Header().Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	writeBody(w, http.StatusOK, "text/html; charset=utf-8", []byte(page.String()))
	return nil
}
