package handlers

import (
	"net/http"

	"labshelf/handlers/internal/body"
	"labshelf/metadata"
	"labshelf/repository"
)

func (a *api) listDataspaces(w http.ResponseWriter, r *request) error {
	page, err := a.repo.ListDataspaces(r.Context(), r.caller, r.list())
	if err != nil {
		return err
	}
	presenter := a.presenter(r)
	writePage(a, w, r, page, presenter.dataspace)
	return nil
}

func (a *api) createDataspace(w http.ResponseWriter, r *request) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	created, err := a.repo.CreateDataspace(r.Context(), r.caller, fields)
	if err != nil {
		return err
	}
	shown := a.presenter(r).dataspace(created)
	writeCreated(w, r, shown.URL, created.Tag(), shown)
	return nil
}

func (a *api) getDataspace(w http.ResponseWriter, r *request) error {
	found, err := a.repo.GetDataspace(r.Context(), r.caller, r.id())
	return a.sendDataspace(w, r, found, checkPreconditions(r, found.Tag(), found.Modified, err))
}

func (a *api) updateDataspace(w http.ResponseWriter, r *request) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	updated, err := a.repo.UpdateDataspace(r.Context(), r.caller, r.id(), repository.Edit[metadata.Dataspace]{
		Fields: fields, Match: preconditions(r), Shown: fieldsOf(a.presenter(r).dataspace),
	})
	return a.sendDataspace(w, r, updated, err)
}

func (a *api) deleteDataspace(w http.ResponseWriter, r *request) error {
	deleted, err := a.repo.DeleteDataspace(r.Context(), r.caller, r.id(), preconditions(r))
	return sendNothing(w, deleted.Tag(), err)
}

func (a *api) restoreDataspace(w http.ResponseWriter, r *request) error {
	restored, err := a.repo.RestoreDataspace(r.Context(), r.caller, r.id(), preconditions(r))
	return a.sendDataspace(w, r, restored, err)
}

func (a *api) sendDataspace(w http.ResponseWriter, r *request, d metadata.Dataspace, err error) error {
	if err == nil {
		writeRecord(w, r, http.StatusOK, d.Tag(), a.presenter(r).dataspace(d))
	}
	return err
}
