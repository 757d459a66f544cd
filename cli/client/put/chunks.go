package put

import (
	"context"
	"errors"
	"io"

	"labshelf/blobs"
	"labshelf/cli/client/resumption"
	"labshelf/client"
)

// chunkedAbove is the length in bytes above which a file is sent in chunks, as a resumable upload.
// A shorter one is sent at once.
const chunkedAbove = 16 << 20

// send sends a file, as a new resource or, where replaces is an id, in place of its file.
func (u *job) send(ctx context.Context, s *source, fields client.NewResource, replaces string, when ...client.Condition) (client.Resource, error) {
	switch {
	case s.size > chunkedAbove:
		return u.sendChunks(ctx, s, fields, replaces, when...)
	case replaces != "":
		return u.client.Resources.Replace(ctx, replaces, fields, s, s.size, when...)
	}
	return u.client.Resources.Create(ctx, fields, s, s.size)
}

// sendChunks resumes the upload of an earlier run, or begins one. Chunks from several runs make the
// file as it is now, or none: the client tells the digest at the end.
func (u *job) sendChunks(ctx context.Context, s *source, fields client.NewResource, replaces string, when ...client.Condition) (client.Resource, error) {
	what, err := s.identity(ctx)
	if err != nil {
		return client.Resource{}, err
	}
	known := fields // the digest may be known by the second attempt only
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
		case status == 404, status == 410: // it has expired, or is another user's
			place.Remove()
			if !again {
				continue
			}
		case status == 400, status == 412: // no retry of this upload can succeed
			u.giveUp(ctx, place, id)
			if !s.changed() && resumed && !again && isMismatch(err) { // what an earlier run has sent is of another file
				continue
			}
		case errors.Is(err, client.ErrAnotherFile):
			place.Remove()
		case status == 0 && s.changed(): // nor here, and a file may change many times a day
			u.giveUp(ctx, place, id)
		}
		return r, err
	}
}

// resume returns the upload of an earlier run; its ID is "" where there is none, or what it has
// made is another file by now. How far it is does not matter where it was refused.
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
	_ = u.client.Uploads.End(ctx, id) // or it expires
}

// isUnchanged tells whether a resource is active and has this name and file. One that an earlier
// run has made may have been deleted, renamed or replaced since.
func isUnchanged(r client.Resource, name string, digest blobs.Digest) bool {
	return r.State == client.Active && r.Name == name && r.SHA256 == digest
}

// isMismatch tells whether the service refused a file since it has another digest.
func isMismatch(err error) bool {
	var problem *client.Problem
	return errors.As(err, &problem) && problem.Code == "digest_mismatch"
}

// statusOf returns the status of an answer that is an error; 0: there was no answer.
func statusOf(err error) int {
	var problem *client.Problem
	if errors.As(err, &problem) {
		return problem.Status
	}
	return 0
}

// readerAt reads a source at any offset. What an earlier run has sent is read for its digest only.
type readerAt struct {
	*source
	sent int64 // by an earlier run
}

func (a readerAt) ReadAt(p []byte, at int64) (int, error) {
	n, err := a.file.ReadAt(p, at)
	if at+int64(n) == a.size { // the last chunk, without which the service makes nothing
		if changed := a.unchanged(); changed != nil {
			n, err = 0, changed
		}
	}
	if elsewhere := at - a.moved.Load(); elsewhere != 0 { // where an earlier attempt stopped
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
