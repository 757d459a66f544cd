package handlers

import (
	"net/http"

	"labshelf/handlers/internal/body"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository"
)

func (a *api) listSets(which paging.Listing) func(w http.ResponseWriter, r *request) error {
	return func(w http.ResponseWriter, r *request) error {
		page, err := a.repo.ListSets(r.Context(), r.caller, which, r.list())
		if err != nil {
			return err
		}
		presenter := a.presenter(r)
		writePage(a, w, r, page, presenter.set)
		return nil
	}
}

func (a *api) createSet(w http.ResponseWriter, r *request) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	created, err := a.repo.CreateSet(r.Context(), r.caller, fields)
	if err != nil {
		return err
	}
	shown := a.presenter(r).set(created)
	writeCreated(w, r, shown.URL, created.Tag(), shown)
	return nil
}

func (a *api) getSet(w http.ResponseWriter, r *request) error {
	found, err := a.repo.GetSet(r.Context(), r.caller, r.id())
	return a.sendSet(w, r, found, checkPreconditions(r, found.Tag(), found.Modified, err))
}

func (a *api) updateSet(w http.ResponseWriter, r *request) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	updated, err := a.repo.UpdateSet(r.Context(), r.caller, r.id(), repository.Edit[metadata.Set]{
		Fields: fields, Match: preconditions(r), Shown: fieldsOf(a.presenter(r).set),
	})
	return a.sendSet(w, r, updated, err)
}

func (a *api) deleteSet(w http.ResponseWriter, r *request) error {
	deleted, err := a.repo.DeleteSet(r.Context(), r.caller, r.id(), preconditions(r))
	return sendNothing(w, deleted.Tag(), err)
}

func (a *api) restoreSet(w http.ResponseWriter, r *request) error {
	restored, err := a.repo.RestoreSet(r.Context(), r.caller, r.id(), preconditions(r))
	return a.sendSet(w, r, restored, err)
}

func (a *api) sendSet(w http.ResponseWriter, r *request, set metadata.Set, err error) error {
	if err == nil {
		writeRecord(w, r, http.StatusOK, set.Tag(), a.presenter(r).set(set))
	}
	return err
}
