package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"

	"labshelf/auth/errs"
	"labshelf/blobs/digest"
)

// Upload is a file that is sent in chunks, and can be continued after a broken connection or in
// another process.
type Upload struct {
	ID             string
	Offset, Length int64  // bytes that the service has on stable storage, and the total
	ResourceID     string // the resource created from the file; "": not finished
}

// Uploads are the calls about files that are sent in chunks.
type Uploads struct{ c *caller }

// Begin announces a file of size bytes, for a set, or for the resource replaces if that is not "".
// The description of the file is as for Resources.Create and Replace, but a missing digest is not
// computed. Continue sends the file.
func (s Uploads) Begin(ctx context.Context, r NewResource, size int64, replaces string, when ...Condition) (Upload, error) {
	if size < 0 {
		return Upload{}, errors.New("the length of a file that is sent in chunks must be known")
	}
	// The upload of an empty file is complete at its beginning.
	call := tus(request{method: http.MethodPost, path: at("uploads"), once: size == 0}.under(when)).
		with("Upload-Length", strconv.FormatInt(size, 10)).with("Upload-Metadata", uploadMetadata(r, replaces))
	begun := Upload{Length: size}
	err := s.c.run(ctx, call, func(response *http.Response) error {
		begun.ID = path.Base(response.Header.Get("Location"))
		if response.StatusCode != http.StatusCreated || at(begun.ID) == "" {
			return errors.Join(&Problem{Status: response.StatusCode}, response.Body.Close())
		}
		begun.ResourceID = madeOf(response)
		return response.Body.Close()
	})
	return begun, err
}

// uploadMetadata returns the header by which tus clients describe a file.
func uploadMetadata(r NewResource, replaces string) string {
	sha := ""
	if r.Digest != (digest.Digest{}) {
		sha = r.Digest.String()
	}
	var pairs []string
	for _, pair := range [][2]string{
		{"setId", r.SetID}, {"resourceId", replaces}, {"filename", r.Filename}, {"filetype", r.Mimetype},
		{"name", r.Name}, {"format", r.Format}, {"description", r.Description}, {"metadata", string(r.Metadata)}, {"sha256", sha},
	} {
		if pair[1] != "" {
			pairs = append(pairs, pair[0]+" "+base64.StdEncoding.EncodeToString([]byte(pair[1])))
		}
	}
	return strings.Join(pairs, ",")
}

func tus(r request) request { return r.with("Tus-Resumable", "1.0.0") }

// madeOf returns the id of the resource in a response.
func madeOf(response *http.Response) string {
	url := response.Header.Get("Labshelf-Resource")
	if url == "" {
		return ""
	}
	return path.Base(url)
}

// Get returns the progress of an upload. If a complete upload was refused, Get returns that
// refusal. For an expired, ended or unknown upload it returns a Problem with the status 410 or 404.
func (s Uploads) Get(ctx context.Context, id string) (u Upload, err error) {
	u.ID = id
	err = s.c.run(ctx, tus(request{method: http.MethodGet, path: at("uploads", id)}), func(response *http.Response) error {
		u, err = uploadOf(id, response)
		return errors.Join(err, response.Body.Close())
	})
	return u, err
}

func uploadOf(id string, response *http.Response) (u Upload, err error) {
	u = Upload{ID: id, ResourceID: madeOf(response)}
	u.Offset, err = strconv.ParseInt(response.Header.Get("Upload-Offset"), 10, 64)
	if length := response.Header.Get("Upload-Length"); err == nil && length != "" {
		u.Length, err = strconv.ParseInt(length, 10, 64)
	}
	if err != nil {
		return u, &Problem{Status: response.StatusCode}
	}
	return u, nil
}

// ErrAnotherFile means that an upload became a resource with another file. The service might not
// support Labshelf-SHA256, or did not get that header, and an earlier call has sent another file.
// Or somebody has already replaced the file.
var ErrAnotherFile = errors.New("the SHA-256 differs from the SHA-256 of the sent file")

