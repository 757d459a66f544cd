// Package download sends files and archives: with entity tags, digests, ranges and conditions, a
// policy that keeps a file from acting in the name of the service, and a comparison of the bytes
// with their SHA-256.
//
// # Downloads
//
// http.ServeContent does ranges and conditions; a whole file goes without it. Up to 32 KiB are read
// and written at once, up to 16 KiB together with the head: the connection joins the two writes of
// Go's server. A larger file goes to the system in one call, on Linux and over plain HTTP/1.1
// (sendfile): in chunks of 32 KiB, 1 GiB cost twice the processor time that nginx needs. Up to
// verify_reads a file is compared with its SHA-256: up to one chunk before the answer begins, above
// that while it is sent, with the last byte kept back. The progress of a client is seen all the
// same: eight times in its stall timeout a deadline passes, and what has not arrived is asked of
// the system (SIOCOUTQ).
//
// # Archives
//
// One transaction finds the ids of the files (16 bytes each). Each file is opened when it comes,
// like a download, with the permission of that moment, and hashed while it goes into the zip. Of
// each path a digest of 16 bytes is kept; with the zip's directory and the manifest a file costs
// some 500 bytes until the archive ends. All archives together have at most 1,048,576 files. An
// error in the middle cuts the connection before the directory of the zip is written.
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
	files       *files.Files
	verifyReads int64
	buffers     *slowclient.Buffers
}

// New returns a Sender. A whole file of at most verifyReads bytes is compared with its SHA-256.
func New(files *files.Files, verifyReads int64, buffers *slowclient.Buffers) *Sender {
	return &Sender{files: files, verifyReads: verifyReads, buffers: buffers}
}

// SendResource sends the file of a resource, in place if inline is set and a browser can show it.
func (s *Sender) SendResource(w http.ResponseWriter, r *exchange.Request, resource metadata.Resource, file io.ReadSeeker, inline bool) error {
	if err := SetType(w.Header(), resource, file, inline); err != nil {
		return err
	}
	sent := ContentOf(resource, file)
	id := resource.ID // not the whole record, which would then be allocated
	sent.Still = func() error { return s.files.MayStillRead(r.Context(), r.Caller, id) }
	return s.Send(w, r, sent)
}

// Content is a file that goes out as it is.
type Content struct {
	File     io.ReadSeeker
	Digest   blobs.Digest
	Bytes    int64
	Modified time.Time    // zero: no Last-Modified is sent
	Verified bool         // the bytes have been read and compared with a checksum
	Still    func() error // refuses a caller that may not have the rest any more
}

// ContentOf returns the file of a resource. Its Still is not set.
func ContentOf(resource metadata.Resource, file io.ReadSeeker) Content {
	return Content{File: file, Digest: resource.Digest, Bytes: resource.Bytes, Modified: resource.Modified.Time(), Verified: resource.Body == metadata.Inline}
}

// Send sends a file, whose Content-Type is set, or the requested part of it, with the
// entity tag that is set, else the usual one. http.ServeContent does conditions and ranges. A file
// that turns out to be damaged is an error before the answer begins; afterwards the answer is cut
// off, as it is where the caller loses the right to the rest.
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
	body, release, err := s.verified(r, c)
	defer release()
	switch {
	case err != nil:
		sent.damage = err
	case r.Method == http.MethodGet && !slices.ContainsFunc(selecting, func(name string) bool { return r.Header[name] != nil }):
		sent.sendAll(c, body)
	default:
		r.Header = normalizedRange(withoutDates(r.Header, c.Modified), c.Bytes)
		http.ServeContent(sent, r.Request, "", c.Modified, body)
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
		return nil // the answer has been cut off
	}
	return &errs.Error{Kind: errs.Internal, Code: errs.CodeDataDamaged, Err: damage,
		Message: "the file of this resource is missing or damaged on the server"}
}

// selecting are the headers that request a part of the file, or the file under a condition.
var selecting = []string{"Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"}

// SelectsBeyondRange reports whether a request asks for the file under a condition.
func SelectsBeyondRange(header http.Header) bool {
	return slices.ContainsFunc(selecting, func(name string) bool { return name != "Range" && header[name] != nil })
}

// sendAll is http.ServeContent for a request that asks for the file and nothing else, without
// looking for its size again.
func (w *contentWriter) sendAll(c Content, body io.Reader) {
	header := w.Header()
	exchange.SetAll(header, "Accept-Ranges", "bytes", "Content-Length", strconv.FormatInt(c.Bytes, 10))
	if !c.Modified.IsZero() {
		header.Set("Last-Modified", c.Modified.UTC().Format(http.TimeFormat))
	}
	w.WriteHeader(http.StatusOK)
	if whole, isWhole := body.(*memoryFile); isWhole {
		_, err := w.Write(whole.bytes)
		whole.unsent = err != nil
		return
	}
	_, _ = w.ReadFrom(&io.LimitedReader{R: body, N: c.Bytes}) // an error has been noted
}

// contentWriter turns the refusals of http.ServeContent into problem+json, and keeps the error of a
// file that was not complete: its answer has been cut off. It does the same where still refuses the
// rest.
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
		Message: fmt.Sprintf("the Range header asks for no part of this file, or for more than %d", maxRanges)},
	http.StatusPreconditionFailed: {Kind: errs.Precondition, Code: errs.CodePrecondition,
		Message: "the file is not the one that If-Match or If-Unmodified-Since asks for"},
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
		return len(p), nil // the text of the refusal that has been replaced
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

// sendParts copies a source part by part. Each part is limited anew, so that sendfile is still
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

// isReadError tells whether an error is one of reading the file, not of the connection.
func isReadError(err error) bool {
	_, reading := errors.AsType[*fs.PathError](err)
	return reading || errors.Is(err, errContent) || errors.Is(err, syscall.EIO)
}

// SendStream sends a stream of so many bytes, whose headers have been sent. It cuts the connection
// where still refuses the rest. The client sees by the length that the stream was too short.
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
