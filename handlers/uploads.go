package handlers

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"hash"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"labshelf/errs"
	"labshelf/metadata"
	"labshelf/repository"
)

// Uploads that go on where they stopped, by the protocol tus 1.0 (tus.io/protocols/resumable-upload), with its words.
const (
	tusResumable  = "Tus-Resumable"
	tusVersion    = "1.0.0"
	tusExtensions = "creation,creation-with-upload,expiration,termination,checksum"
	offsetType    = "application/offset+octet-stream"
	uploadOffset  = "Upload-Offset"

	// resourceHeader names the resource that an upload has become.
	resourceHeader = "Labshelf-Resource"

	maxMetadata = 36 << 10 // bytes of Upload-Metadata: what the longest texts need in base64, and the rest
)

// checksums are the algorithms of Upload-Checksum. Tus wants SHA-1 of all.
var checksums = map[string]func() hash.Hash{"sha1": sha1.New, "sha256": sha256.New, "md5": md5.New}

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

// inTus refuses requests of another version of the protocol. Who only wants to look, with a GET, need not know it.
func inTus(serve func(w http.ResponseWriter, r *request) error) func(w http.ResponseWriter, r *request) error {
	return func(w http.ResponseWriter, r *request) error {
		if sent := r.Header.Get(tusResumable); sent != tusVersion && (r.Method != http.MethodGet || sent != "") {
			w.Header().Set("Tus-Version", tusVersion)
			return &errs.Error{Kind: errs.Precondition, Code: errs.CodeTusVersion, Field: tusResumable,
				Message: "an upload is made by the tus protocol: send " + tusResumable + ": " + tusVersion}
		}
		return serve(w, r)
	}
}

// describeUploads tells what of the protocol there is.
func (a *api) describeUploads(header http.Header) {
	header.Set(tusResumable, tusVersion)
	header.Set("Tus-Version", tusVersion)
	header.Set("Tus-Extension", tusExtensions)
	header.Set("Tus-Checksum-Algorithm", "sha1,sha256,md5")
	if most := a.repo.MaxUpload(); most > 0 {
		header.Set("Tus-Max-Size", strconv.FormatInt(most, 10))
	}
}

func (a *api) createUpload(w http.ResponseWriter, r *request) error {
	start, err := readStart(r)
	if err != nil {
		return err
	}
	var first *sentPiece
	if r.Header.Get("Content-Type") != "" && r.ContentLength != 0 {
		if first, err = readPiece(w, r); err != nil {
			return err
		}
	}
	if first != nil && first.Length > start.Length {
		return invalidHeader("Upload-Length", "more comes along than the Upload-Length of this upload")
	}
	t, err := a.repo.BeginTransfer(r.Context(), r.caller, start)
	if t.ID != (metadata.ID{}) {
		w.Header().Set("Location", a.shower(r).url("uploads", t.ID.String()))
	}
	if err != nil {
		return err
	}
	if first != nil {
		if t, err = a.addPiece(w, r, t.ID.String(), first); err != nil {
			return err
		}
	}
	a.noteUpload(w, r, t)
	w.WriteHeader(http.StatusCreated)
	return nil
}

