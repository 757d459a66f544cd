package v1

import (
	"net/http"

	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/tus"
)

// Uploads serves resumable uploads.
type Uploads struct{ *api }

// own returns the upload of a user with this id.
func (a Uploads) own(r *exchange.Request, id string) tus.Upload {
	base := a.hosts.Base(r.Request)
	return tus.Upload{Chunks: a.repo.Uploads.Chunks, ID: id, Name: id, URL: base + "/uploads/" + id, Base: base}
}

// On returns a handler that calls serve for the upload in the path.
func (a Uploads) On(serve func(tus.Upload, http.ResponseWriter, *exchange.Request) error) exchange.Handler {
	return func(w http.ResponseWriter, r *exchange.Request) error {
		return tus.Serve(w, r, func() error { return serve(a.own(r, r.ID()), w, r) })
	}
}

// Create starts an upload, and answers with its address.
func (a Uploads) Create(w http.ResponseWriter, r *exchange.Request) error {
	return tus.Serve(w, r, func() error {
		start, first, err := tus.ReadNew(w, r)
		if err != nil {
			return err
		}
		start.Fields.Match = exchange.Preconditions(r.Request)
		t, err := a.repo.Uploads.Create(r.Context(), r.Caller, start)
		return a.own(r, t.ID.String()).AnswerNew(w, r, t, first, err)
	})
}
