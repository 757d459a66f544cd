// Package download sends files and archives with entity tags, digests, ranges and conditions. A
// content security policy keeps files from acting in the name of the service.
//
// # Downloads
//
// http.ServeContent handles ranges and conditions. Whole files are sent without it. Files up to 32
// KiB are read and written in one call, up to 16 KiB together with the header. On Linux and over
// plain HTTP/1.1, larger files are sent with one system call (sendfile); chunks of 32 KiB would
// cost twice the processor time that nginx needs. A file that is verified while it is read
// ([blobs.Verified]) is read before the answer begins, if it fits into one chunk. A longer one is
// sent chunk by chunk, and its last byte is held back. The progress of a client is still known:
// eight times per stall timeout a deadline passes, and the system reports the bytes that have not
// arrived (SIOCOUTQ).
//
// # Archives
//
// One transaction finds the ids of the files (16 bytes each). Each file is opened when its turn
// comes, like a download, with the permissions of that moment, and hashed while it is written to
// the zip. The archive keeps a digest of 16 bytes of each path. Together with the directory of the
// zip and the manifest, a file costs some 500 bytes until the archive ends. All concurrent archives
// together have at most 1,048,576 files. An error in the middle cuts the connection before the
// directory of the zip is written.
package download

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"strconv"
	"syscall"
	"time"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/slowclient"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/files"
)

// Sender sends files. It is safe for concurrent use.
type Sender struct {
	files   *files.Files
	buffers *slowclient.Buffers
}

// New returns a Sender.
func New(files *files.Files, buffers *slowclient.Buffers) *Sender {
	return &Sender{files: files, buffers: buffers}
}

// SendResource sends the file of a resource, inline if inline is set and a browser can show it.
func (s *Sender) SendResource(w http.ResponseWriter, r *exchange.Request, resource metadata.Resource, file io.ReadSeeker, inline bool) error {
	if err := SetType(w.Header(), resource, file, inline); err != nil {
		return err
	}
	sent := ContentOf(resource, file)
	id := resource.ID // avoids allocating the whole record
	sent.Still = func() error { return s.files.MayStillRead(r.Context(), r.Caller, id) }
	return s.Send(w, r, sent)
}

// Content is a file to be sent unchanged.
type Content struct {
	File     io.ReadSeeker
	Digest   blobs.Digest
	Bytes    int64
	Modified time.Time    // zero: no Last-Modified
	Still    func() error // fails when the caller may no longer read the rest
}

// ContentOf returns the file of a resource. It does not set Still.
func ContentOf(resource metadata.Resource, file io.ReadSeeker) Content {
	return Content{File: file, Digest: resource.Digest, Bytes: resource.Bytes, Modified: resource.Modified.Time()}
}

// Send sends a file or the requested part of it. The caller sets the Content-Type, and may set
// another entity tag than the usual one. http.ServeContent handles conditions and ranges. If a file
// is found to be damaged before the answer begins, Send returns an error. After that it cuts off
// the answer, also when the caller loses the permission to read the rest.
func (s *Sender) Send(w http.ResponseWriter, r *exchange.Request, c Content) error {
	header := w.Header()
	if kind := header.Get("Content-Type"); isActiveType(kind) {
		header.Set("Content-Type", inertType(r.Request, kind))
	}
	var tag, digest [80]byte
	etag := header.Get("Etag")
	if etag == "" {
		etag = string(append(hex.AppendEncode(append(tag[:0], `"sha256-`...), c.Digest[:]), '"'))
	}
	exchange.SetAll(header, "Content-Security-Policy", contentSecurity(header.Get("Content-Type")), "Etag", etag,
		"Repr-Digest", string(append(base64.StdEncoding.AppendEncode(append(digest[:0], "sha-256=:"...), c.Digest[:]), ':')),
		"Cache-Control", r.Caching())
	sent := &contentWriter{ResponseWriter: w, r: r.Request, still: c.Still}
	whole, err := s.readSmall(r, c)
	defer s.release(&whole)
	switch {
	case err != nil:
		sent.damage = err
	case r.Method == http.MethodGet && !slices.ContainsFunc(selecting, func(name string) bool { return r.Header[name] != nil }):
		sent.sendAll(c, &whole)
	default:
		r.Header = normalizedRange(withoutDates(r.Header, c.Modified), c.Bytes)
		http.ServeContent(sent, r.Request, "", c.Modified, whole.orFile(c.File))
	}
	if sent.ended != nil {
		panic(http.ErrAbortHandler)
	}
	if sent.damage == nil {
		return nil
	}
	damage := fmt.Errorf("blob %s: %w", c.Digest, sent.damage)
	exchange.NoteError(w, damage)
	s.files.NoteDamage(context.WithoutCancel(r.Context()), c.Digest, damage)
	if err == nil {
		return nil // the answer was cut off
	}
	return &errs.Error{Kind: errs.Internal, Code: errs.CodeDataDamaged, Err: damage,
		Message: "the file of this resource is missing or damaged on the server"}
}

