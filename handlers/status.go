package handlers

import (
	"cmp"
	_ "embed"
	"errors"
	"net/http"
	"slices"

	"labshelf/blobs"
	"labshelf/handlers/internal/encode"
	"labshelf/metadata"
	"labshelf/repository"
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
	Status    repository.Status `json:"status"`
	Hostname  string            `json:"hostname"`
	Node      string            `json:"node"`
	Engine    string            `json:"engine"`
	Version   string            `json:"version"`
	Anonymous bool              `json:"anonymous"`        // what is open is read without a key
	Detail    *statusDetailJSON `json:"detail,omitempty"` // for sysadmins
}

type statusDetailJSON struct {
	Failing      string            `json:"failing"`
	ReadOnly     string            `json:"readOnly"`
	ClockBehind  int64             `json:"clockBehind"` // ms
	Damaged      int64             `json:"damaged"`
	Scrub        scrubJSON         `json:"scrub"`
	Background   map[string]string `json:"background"`
	Held         filesJSON         `json:"held"`
	Started      string            `json:"started"`
	Identity     string            `json:"identity"`
	Epoch        epochJSON         `json:"epoch"`
	Unreferenced filesJSON         `json:"unreferenced"`
	Room         roomJSON          `json:"room"`
	Nodes        []nodeJSON        `json:"nodes"`
}

// nodeJSON is one of those that share the metadata.
type nodeJSON struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Since   string `json:"since"`
	Seen    string `json:"seen"`
}

type roomJSON struct {
	Bytes int64 `json:"bytes"` // -1: not known
	Files int64 `json:"files"` // -1: not known, or not limited
}

type epochJSON struct {
	ID    string `json:"id"`
	Base  string `json:"base"`
	Began string `json:"began"`
}

// filesJSON is a number of files and their bytes.
type filesJSON struct {
	Files int64 `json:"files"`
	Bytes int64 `json:"bytes"`
}

type scrubJSON struct {
	Begun   string `json:"begun"`
	Checked int64  `json:"checked"`
	Found   int64  `json:"found"`
	Passes  int64  `json:"passes"`
}

// getStatus reports the status without detail, and to sysadmins with all of it. Where no key can be
// checked, because records cannot be read, the log has the error.
func (a *api) getStatus(w http.ResponseWriter, r *request) error {
	caller, err := a.authenticate(w.Header(), r.Request)
	if errors.Is(err, errTooManyFailures) { // or keys could be guessed here
		return err
	}
	c, status := a.repo.Condition(r.Context()), http.StatusOK
	if c.Status == repository.StatusFailing {
		status = http.StatusServiceUnavailable
		noteError(w, errors.New(c.Detail.Failing), status)
	}
	shown := statusJSON{Status: c.Status, Hostname: a.config.Hostname, Node: cmp.Or(c.Node, a.config.Hostname), Engine: c.Engine, Version: a.config.Version, Anonymous: a.repo.Anonymous()}
	if err == nil && caller.Sysadmin {
		d, scrub := c.Detail, c.Detail.Scrub
		shown.Detail = &statusDetailJSON{
			d.Failing, d.ReadOnly, d.ClockBehind.Milliseconds(), d.Damaged,
			scrubJSON{encode.Instant(scrub.Begun), scrub.Checked, scrub.Found, scrub.Passes}, d.Background,
			filesJSON{d.Inline.Bodies, d.Inline.Bytes}, encode.Instant(a.started),
			d.Identity.String(), epochJSON{d.Epoch.ID.String(), encode.Instant(d.Epoch.Base), encode.Instant(d.Epoch.Began)},
			filesJSON{d.Unreferenced.Blobs, d.Unreferenced.Bytes}, roomOf(d.Room), nodesOf(d.Nodes),
		}
	}
	writeJSON(w, status, shown)
	return nil
}

func nodesOf(all []metadata.Node) []nodeJSON {
	shown := []nodeJSON{}
	for _, n := range slices.SortedFunc(slices.Values(all), func(x, y metadata.Node) int {
		return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.Since, y.Since))
	}) {
		shown = append(shown, nodeJSON{n.Name, n.Version, encode.Instant(n.Since), encode.Instant(n.Seen)})
	}
	return shown
}

func roomOf(room *blobs.FreeSpace) roomJSON {
	if room == nil {
		return roomJSON{-1, -1}
	}
	return roomJSON{room.Bytes, room.Files}
}

const welcome = `labshelf, a research data repository.

pages        / (sign in with a key)
interface    /v1 (every request but these needs a key in the Authorization header)
description  /v1/openapi.yaml, /v1/openapi.json
status       /v1/status
`

// serveWelcome answers a browser at the address of the interface.
func serveWelcome(w http.ResponseWriter, _ *request) error {
	writeBody(w, http.StatusOK, "text/plain; charset=utf-8", []byte(welcome))
	return nil
}
