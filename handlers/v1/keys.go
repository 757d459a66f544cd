package v1

import (
	"cmp"
	"errors"
	"net/http"
	"time"

	"labshelf/auth/errs"
	"labshelf/handlers/internal/body"
	"labshelf/handlers/internal/encode"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/input"
	"labshelf/handlers/wire"
	"labshelf/metadata"
	"labshelf/paging"
)

// Keys serves the keys of users.
type Keys struct{ *api }

// List answers with a page of the keys of a user.
func (a Keys) List(w http.ResponseWriter, r *exchange.Request) error {
	page, err := a.repo.Users.ListKeys(r.Context(), r.Caller, r.List(paging.UserKeys))
	if err != nil {
		return err
	}
	presenter := a.presenter(r)
	exchange.WriteJSON(w, http.StatusOK, pageOf(presenter.base, r, page, presenter.key(time.Now()))) // not compressed, since it contains the beginnings of keys
	return nil
}

// Create answers with the key, which the service does not store. A request without a body creates a
// key without a label or its own expiry.
func (a Keys) Create(w http.ResponseWriter, r *exchange.Request) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil && !errors.Is(err, body.ErrEmpty) {
		return err
	}
	created, key, err := a.repo.Users.CreateKey(r.Context(), r.Caller, r.ID(), input.NewKey(fields))
	if err != nil {
		return err
	}
	presenter := a.presenter(r)
	shown := wire.CreatedKey{Key: presenter.key(time.Now())(created), Secret: key}
	w.Header().Set("Location", presenter.url("users", created.UserID.String())+"/keys/"+shown.ID)
	w.Header().Set("Cache-Control", "no-store")
	exchange.WriteJSON(w, http.StatusCreated, shown)
	return nil
}

// Get answers with the record of a key.
func (a Keys) Get(w http.ResponseWriter, r *exchange.Request) error {
	key, err := a.repo.Users.GetKey(r.Context(), r.Caller, r.ID(), r.Params.ByName("keyId"))
	if err == nil {
		exchange.WriteJSON(w, http.StatusOK, a.presenter(r).key(time.Now())(key))
	}
	return err
}

// Update changes a key. A key has no entity tag.
func (a Keys) Update(w http.ResponseWriter, r *exchange.Request) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	keep, err := keepsDependents(r)
	if err != nil {
		return err
	}
	show, user, id := a.presenter(r).key(time.Now()), r.ID(), r.Params.ByName("keyId")
	in := input.KeyEdit(fields, func() (input.Object, error) {
		key, err := a.repo.Users.GetKey(r.Context(), r.Caller, user, id)
		return fieldsOf(show)(key), err
	})
	key, err := a.repo.Users.UpdateKey(r.Context(), r.Caller, user, id, in, keep)
	if err == nil {
		exchange.WriteJSON(w, http.StatusOK, show(key))
	}
	return err
}

// Revoke ends a key. It also ends the key's dependents unless the query says keep.
func (a Keys) Revoke(w http.ResponseWriter, r *exchange.Request) error {
	keep, err := keepsDependents(r)
	if err != nil {
		return err
	}
	return exchange.WriteNothing(w, "", a.repo.Users.RevokeKey(r.Context(), r.Caller, r.ID(), r.Params.ByName("keyId"), keep))
}

// keepsDependents reports whether the query keeps the dependents of a key.
func keepsDependents(r *exchange.Request) (bool, error) {
	dependents := r.Query.Get("dependents")
	if r.Query.Has("dependents") && dependents != "end" && dependents != "keep" {
		return false, &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidParameter, Field: "dependents", Message: "dependents must be end or keep"}
	}
	return dependents == "keep", nil
}

// maxDependents limits the dependents of a key in an answer. The count includes all of them.
const maxDependents = 1000

// Dependents answers with the objects that depend on a key.
func (a Keys) Dependents(w http.ResponseWriter, r *exchange.Request) error {
	found, err := a.repo.Users.KeyDependents(r.Context(), r.Caller, r.ID(), r.Params.ByName("keyId"))
	if err != nil {
		return err
	}
	shown := wire.KeyDependents{Sessions: found.Sessions, Data: []wire.KeyDependent{}}
	add := func(kind string, id metadata.ID, label string, created, expires metadata.Stamp, madeWith metadata.ID) {
		if shown.Count++; shown.Count <= maxDependents {
			shown.Data = append(shown.Data, wire.KeyDependent{
				Kind: kind, ID: id.String(), Label: label, Created: encode.Time(created), Expires: encode.Time(expires), MadeWith: madeWith.String(),
			})
		}
	}
	for _, k := range found.Keys {
		add("key", k.ID, k.Label, k.Created, k.Expires, k.MadeWith)
	}
	for _, l := range found.Links {
		add(l.Kind.String(), l.ID, l.Label, l.Created, l.Expires, l.MadeWith)
	}
	for _, hook := range found.Webhooks {
		add("webhook", hook.ID, cmp.Or(hook.Label, hook.URL), hook.Created, 0, hook.MadeWith)
	}
	exchange.WriteJSON(w, http.StatusOK, shown)
	return nil
}
