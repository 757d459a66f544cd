package v1

import (
	"net/http"

	"labshelf/handlers/internal/body"
	"labshelf/handlers/internal/encode"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/input"
	"labshelf/paging"
)

// Versions serves the versions of resources.
type Versions struct{ *api }

// List answers with a page of the versions of a resource.
func (a Versions) List(w http.ResponseWriter, r *exchange.Request) error {
	layouts := a.layouts(r)
	page := a.pages.Begin(layouts.base + r.Path + exchange.Results)
	found, err := a.repo.Versions.List(r.Context(), r.Caller, r.List(paging.ResourceVersions))
	for _, v := range found.Items {
		encode.Add(page, layouts.versionInPages, &encode.Version{Version: v})
	}
	return a.finishPage(w, r, page, found.PageEnds, err)
}

// Get answers with the record of a version.
func (a Versions) Get(w http.ResponseWriter, r *exchange.Request) error {
	found, err := a.repo.Versions.Get(r.Context(), r.Caller, r.ID(), r.Number())
	return a.send(w, r, encode.Version{Version: found}, err)
}

// Restore adds a version with the content of an earlier one.
func (a Versions) Restore(w http.ResponseWriter, r *exchange.Request) error {
	restored, err := a.repo.Versions.Restore(r.Context(), r.Caller, r.ID(), r.Number(), exchange.Preconditions(r.Request))
	return a.sendResource(w, r, restored, err)
}

// Label sets or removes the label of a version.
func (a Versions) Label(w http.ResponseWriter, r *exchange.Request) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	labelled, err := a.repo.Versions.Label(r.Context(), r.Caller, r.ID(), r.Number(), input.Version(fields), exchange.Preconditions(r.Request))
	return a.send(w, r, encode.Version{Version: labelled}, err)
}

// Erase removes the file of a version immediately.
func (a Versions) Erase(w http.ResponseWriter, r *exchange.Request) error {
	erased, shared, err := a.repo.Versions.Erase(r.Context(), r.Caller, r.ID(), r.Number())
	return a.send(w, r, encode.Version{Version: erased, Shared: shared}, err)
}

func (a Versions) send(w http.ResponseWriter, r *exchange.Request, v encode.Version, err error) error {
	if err == nil {
		exchange.Write(w, http.StatusOK, exchange.JSONType, append(a.layouts(r).version.Append(nil, &v), '\n'))
	}
	return err
}
