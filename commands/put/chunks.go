package put

import (
	"context"
	"errors"
	"io"

	"labshelf/client"
	"labshelf/commands/resumption"
)

// chunkedAbove is the length in bytes above which a file is sent in chunks, as a resumable upload. A shorter one is sent at once.
const chunkedAbove = 16 << 20

// send sends a file, as a new resource or, where replaces is an id, in place of its file.
func (u *job) send(ctx context.Context, s *source, fields client.NewResource, replaces string, when ...client.Condition) (client.Resource, error) {
	switch {
	case s.size > chunkedAbove:
		return u.sendChunks(ctx, s, fields, replaces, when...)
	case replaces != "":
		return u.client.ReplaceResource(ctx, replaces, fields, s, s.size, when...)
	}
	return u.client.CreateResource(ctx, fields, s, s.size)
}

// sendChunks resumes the upload of an earlier run, or begins one. It needs the digest first: chunks from several runs make the file
// as it is now, or none.
func (u *job) sendChunks(ctx context.Context, s *source, fields client.NewResource, replaces string, when ...client.Condition) (client.Resource, error) {
	digest, err := s.sumAhead(ctx)
	if err != nil {
		return client.Resource{}, err
	}
	fields.Digest = digest
	place := u.uploads.Of(u.client.Base(), fields, replaces, when)
	for again := false; ; again = true {
		id := place.ID()
		known := id != ""
		if !known {
			upload, err := u.client.BeginUpload(ctx, fields, s.size, replaces, when...)
			if err != nil {
				return client.Resource{}, err
			}
			id = upload.ID
			place.Save(id)
		}
		r, err := u.client.ContinueUpload(ctx, id, readerAt{s}, s.size)
		switch status := statusOf(err); {
		case err == nil:
			place.Remove()
			if known && !again && !isUnchanged(r, fields) {
				continue
			}
		case status == 404, status == 410: // it has expired, or is another user's
			place.Remove()
			if !again {
				continue
			}
		case status == 400, status == 412: // no retry can succeed
			s.noteChange()
			u.giveUp(ctx, place, id)
		case status == 0 && s.changed(): // nor here, and a file may change many times a day
			u.giveUp(ctx, place, id)
		}
		return r, err
	}
}

// giveUp ends an upload that cannot succeed.
func (u *job) giveUp(ctx context.Context, place resumption.Entry, id string) {
	place.Remove()
	_ = u.client.EndUpload(ctx, id) // or it expires
}

// isUnchanged tells whether a resource is what fields say. One that an earlier run has made may have been deleted, renamed or
// replaced since.
func isUnchanged(r client.Resource, fields client.NewResource) bool {
	return r.State == client.Active && r.Name == fields.Name && r.SHA256 == fields.Digest
}

// statusOf returns the status of an answer that is an error; 0: there was no answer.
func statusOf(err error) int {
	var problem *client.Problem
	if errors.As(err, &problem) {
		return problem.Status
	}
	return 0
}

// readerAt reads a source at any offset.
type readerAt struct{ *source }

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
	a.count(int64(n))
	if err != nil && err != io.EOF {
		a.readError.CompareAndSwap(nil, &err)
	}
	return n, err
}
