package handlers

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
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

// fileRoutes serves files and archives.
type fileRoutes struct{ *api }

// downloadResource sends the file of a resource.
func (a fileRoutes) downloadResource(w http.ResponseWriter, r *exchange.Request) error {
	if a.redirects(r) {
		resource, address, err := a.repo.Files.PresignResource(r.Context(), r.Caller, r.ID())
		if err != nil || address != "" {
			return redirect(w, resource, address, err)
		}
	}
	return a.sendFile(w, r, func() (metadata.Resource, io.ReadSeekCloser, error) {
		return a.repo.Files.OpenResource(r.Context(), r.Caller, r.ID())
	})
}

// redirects tells whether a download may lead to where the bytes are: that of a client with a key,
// and never of a page, whose policy allows no other host, nor one under a condition, which is about
// this service's tags.
func (a fileRoutes) redirects(r *exchange.Request) bool {
	if !a.config.RedirectDownloads || r.Method != http.MethodGet || len(r.Header["Authorization"]) != 1 || r.Query.Has("disposition") {
		return false
	}
	return !slices.ContainsFunc(selecting, func(name string) bool { return name != "Range" && r.Header[name] != nil })
}

// redirect answers with the address of the bytes, and with what the client needs to verify them.
func redirect(w http.ResponseWriter, of metadata.Resource, address string, err error) error {
	if err != nil {
		return err
	}
	exchange.SetAll(w.Header(), "Location", address, "Cache-Control", "no-store", "Etag", `"sha256-`+of.Digest.String()+`"`,
		"Repr-Digest", "sha-256=:"+base64.StdEncoding.EncodeToString(of.Digest[:])+":")
	w.WriteHeader(http.StatusTemporaryRedirect)
	return nil
}

// downloadVersion sends the file of one version of a resource.
func (a fileRoutes) downloadVersion(w http.ResponseWriter, r *exchange.Request) error {
	return a.sendFile(w, r, func() (metadata.Resource, io.ReadSeekCloser, error) {
		return a.repo.Versions.OpenVersion(r.Context(), r.Caller, r.ID(), r.Number())
	})
}

// sendFile sends the file of the resource in the path, as open returns it.
func (a fileRoutes) sendFile(w http.ResponseWriter, r *exchange.Request, open func() (metadata.Resource, io.ReadSeekCloser, error)) error {
	inline, invalid := wantsInline(r)
	if invalid != nil {
		// Who may not read it learns nothing else.
		_, err := a.repo.Files.GetResource(r.Context(), r.Caller, r.ID())
		return cmp.Or(err, invalid)
	}
	resource, file, err := open()
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // only read from
	if err := setType(w.Header(), resource, file, inline); err != nil {
		return err
	}
	sent := contentOf(resource, file)
	id := resource.ID // not the whole record, which would then be allocated
	sent.still = func() error { return a.repo.Files.MayStillRead(r.Context(), r.Caller, id) }
	return a.sendContent(w, r, sent)
}

// content is a file that goes out as it is.
type content struct {
	file     io.ReadSeeker
	digest   blobs.Digest
	bytes    int64
	modified time.Time    // zero: no Last-Modified is sent
	verified bool         // the bytes have been read and compared with a checksum
	still    func() error // refuses a caller that may not have the rest any more
}

func contentOf(resource metadata.Resource, file io.ReadSeeker) content {
	return content{file: file, digest: resource.Digest, bytes: resource.Bytes, modified: resource.Modified.Time(), verified: resource.Body == metadata.Inline}
}

// sendContent sends a file, whose Content-Type is set, or the requested part of it, with the
// entity tag that is set, else the usual one. http.ServeContent does conditions and ranges. A file
// that turns out to be damaged is an error before the answer begins; afterwards the answer is cut
// off, as it is where the caller loses the right to the rest.
func (a fileRoutes) sendContent(w http.ResponseWriter, r *exchange.Request, c content) error {
	header := w.Header()
	if kind := header.Get("Content-Type"); isActiveType(kind) {
		header.Set("Content-Type", inertType(r.Request, kind))
	}
	var tag, digest [80]byte
	etag := header.Get("Etag")
	if etag == "" {
		etag = string(append(hex.AppendEncode(append(tag[:0], `"sha256-`...), c.digest[:]), '"'))
	}
	exchange.SetAll(header, "Content-Security-Policy", contentSecurity(header.Get("Content-Type")), "Etag", etag,
		"Repr-Digest", string(append(base64.StdEncoding.AppendEncode(append(digest[:0], "sha-256=:"...), c.digest[:]), ':')),
		"Cache-Control", r.Caching())
	sent := &contentWriter{ResponseWriter: w, r: r.Request, still: c.still}
	body, release, err := a.verified(r, c)
	defer release()
	switch {
	case err != nil:
		sent.damage = err
	case r.Method == http.MethodGet && !slices.ContainsFunc(selecting, func(name string) bool { return r.Header[name] != nil }):
		sent.sendAll(c, body)
	default:
		r.Header = normalizedRange(withoutDates(r.Header, c.modified), c.bytes)
		http.ServeContent(sent, r.Request, "", c.modified, body)
	}
	if sent.ended != nil {
		panic(http.ErrAbortHandler)
	}
	if sent.damage == nil {
		return nil
	}
	damage := fmt.Errorf("blob %s: %w", c.digest, sent.damage)
	exchange.NoteError(w, damage)
	a.repo.Files.NoteDamage(context.WithoutCancel(r.Context()), c.digest, damage)
	if err == nil {
		return nil // the answer has been cut off
	}
	return &errs.Error{Kind: errs.Internal, Code: errs.CodeDataDamaged, Err: damage,
		Message: "the file of this resource is missing or damaged on the server"}
}

