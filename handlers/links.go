package handlers

import (
	"net/http"
	"strings"

	"labshelf/handlers/internal/body"
	"labshelf/handlers/internal/encode"
	"labshelf/repository"
)

// linkJSON is a link. What has come of it changes by itself, and is no part of its version.
type linkJSON struct {
	ID          string   `json:"id"`
	URL         string   `json:"url"`
	Kind        string   `json:"kind"`
	Label       string   `json:"label"`
	DataspaceID string   `json:"dataspaceId"`
	SetID       string   `json:"setId"`
	Role        string   `json:"role"`   // that an invitation gives
	Folder      string   `json:"folder"` // "": the whole set, or Resources
	Resources   []string `json:"resourceIds"`
	Version     uint32   `json:"version"` // 0: the present one
	OwnerID     string   `json:"ownerId"`
	MadeWith    string   `json:"madeWith,omitempty"` // the key of the owner with which it ends
	State       string   `json:"state"`
	historyJSON
	Expires     string   `json:"expires"` // "": never
	HasPassword bool     `json:"hasPassword"`
	MaxUses     uint32   `json:"maxUses"` // 0: any number
	HidesPeople bool     `json:"hidesPeople"`
	MaxBytes    int64    `json:"maxBytes"`
	MaxFile     int64    `json:"maxFileBytes"`
	Types       []string `json:"types"`
	Uses        uint64   `json:"uses"`
	Bytes       int64    `json:"bytesReceived"`
	Unfinished  int      `json:"unfinishedUploads"`
	Held        int64    `json:"unfinishedBytes"`
	LastUsed    string   `json:"lastUsed,omitempty"`
	Address     string   `json:"address,omitempty"` // for visitors; only in the answer that made it
}

func (s presenter) link(l repository.LinkWithUse) linkJSON {
	id := l.ID.String()
	shown := linkJSON{
		ID: id, URL: s.url("links", id), Kind: l.Kind.String(), Label: l.Label, DataspaceID: idText(l.DataspaceID), SetID: idText(l.SetID), Role: l.Role.String(),
		Folder: strings.TrimSuffix(l.Folder, "/"), Version: l.Version, OwnerID: l.OwnerID.String(), MadeWith: idText(l.MadeWith), State: string(l.StateIs), historyJSON: history(l.Record),
		Expires: encode.Instant(l.Expires), HasPassword: l.Password != "", MaxUses: l.MaxUses, HidesPeople: l.HidesPeople,
		Resources: []string{}, MaxBytes: l.MaxBytes, MaxFile: l.MaxFile, Types: repository.TypesOf(l.Link), Uses: l.Use.Count, Bytes: l.Use.Bytes, LastUsed: encode.Instant(l.Use.Last),
		Unfinished: l.Unfinished.Uploads, Held: l.Unfinished.Bytes,
	}
	for _, id := range l.FileIDs() {
		shown.Resources = append(shown.Resources, id.String())
	}
	return shown
}

func (a *api) listLinks(w http.ResponseWriter, r *request) error {
	page, err := a.repo.ListLinks(r.Context(), r.caller, r.list())
	if err != nil {
		return err
	}
	writePage(a, w, r, page, a.presenter(r).link)
	return nil
}

// createLink answers with the only copy of the address that the service gives out.
func (a *api) createLink(w http.ResponseWriter, r *request) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	created, token, err := a.repo.CreateLink(r.Context(), r.caller, fields)
	if err != nil {
		return err
	}
	shown := a.presenter(r).link(created)
	shown.Address = a.visitAddress(r, token)
	w.Header().Set("Location", shown.URL)
	w.Header().Set("Cache-Control", "no-store")
	writeJSON(w, http.StatusCreated, shown)
	return nil
}

func (a *api) sendLink(w http.ResponseWriter, r *request, l repository.LinkWithUse, err error) error {
	if err == nil {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("ETag", `"`+l.Tag()+`"`)
		writeJSON(w, http.StatusOK, a.presenter(r).link(l))
	}
	return err
}

func (a *api) getLink(w http.ResponseWriter, r *request) error {
	l, err := a.repo.GetLink(r.Context(), r.caller, r.id())
	return a.sendLink(w, r, l, err)
}

func (a *api) updateLink(w http.ResponseWriter, r *request) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	for _, field := range []string{"state", "uses", "bytesReceived", "unfinishedUploads", "unfinishedBytes", "lastUsed", "hasPassword"} { // they change by themselves, or are said otherwise
		delete(fields, field)
	}
	presenter := a.presenter(r)
	l, err := a.repo.UpdateLink(r.Context(), r.caller, r.id(), repository.Edit[repository.LinkWithUse]{
		Fields: fields, Match: preconditions(r), Shown: fieldsOf(presenter.link),
	})
	return a.sendLink(w, r, l, err)
}

func (a *api) revokeLink(w http.ResponseWriter, r *request) error {
	return sendNothing(w, "", a.repo.RevokeLink(r.Context(), r.caller, r.id()))
}

func (a *api) endLinkUploads(w http.ResponseWriter, r *request) error {
	return sendNothing(w, "", a.repo.EndLinkUploads(r.Context(), r.caller, r.id()))
}

func (a *api) takeLink(w http.ResponseWriter, r *request) error {
	l, err := a.repo.TakeLink(r.Context(), r.caller, r.id())
	return a.sendLink(w, r, l, err)
}
