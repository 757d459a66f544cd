package handlers

import (
	"net/http"

	"labshelf/handlers/internal/body"
	"labshelf/metadata"
	"labshelf/repository/core"
)

// userRoutes serves users, their keys and their roles.
type userRoutes struct{ *api }

func (a userRoutes) listUsers(w http.ResponseWriter, r *request) error {
	page, err := a.repo.Users.ListUsers(r.Context(), r.caller, r.list())
	if err != nil {
		return err
	}
	presenter := a.presenter(r)
	writePage(a.api, w, r, page, presenter.user)
	return nil
}

func (a userRoutes) createUser(w http.ResponseWriter, r *request) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	created, err := a.repo.Users.CreateUser(r.Context(), r.caller, fields)
	if err != nil {
		return err
	}
	shown := a.presenter(r).user(created)
	writeCreated(w, r, shown.URL, created.Tag(), shown)
	return nil
}

func (a userRoutes) getUser(w http.ResponseWriter, r *request) error {
	found, err := a.repo.Users.GetUser(r.Context(), r.caller, r.id())
	return a.sendUser(w, r, found, checkPreconditions(r, found.Tag(), found.Modified, err))
}

func (a userRoutes) updateUser(w http.ResponseWriter, r *request) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	updated, err := a.repo.Users.UpdateUser(r.Context(), r.caller, r.id(), core.Edit[metadata.User]{
		Fields: fields, Match: preconditions(r), Shown: fieldsOf(a.presenter(r).user),
	})
	return a.sendUser(w, r, updated, err)
}

func (a userRoutes) deleteUser(w http.ResponseWriter, r *request) error {
	deleted, err := a.repo.Users.DeleteUser(r.Context(), r.caller, r.id(), preconditions(r))
	return sendNothing(w, deleted.Tag(), err)
}

func (a userRoutes) restoreUser(w http.ResponseWriter, r *request) error {
	restored, err := a.repo.Users.RestoreUser(r.Context(), r.caller, r.id(), preconditions(r))
	return a.sendUser(w, r, restored, err)
}

func (a userRoutes) sendUser(w http.ResponseWriter, r *request, u metadata.User, err error) error {
	if err == nil {
		writeRecord(w, r, http.StatusOK, u.Tag(), a.presenter(r).user(u))
	}
	return err
}

func (a userRoutes) listPrivileges(w http.ResponseWriter, r *request) error {
	page, err := a.repo.Users.ListPrivileges(r.Context(), r.caller, r.list())
	if err != nil {
		return err
	}
	presenter := a.presenter(r)
	writePage(a.api, w, r, page, presenter.privilege)
	return nil
}

func (a userRoutes) grant(w http.ResponseWriter, r *request) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	granted, isNew, err := a.repo.Users.Grant(r.Context(), r.caller, fields)
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

func (a userRoutes) getPrivilege(w http.ResponseWriter, r *request) error {
	found, err := a.repo.Users.GetPrivilege(r.Context(), r.caller, r.id())
	if err := checkPreconditions(r, found.Tag(), found.Modified, err); err != nil {
		return err
	}
	writeRecord(w, r, http.StatusOK, found.Tag(), a.presenter(r).privilege(found))
	return nil
}

func (a userRoutes) revoke(w http.ResponseWriter, r *request) error {
	deleted, err := a.repo.Users.Revoke(r.Context(), r.caller, r.id(), preconditions(r))
	return sendNothing(w, deleted.Tag(), err)
}