// Continue sends the missing bytes of a file of size bytes, and returns the resource that it
// becomes. It computes the SHA-256 during the transfer: it reads the bytes of an earlier call again
// for this, and sends it with the last chunk: the resource has the current file, or the upload
// fails. After a broken connection it requests the offset and continues, as the client's Retries
// allow; these are counted again after each progress. It tries a complete but refused upload once
// more. It also returns the resource with ErrAnotherFile.
func (s Uploads) Continue(ctx context.Context, id string, file io.ReaderAt, size int64) (Resource, error) {
	if at("uploads", id) == "" {
		return Resource{}, errNoID
	}
	retries, reached := s.c.retries(), int64(-1)
	hashed := &hashedFile{ReaderAt: file, size: size, sum: sha256.New()}
	for try := 1; ; try++ {
		u, failed := s.sendRest(ctx, id, hashed)
		if failed == nil {
			return s.madeFrom(ctx, u.ResourceID, hashed)
		}
		if u.Offset > reached {
			try, reached = 1, u.Offset
		}
		pause := retries.pause(try)
		if failed.response != nil {
			pause = max(pause, retryAfter(failed.response.Header))
		}
		if failed.verdict == final || ctx.Err() != nil || pause > retries.Longest {
			return Resource{}, failed.error
		}
		if try >= retries.Tries {
			return Resource{}, tried(failed.error, try)
		}
		if err := retries.Wait(ctx, pause); err != nil {
			return Resource{}, fmt.Errorf("%w, while waiting after: %w", err, failed.error)
		}
	}
}

// madeFrom returns the resource that was created from a file. A caller who is not allowed to read
// gets only the id, the size and the digest, which the service has compared.
func (s Uploads) madeFrom(ctx context.Context, id string, file *hashedFile) (Resource, error) {
	r, err := Resources{s.c}.Get(ctx, id)
	var problem *Problem
	if errors.As(err, &problem) && problem.Status == http.StatusForbidden && file.hashed == file.size {
		return Resource{ID: id, Bytes: file.size, SHA256: digest.Digest(file.sum.Sum(nil))}, nil
	}
	if err == nil && file.hashed == file.size && r.SHA256 != digest.Digest(file.sum.Sum(nil)) {
		err = fmt.Errorf("%w: the resource %s", ErrAnotherFile, id)
	}
	return r, err
}

// sendRest makes one attempt to send the missing bytes. It returns the known progress of the
// upload.
func (s Uploads) sendRest(ctx context.Context, id string, file *hashedFile) (Upload, *failure) {
	u, err := s.Get(ctx, id)
	switch {
	case refusedWhole(err):
		u.Offset, u.Length = file.size, file.size
	case err != nil:
		return u, resumable(err, nil)
	case u.ResourceID != "" && file.size > 0:
		return u, nil
	case u.Length != file.size:
		return u, &failure{verdict: final, error: fmt.Errorf("the file has %d bytes, and %d were announced", file.size, u.Length)}
	}
	if err := file.hashTo(ctx, u.Offset); err != nil {
		return u, unreadable(err)
	}
	for u.ResourceID == "" {
		if failed := s.sendChunk(ctx, &u, file); failed != nil {
			return u, failed
		}
	}
	return u, nil
}

// lastChunk bounds the last chunk of a file, in bytes. The digest is sent with it.
const lastChunk = 64 << 10

// sendChunk sends the missing bytes except the last chunk, or the last chunk.
func (s Uploads) sendChunk(ctx context.Context, u *Upload, file *hashedFile) *failure {
	chunk := &fileChunk{of: file, from: u.Offset, to: u.Length}
	call := tus(request{method: http.MethodPatch, path: at("uploads", u.ID), chunk: chunk}).
		with("Upload-Offset", strconv.FormatInt(u.Offset, 10)).with("Content-Type", "application/offset+octet-stream")
	last := chunk.to-chunk.from <= lastChunk
	if last {
		if err := file.hashTo(ctx, file.size); err != nil {
			return unreadable(err)
		}
		call = call.with("Labshelf-SHA256", digest.Digest(file.sum.Sum(nil)).String())
	} else {
		chunk.to -= lastChunk
	}
	failed := s.c.try(ctx, call, func(response *http.Response) error {
		after, err := uploadOf(u.ID, response)
		if err == nil && (last && after.ResourceID == "" || !last && after.Offset != chunk.to) {
			err = ErrIncomplete
		}
		u.Offset, u.ResourceID = after.Offset, after.ResourceID
		return errors.Join(err, response.Body.Close())
	})
	switch wrong := chunk.sent.failed(); {
	case failed == nil:
		return nil
	case wrong != nil:
		return unreadable(wrong)
	}
	return resumable(failed.error, failed)
}

