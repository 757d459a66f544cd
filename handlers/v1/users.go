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

// Users serves users.
type Users struct{ *api }

// List answers with a page of users.
func (a Users) List(w http.ResponseWriter, r *exchange.Request) error {
	page, err := a.repo.Users.List(r.Context(), r.Caller, r.List(paging.Users))
	if err != nil {
		return err
	}
	presenter := a.presenter(r)
	writePage(a.api, w, r, page, presenter.user)
	return nil
}

// Create creates a user, and answers with its record.
func (a Users) Create(w http.ResponseWriter, r *exchange.Request) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	created, err := a.repo.Users.Create(r.Context(), r.Caller, input.NewUser(fields))
	if err != nil {
		return err
	}
	shown := a.presenter(r).user(created)
	exchange.WriteCreated(w, r, shown.URL, created.Tag(), shown)
	return nil
}

// Get answers with the record of a user.
func (a Users) Get(w http.ResponseWriter, r *exchange.Request) error {
	found, err := a.repo.Users.Get(r.Context(), r.Caller, r.ID())
	return a.send(w, r, found, exchange.CheckPreconditions(r, found.Tag(), found.Modified, err))
}

// Update changes the record of a user.
func (a Users) Update(w http.ResponseWriter, r *exchange.Request) error {
	updated, err := editing[metadata.User, containers.UserFields]{
		input.UserEdit, a.repo.Users.Get, fieldsOf(a.presenter(r).user), a.repo.Users.Update,
	}.edit(w, r)
	return a.send(w, r, updated, err)
}

// Delete deletes a user.
func (a Users) Delete(w http.ResponseWriter, r *exchange.Request) error {
	deleted, err := a.repo.Users.Delete(r.Context(), r.Caller, r.ID(), exchange.Preconditions(r.Request))
	return exchange.WriteNothing(w, deleted.Tag(), err)
}

// Restore restores a deleted user.
func (a Users) Restore(w http.ResponseWriter, r *exchange.Request) error {
	restored, err := a.repo.Users.Restore(r.Context(), r.Caller, r.ID(), exchange.Preconditions(r.Request))
	return a.send(w, r, restored, err)
}

func (a Users) send(w http.ResponseWriter, r *exchange.Request, u metadata.User, err error) error {
	if err == nil {
		exchange.WriteRecord(w, r, http.StatusOK, u.Tag(), a.presenter(r).user(u))
	}
	return err
}
