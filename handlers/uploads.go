package handlers

import (
	"net/http"
	"strconv"

	"labshelf/handlers/internal/encode"
	"labshelf/handlers/internal/tus"
	"labshelf/metadata"
)

// resourceHeader names the resource that an upload has become.
const resourceHeader = "Labshelf-Resource"

// uploadJSON is an upload that is not complete, or has become a resource.
type uploadJSON struct {
	ID          string `json:"id"`
	URL         string `json:"url"`
	Length      int64  `json:"length"`
	Offset      int64  `json:"offset"`
	Created     string `json:"created"`
	Expires     string `json:"expires"`
	SetID       string `json:"setId,omitempty"`
	ResourceID  string `json:"resourceId,omitempty"`
	ResourceURL string `json:"resourceUrl,omitempty"`
}

func (a *api) createUpload(w http.ResponseWriter, r *request) error {
	start, err := tus.ReadStart(r.Request)
	if err != nil {
		return err
	}
	start.Fields.Match = preconditions(r)
	var first *tus.Chunk
	if r.Header.Get("Content-Type") != "" && r.ContentLength != 0 {
		if first, err = tus.ReadChunk(w, r.Request); err != nil {
			return err
		}
	}
	if first != nil && first.Length > start.Length {
		return tus.InvalidHeader("Upload-Length", "the body is longer than the Upload-Length of this upload")
	}
	t, err := a.repo.CreateUpload(r.Context(), r.caller, start)
	if t.ID != (metadata.ID{}) {
		w.Header().Set("Location", a.presenter(r).url("uploads", t.ID.String()))
	}
	if err != nil {
		return err
	}
	if first != nil {
		if t, err = a.addChunk(w, r, t.ID.String(), first); err != nil {
			return err
		}
	}
	a.setProgress(w, r, t)
	w.WriteHeader(http.StatusCreated)
	return nil
}

// getUpload serves HEAD, by which clients learn where to continue, and GET, which has a body, too.
func (a *api) getUpload(w http.ResponseWriter, r *request) error {
	t, err := a.repo.Uploads.Get(r.Context(), r.caller, r.id())
	if err != nil {
		return err
	}
	a.setProgress(w, r, t)
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("Upload-Length", strconv.FormatInt(t.Length, 10))
	if t.Announced != "" {
		header.Set("Upload-Metadata", t.Announced)
	}
	shown := uploadJSON{
		ID: r.id(), URL: a.presenter(r).url("uploads", r.id()), Length: t.Length, Offset: t.Checkpoint.Size,
		Created: encode.Instant(t.Created), Expires: encode.Instant(t.Expires), ResourceURL: header.Get(resourceHeader),
	}
	if t.SetID != (metadata.ID{}) {
		shown.SetID = t.SetID.String()
	} else {
		shown.ResourceID = t.ResourceID.String()
	}
	writeJSON(w, http.StatusOK, shown)
	return nil
}

func (a *api) continueUpload(w http.ResponseWriter, r *request) error {
	chunk, err := tus.ReadChunk(w, r.Request)
	if err != nil {
		return err
	}
	if chunk.Offset, err = tus.ReadLength(r.Request, tus.Offset); err != nil {
		return err
	}
	t, err := a.addChunk(w, r, r.id(), chunk)
	if err != nil {
		return err
	}
	a.setProgress(w, r, t)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// addChunk adds a chunk. A connection that has been stopped is closed with the answer: its deadline has ended the context of all later
// requests over it.
func (a *api) addChunk(w http.ResponseWriter, r *request, id string, chunk *tus.Chunk) (metadata.ResumableUpload, error) {
	t, err := a.repo.Uploads.Append(r.Context(), r.caller, id, chunk.Chunk)
	if chunk.End() && r.ProtoMajor == 1 {
		w.Header().Set("Connection", "close")
	}
	return t, err
}

func (a *api) endUpload(w http.ResponseWriter, r *request) error {
	return sendNothing(w, "", a.repo.Uploads.Terminate(r.Context(), r.caller, r.id()))
}

// overrideUpload is for clients whose environment has no PATCH or DELETE.
func (a *api) overrideUpload(w http.ResponseWriter, r *request) error {
	switch r.Header.Get("X-HTTP-Method-Override") {
	case http.MethodPatch:
		return a.continueUpload(w, r)
	case http.MethodDelete:
		return a.endUpload(w, r)
	case http.MethodHead:
		return a.getUpload(w, r)
	}
	return errMethod
}

// setProgress sets the headers that tell how far an upload is.
func (a *api) setProgress(w http.ResponseWriter, r *request, t metadata.ResumableUpload) {
	header := w.Header()
	header.Set(tus.Offset, strconv.FormatInt(t.Checkpoint.Size, 10))
	header.Set("Upload-Expires", t.Expires.Time().UTC().Format(http.TimeFormat))
	if t.Done() {
		header.Set(resourceHeader, a.presenter(r).url("resources", t.Made.String()))
	}
}

// inTus serves requests in the version of the protocol that the service speaks.
func inTus(serve func(w http.ResponseWriter, r *request) error) func(w http.ResponseWriter, r *request) error {
	return func(w http.ResponseWriter, r *request) error {
		if err := tus.CheckVersion(w.Header(), r.Request); err != nil {
			return err
		}
		return serve(w, r)
	}
}
