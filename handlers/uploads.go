package handlers

import (
	"net/http"
	"strconv"

	"labshelf/handlers/internal/body"
	"labshelf/handlers/internal/encode"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/tus"
	"labshelf/handlers/wire"
	"labshelf/metadata"
	"labshelf/repository/files"
	"labshelf/repository/resumable"
)

// resourceHeader names the resource that an upload has become.
const resourceHeader = "Labshelf-Resource"

// sending is an upload as its sender sees it: a user, or a visitor of a link.
type sending struct {
	*resumable.Uploads
	id      string // of the upload
	name    string // that ends its address
	url     string
	visitor bool
}

// uploadRoutes serves uploads in chunks.
type uploadRoutes struct{ *api }

// ownUpload is an upload of a user.
func (a uploadRoutes) ownUpload(r *exchange.Request, id string) sending {
	return sending{Uploads: a.repo.Uploads.Chunks, id: id, name: id, url: a.presenter(r).url("uploads", id)}
}

// ofUser serves a request of a user for the upload in its path.
func (a uploadRoutes) ofUser(serve func(http.ResponseWriter, *exchange.Request, sending) error) exchange.Handler {
	return inTus(func(w http.ResponseWriter, r *exchange.Request) error { return serve(w, r, a.ownUpload(r, r.ID())) })
}

// readNew reads what a request says about a new upload, and the chunk that it may bring.
func readNew(w http.ResponseWriter, r *exchange.Request) (start files.UploadStart, first *tus.Chunk, err error) {
	if start, err = tus.ReadStart(r.Request); err != nil {
		return start, nil, err
	}
	empty, err := body.Empty(r.Request)
	if err != nil {
		return start, nil, err
	}
	if r.Header.Get("Content-Type") != "" && !empty {
		if first, err = tus.ReadChunk(w, r.Request); err != nil {
			return start, nil, err
		}
	}
	if first != nil && first.Length > start.Length {
		err = tus.InvalidHeader("Upload-Length", "the body is longer than the Upload-Length of this upload")
	}
	return start, first, err
}

func (a uploadRoutes) createUpload(w http.ResponseWriter, r *exchange.Request) error {
	start, first, err := readNew(w, r)
	if err != nil {
		return err
	}
	start.Fields.Match = exchange.Preconditions(r.Request)
	t, err := a.repo.Uploads.CreateUpload(r.Context(), r.Caller, start)
	return a.answerNew(w, r, a.ownUpload(r, t.ID.String()), t, first, err)
}

// answerNew answers the request that has begun an upload, and with an error perhaps not.
func (a uploadRoutes) answerNew(w http.ResponseWriter, r *exchange.Request, s sending, t metadata.ResumableUpload, first *tus.Chunk, err error) error {
	if t.ID != (metadata.ID{}) {
		w.Header().Set("Location", s.url)
	}
	if err == nil && first != nil {
		t, err = addChunk(w, r, s, first)
	}
	if err != nil {
		return err
	}
	a.setProgress(w, r, s, t)
	w.WriteHeader(http.StatusCreated)
	return nil
}

// getUpload serves HEAD, by which clients learn where to continue, and GET, which has a body, too.
func (a uploadRoutes) getUpload(w http.ResponseWriter, r *exchange.Request, s sending) error {
	t, err := s.Get(r.Context(), r.Caller, s.id)
	if err != nil {
		return err
	}
	a.setProgress(w, r, s, t)
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("Upload-Length", strconv.FormatInt(t.Length, 10))
	if t.Announced != "" {
		header.Set("Upload-Metadata", t.Announced)
	}
	shown := wire.Upload{
		ID: s.name, URL: s.url, Length: t.Length, Offset: t.Checkpoint.Size,
		Created: encode.Time(t.Created), Expires: encode.Time(t.Expires), ResourceURL: header.Get(resourceHeader),
	}
	switch {
	case s.visitor: // who knows of no set
	case t.SetID != (metadata.ID{}):
		shown.SetID = t.SetID.String()
	default:
		shown.ResourceID = t.ResourceID.String()
	}
	exchange.WriteJSON(w, http.StatusOK, shown)
	return nil
}

func (a uploadRoutes) continueUpload(w http.ResponseWriter, r *exchange.Request, s sending) error {
	chunk, err := tus.ReadChunk(w, r.Request)
	if err != nil {
		return err
	}
	if chunk.Offset, err = tus.ReadLength(r.Request, tus.Offset); err != nil {
		return err
	}
	t, err := addChunk(w, r, s, chunk)
	if err != nil {
		return err
	}
	a.setProgress(w, r, s, t)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// addChunk adds a chunk. A connection that has been stopped is closed with the answer: its deadline
// has ended the context of all later requests over it.
func addChunk(w http.ResponseWriter, r *exchange.Request, s sending, chunk *tus.Chunk) (metadata.ResumableUpload, error) {
	t, err := s.Append(r.Context(), r.Caller, s.id, chunk.Chunk)
	if chunk.End() && r.ProtoMajor == 1 {
		w.Header().Set("Connection", "close")
	}
	return t, err
}

func (a uploadRoutes) endUpload(w http.ResponseWriter, r *exchange.Request, s sending) error {
	return exchange.WriteNothing(w, "", s.Terminate(r.Context(), r.Caller, s.id))
}

// overrideUpload is for clients whose environment has no PATCH or DELETE.
func (a uploadRoutes) overrideUpload(w http.ResponseWriter, r *exchange.Request, s sending) error {
	switch r.Header.Get("X-HTTP-Method-Override") {
	case http.MethodPatch:
		return a.continueUpload(w, r, s)
	case http.MethodDelete:
		return a.endUpload(w, r, s)
	case http.MethodHead:
		return a.getUpload(w, r, s)
	}
	return exchange.ErrMethod
}

// setProgress sets the headers that tell how far an upload is, and users which resource it has
// become.
func (a uploadRoutes) setProgress(w http.ResponseWriter, r *exchange.Request, s sending, t metadata.ResumableUpload) {
	header := w.Header()
	header.Set(tus.Offset, strconv.FormatInt(t.Checkpoint.Size, 10))
	header.Set("Upload-Expires", t.Expires.Time().UTC().Format(http.TimeFormat))
	if t.Done() && !s.visitor {
		header.Set(resourceHeader, a.presenter(r).url("resources", t.Made.String()))
	}
}

// inTus serves requests in the version of the protocol that the service speaks.
func inTus(serve func(w http.ResponseWriter, r *exchange.Request) error) func(w http.ResponseWriter, r *exchange.Request) error {
	return func(w http.ResponseWriter, r *exchange.Request) error {
		if err := tus.CheckVersion(w.Header(), r.Request); err != nil {
			return err
		}
		return serve(w, r)
	}
}
