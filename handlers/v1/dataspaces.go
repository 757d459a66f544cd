package v1

import (
	"net/http"

	"labshelf/handlers/internal/body"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/input"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/containers"
)

// Dataspaces serves dataspaces.
type Dataspaces struct{ *api }

// List answers with a page of dataspaces.
func (a Dataspaces) List(w http.ResponseWriter, r *exchange.Request) error {
	page, err := a.repo.Dataspaces.List(r.Context(), r.Caller, r.List(paging.Dataspaces))
	if err != nil {
		return err
	}
	presenter := a.presenter(r)
	writePage(a.api, w, r, page, presenter.dataspace)
	return nil
}

// Create creates a dataspace, and answers with its record.
func (a Dataspaces) Create(w http.ResponseWriter, r *exchange.Request) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	created, err := a.repo.Dataspaces.Create(r.Context(), r.Caller, input.NewDataspace(fields))
	if err != nil {
		return err
	}
	shown := a.presenter(r).dataspace(created)
	exchange.WriteCreated(w, r, shown.URL, created.Tag(), shown)
	return nil
}

// Get answers with the record of a dataspace.
func (a Dataspaces) Get(w http.ResponseWriter, r *exchange.Request) error {
	found, err := a.repo.Dataspaces.Get(r.Context(), r.Caller, r.ID())
	return a.send(w, r, found, exchange.CheckPreconditions(r, found.Tag(), found.Modified, err))
}

// Update changes the record of a dataspace.
func (a Dataspaces) Update(w http.ResponseWriter, r *exchange.Request) error {
	updated, err := editing[metadata.Dataspace, containers.DataspaceFields]{
		input.DataspaceEdit, a.repo.Dataspaces.Get, fieldsOf(a.presenter(r).dataspace), a.repo.Dataspaces.Update,
	}.edit(w, r)
	return a.send(w, r, updated, err)
}

// Delete deletes a dataspace.
func (a Dataspaces) Delete(w http.ResponseWriter, r *exchange.Request) error {
	deleted, err := a.repo.Dataspaces.Delete(r.Context(), r.Caller, r.ID(), exchange.Preconditions(r.Request))
	return exchange.WriteNothing(w, deleted.Tag(), err)
}

// Restore restores a deleted dataspace.
func (a Dataspaces) Restore(w http.ResponseWriter, r *exchange.Request) error {
	restored, err := a.repo.Dataspaces.Restore(r.Context(), r.Caller, r.ID(), exchange.Preconditions(r.Request))
	return a.send(w, r, restored, err)
}

func (a Dataspaces) send(w http.ResponseWriter, r *exchange.Request, d metadata.Dataspace, err error) error {
	if err == nil {
		exchange.WriteRecord(w, r, http.StatusOK, d.Tag(), a.presenter(r).dataspace(d))
	}
	return err
}