func unreadable(err error) *failure {
	return &failure{verdict: final, error: fmt.Errorf("the file to be sent cannot be read: %w", err)}
}

// refusedWhole reports whether a request for an upload's progress returned the refusal of the
// complete upload.
func refusedWhole(err error) bool {
	var problem *Problem
	if !errors.As(err, &problem) || problem.Code == errs.CodeUploadNotFound || problem.Code == errs.CodeUploadExpired {
		return false
	}
	switch problem.Status {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusGone, http.StatusPreconditionFailed:
		return problem.Code != ""
	}
	return false
}

// resumable classifies a failure: an error that is not caused by the file might not recur, and a
// repeated chunk does no harm.
func resumable(err error, failed *failure) *failure {
	var problem *Problem
	again := !errors.As(err, &problem) && (failed == nil || failed.verdict != final)
	if problem != nil {
		again = problem.Status == http.StatusLocked || problem.Status >= 500 || problem.Status == http.StatusTooManyRequests ||
			problem.Code == errs.CodeOffset || problem.Status == http.StatusRequestTimeout || problem.Code == errs.CodeInvalidBody
	}
	judged := &failure{verdict: final, error: err}
	if again {
		judged.verdict = doubt
	}
	if failed != nil {
		judged.response = failed.response
	}
	return judged
}

// End ends an upload. A resource created from it stays.
func (s Uploads) End(ctx context.Context, id string) error {
	return s.c.nothing(ctx, tus(request{method: http.MethodDelete, path: at("uploads", id)}))
}

// hashedFile is a file whose beginning has been hashed.
type hashedFile struct {
	io.ReaderAt
	size, hashed int64
	sum          hash.Hash
}

// see hashes the bytes that have not been hashed yet. It ignores bytes after a gap.
func (f *hashedFile) see(b []byte, at int64) {
	if end := at + int64(len(b)); at <= f.hashed && f.hashed < end {
		f.sum.Write(b[f.hashed-at:])
		f.hashed = end
	}
}

// hashTo hashes the file up to an offset, except the part that is already hashed. It ends with the
// context. After that the file may be read for a while, and f must not be used.
func (f *hashedFile) hashTo(ctx context.Context, to int64) error {
	if ctx.Err() != nil { // an attempt that ended with it may still read
		return ctx.Err()
	}
	done := make(chan error, 1)
	go func() { done <- f.readTo(ctx, to) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *hashedFile) readTo(ctx context.Context, to int64) error {
	buffer := make([]byte, min(chunkSize, max(0, to-f.hashed)))
	for f.hashed < to {
		n, err := f.ReadAt(buffer[:min(int64(len(buffer)), to-f.hashed)], f.hashed)
		f.see(buffer[:n], f.hashed)
		if err == io.EOF && f.hashed < to {
			err = fmt.Errorf("the file is %d bytes shorter than announced: it changed while it was being sent", f.size-f.hashed)
		}
		if err = cmp.Or(ctx.Err(), errs.Ignore(err, io.EOF)); err != nil {
			return err
		}
	}
	if to == f.size {
		return f.ends()
	}
	return nil
}

// ends returns an error if the file has more bytes than were announced.
func (f *hashedFile) ends() error {
	n, err := f.ReadAt(make([]byte, 1), f.size)
	if n > 0 {
		return fmt.Errorf("the file has more than %d bytes: it changed while it was being sent, or the given size is wrong", f.size)
	}
	return errs.Ignore(err, io.EOF)
}

// fileChunk is the part of a file in one request.
type fileChunk struct {
	of       *hashedFile
	from, to int64
	sent     *sending // nil: no bytes
}

func (p *fileChunk) begin(ctx context.Context) *sending {
	if p == nil || p.from == p.to {
		return nil
	}
	at, size := p.from, p.to-p.from
	p.sent = (&sending{
		head: bytes.NewReader(nil), file: io.NewSectionReader(p.of, p.from, size), size: size, length: size,
		see: func(b []byte) {
			p.of.see(b, at)
			at += int64(len(b))
		},
		ending: func() []byte { return []byte{} },
	}).begin(ctx)
	return p.sent
}
