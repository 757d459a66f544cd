// Package dav serves a repository as a drive over WebDAV (RFC 4918, class 2). It decodes requests,
// calls use cases and encodes answers. Package handlers admits the requests to their budgets and
// writes the errors. Package repository has the rules: permissions, the mapping of paths to files,
// and the effects of changes.
//
// The package does not use golang.org/x/net/webdav. That package holds the whole listing of a
// PROPFIND in memory. It fails the litmus suite at shared locks, at conditions on the entity tag of
// a locked file, and at undeclared namespace prefixes.
//
// Locks affect only requests to the drive. They are in memory and end with the process. If several
// nodes serve the drive, the locks are rows of the metadata.
package dav

import (
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/handlers/internal/authentication"
	"labshelf/handlers/internal/body"
	"labshelf/handlers/internal/download"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/hosts"
	"labshelf/metadata"
	"labshelf/repository"
	"labshelf/repository/folders"
)

// Path is the path of the drive, below the prefix of the service.
const Path = "/dav"

// Config configures a drive.
type Config struct {
	Repository     *repository.Service
	Hosts          *hosts.Hosts
	Authentication *authentication.Authenticator
	Downloads      *download.Sender
}

// Drive serves requests. It is safe for concurrent use.
type Drive struct {
	repo      *repository.Service
	hosts     *hosts.Hosts
	auth      *authentication.Authenticator
	downloads *download.Sender
	prefix    string // the prefix of every path of the drive, as clients see it; begins with a slash and ends without one
	locks     *locks
}

// New returns the drive of a repository.
func New(config Config) *Drive {
	return &Drive{
		repo: config.Repository, hosts: config.Hosts, auth: config.Authentication, downloads: config.Downloads,
		prefix: config.Hosts.Prefix() + Path, locks: newLocks(),
	}
}

// request is one request to the drive.
type request struct {
	*http.Request
	caller auth.Principal
	path   string // without slashes at either end
	at     folders.DrivePath
	ifs    []conditions // conditions of the If header
	locks  *locks       // as of the arrival of the request, or newer

	// tagged are the files at other paths that the If header names.
	tagged map[string]*metadata.Resource
}

// methods serve the methods of the drive.
var methods = map[string]func(*Drive, http.ResponseWriter, *request) error{
	"GET": (*Drive).get, "HEAD": (*Drive).get, "PUT": (*Drive).put, "DELETE": (*Drive).delete, "MKCOL": (*Drive).makeFolder,
	"COPY": (*Drive).copy, "MOVE": (*Drive).copy, "PROPFIND": (*Drive).propfind, "PROPPATCH": (*Drive).proppatch, "LOCK": (*Drive).lock, "UNLOCK": (*Drive).unlock,
}

// allowed are the methods of every path.
const allowed = "OPTIONS, GET, HEAD, PUT, DELETE, MKCOL, COPY, MOVE, PROPFIND, PROPPATCH, LOCK, UNLOCK"

// classes are the supported classes of WebDAV.
const classes = "1, 2"

// Takes reports whether the drive supports a method other than OPTIONS.
func Takes(method string) bool { return methods[method] != nil }

// Describe answers OPTIONS.
func Describe(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Allow", allowed)
	header.Set("Dav", classes)
	header.Set("Ms-Author-Via", "DAV") // Office looks for this header
	w.WriteHeader(http.StatusOK)
}

// Serve serves a request of a caller. path is the path below the prefix. The caller of Serve must
// write a returned error as the answer.
func (d *Drive) Serve(w http.ResponseWriter, r *http.Request, caller auth.Principal, path string) error {
	serve := methods[r.Method]
	if serve == nil {
		w.Header().Set("Allow", allowed)
		return &errs.Error{Kind: errs.MethodNotAllowed, Code: errs.CodeMethodNotAllowed, Message: "the Allow header lists the methods that the drive accepts"}
	}
	at, ok := split(path)
	if !ok {
		return nothing()
	}
	req := &request{Request: r, caller: caller, path: trim(path), at: at}
	if header := strings.Join(r.Header.Values("If"), " "); header != "" {
		if req.ifs, ok = parseIf(header); !ok {
			return &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidField, Field: "If", Message: "the If header is malformed, or has more than " + strconv.Itoa(maxConditions) + " conditions"}
		}
	}
	err := d.meetLocks(req)
	if err == nil {
		err = d.meetNow(req)
	}
	if err == nil {
		err = serve(d, w, req)
	}
	if refused, is := errors.AsType[*refusal](err); is {
		refused.write(w)
		return nil
	}
	return err
}

// trim removes one slash at each end.
func trim(path string) string { return strings.TrimSuffix(strings.TrimPrefix(path, "/"), "/") }

// split returns the meaning of a path below the prefix. ok is false if no object can have the path.
func split(path string) (at folders.DrivePath, ok bool) {
	path = trim(path)
	at.Dataspace, path, _ = strings.Cut(path, "/")
	at.Set, at.Path, _ = strings.Cut(path, "/")
	return at, (at.Dataspace != "" || path == "") && (at.Set != "" || at.Path == "")
}

func nothing() error {
	return &errs.Error{Kind: errs.NotFound, Code: errs.CodeNotFound, Message: "there is nothing at this path, or you cannot read it"}
}

// refusal is a WebDAV answer that names the failed precondition in an element.
type refusal struct {
	status  int
	element string // in the namespace DAV:, with its content; "": no element
}

