package tus

import (
	"net/http"
	"strconv"

	"labshelf/handlers/internal/body"
	"labshelf/handlers/internal/encode"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/wire"
	"labshelf/metadata"
	"labshelf/repository/files"
	"labshelf/repository/resumable"
)

// resourceHeader contains the id of the resource that a complete upload has become.
const resourceHeader = "Labshelf-Resource"

// Upload is an upload as its sender sees it. The sender is a user, or a visitor of a link. The
// methods serve requests for the upload.
type Upload struct {
	Chunks *resumable.Uploads
	ID     string
	Name   string // last element of its address
	URL    string
	Base   string // base URL of the API; "": the sender is a visitor, who sees neither set nor resource
}

// Serve checks the protocol version of a request and serves it.
func Serve(w http.ResponseWriter, r *exchange.Request, serve func() error) error {
	if err := CheckVersion(w.Header(), r.Request); err != nil {
		return err
	}
	return serve()
}

// ReadNew reads the description of a new upload, and its first chunk if the request has one.
func ReadNew(w http.ResponseWriter, r *exchange.Request) (start files.UploadStart, first *Chunk, err error) {
	if start, err = ReadStart(r.Request); err != nil {
		return start, nil, err
	}
	empty, err := body.Empty(r.Request)
	if err != nil {
		return start, nil, err
	}
	if r.Header.Get("Content-Type") != "" && !empty {
		if first, err = ReadChunk(w, r.Request); err != nil {
			return start, nil, err
		}
	}
	if first != nil && first.Length > start.Length {
		err = InvalidHeader("Upload-Length", "the body is longer than the Upload-Length of this upload")
	}
	return start, first, err
}

// AnswerNew answers the request that created an upload. If err is set, the upload might not exist.
func (u Upload) AnswerNew(w http.ResponseWriter, r *exchange.Request, t metadata.ResumableUpload, first *Chunk, err error) error {
	if t.ID != (metadata.ID{}) {
		w.Header().Set("Location", u.URL)
	}
	if err == nil && first != nil {
		t, err = u.addChunk(w, r, first)
	}
	if err != nil {
		return err
	}
	u.setProgress(w, t)
	w.WriteHeader(http.StatusCreated)
	return nil
}

// Get serves HEAD, which tells clients where to resume, and GET, which also has a body.
func (u Upload) Get(w http.ResponseWriter, r *exchange.Request) error {
	t, err := u.Chunks.Get(r.Context(), r.Caller, u.ID)
	if err != nil {
		return err
	}
	u.setProgress(w, t)
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("Upload-Length", strconv.FormatInt(t.Length, 10))
	if t.Announced != "" {
		header.Set("Upload-Metadata", t.Announced)
	}
	shown := wire.Upload{
		ID: u.Name, URL: u.URL, Length: t.Length, Offset: t.Checkpoint.Size,
		Created: encode.Time(t.Created), Expires: encode.Time(t.Expires), ResourceURL: header.Get(resourceHeader),
	}
	switch {
	case u.Base == "":
	case t.SetID != (metadata.ID{}):
		shown.SetID = t.SetID.String()
	default:
		shown.ResourceID = t.ResourceID.String()
	}
	exchange.WriteJSON(w, http.StatusOK, shown)
	return nil
}

// Continue adds the chunk of a request.
func (u Upload) Continue(w http.ResponseWriter, r *exchange.Request) error {
	chunk, err := ReadChunk(w, r.Request)
	if err != nil {
		return err
	}
	if chunk.Offset, err = ReadLength(r.Request, Offset); err != nil {
		return err
	}
	t, err := u.addChunk(w, r, chunk)
	if err != nil {
		return err
	}
	u.setProgress(w, t)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// addChunk adds a chunk. If the request was stopped, addChunk closes its connection, since the
// deadline has canceled the context of all later requests on it.
func (u Upload) addChunk(w http.ResponseWriter, r *exchange.Request, chunk *Chunk) (metadata.ResumableUpload, error) {
	t, err := u.Chunks.Append(r.Context(), r.Caller, u.ID, chunk.Chunk)
	if chunk.End() && r.ProtoMajor == 1 {
		w.Header().Set("Connection", "close")
	}
	return t, err
}

// End terminates the upload and removes its bytes.
func (u Upload) End(w http.ResponseWriter, r *exchange.Request) error {
	return exchange.WriteNothing(w, "", u.Chunks.Terminate(r.Context(), r.Caller, u.ID))
}

// Override serves clients that cannot send PATCH or DELETE.
func (u Upload) Override(w http.ResponseWriter, r *exchange.Request) error {
	switch r.Header.Get("X-HTTP-Method-Override") {
	case http.MethodPatch:
		return u.Continue(w, r)
	case http.MethodDelete:
		return u.End(w, r)
	case http.MethodHead:
		return u.Get(w, r)
	}
	return exchange.ErrMethod
}

// setProgress sets the headers with the progress of an upload. Users also receive the id of the
// resource.
func (u Upload) setProgress(w http.ResponseWriter, t metadata.ResumableUpload) {
	header := w.Header()
	header.Set(Offset, strconv.FormatInt(t.Checkpoint.Size, 10))
	header.Set("Upload-Expires", t.Expires.Time().UTC().Format(http.TimeFormat))
	if t.Done() && u.Base != "" {
		header.Set(resourceHeader, u.Base+"/resources/"+t.Made.String())
	}
}
