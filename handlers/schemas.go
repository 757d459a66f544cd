package handlers

import (
	"encoding/json"
	"net/http"

	"labshelf/handlers/internal/body"
	"labshelf/handlers/internal/encode"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/wire"
	"labshelf/repository/core"
	"labshelf/repository/describe"
)

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

// schemaRoutes serves schemas of metadata.
type schemaRoutes struct{ *api }

func (a schemaRoutes) listSchemas(w http.ResponseWriter, r *exchange.Request) error {
	list, err := a.repo.Schemas.ListSchemas(r.Context(), r.Caller, r.ID())
	if err == nil {
		exchange.WriteJSON(w, http.StatusOK, showAll(list, a.presenter(r).schema))
	}
	return err
}

func (a schemaRoutes) createSchema(w http.ResponseWriter, r *exchange.Request) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	created, err := a.repo.Schemas.CreateSchema(r.Context(), r.Caller, r.ID(), fields)
	if err != nil {
		return err
	}
	shown := a.presenter(r).schema(created)
	exchange.WriteCreated(w, r, shown.URL, created.Tag(), shown)
	return nil
}

func (a schemaRoutes) getSchema(w http.ResponseWriter, r *exchange.Request) error {
	found, err := a.repo.Schemas.GetSchema(r.Context(), r.Caller, r.ID())
	return a.sendSchema(w, r, found, exchange.CheckPreconditions(r, found.Tag(), found.Modified, err))
}

func (a schemaRoutes) updateSchema(w http.ResponseWriter, r *exchange.Request) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	updated, err := a.repo.Schemas.UpdateSchema(r.Context(), r.Caller, r.ID(), core.Edit[describe.Schema]{
		Fields: fields, Match: exchange.Preconditions(r.Request), Shown: fieldsOf(a.presenter(r).schema),
	})
	return a.sendSchema(w, r, updated, err)
}

func (a schemaRoutes) deleteSchema(w http.ResponseWriter, r *exchange.Request) error {
	deleted, err := a.repo.Schemas.DeleteSchema(r.Context(), r.Caller, r.ID(), exchange.Preconditions(r.Request))
	return exchange.WriteNothing(w, deleted.Tag(), err)
}

func (a schemaRoutes) restoreSchema(w http.ResponseWriter, r *exchange.Request) error {
	restored, err := a.repo.Schemas.RestoreSchema(r.Context(), r.Caller, r.ID(), exchange.Preconditions(r.Request))
	return a.sendSchema(w, r, restored, err)
}

func (a schemaRoutes) sendSchema(w http.ResponseWriter, r *exchange.Request, s describe.Schema, err error) error {
	if err == nil {
		exchange.WriteRecord(w, r, http.StatusOK, s.Tag(), a.presenter(r).schema(s))
	}
	return err
}

func (a schemaRoutes) listSchemaVersions(w http.ResponseWriter, r *exchange.Request) error {
	list, err := a.repo.Schemas.ListSchemaVersions(r.Context(), r.Caller, r.ID())
	if err == nil {
		exchange.WriteJSON(w, http.StatusOK, showAll(list, showSchemaVersion))
	}
	return err
}

func (a schemaRoutes) getSchemaVersion(w http.ResponseWriter, r *exchange.Request) error {
	v, err := a.repo.Schemas.GetSchemaVersion(r.Context(), r.Caller, r.ID(), r.Params.ByName("number"))
	if err == nil {
		exchange.WriteJSON(w, http.StatusOK, showSchemaVersion(v))
	}
	return err
}

func (a schemaRoutes) getResourceSchema(w http.ResponseWriter, r *exchange.Request) error {
	c, err := a.repo.Descriptions.ResourceConformance(r.Context(), r.Caller, r.ID())
	return sendConformance(w, c, err)
}

func (a schemaRoutes) getSetSchema(w http.ResponseWriter, r *exchange.Request) error {
	c, err := a.repo.Descriptions.SetConformance(r.Context(), r.Caller, r.ID())
	return sendConformance(w, c, err)
}

func sendConformance(w http.ResponseWriter, c describe.Conformance, err error) error {
	if err == nil {
		exchange.WriteJSON(w, http.StatusOK, showConformance(c))
	}
	return err
}
