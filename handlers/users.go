package handlers

import (
	"net/http"

	"labshelf/handlers/internal/body"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/input"
	"labshelf/metadata"
	"labshelf/repository/containers"
)

// userRoutes serves users, their keys and their roles.
type userRoutes struct{ *api }

func (a userRoutes) listUsers(w http.ResponseWriter, r *exchange.Request) error {
	page, err := a.repo.Users.ListUsers(r.Context(), r.Caller, r.List())
	if err != nil {
		return err
	}
	presenter := a.presenter(r)
	writePage(a.api, w, r, page, presenter.user)
	return nil
}

func (a userRoutes) createUser(w http.ResponseWriter, r *exchange.Request) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	created, err := a.repo.Users.CreateUser(r.Context(), r.Caller, input.NewUser(fields))
	if err != nil {
		return err
	}
	shown := a.presenter(r).user(created)
	exchange.WriteCreated(w, r, shown.URL, created.Tag(), shown)
	return nil
}

func (a userRoutes) getUser(w http.ResponseWriter, r *exchange.Request) error {
	found, err := a.repo.Users.GetUser(r.Context(), r.Caller, r.ID())
	return a.sendUser(w, r, found, exchange.CheckPreconditions(r, found.Tag(), found.Modified, err))
}

func (a userRoutes) updateUser(w http.ResponseWriter, r *exchange.Request) error {
	updated, err := editing[metadata.User, containers.UserFields]{
		input.UserEdit, a.repo.Users.GetUser, fieldsOf(a.presenter(r).user), a.repo.Users.UpdateUser,
	}.edit(w, r)
	return a.sendUser(w, r, updated, err)
}

func (a userRoutes) deleteUser(w http.ResponseWriter, r *exchange.Request) error {
	deleted, err := a.repo.Users.DeleteUser(r.Context(), r.Caller, r.ID(), exchange.Preconditions(r.Request))
	return exchange.WriteNothing(w, deleted.Tag(), err)
}

func (a userRoutes) restoreUser(w http.ResponseWriter, r *exchange.Request) error {
	restored, err := a.repo.Users.RestoreUser(r.Context(), r.Caller, r.ID(), exchange.Preconditions(r.Request))
	return a.sendUser(w, r, restored, err)
}

func (a userRoutes) sendUser(w http.ResponseWriter, r *exchange.Request, u metadata.User, err error) error {
	if err == nil {
		exchange.WriteRecord(w, r, http.StatusOK, u.Tag(), a.presenter(r).user(u))
	}
	return err
}

func (a userRoutes) listPrivileges(w http.ResponseWriter, r *exchange.Request) error {
	page, err := a.repo.Users.ListPrivileges(r.Context(), r.Caller, r.List())
	if err != nil {
		return err
	}
	presenter := a.presenter(r)
	writePage(a.api, w, r, page, presenter.privilege)
	return nil
}

func (a userRoutes) grant(w http.ResponseWriter, r *exchange.Request) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	privilege, err := input.NewPrivilege(fields)
	if err != nil {
		return err
	}
	granted, isNew, err := a.repo.Users.Grant(r.Context(), r.Caller, privilege)
	if err != nil {
		return err
	}
	shown := a.presenter(r).privilege(granted)
	if isNew {
		exchange.WriteCreated(w, r, shown.URL, granted.Tag(), shown)
	} else {
		exchange.WriteRecord(w, r, http.StatusOK, granted.Tag(), shown)
	}
	return nil
}

func (a userRoutes) getPrivilege(w http.ResponseWriter, r *exchange.Request) error {
	found, err := a.repo.Users.GetPrivilege(r.Context(), r.Caller, r.ID())
	if err := exchange.CheckPreconditions(r, found.Tag(), found.Modified, err); err != nil {
		return err
	}
	exchange.WriteRecord(w, r, http.StatusOK, found.Tag(), a.presenter(r).privilege(found))
	return nil
}

func (a userRoutes) revoke(w http.ResponseWriter, r *exchange.Request) error {
	deleted, err := a.repo.Users.Revoke(r.Context(), r.Caller, r.ID(), exchange.Preconditions(r.Request))
	return exchange.WriteNothing(w, deleted.Tag(), err)
}