// getUpload serves HEAD, by which clients learn where to go on, and GET for people.
func (a *api) getUpload(w http.ResponseWriter, r *request) error {
	t, err := a.repo.GetTransfer(r.Context(), r.caller, r.id())
	if err != nil {
		return err
	}
	a.noteUpload(w, r, t)
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("Upload-Length", strconv.FormatInt(t.Length, 10))
	if t.Announced != "" {
		header.Set("Upload-Metadata", t.Announced)
	}
	shown := uploadJSON{
		ID: r.id(), URL: a.shower(r).url("uploads", r.id()), Length: t.Length, Offset: t.Mark.Size,
		Created: instant(t.Created), Expires: instant(t.Expires), ResourceURL: header.Get(resourceHeader),
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
	piece, err := readPiece(w, r)
	if err != nil {
		return err
	}
	if piece.Offset, err = readLength(r, uploadOffset); err != nil {
		return err
	}
	t, err := a.addPiece(w, r, r.id(), piece)
	if err != nil {
		return err
	}
	a.noteUpload(w, r, t)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// addPiece adds a piece. A connection that has been stopped is closed with the answer: its deadline has ended the context of all that
// would come over it.
func (a *api) addPiece(w http.ResponseWriter, r *request, id string, piece *sentPiece) (metadata.Transfer, error) {
	t, err := a.repo.ContinueTransfer(r.Context(), r.caller, id, piece.Piece)
	if piece.body.end() && r.ProtoMajor == 1 {
		w.Header().Set("Connection", "close")
	}
	return t, err
}

func (a *api) endUpload(w http.ResponseWriter, r *request) error {
	return sendNothing(w, "", a.repo.EndTransfer(r.Context(), r.caller, r.id()))
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

// noteUpload sets the headers that tell how far an upload is.
func (a *api) noteUpload(w http.ResponseWriter, r *request, t metadata.Transfer) {
	header := w.Header()
	header.Set(uploadOffset, strconv.FormatInt(t.Mark.Size, 10))
	header.Set("Upload-Expires", t.Expires.Time().UTC().Format(http.TimeFormat))
	if t.Done() {
		header.Set(resourceHeader, a.shower(r).url("resources", t.Made.String()))
	}
}

func invalidHeader(name, message string) *errs.Error {
	return &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidField, Field: name, Message: message}
}

// readLength reads a header that counts bytes.
func readLength(r *request, name string) (int64, error) {
	sent := r.Header.Values(name)
	if len(sent) == 0 {
		return 0, &errs.Error{Kind: errs.Invalid, Code: errs.CodeMissingField, Field: name, Message: name + " is missing"}
	}
	n, err := strconv.ParseUint(sent[0], 10, 63)
	if err != nil || len(sent) > 1 {
		return 0, invalidHeader(name, name+" must be one number of bytes, 0 to 9223372036854775807")
	}
	return int64(n), nil
}

// readStart reads what the headers announce.
func readStart(r *request) (start repository.TransferStart, err error) {
	if r.Header.Get("Upload-Defer-Length") != "" {
		return start, invalidHeader("Upload-Defer-Length", "the length of a file must be known at the beginning: send Upload-Length")
	}
	if r.Header.Get("Upload-Concat") != "" {
		return start, invalidHeader("Upload-Concat", "uploads are not put together here: send the file as one")
	}
	if start.Length, err = readLength(r, "Upload-Length"); err != nil {
		return start, err
	}
	start.Announced = strings.Join(r.Header.Values("Upload-Metadata"), ",")
	if err = readMetadata(start.Announced, &start); err != nil {
		return start, err
	}
	start.Fields.Match = preconditions(r)
	return start, nil
}

// sentPiece is a piece with the body that it comes from.
type sentPiece struct {
	repository.Piece
	body *pieceBody
}

// readPiece prepares the body of a request for being added to an upload.
func readPiece(w http.ResponseWriter, r *request) (*sentPiece, error) {
	if _, err := mediaType(r, offsetType); err != nil {
		return nil, err
	}
	announced, err := announced(r.Header.Values, "")
	if err != nil {
		return nil, err
	}
	whole, err := wholeBody(r)
	if err != nil {
		return nil, err
	}
	body := &pieceBody{body: r.Body, control: http.NewResponseController(w)}
	piece := &sentPiece{repository.Piece{Body: body, Length: r.ContentLength, Stop: body.stop}, body}
	if len(announced) > 0 {
		piece.Verify = whole
	}
	sent := r.Header.Values("Upload-Checksum")
	if len(sent) == 0 {
		return piece, nil
	}
	algorithm, encoded, _ := strings.Cut(sent[0], " ")
	begin, known := checksums[algorithm]
	want, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || !known || len(sent) > 1 {
		return nil, invalidHeader("Upload-Checksum", "Upload-Checksum must be sha1, sha256 or md5, a space, and the checksum in base64")
	}
	body.hash = begin()
	piece.Verify = func() error {
		if string(body.hash.Sum(nil)) == string(want) {
			return whole()
		}
		return &errs.Error{Kind: errs.ChecksumMismatch, Code: errs.CodeChecksum, Field: "Upload-Checksum",
			Message: "what has come does not have the checksum that was announced; nothing of it was kept"}
	}
	return piece, nil
}

// pieceBody is the body of a request, with errors that say what went wrong.
type pieceBody struct {
	body    io.Reader
	control *http.ResponseController
	hash    hash.Hash // of what has been read; nil: nobody asks
	stopped atomic.Bool

	mu   sync.Mutex
	over bool // nothing waits for it any more
}

// errStopped answers a client who is at the upload over another connection.
var errStopped error = &errs.Error{Kind: errs.Locked, Code: errs.CodeLocked, Message: "another request goes on with this upload"}

func (b *pieceBody) Read(p []byte) (int, error) {
	if b.stopped.Load() {
		return 0, errStopped
	}
	n, err := b.body.Read(p)
	if b.hash != nil {
		b.hash.Write(p[:n]) // never fails
	}
	switch {
	case err == nil, errors.Is(err, io.EOF):
		return n, err
	case b.stopped.Load():
		return n, errStopped
	}
	return n, bodyError(err)
}

// stop ends a Read that waits for the client. Where one has just begun it may not see that, and has to be stopped again.
func (b *pieceBody) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over { // the connection is somebody else's by now
		return
	}
	b.stopped.Store(true)
	_ = b.control.SetReadDeadline(time.Now()) // what has no deadlines ends at the next Read
}

// end has stop do nothing any more, and tells whether it has done something.
func (b *pieceBody) end() (stopped bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
	return b.stopped.Load()
}
