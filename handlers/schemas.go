package handlers

import (
	"encoding/json"
	"net/http"

	"labshelf/handlers/internal/body"
	"labshelf/handlers/internal/encode"
	"labshelf/repository"
)

type schemaJSON struct {
	ID          string          `json:"id"`
	URL         string          `json:"url"`
	DataspaceID string          `json:"dataspaceId"`
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	For         string          `json:"for"`
	Types       []string        `json:"types"`
	Enforce     bool            `json:"enforce"`
	Version     uint32          `json:"version"`
	Schema      json.RawMessage `json:"schema"`
	Form        any             `json:"form"`
	State       string          `json:"state"`
	historyJSON
}

type schemaVersionJSON struct {
	Version      uint32          `json:"version"`
	Schema       json.RawMessage `json:"schema"`
	Form         any             `json:"form"`
	Created      string          `json:"created"`
	CreatedEpoch int64           `json:"created_epoch"` // ms
	CreatedBy    string          `json:"createdBy"`
}

// conformanceJSON is what the schema that applies says of an object. Without one there are only the
// last two.
type conformanceJSON struct {
	Schema     *appliedJSON  `json:"schema,omitempty"`
	Newest     uint32        `json:"newest,omitempty"`
	Form       any           `json:"form,omitempty"`
	Incomplete bool          `json:"incomplete"`
	Problems   []problemJSON `json:"problems"`
}

type appliedJSON struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Title   string `json:"title"`
	Version uint32 `json:"version"` // that the properties were made with
	Enforce bool   `json:"enforce"`
}

type problemJSON struct {
	Path    string `json:"path"`
	Rule    string `json:"rule"`
	Message string `json:"message"`
}

func (s presenter) schema(of repository.Schema) schemaJSON {
	id := of.ID.String()
	return schemaJSON{
		ID: id, URL: s.url("schemas", id), DataspaceID: of.DataspaceID.String(), Name: of.Name, Title: of.Title, Description: of.Description,
		For: of.For.String(), Types: of.Types(), Enforce: of.Enforce, Version: of.Version, Schema: json.RawMessage(of.Text), Form: of.Form,
		State: of.State.String(), historyJSON: history(of.Record),
	}
}

func showSchemaVersion(v repository.SchemaVersion) schemaVersionJSON {
	return schemaVersionJSON{v.Number, json.RawMessage(v.Text), v.Form, encode.Instant(v.Created), v.Created.Millis(), v.CreatedBy.String()}
}

func showConformance(c repository.Conformance) conformanceJSON {
	shown := conformanceJSON{Incomplete: len(c.Problems) > 0, Problems: []problemJSON{}}
	if c.Applies {
		shown.Schema = &appliedJSON{c.Schema.ID.String(), c.Schema.Name, c.Schema.Title, c.Version, c.Schema.Enforce}
		shown.Newest, shown.Form = c.Schema.Version, c.Form
	}
	for _, p := range c.Problems {
		shown.Problems = append(shown.Problems, problemJSON(p))
	}
	return shown
}

func (a *api) listSchemas(w http.ResponseWriter, r *request) error {
	list, err := a.repo.ListSchemas(r.Context(), r.caller, r.id())
	if err == nil {
		writeJSON(w, http.StatusOK, showAll(list, a.presenter(r).schema))
	}
	return err
}

func (a *api) createSchema(w http.ResponseWriter, r *request) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	created, err := a.repo.CreateSchema(r.Context(), r.caller, r.id(), fields)
	if err != nil {
		return err
	}
	shown := a.presenter(r).schema(created)
	writeCreated(w, r, shown.URL, created.Tag(), shown)
	return nil
}

func (a *api) getSchema(w http.ResponseWriter, r *request) error {
	found, err := a.repo.GetSchema(r.Context(), r.caller, r.id())
	return a.sendSchema(w, r, found, checkPreconditions(r, found.Tag(), found.Modified, err))
}

func (a *api) updateSchema(w http.ResponseWriter, r *request) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	updated, err := a.repo.UpdateSchema(r.Context(), r.caller, r.id(), repository.Edit[repository.Schema]{
		Fields: fields, Match: preconditions(r), Shown: fieldsOf(a.presenter(r).schema),
	})
	return a.sendSchema(w, r, updated, err)
}

func (a *api) deleteSchema(w http.ResponseWriter, r *request) error {
	deleted, err := a.repo.DeleteSchema(r.Context(), r.caller, r.id(), preconditions(r))
	return sendNothing(w, deleted.Tag(), err)
}

func (a *api) restoreSchema(w http.ResponseWriter, r *request) error {
	restored, err := a.repo.RestoreSchema(r.Context(), r.caller, r.id(), preconditions(r))
	return a.sendSchema(w, r, restored, err)
}

func (a *api) sendSchema(w http.ResponseWriter, r *request, s repository.Schema, err error) error {
	if err == nil {
		writeRecord(w, r, http.StatusOK, s.Tag(), a.presenter(r).schema(s))
	}
	return err
}

func (a *api) listSchemaVersions(w http.ResponseWriter, r *request) error {
	list, err := a.repo.ListSchemaVersions(r.Context(), r.caller, r.id())
	if err == nil {
		writeJSON(w, http.StatusOK, showAll(list, showSchemaVersion))
	}
	return err
}

func (a *api) getSchemaVersion(w http.ResponseWriter, r *request) error {
	v, err := a.repo.GetSchemaVersion(r.Context(), r.caller, r.id(), r.params.ByName("number"))
	if err == nil {
		writeJSON(w, http.StatusOK, showSchemaVersion(v))
	}
	return err
}

func (a *api) getResourceSchema(w http.ResponseWriter, r *request) error {
	c, err := a.repo.ResourceConformance(r.Context(), r.caller, r.id())
	return sendConformance(w, c, err)
}

func (a *api) getSetSchema(w http.ResponseWriter, r *request) error {
	c, err := a.repo.SetConformance(r.Context(), r.caller, r.id())
	return sendConformance(w, c, err)
}

func sendConformance(w http.ResponseWriter, c repository.Conformance, err error) error {
	if err == nil {
		writeJSON(w, http.StatusOK, showConformance(c))
	}
	return err
}
