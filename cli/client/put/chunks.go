package put

import (
	"context"
	"errors"
	"io"

	"labshelf/blobs"
	"labshelf/cli/client/resumption"
	"labshelf/client"
)

// sendChunks resumes the upload of an earlier run, or begins one. Chunks from several runs must
// together be the current file: the client sends its digest at the end.
func (u *job) sendChunks(ctx context.Context, s *source, fields client.NewResource, replaces string, when ...client.Condition) (client.Resource, error) {
	what, err := s.identity(ctx)
	if err != nil {
		return client.Resource{}, err
	}
	known := fields // the digest may only be known at the second attempt
	known.Digest = blobs.Digest{}
	place := u.uploads.Of(u.client.Base(), known, replaces, when, what)
	for again := false; ; again = true {
		upload, err := u.resume(ctx, place, s, fields.Name)
		resumed := upload.ID != ""
		if !resumed && err == nil {
			if upload, err = u.client.Uploads.Begin(ctx, fields, s.size, replaces, when...); err == nil {
				place.Save(upload.ID)
			}
		}
		if err != nil {
			return client.Resource{}, err
		}
		id := upload.ID
		r, err := u.client.Uploads.Continue(ctx, id, readerAt{s, upload.Offset}, s.size)
		switch status := statusOf(err); {
		case err == nil:
			place.Remove()
		case status == 404, status == 410: // the upload has expired, or belongs to another user
			place.Remove()
			if !again {
				continue
			}
		case status == 400, status == 412: // no retry of this upload can succeed
			u.giveUp(ctx, place, id)
			if !s.changed() && resumed && !again && isMismatch(err) { // an earlier run sent chunks of another version of the file
				continue
			}
		case errors.Is(err, client.ErrAnotherFile):
			place.Remove()
		case status == 0 && s.changed(): // nor here: a file may change many times a day
			u.giveUp(ctx, place, id)
		}
		return r, err
	}
}

// resume returns the upload of an earlier run. Its ID is "" if no upload exists, or if its resource
// has another file by now. A rejected upload is also returned, however far it is.
func (u *job) resume(ctx context.Context, place resumption.Entry, s *source, name string) (client.Upload, error) {
	id := place.ID()
	if id == "" {
		return client.Upload{}, nil
	}
	upload, err := u.client.Uploads.Get(ctx, id)
	if statusOf(err) != 0 {
		return client.Upload{ID: id}, nil
	}
	if err != nil || upload.ResourceID == "" {
		return upload, err
	}
	r, err := u.client.Resources.Get(ctx, upload.ResourceID)
	if err != nil && statusOf(err) == 0 {
		return client.Upload{}, err
	}
	digest, err := s.sum(ctx)
	if err != nil || isUnchanged(r, name, digest) {
		return upload, err
	}
	place.Remove()
	return client.Upload{}, nil
}

// giveUp ends an upload that cannot succeed.
func (u *job) giveUp(ctx context.Context, place resumption.Entry, id string) {
	place.Remove()
	_ = u.client.Uploads.End(ctx, id) // if this fails, the upload expires
}

// isUnchanged reports whether a resource is active and has this name and file. A resource of an
// earlier run may have been deleted, renamed or replaced.
func isUnchanged(r client.Resource, name string, digest blobs.Digest) bool {
	return r.State == client.Active && r.Name == name && r.SHA256 == digest
}

// isMismatch reports whether the service rejected a file because its digest differs.
func isMismatch(err error) bool {
	var problem *client.Problem
	return errors.As(err, &problem) && problem.Code == "digest_mismatch"
}

// statusOf returns the status of an error response, or 0 if no response arrived.
func statusOf(err error) int {
	var problem *client.Problem
	if errors.As(err, &problem) {
		return problem.Status
	}
	return 0
}

// readerAt reads a source at any offset. It reads the bytes that an earlier run has sent only for
// the digest.
type readerAt struct {
	*source
	sent int64 // by an earlier run
}

func (a readerAt) ReadAt(p []byte, at int64) (int, error) {
	n, err := a.file.ReadAt(p, at)
	if at+int64(n) == a.size { // the last chunk; without it the service creates nothing
		if changed := a.unchanged(); changed != nil {
			n, err = 0, changed
		}
	}
	if elsewhere := at - a.moved.Load(); elsewhere != 0 { // offset at which an earlier attempt stopped
		a.skip(elsewhere)
	}
	if at < a.sent {
		a.countCompared(int64(n))
	} else {
		a.countMoved(int64(n))
	}
	if err != nil && err != io.EOF {
		a.readError.CompareAndSwap(nil, &err)
	}
	return n, err
}
