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

// Sets serves sets.
type Sets struct{ *api }

// List answers with a page of sets.
func (a Sets) List(which paging.Listing) func(w http.ResponseWriter, r *exchange.Request) error {
	return func(w http.ResponseWriter, r *exchange.Request) error {
		page, err := a.repo.Sets.List(r.Context(), r.Caller, which, r.List(which))
		if err != nil {
			return err
		}
		presenter := a.presenter(r)
		writePage(a.api, w, r, page, presenter.set)
		return nil
	}
}

// Create creates a set, and answers with its record.
func (a Sets) Create(w http.ResponseWriter, r *exchange.Request) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	set, err := input.NewSet(fields)
	if err != nil {
		return err
	}
	created, err := a.repo.Sets.Create(r.Context(), r.Caller, set)
	if err != nil {
		return err
	}
	shown := a.presenter(r).set(created)
	exchange.WriteCreated(w, r, shown.URL, created.Tag(), shown)
	return nil
}

// Get answers with the record of a set.
func (a Sets) Get(w http.ResponseWriter, r *exchange.Request) error {
	found, err := a.repo.Sets.Get(r.Context(), r.Caller, r.ID())
	return a.send(w, r, found, exchange.CheckPreconditions(r, found.Tag(), found.Modified, err))
}

// Update changes the record of a set.
func (a Sets) Update(w http.ResponseWriter, r *exchange.Request) error {
	updated, err := editing[metadata.Set, containers.SetFields]{
		input.SetEdit, a.repo.Sets.Get, fieldsOf(a.presenter(r).set), a.repo.Sets.Update,
	}.edit(w, r)
	return a.send(w, r, updated, err)
}

// Delete deletes a set.
func (a Sets) Delete(w http.ResponseWriter, r *exchange.Request) error {
	deleted, err := a.repo.Sets.Delete(r.Context(), r.Caller, r.ID(), exchange.Preconditions(r.Request))
	return exchange.WriteNothing(w, deleted.Tag(), err)
}

// Restore restores a deleted set.
func (a Sets) Restore(w http.ResponseWriter, r *exchange.Request) error {
	restored, err := a.repo.Sets.Restore(r.Context(), r.Caller, r.ID(), exchange.Preconditions(r.Request))
	return a.send(w, r, restored, err)
}

func (a Sets) send(w http.ResponseWriter, r *exchange.Request, set metadata.Set, err error) error {
	if err == nil {
		exchange.WriteRecord(w, r, http.StatusOK, set.Tag(), a.presenter(r).set(set))
	}
	return err
}
