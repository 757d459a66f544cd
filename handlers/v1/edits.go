package v1

import (
	"bufio"
	"cmp"
	"encoding/json"
	"io"
	"mime"
	"net/http"

	"labshelf/auth/errs"
	"labshelf/handlers/internal/body"
	"labshelf/handlers/internal/download"
	"labshelf/handlers/internal/encode"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/input"
	"labshelf/handlers/internal/slowclient"
	"labshelf/handlers/wire"
	"labshelf/metadata"
	"labshelf/repository/describe"
)

// Edits serves bulk edits of file metadata.
type Edits struct{ *api }

func (s presenter) edit(e metadata.BulkEdit) wire.Edit {
	shown := wire.Edit{
		ID: e.ID.String(), URL: s.url("edits", e.ID.String()), SetID: e.SetID.String(), By: e.By.String(), Kind: e.Kind.String(), Objects: e.Objects,
		Created: encode.Time(e.Created), CreatedEpoch: encode.Epoch(e.Created),
	}
	if e.Undoes != (metadata.ID{}) {
		shown.Undoes = e.Undoes.String()
	}
	if e.UndoneBy != (metadata.ID{}) {
		shown.Undone = e.UndoneBy.String()
	}
	return shown
}

func (s presenter) outcome(o describe.BulkOutcome) wire.EditOutcome {
	shown := wire.EditOutcome{Rows: o.Rows, Changed: o.Changed, Unchanged: o.Unchanged}
	if o.Edit != nil {
		edit := s.edit(*o.Edit)
		shown.Edit = &edit
	}
	shown.Changes = showAll(o.Changes, func(c describe.BulkChange) wire.EditChange {
		return wire.EditChange{ID: c.ID.String(), Name: c.Name, Fields: showAll(c.Changes, func(f describe.FieldChange) wire.EditedField {
			return wire.EditedField{Name: f.Name, Before: json.RawMessage(cmp.Or(f.Before, "null")), After: json.RawMessage(cmp.Or(f.After, "null"))}
		}).Data}
	}).Data
	shown.Problems = showAll(o.Problems, func(p describe.BulkProblem) wire.EditProblem {
		return wire.EditProblem{Row: p.Row, Column: p.Column, Message: p.Message}
	}).Data
	return shown
}

func (a Edits) sendOutcome(w http.ResponseWriter, r *exchange.Request, o describe.BulkOutcome, err error) error {
	if err == nil {
		exchange.WriteJSON(w, http.StatusOK, a.presenter(r).outcome(o))
	}
	return err
}

// separators are the column separators, by the name in the query.
var separators = map[string]rune{"": ',', "comma": ',', "semicolon": ';'}

// Export streams the metadata of the files of a set as CSV.
func (a Edits) Export(w http.ResponseWriter, r *exchange.Request) error {
	separator, known := separators[r.Query.Get("separator")]
	if !known {
		return &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidParameter, Field: "separator", Message: "separator must be comma or semicolon"}
	}
	sent := &exchange.StartedWriter{Writer: w}
	out := bufio.NewWriterSize(sent, slowclient.ChunkSize)
	err := a.repo.BulkEdits.ExportMetadata(r.Context(), r.Caller, r.ID(), separator, func(set metadata.Set) io.Writer {
		header := w.Header()
		header.Set("Content-Type", "text/csv; charset=utf-8")
		header.Set("Content-Disposition", download.SaveAs("attachment", set.Name+".csv"))
		header.Set("Cache-Control", "no-store")
		return out
	})
	if err == nil {
		_ = out.Flush() // a client that went away gets no error
	}
	if err != nil && sent.Started {
		exchange.NoteError(w, err)
		panic(http.ErrAbortHandler) // cuts the connection, so that the client does not take a part for the whole
	}
	return err
}

// Create edits the metadata of many files, by CSV or by one change for all of them.
func (a Edits) Create(w http.ResponseWriter, r *exchange.Request) error {
	preview := r.Query.Get("preview") == "true"
	if word := r.Query.Get("preview"); word != "" && word != "true" && word != "false" {
		return &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidParameter, Field: "preview", Message: "preview must be true or false"}
	}
	if media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); media == "text/csv" {
		if err := a.repo.BulkEdits.MayEdit(r.Context(), r.Caller, r.ID()); err != nil { // before reading up to 32 MiB
			return err
		}
		file, err := body.CSV(w, r.Request)
		if err != nil {
			return err
		}
		outcome, err := a.repo.BulkEdits.EditByCSV(r.Context(), r.Caller, r.ID(), file, preview)
		return a.sendOutcome(w, r, outcome, err)
	}
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	outcome, err := a.repo.BulkEdits.EditMany(r.Context(), r.Caller, r.ID(), input.ManyEdit(fields), preview)
	return a.sendOutcome(w, r, outcome, err)
}

// Undo undoes a bulk edit.
func (a Edits) Undo(w http.ResponseWriter, r *exchange.Request) error {
	outcome, err := a.repo.BulkEdits.Undo(r.Context(), r.Caller, r.ID())
	return a.sendOutcome(w, r, outcome, err)
}

// Get answers with the record of a bulk edit.
func (a Edits) Get(w http.ResponseWriter, r *exchange.Request) error {
	edit, err := a.repo.BulkEdits.Get(r.Context(), r.Caller, r.ID())
	if err == nil {
		exchange.WriteJSON(w, http.StatusOK, a.presenter(r).edit(edit))
	}
	return err
}

// List answers with the bulk edits of a set.
func (a Edits) List(w http.ResponseWriter, r *exchange.Request) error {
	list, err := a.repo.BulkEdits.List(r.Context(), r.Caller, r.ID())
	if err == nil {
		exchange.WriteJSON(w, http.StatusOK, showAll(list, a.presenter(r).edit))
	}
	return err
}