// selecting are the headers that request a part of the file, or the file under a condition.
var selecting = []string{"Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"}

// sendAll is http.ServeContent for a request that asks for the file and nothing else, without
// looking for its size again.
func (w *contentWriter) sendAll(c content, body io.Reader) {
	header := w.Header()
	exchange.SetAll(header, "Accept-Ranges", "bytes", "Content-Length", strconv.FormatInt(c.bytes, 10))
	if !c.modified.IsZero() {
		header.Set("Last-Modified", c.modified.UTC().Format(http.TimeFormat))
	}
	w.WriteHeader(http.StatusOK)
	if whole, isWhole := body.(*memoryFile); isWhole {
		_, err := w.Write(whole.bytes)
		whole.unsent = err != nil
		return
	}
	_, _ = w.ReadFrom(&io.LimitedReader{R: body, N: c.bytes}) // an error has been noted
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

func wantsInline(r *exchange.Request) (bool, error) {
	switch values := r.Query["disposition"]; {
	case len(values) == 0, len(values) == 1 && values[0] == "attachment":
		return false, nil
	case len(values) == 1 && values[0] == "inline":
		return true, nil
	}
	return false, &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidParameter, Field: "disposition",
		Message: "disposition may be given once, as inline or attachment"}
}

// contentDisposition returns the header that names the file for the client.
func contentDisposition(resource metadata.Resource, inline bool) string {
	kind := "attachment"
	if inline {
		kind = "inline"
	}
	return saveAs(kind, files.DownloadName(resource))
}

// saveAs writes a Content-Disposition as RFC 6266 has it, with the name in ASCII, and as it is.
func saveAs(kind, name string) string {
	ascii := strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' || strings.ContainsRune(`"\%`, c) {
			return '_'
		}
		return c
	}, name)
	value := kind + `; filename="` + ascii + `"`
	if ascii != name {
		value += "; filename*=UTF-8''" + percentEncode(name)
	}
	return value
}

// percentEncode writes a name as RFC 8187 defines it.
func percentEncode(name string) string {
	var out strings.Builder
	for _, c := range []byte(name) {
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("!#$&+-.^_`|~", c) >= 0 {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(&out, "%%%02X", c)
		}
	}
	return out.String()
}

const sandboxed = "default-src 'none'; sandbox"

// contentSecurity returns the policy that keeps a file from acting in the name of the service. A
// PDF viewer does not start in a sandbox.
func contentSecurity(mimetype string) string {
	const pdf = "application/pdf"
	if at := strings.TrimSpace(mimetype); len(at) < len(pdf) || !strings.EqualFold(at[:len(pdf)], pdf) { // as nearly always, unparsed
		return sandboxed
	}
	if media, _, _ := mime.ParseMediaType(mimetype); media == pdf {
		return "default-src 'none'"
	}
	return sandboxed
}

// errContent is the error of a file whose bytes do not have the recorded digest.
var errContent = errors.New("the content does not have the recorded SHA-256")

// verified returns what the content is read from, and the function that ends the reading. Up to the
// size of the configuration wrong bytes of a whole file never come to a clean end: a small file is
// read and compared at once, which returns an error if the digest differs, a larger one while it is
// sent. A part of a larger file cannot be verified.
func (a fileRoutes) verified(r *exchange.Request, c content) (body io.ReadSeeker, release func(), err error) {
	if c.verified || c.bytes > a.config.VerifyReads || r.Method != http.MethodGet {
		return c.file, func() {}, nil
	}
	if c.bytes > slowclient.ChunkSize {
		return &verifiedFile{content: c, hash: sha256.New()}, func() {}, nil
	}
	buffer := a.buffers.Get()
	whole := &memoryFile{bytes: buffer[:c.bytes]}
	release = func() {
		if !whole.unsent {
			a.buffers.Put(buffer)
		}
	}
	if err = c.readWhole(whole.bytes); errors.Is(err, errContent) { // a byte may have changed on the way from the store
		if _, err = c.file.Seek(0, io.SeekStart); err == nil {
			err = c.readWhole(whole.bytes)
		}
	}
	if err != nil {
		return nil, release, err
	}
	whole.Reset(whole.bytes)
	return whole, release, nil
}

// readWhole reads the file, which is at its start, and compares its digest: errContent.
func (c content) readWhole(into []byte) error {
	switch _, err := io.ReadFull(c.file, into); {
	case err == io.EOF:
		return io.ErrUnexpectedEOF
	case err != nil:
		return err
	case sha256.Sum256(into) != c.digest:
		return errContent
	}
	return nil
}

// memoryFile is a complete file in memory.
type memoryFile struct {
	bytes.Reader
	bytes  []byte
	unsent bool // the connection may still have them
}

// verifiedFile hashes a file while it is read from start to end, in one go, and does not give out
// its last byte if the sum is wrong: the answer is cut off, so that no client takes damaged bytes
// for the file. Parts cannot be verified.
type verifiedFile struct {
	content
	hash       hash.Hash
	at, hashed int64
}

func (f *verifiedFile) Seek(offset int64, whence int) (at int64, err error) {
	f.at, err = f.file.Seek(offset, whence)
	return f.at, err
}

func (f *verifiedFile) Read(p []byte) (int, error) {
	n, err := f.file.Read(p)
	if f.at == f.hashed {
		f.hash.Write(p[:n])
		f.hashed += int64(n)
	}
	f.at += int64(n)
	if n > 0 && f.at == f.bytes && f.hashed == f.at && blobs.Digest(f.hash.Sum(nil)) != f.digest {
		return n - 1, errContent
	}
	return n, err
}
