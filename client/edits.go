package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"
)

// Edit is a change of the metadata of many files of a set.
type Edit struct {
	ID      string    `json:"id"`
	URL     string    `json:"url"`
	SetID   string    `json:"setId"`
	By      string    `json:"by"`
	Kind    string    `json:"kind"`             // csv, many or undo
	Undoes  string    `json:"undoes,omitempty"` // the edit that it undid
	Objects int64     `json:"objects"`          // files that it has changed so far
	Created time.Time `json:"created"`
	Undone  string    `json:"undone,omitempty"` // the last edit that undid it
}

// EditOutcome is what an edit has changed, or in a preview would change. Changes and Problems are
// the first hundred.
type EditOutcome struct {
	Edit      *Edit         `json:"edit,omitempty"` // nil: nothing was changed
	Rows      int           `json:"rows"`
	Changed   int           `json:"changed"`
	Unchanged int           `json:"unchanged"`
	Changes   []EditChange  `json:"changes"`
	Problems  []EditProblem `json:"problems"`
}

// EditChange is what becomes of one file.
type EditChange struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Fields []struct {
		Name   string          `json:"name"`
		Before json.RawMessage `json:"before"` // null: none
		After  json.RawMessage `json:"after"`
	} `json:"fields"`
}

// EditProblem is why a row is refused, or a file was left as it is.
type EditProblem struct {
	Row     int    `json:"row,omitempty"` // as spreadsheets count; 0: none
	Column  string `json:"column,omitempty"`
	Message string `json:"message"`
}

// ManyEdit is one change of several files.
type ManyEdit struct {
	IDs        []string `json:"ids"`
	Metadata   Metadata `json:"metadata,omitempty"` // a merge patch
	AddTags    []string `json:"addTags,omitempty"`
	RemoveTags []string `json:"removeTags,omitempty"`
}

func (e *Edit) identify(string) string { return e.ID }

// identify finds an outcome wherever there is a list of changes.
func (o *EditOutcome) identify(string) string {
	if o.Changes == nil {
		return ""
	}
	return "outcome"
}

// MetadataCSV downloads the metadata of the active files of a set as CSV, separated by commas.
func (c *Client) MetadataCSV(ctx context.Context, set string) (file []byte, err error) {
	err = c.run(ctx, request{method: http.MethodGet, path: metadataOf(set, false)}, func(response *http.Response) (err error) {
		if err := typed(response, "text/csv"); err != nil {
			return err
		}
		defer closing(response.Body, &err)
		file, err = io.ReadAll(bodyReader{response.Body})
		return err
	})
	return file, err
}

// EditByCSV changes the metadata of files of a set by a CSV that was downloaded and edited, of up
// to 32 MiB; a preview changes nothing. If there is a problem anywhere, nothing is changed.
func (c *Client) EditByCSV(ctx context.Context, set string, file []byte, preview bool) (EditOutcome, error) {
	return one[EditOutcome](ctx, c, request{method: http.MethodPost, path: metadataOf(set, preview), csv: file, once: !preview})
}

func metadataOf(set string, preview bool) string {
	path := at("sets", set, "metadata")
	if preview && path != "" {
		path += "?preview=true"
	}
	return path
}

// EditMany makes one change of several files of a set; a preview changes nothing.
func (c *Client) EditMany(ctx context.Context, set string, edit ManyEdit, preview bool) (EditOutcome, error) {
	return one[EditOutcome](ctx, c, request{method: http.MethodPost, path: metadataOf(set, preview), in: edit, once: !preview})
}

// Edits returns the last hundred edits of many files of a set, the newest first.
func (c *Client) Edits(ctx context.Context, set string) ([]Edit, error) {
	return everything[Edit](ctx, c, at("sets", set, "edits"))
}

// Edit reads one of them.
func (c *Client) Edit(ctx context.Context, id string) (Edit, error) {
	return one[Edit](ctx, c, request{method: http.MethodGet, path: at("edits", id)})
}

// UndoEdit puts back what nobody has changed since, and names the rest in Problems.
func (c *Client) UndoEdit(ctx context.Context, id string) (EditOutcome, error) {
	return one[EditOutcome](ctx, c, request{method: http.MethodPost, path: at("edits", id, "undo"), once: true})
}
