package v1

import (
	"context"
	"net/http"

	"labshelf/auth"
	"labshelf/handlers/internal/body"
	"labshelf/handlers/internal/encode"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/input"
	"labshelf/handlers/wire"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/core"
	"labshelf/repository/files"
)

// Resources serves the records of files.
type Resources struct{ *api }

// List answers with a page of resources.
func (a Resources) List(which paging.Listing) func(w http.ResponseWriter, r *exchange.Request) error {
	return func(w http.ResponseWriter, r *exchange.Request) error {
		layouts := a.layouts(r)
		page := a.pages.Begin(layouts.base + r.Path + exchange.Results)
		ends, err := a.repo.Files.List(r.Context(), r.Caller, which, r.List(which), func(resource *metadata.Resource) {
			encode.Add(page, layouts.paged, resource)
		}, page.AddFolder)
		return a.finishPage(w, r, page, ends, err)
	}
}

// finishPage sends a page or returns the error that ended it. It returns the page to its pool.
func (a *api) finishPage(w http.ResponseWriter, r *exchange.Request, page *encode.Page, ends core.PageEnds, err error) error {
	switch {
	case err != nil:
	case page.Empty():
		_ = a.sendPage(w, r, encode.JSON(wire.End{End: true})) // a client that went away gets no error
	case a.sendPage(w, r, page.Finish(ends)) != nil:
		return nil // the page is not reused; see exchange.Send
	}
	a.pages.Done(page)
	return err
}

// Create creates a resource from a form with its file.
func (a Resources) Create(w http.ResponseWriter, r *exchange.Request) error {
	upload := a.repo.Uploads.NewUpload(r.Caller)
	defer a.discard(upload)
	form, err := body.OpenForm(r.Request, upload)
	if err != nil {
		return err
	}
	fields, err := form.Read(func(setID string) error { return upload.Into(r.Context(), setID) })
	if err != nil {
		return err
	}
	created, err := upload.Create(r.Context(), fields)
	if err != nil {
		return err
	}
	w.Header().Set("Location", a.presenter(r).url("resources", created.ID.String()))
	a.writeResource(w, r, http.StatusCreated, &created)
	return nil
}

// Replace replaces the file of a resource.
func (a Resources) Replace(w http.ResponseWriter, r *exchange.Request) error {
	upload := a.repo.Uploads.NewUpload(r.Caller)
	defer a.discard(upload)
	form, err := body.OpenForm(r.Request, upload)
	if err != nil {
		return err
	}
	if err := upload.Over(r.Context(), r.ID()); err != nil {
		return err
	}
	fields, err := form.Read(func(string) error { return nil })
	if err != nil {
		return err
	}
	fields.Match = exchange.Preconditions(r.Request)
	replaced, err := upload.Replace(r.Context(), r.ID(), fields)
	if err != nil {
		return err
	}
	return a.sendResource(w, r, replaced, nil)
}

// discard removes the temporary file of an upload. If that fails, the file stays until the next
// start, which empties the temporary folder.
func (a Resources) discard(upload *files.Upload) {
	if err := upload.Discard(); err != nil {
		a.config.Log.Warn().Err(err).Msg("the temporary file of an upload could not be removed")
	}
}

// Get answers with the record of a resource.
func (a Resources) Get(w http.ResponseWriter, r *exchange.Request) error {
	found, err := a.repo.Files.Get(r.Context(), r.Caller, r.ID())
	return a.sendResource(w, r, found, exchange.CheckPreconditions(r, found.Tag(), found.Modified, err))
}

// Edit changes the record of a resource.
func (a Resources) Edit(w http.ResponseWriter, r *exchange.Request) error {
	edited, err := editing[metadata.Resource, files.Fields]{
		input.ResourceEdit, a.repo.Files.Get,
		func(shown metadata.Resource) input.Object { return decoded(a.layouts(r).single.Append(nil, &shown)) },
		a.repo.Files.Edit,
	}.edit(w, r)
	return a.sendResource(w, r, edited, err)
}

// Delete deletes a resource.
func (a Resources) Delete(w http.ResponseWriter, r *exchange.Request) error {
	deleted, err := a.repo.Files.Delete(r.Context(), r.Caller, r.ID(), exchange.Preconditions(r.Request))
	return exchange.WriteNothing(w, tagOf(&deleted), err)
}

// Restore restores a deleted resource.
func (a Resources) Restore(w http.ResponseWriter, r *exchange.Request) error {
	restored, err := a.repo.Files.Restore(r.Context(), r.Caller, r.ID(), exchange.Preconditions(r.Request))
	return a.sendResource(w, r, restored, err)
}

// Copy copies a file.
func (a Resources) Copy(w http.ResponseWriter, r *exchange.Request) error {
	return a.place(w, r, a.repo.Files.Copy)
}

// Move moves or renames a file.
func (a Resources) Move(w http.ResponseWriter, r *exchange.Request) error {
	return a.place(w, r, a.repo.Files.Move)
}

// place copies or moves a file and answers with the resulting record. The answer is 201 with a new
// resource, or 200 if the file was only renamed.
func (a Resources) place(w http.ResponseWriter, r *exchange.Request, place func(context.Context, auth.Principal, string, files.Destination) (metadata.Resource, error)) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	arrived, err := place(r.Context(), r.Caller, r.ID(), input.Destination(fields, exchange.Preconditions(r.Request)))
	if err != nil || arrived.ID.String() == r.ID() {
		return a.sendResource(w, r, arrived, err)
	}
	w.Header().Set("Location", a.presenter(r).url("resources", arrived.ID.String()))
	a.writeResource(w, r, http.StatusCreated, &arrived)
	return nil
}

func (a *api) sendResource(w http.ResponseWriter, r *exchange.Request, resource metadata.Resource, err error) error {
	if err == nil {
		a.writeResource(w, r, http.StatusOK, &resource)
	}
	return err
}

// tagOf returns the tag of a record as clients see it.
func tagOf(resource *metadata.Resource) string {
	if resource.Damaged {
		return resource.Tag() + exchange.DamagedTag
	}
	return resource.Tag()
}

// writeResource writes the record of a resource, like exchange.WriteRecord.
func (a *api) writeResource(w http.ResponseWriter, r *exchange.Request, status int, resource *metadata.Resource) {
	if exchange.NotModified(w, r, tagOf(resource)) {
		return
	}
	const usual = 2 << 10 // bytes
	exchange.Write(w, status, exchange.JSONType, append(a.layouts(r).single.Append(make([]byte, 0, usual), resource), '\n'))
}