func (e *refusal) Error() string { return "webdav: " + strconv.Itoa(e.status) + " " + e.element }

func (e *refusal) write(w http.ResponseWriter) {
	text := ""
	if e.element != "" {
		text = xmlHead + `<D:error xmlns:D="DAV:">` + e.element + `</D:error>`
		w.Header().Set("Content-Type", xmlType)
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(e.status)
	_, _ = io.WriteString(w, text) // an error means that the client is gone
}

// Tag returns the entity tag of a file on the drive: the digest of its bytes in quotes. It is
// shorter than the tag of a download, since some clients store two tags and a token in 200 bytes.
func Tag(digest blobs.Digest) string { return string(appendTag(nil, digest)) }

func appendTag(text []byte, digest blobs.Digest) []byte {
	return append(base64.RawURLEncoding.AppendEncode(append(text, '"'), digest[:]), '"')
}

func digestTag(digest blobs.Digest) string { return base64.RawURLEncoding.EncodeToString(digest[:]) }

// lookup returns the entry at the path of the request. A missing entry is an error.
func (d *Drive) lookup(r *request) (e folders.DriveEntry, err error) {
	e, err = d.repo.Drive.Lookup(r.Context(), r.caller, r.at)
	if err == nil && e.Missing != folders.Present {
		err = nothing()
	}
	return e, err
}

// href returns the address of a path, percent-encoded. The address of a folder ends in a slash.
func (d *Drive) href(path string, folder bool) string {
	return string(d.appendHref(nil, "", path, folder))
}

// appendHref appends the address of a path in two parts.
func (d *Drive) appendHref(text []byte, above, path string, folder bool) []byte {
	text = appendEscaped(appendEscaped(append(appendEscaped(text, d.prefix), '/'), above), path)
	if folder && above+path != "" {
		text = append(text, '/')
	}
	return text
}

// plain are the characters, in addition to letters and digits, that appear unescaped in an address.
// Other characters may appear unescaped, too, but mean something else in XML or to some clients.
const plain = "-_.~$,/:=@"

func appendEscaped(text []byte, path string) []byte {
	for i := range len(path) {
		c := path[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(plain, c) >= 0 {
			text = append(text, c)
		} else {
			text = append(text, '%', "0123456789ABCDEF"[c>>4], "0123456789ABCDEF"[c&15])
		}
	}
	return text
}

// get answers GET and HEAD.
func (d *Drive) get(w http.ResponseWriter, r *request) error {
	e, err := d.lookup(r)
	switch {
	case err != nil:
		return err
	case e.File != nil:
		return d.send(w, r, e)
	}
	const text = "This is a folder of the drive. Open its address with a WebDAV client; the help pages explain how.\n"
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = io.WriteString(w, text)
	return nil
}

// send answers GET and HEAD of a file. Last-Modified equals the getlastmodified property.
func (d *Drive) send(w http.ResponseWriter, r *request, e folders.DriveEntry) error {
	resource, file, err := d.repo.Files.OpenResource(r.Context(), r.caller, e.File.ID.String())
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // only read from
	if resource.Version == e.File.Version {
		resource.Modified = e.ModifiedAt()
	}
	w.Header().Set("Etag", Tag(resource.Digest))
	return d.downloads.SendResource(w, &exchange.Request{Request: r.Request, Caller: r.caller}, resource, file, false)
}

// makeFolder answers MKCOL.
func (d *Drive) makeFolder(w http.ResponseWriter, r *request) error {
	if empty, err := body.Empty(r.Request); err != nil {
		return err
	} else if !empty {
		return &errs.Error{Kind: errs.UnsupportedMedia, Code: errs.CodeUnsupportedMedia, Message: "MKCOL does not accept a body"}
	}
	if err := d.admit(r, r.path, false); err != nil {
		return err
	}
	if err := d.repo.Drive.CreateFolder(r.Context(), r.caller, r.at); err != nil {
		return err
	}
	w.Header().Set("Location", d.href(r.path, true))
	w.WriteHeader(http.StatusCreated)
	return nil
}

// delete answers DELETE.
func (d *Drive) delete(w http.ResponseWriter, r *request) error {
	admits, matches := d.guard(r, r.path, true), d.matches(r)
	_, err := d.repo.Drive.Delete(r.Context(), r.caller, r.at, func(e folders.DriveEntry) error {
		there := e.Missing == folders.Present
		if e.Set == nil {
			return nil // the use case returns the reason
		}
		if err := admits(there); err != nil {
			return err
		}
		if !there && isSystemFile(r.path) {
			return errSystemFile
		}
		if e.File == nil {
			return nil
		}
		return matches(&e)
	})
	if errors.Is(err, errSystemFile) {
		err = nil
	}
	if err == nil {
		d.forgetLocks(r)
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}

// matches returns a function that checks the request's conditions against the entry at its path.
func (d *Drive) matches(r *request) func(*folders.DriveEntry) error {
	match := exchange.Preconditions(r.Request)
	return func(e *folders.DriveEntry) error {
		switch {
		case e.File != nil:
			if err := match.Check(digestTag(e.File.Digest), e.ModifiedAt()); err != nil {
				return err
			}
		case match.Is.Set:
			return preconditionFailed()
		}
		return d.meet(r, e.File)
	}
}

func preconditionFailed() error {
	return &errs.Error{Kind: errs.Precondition, Code: errs.CodePrecondition, Message: "the file does not have the version that the request names"}
}
