package commands

import (
	"context"
	"errors"
	"io"

	"labshelf/client"
)

// partsAbove is the length above which a file is sent so that it goes on where it stopped, in bytes. A shorter one is sent anew.
const partsAbove = 16 << 20

// send sends a file, as a new resource, or in place of the file of another one.
func (u *putting) send(ctx context.Context, s *source, fields client.NewResource, replaces string, when ...client.Condition) (client.Resource, error) {
	switch {
	case s.size > partsAbove:
		return u.sendParts(ctx, s, fields, replaces, when...)
	case replaces != "":
		return u.client.ReplaceResource(ctx, replaces, fields, s, s.size, when...)
	}
	return u.client.CreateResource(ctx, fields, s, s.size)
}

// sendParts goes on with an upload of an earlier run, or begins one. The digest comes first: what is put together from several runs,
// on several days, is the file as it is now, or nothing.
func (u *putting) sendParts(ctx context.Context, s *source, fields client.NewResource, replaces string, when ...client.Condition) (client.Resource, error) {
	digest, err := s.sumAhead(ctx)
	if err != nil {
		return client.Resource{}, err
	}
	fields.Digest = digest
	place := u.begun.of(u.client.Base(), fields, replaces, when)
	for again := false; ; again = true {
		id := place.id()
		known := id != ""
		if !known {
			upload, err := u.client.BeginUpload(ctx, fields, s.size, replaces, when...)
			if err != nil {
				return client.Resource{}, err
			}
			id = upload.ID
			place.keep(id)
		}
		r, err := u.client.ContinueUpload(ctx, id, atAnywhere{s}, s.size)
		switch status := statusOf(err); {
		case err == nil:
			place.forget()
			if known && !again && !isStill(r, fields) {
				continue
			}
		case status == 404, status == 410: // it has expired, or belongs to somebody else
			place.forget()
			if !again {
				continue
			}
		case status == 400, status == 412: // nothing will make it right
			s.look()
			u.giveUp(ctx, place, id)
		case status == 0 && s.changed(): // nor this, and it may be one of many in a day
			u.giveUp(ctx, place, id)
		}
		return r, err
	}
}

// giveUp ends an upload that will never be what it was to be.
func (u *putting) giveUp(ctx context.Context, place remembered, id string) {
	place.forget()
	_ = u.client.EndUpload(ctx, id) // or it expires
}

// isStill tells whether a resource is what fields say. One that an earlier run has made without hearing of it may have been deleted,
// renamed or replaced since.
func isStill(r client.Resource, fields client.NewResource) bool {
	return r.State == client.Active && r.Name == fields.Name && r.SHA256 == fields.Digest
}

// statusOf is that of an answer which is no success; 0: there was none.
func statusOf(err error) int {
	var problem *client.Problem
	if errors.As(err, &problem) {
		return problem.Status
	}
	return 0
}

// atAnywhere reads a source wherever it is asked to.
type atAnywhere struct{ *source }

func (a atAnywhere) ReadAt(p []byte, at int64) (int, error) {
	n, err := a.file.ReadAt(p, at)
	if at+int64(n) == a.size { // the last of it, without which the service makes nothing
		if changed := a.same(); changed != nil {
			n, err = 0, changed
		}
	}
	if elsewhere := at - a.moved.Load(); elsewhere != 0 { // where an earlier try has stopped
		a.skip(elsewhere)
	}
	a.tell(int64(n))
	if err != nil && err != io.EOF {
		a.broken.CompareAndSwap(nil, &err)
	}
	return n, err
}