// selecting are the headers that request a part of the file or set a condition.
var selecting = []string{"Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"}

// SelectsBeyondRange reports whether a request sets a condition.
func SelectsBeyondRange(header http.Header) bool {
	return slices.ContainsFunc(selecting, func(name string) bool { return name != "Range" && header[name] != nil })
}

// sendAll answers a request without ranges and conditions like http.ServeContent, without
// determining the size again.
func (w *contentWriter) sendAll(c Content, whole *small) {
	header := w.Header()
	exchange.SetAll(header, "Accept-Ranges", "bytes", "Content-Length", strconv.FormatInt(c.Bytes, 10))
	if !c.Modified.IsZero() {
		header.Set("Last-Modified", c.Modified.UTC().Format(http.TimeFormat))
	}
	w.WriteHeader(http.StatusOK)
	if whole.buffer != nil {
		_, err := w.Write(whole.bytes)
		whole.unsent = err != nil
		return
	}
	_, _ = w.ReadFrom(&io.LimitedReader{R: c.File, N: c.Bytes}) // the error was recorded
}

// contentWriter turns the refusals of http.ServeContent into problem+json. It cuts off the answer
// and keeps the error if reading the file fails or still returns an error.
type contentWriter struct {
	http.ResponseWriter
	r       *http.Request
	still   func() error
	refused bool
	damage  error
	ended   error
}

var refusals = map[int]*errs.Error{
	http.StatusRequestedRangeNotSatisfiable: {Kind: errs.UnsatisfiableRange, Code: errs.CodeRange,
		Message: fmt.Sprintf("the Range header requests no part of this file, or more than %d parts", maxRanges)},
	http.StatusPreconditionFailed: {Kind: errs.Precondition, Code: errs.CodePrecondition,
		Message: "the file does not match If-Match or If-Unmodified-Since"},
}

func (w *contentWriter) WriteHeader(status int) {
	refusal, ok := refusals[status]
	if !ok {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	w.refused = true
	exchange.WriteProblem(w.ResponseWriter, w.r, refusal)
}

func (w *contentWriter) Write(p []byte) (int, error) {
	if w.refused {
		return len(p), nil // the text of the replaced refusal
	}
	return w.ResponseWriter.Write(p)
}

// ReadFrom implements [io.ReaderFrom], so that sendfile is possible.
func (w *contentWriter) ReadFrom(src io.Reader) (int64, error) {
	n, err := w.sendParts(src)
	switch wanted, limited := src.(*io.LimitedReader); {
	case w.ended != nil:
	case isReadError(err):
		w.damage = err
	case err == nil && limited && wanted.N > 0:
		w.damage = io.ErrUnexpectedEOF
	}
	return n, err
}

// sendParts copies a source part by part. Each part has its own limit, so that sendfile is still
// possible.
func (w *contentWriter) sendParts(src io.Reader) (sent int64, err error) {
	whole, limited := src.(*io.LimitedReader)
	for limited && whole.N > core.StreamPart {
		part := &io.LimitedReader{R: whole.R, N: core.StreamPart}
		n, err := io.Copy(w.ResponseWriter, part)
		sent, whole.N = sent+n, whole.N-n
		if err != nil || part.N > 0 {
			return sent, err
		}
		if w.ended = w.still(); w.ended != nil {
			return sent, w.ended
		}
	}
	n, err := io.Copy(w.ResponseWriter, src)
	return sent + n, err
}

// isReadError reports whether an error comes from reading the file, not from the connection.
func isReadError(err error) bool {
	_, reading := errors.AsType[*fs.PathError](err)
	return reading || errors.Is(err, blobs.ErrDamaged) || errors.Is(err, syscall.EIO)
}

// SendStream sends a stream of this many bytes, whose headers have been sent. It cuts the
// connection when still returns an error. The client recognizes an incomplete stream by its length.
func SendStream(w http.ResponseWriter, r *exchange.Request, stream io.Reader, bytes int64, still func() error) {
	sent := &contentWriter{ResponseWriter: w, r: r.Request, still: still}
	n, err := sent.ReadFrom(io.LimitReader(stream, bytes))
	if sent.ended != nil {
		panic(http.ErrAbortHandler)
	}
	if isReadError(err) || err == nil && n != bytes {
		exchange.NoteError(w, errors.Join(io.ErrUnexpectedEOF, err))
	}
}
