package v1

import (
	"encoding/json"
	"net/http"

	"labshelf/handlers/internal/body"
	"labshelf/handlers/internal/encode"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/input"
	"labshelf/handlers/wire"
	"labshelf/repository/describe"
)

// Schemas serves schemas of metadata.
type Schemas struct{ *api }

func (s presenter) schema(of describe.Schema) wire.Schema {
	id := of.ID.String()
	return wire.Schema{
		ID: id, URL: s.url("schemas", id), DataspaceID: of.DataspaceID.String(), Name: of.Name, Title: of.Title, Description: of.Description,
		For: of.For.String(), Types: of.Types(), Enforce: of.Enforce, Version: int(of.Version), Schema: json.RawMessage(of.Text), Form: encode.Raw(of.Form),
		State: of.State.String(), History: history(of.Record),
	}
}

func showSchemaVersion(v describe.SchemaVersion) wire.SchemaVersion {
	return wire.SchemaVersion{
		Version: int(v.Number), Schema: json.RawMessage(v.Text), Form: encode.Raw(v.Form),
		Created: encode.Time(v.Created), CreatedEpoch: encode.Epoch(v.Created), CreatedBy: v.CreatedBy.String(),
	}
}

func showConformance(c describe.Conformance) wire.Conformance {
	shown := wire.Conformance{Incomplete: len(c.Problems) > 0, Problems: []wire.PropertyProblem{}}
	if c.Applies {
		shown.Schema = &wire.AppliedSchema{
			ID: c.Schema.ID.String(), Name: c.Schema.Name, Title: c.Schema.Title, Version: int(c.Version), Enforce: c.Schema.Enforce,
		}
		shown.Newest, shown.Form = int(c.Schema.Version), encode.Raw(c.Form)
	}
	for _, p := range c.Problems {
		shown.Problems = append(shown.Problems, wire.PropertyProblem(p))
	}
	return shown
}

// List answers with the schemas of a dataspace.
func (a Schemas) List(w http.ResponseWriter, r *exchange.Request) error {
	list, err := a.repo.Schemas.List(r.Context(), r.Caller, r.ID())
	if err == nil {
		exchange.WriteJSON(w, http.StatusOK, showAll(list, a.presenter(r).schema))
	}
	return err
}

// Create creates a schema, and answers with its record.
func (a Schemas) Create(w http.ResponseWriter, r *exchange.Request) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	created, err := a.repo.Schemas.Create(r.Context(), r.Caller, r.ID(), input.NewSchema(fields))
	if err != nil {
		return err
	}
	shown := a.presenter(r).schema(created)
	exchange.WriteCreated(w, r, shown.URL, created.Tag(), shown)
	return nil
}

// Get answers with the record of a schema.
func (a Schemas) Get(w http.ResponseWriter, r *exchange.Request) error {
	found, err := a.repo.Schemas.Get(r.Context(), r.Caller, r.ID())
	return a.send(w, r, found, exchange.CheckPreconditions(r, found.Tag(), found.Modified, err))
}

// Update changes the record of a schema.
func (a Schemas) Update(w http.ResponseWriter, r *exchange.Request) error {
	updated, err := editing[describe.Schema, describe.SchemaFields]{
		input.SchemaEdit, a.repo.Schemas.Get, fieldsOf(a.presenter(r).schema), a.repo.Schemas.Update,
	}.edit(w, r)
	return a.send(w, r, updated, err)
}

// Delete deletes a schema.
func (a Schemas) Delete(w http.ResponseWriter, r *exchange.Request) error {
	deleted, err := a.repo.Schemas.Delete(r.Context(), r.Caller, r.ID(), exchange.Preconditions(r.Request))
	return exchange.WriteNothing(w, deleted.Tag(), err)
}

// Restore restores a deleted schema.
func (a Schemas) Restore(w http.ResponseWriter, r *exchange.Request) error {
	restored, err := a.repo.Schemas.Restore(r.Context(), r.Caller, r.ID(), exchange.Preconditions(r.Request))
	return a.send(w, r, restored, err)
}

func (a Schemas) send(w http.ResponseWriter, r *exchange.Request, s describe.Schema, err error) error {
	if err == nil {
		exchange.WriteRecord(w, r, http.StatusOK, s.Tag(), a.presenter(r).schema(s))
	}
	return err
}

// Versions answers with the versions of a schema.
func (a Schemas) Versions(w http.ResponseWriter, r *exchange.Request) error {
	list, err := a.repo.Schemas.ListVersions(r.Context(), r.Caller, r.ID())
	if err == nil {
		exchange.WriteJSON(w, http.StatusOK, showAll(list, showSchemaVersion))
	}
	return err
}

// Version answers with one version of a schema.
func (a Schemas) Version(w http.ResponseWriter, r *exchange.Request) error {
	v, err := a.repo.Schemas.GetVersion(r.Context(), r.Caller, r.ID(), r.Params.ByName("number"))
	if err == nil {
		exchange.WriteJSON(w, http.StatusOK, showSchemaVersion(v))
	}
	return err
}

// OfResource answers with the schema of a resource and the problems of its metadata.
func (a Schemas) OfResource(w http.ResponseWriter, r *exchange.Request) error {
	c, err := a.repo.Descriptions.ResourceConformance(r.Context(), r.Caller, r.ID())
	return sendConformance(w, c, err)
}

// OfSet answers with the schema of a set and the problems of its metadata.
func (a Schemas) OfSet(w http.ResponseWriter, r *exchange.Request) error {
	c, err := a.repo.Descriptions.SetConformance(r.Context(), r.Caller, r.ID())
	return sendConformance(w, c, err)
}

func sendConformance(w http.ResponseWriter, c describe.Conformance, err error) error {
	if err == nil {
		exchange.WriteJSON(w, http.StatusOK, showConformance(c))
	}
	return err
}
