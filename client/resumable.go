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

// Upload is a file that is sent in chunks, and continued where it stopped: after a connection
// broke, in another process, on another day.
type Upload struct {
	ID             string
	Offset, Length int64  // how many bytes the service has on stable storage, and of how many
	ResourceID     string // what the file has become; "": it is not finished
}

// Uploads are the calls about files that are sent in chunks.
type Uploads struct{ c *caller }

// Begin announces a file of so many bytes, for a set, or in place of the file of a resource if
// replaces is not "". The description of the file is as for Resources.Create and Replace, but a
// missing digest is not computed. Continue sends it.
func (s Uploads) Begin(ctx context.Context, r NewResource, size int64, replaces string, when ...Condition) (Upload, error) {
	if size < 0 {
		return Upload{}, errors.New("the length of a file that is sent in chunks must be known")
	}
	// An empty file is complete when it is begun.
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

// madeOf returns the id of the resource that an answer names.
func madeOf(response *http.Response) string {
	url := response.Header.Get("Labshelf-Resource")
	if url == "" {
		return ""
	}
	return path.Base(url)
}

// Get returns the progress of an upload. One that is complete and was refused returns that
// refusal; one that has expired, was ended or never existed, a Problem with the status 410 or 404.
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

// ErrAnotherFile is the error of an upload that became a resource with another file: the service is
// older than Labshelf-SHA256, or did not get that header, and an earlier call has sent another
// file; or somebody has replaced the file at once.
var ErrAnotherFile = errors.New("the SHA-256 is not that of the file that was sent")

// Continue sends what is missing of a file of so many bytes, and returns the resource that it
// becomes. It computes the SHA-256 while it sends, for which it reads what an earlier call has sent
// once more, and tells it with the last chunk: the resource is the file as it is now, or there is
// none. Where the connection breaks it asks for the offset and continues, as the client's Retries
// allow, which are counted anew after each progress. An upload that is complete and was refused is
// tried once more. With ErrAnotherFile comes the resource.
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

// madeFrom returns the resource that a file has become.
func (s Uploads) madeFrom(ctx context.Context, id string, file *hashedFile) (Resource, error) {
	r, err := Resources{s.c}.Get(ctx, id)
	if err == nil && file.hashed == file.size && r.SHA256 != digest.Digest(file.sum.Sum(nil)) {
		err = fmt.Errorf("%w: the resource %s", ErrAnotherFile, id)
	}
	return r, err
}

// sendRest sends once what is missing. It returns the known progress of the upload.
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

// lastChunk is how many bytes the last chunk of a file has at most: that with which its digest is
// told.
const lastChunk = 64 << 10

// sendChunk sends what is missing but for the last chunk, or the last chunk.
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

// refusedWhole reports whether a question how far an upload is was answered with why it was not
// taken.
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

// resumable classifies a failure: whatever is no fault of the file may pass at the next try, and a
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

// End ends an upload. A resource that it has made stays.
func (s Uploads) End(ctx context.Context, id string) error {
	return s.c.nothing(ctx, tus(request{method: http.MethodDelete, path: at("uploads", id)}))
}

// hashedFile is a file of which a beginning has been hashed.
type hashedFile struct {
	io.ReaderAt
	size, hashed int64
	sum          hash.Hash
}

// see hashes what has not been hashed yet of some bytes of the file. Bytes beyond a gap are left
// out.
func (f *hashedFile) see(b []byte, at int64) {
	if end := at + int64(len(b)); at <= f.hashed && f.hashed < end {
		f.sum.Write(b[f.hashed-at:])
		f.hashed = end
	}
}

// hashTo hashes the file up to an offset, as far as that has not been done. It ends with the
// context, after which the file may be read for a while, and f must not be used.
func (f *hashedFile) hashTo(ctx context.Context, to int64) error {
	if ctx.Err() != nil { // a try that ended with it may still read
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
			err = fmt.Errorf("it has %d bytes less than were announced: it changed while it was sent", f.size-f.hashed)
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
		return fmt.Errorf("it has more than %d bytes: it changed while it was sent, or its size is wrong", f.size)
	}
	return errs.Ignore(err, io.EOF)
}

// fileChunk is what one request sends of a file.
type fileChunk struct {
	of       *hashedFile
	from, to int64
	sent     *sending // nil: nothing
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
