package v1

import (
	"net/http"
	"strings"

	"labshelf/handlers/internal/body"
	"labshelf/handlers/internal/encode"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/input"
	"labshelf/handlers/wire"
	"labshelf/paging"
	"labshelf/repository/containers"
	"labshelf/repository/links"
)

// Links serves the links of users.
type Links struct{ *api }

func (s presenter) link(l containers.LinkWithUse) wire.Link {
	id := l.ID.String()
	shown := wire.Link{
		ID: id, URL: s.url("links", id), Kind: l.Kind.String(), Label: l.Label, DataspaceID: encode.OptionalID(l.DataspaceID), SetID: encode.OptionalID(l.SetID), Role: l.Role.String(),
		Folder: strings.TrimSuffix(l.Folder, "/"), Version: int64(l.Version), OwnerID: l.OwnerID.String(), MadeWith: encode.OptionalID(l.MadeWith), State: string(l.StateIs), History: history(l.Record),
		Expires: encode.Instant(l.Expires), HasPassword: l.Password != "", MaxUses: int64(l.MaxUses), HidesPeople: l.HidesPeople,
		Resources: []string{}, MaxBytes: l.MaxBytes, MaxFileBytes: l.MaxFile, Types: links.TypesOf(l.Link), Uses: int64(l.Use.Count), BytesReceived: l.Use.Bytes, LastUsed: encode.Time(l.Use.Last),
		UnfinishedUploads: l.Unfinished.Uploads, UnfinishedBytes: l.Unfinished.Bytes,
	}
	for _, id := range l.FileIDs() {
		shown.Resources = append(shown.Resources, id.String())
	}
	return shown
}

// List answers with a page of links.
func (a Links) List(w http.ResponseWriter, r *exchange.Request) error {
	page, err := a.repo.Links.List(r.Context(), r.Caller, r.List(paging.Links))
	if err != nil {
		return err
	}
	writePage(a.api, w, r, page, a.presenter(r).link)
	return nil
}

// Create answers with the new link and its address, which no other answer contains.
func (a Links) Create(w http.ResponseWriter, r *exchange.Request) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	link, err := input.NewLink(fields)
	if err != nil {
		return err
	}
	created, token, err := a.repo.Links.Create(r.Context(), r.Caller, link)
	if err != nil {
		return err
	}
	shown := wire.AddressedLink{Link: a.presenter(r).link(created), Address: a.hosts.Link(r.Request, token)}
	w.Header().Set("Location", shown.URL)
	w.Header().Set("Cache-Control", "no-store")
	exchange.WriteJSON(w, http.StatusCreated, shown)
	return nil
}

func (a Links) send(w http.ResponseWriter, r *exchange.Request, l containers.LinkWithUse, err error) error {
	if err == nil {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("ETag", `"`+l.Tag()+`"`)
		exchange.WriteJSON(w, http.StatusOK, a.presenter(r).link(l))
	}
	return err
}

// Get answers with the record of a link.
func (a Links) Get(w http.ResponseWriter, r *exchange.Request) error {
	l, err := a.repo.Links.Get(r.Context(), r.Caller, r.ID())
	return a.send(w, r, l, err)
}

// Update changes the record of a link.
func (a Links) Update(w http.ResponseWriter, r *exchange.Request) error {
	l, err := editing[containers.LinkWithUse, links.LinkFields]{
		input.LinkEdit, a.repo.Links.Get, fieldsOf(a.presenter(r).link), a.repo.Links.Update,
	}.edit(w, r)
	return a.send(w, r, l, err)
}

// Revoke ends a link.
func (a Links) Revoke(w http.ResponseWriter, r *exchange.Request) error {
	return exchange.WriteNothing(w, "", a.repo.Links.Revoke(r.Context(), r.Caller, r.ID()))
}

// EndUploads ends the unfinished uploads of a link.
func (a Links) EndUploads(w http.ResponseWriter, r *exchange.Request) error {
	return exchange.WriteNothing(w, "", a.repo.Links.EndUploads(r.Context(), r.Caller, r.ID()))
}

// Take makes the caller the owner of a link.
func (a Links) Take(w http.ResponseWriter, r *exchange.Request) error {
	l, err := a.repo.Links.Take(r.Context(), r.Caller, r.ID())
	return a.send(w, r, l, err)
}
