package v1

import (
	"net/http"

	"labshelf/handlers/internal/body"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/input"
	"labshelf/paging"
)

// Privileges serves the roles of users.
type Privileges struct{ *api }

// List answers with a page of roles.
func (a Privileges) List(w http.ResponseWriter, r *exchange.Request) error {
	page, err := a.repo.Users.ListPrivileges(r.Context(), r.Caller, r.List(paging.Privileges))
	if err != nil {
		return err
	}
	presenter := a.presenter(r)
	writePage(a.api, w, r, page, presenter.privilege)
	return nil
}

// Grant gives a user a role in a dataspace.
func (a Privileges) Grant(w http.ResponseWriter, r *exchange.Request) error {
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

// Get answers with the record of a role.
func (a Privileges) Get(w http.ResponseWriter, r *exchange.Request) error {
	found, err := a.repo.Users.GetPrivilege(r.Context(), r.Caller, r.ID())
	if err := exchange.CheckPreconditions(r, found.Tag(), found.Modified, err); err != nil {
		return err
	}
	exchange.WriteRecord(w, r, http.StatusOK, found.Tag(), a.presenter(r).privilege(found))
	return nil
}

// Revoke removes the role of a user.
func (a Privileges) Revoke(w http.ResponseWriter, r *exchange.Request) error {
	deleted, err := a.repo.Users.Revoke(r.Context(), r.Caller, r.ID(), exchange.Preconditions(r.Request))
	return exchange.WriteNothing(w, deleted.Tag(), err)
}
