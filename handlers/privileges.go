package handlers

import (
	"net/http"

	"labshelf/handlers/internal/body"
)

func (a *api) listPrivileges(w http.ResponseWriter, r *request) error {
	page, err := a.repo.ListPrivileges(r.Context(), r.caller, r.list())
	if err != nil {
		return err
	}
	presenter := a.presenter(r)
	writePage(a, w, r, page, presenter.privilege)
	return nil
}

func (a *api) grant(w http.ResponseWriter, r *request) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	granted, isNew, err := a.repo.Grant(r.Context(), r.caller, fields)
	if err != nil {
		return err
	}
	shown := a.presenter(r).privilege(granted)
	if isNew {
		writeCreated(w, r, shown.URL, granted.Tag(), shown)
	} else {
		writeRecord(w, r, http.StatusOK, granted.Tag(), shown)
	}
	return nil
}

func (a *api) getPrivilege(w http.ResponseWriter, r *request) error {
	found, err := a.repo.GetPrivilege(r.Context(), r.caller, r.id())
	if err := checkPreconditions(r, found.Tag(), found.Modified, err); err != nil {
		return err
	}
	writeRecord(w, r, http.StatusOK, found.Tag(), a.presenter(r).privilege(found))
	return nil
}

func (a *api) revoke(w http.ResponseWriter, r *request) error {
	deleted, err := a.repo.Revoke(r.Context(), r.caller, r.id(), preconditions(r))
	return sendNothing(w, deleted.Tag(), err)
}
