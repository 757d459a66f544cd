package files

import (
	"context"
	"errors"
	"io"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/internal/quota"
	"labshelf/repository/resumable"
)

// UploadStart describes a file to be uploaded in chunks, and its destination: the set in
// Fields.SetID, or a resource to replace.
type UploadStart struct {
	Fields     UploadFields // with at most one digest
	ResourceID *string      // nil to create a resource
	Length     int64        // in bytes
	Announced  string       // for the gateway
	Sender     Sender       // nil if the caller sends the file
}

// ResumableUploadNames returns the field names of an upload in chunks.
func ResumableUploadNames() FieldNames {
	return FieldNames{Filename: "filename", ContentType: "filetype", Digest: "sha256", Size: "Upload-Length"}
}

// Create begins an upload in chunks. It checks everything that can be checked before the file
// arrives. See resumable.Uploads.Create.
func (s *Uploads) Create(ctx context.Context, p auth.Principal, start UploadStart) (metadata.ResumableUpload, error) {
	t := metadata.ResumableUpload{
		SenderID: p.UserID, Length: start.Length, Announced: start.Announced,
		Filename: start.Fields.Filename, ContentType: start.Fields.ContentType,
		Name: core.ValueOf(start.Fields.Name), Format: core.ValueOf(start.Fields.Format), Description: core.ValueOf(start.Fields.Description),
		Descriptive: core.ValueOf(start.Fields.Metadata),
	}
	for _, t.Expected = range start.Fields.Expected {
		if t.Expected == (blobs.Digest{}) { // no content has it; in a row it means none
			return metadata.ResumableUpload{}, &errs.Error{Kind: errs.Invalid, Code: errs.CodeDigestMismatch, Field: start.Fields.Names.digest(), Message: "the announced SHA-256 must not be 64 zeros"}
		}
	}
	var at quota.Place
	err := s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) (err error) {
		if err = start.admit(tx, p, &t); err == nil {
			at, err = placeOf(tx, t)
		}
		return err
	})
	if err != nil {
		return metadata.ResumableUpload{}, err
	}
	if err := s.acceptable(start); err != nil {
		return metadata.ResumableUpload{}, err
	}
	uploads := s.Chunks
	if start.Sender != nil {
		uploads = start.Sender.Uploads()
	}
	reserved := s.core.Quotas.Begin(at)
	if err := reserved.Fits(ctx, start.Length); err != nil {
		return metadata.ResumableUpload{}, err
	}
	t, err = uploads.Create(ctx, p, t, start.admit)
	if t.ID == (metadata.ID{}) || t.Done() {
		reserved.Release()
	} else {
		s.core.Quotas.Hold(t.ID, reserved)
	}
	return t, err
}

// admit looks up the destination of the file and checks whether it may go there.
func (start UploadStart) admit(tx *metadata.Tx, p auth.Principal, t *metadata.ResumableUpload) error {
	if start.ResourceID != nil {
		resolved, err := replaceable(tx, p, *start.ResourceID, start.Fields)
		t.ResourceID = resolved.ID
		if match := start.Fields.Match; err == nil && (match.Is.Set && !match.Is.Any || !match.UnmodifiedSince.IsZero()) {
			t.Match = resolved.Shown().Tag()
		}
		if err == nil {
			err = start.Fields.describe(&resolved.Resource)
		}
		return core.Blame(err, "resourceId")
	}
	if start.Fields.SetID == nil {
		return core.Missing("setId", "setId is required: the id of the set that receives the file; or resourceId, to replace one")
	}
	if start.Sender != nil {
		if err := start.Sender.Begin(tx, t); err != nil {
			return err
		}
	}
	set, err := core.OpenSet(tx, p, *start.Fields.SetID, auth.Add)
	t.SetID = set.ID
	return err
}

// acceptable returns an error for a file that could never be accepted.
func (s *Uploads) acceptable(start UploadStart) error {
	if most := s.config.MaxUpload; most > 0 && start.Length > most {
		return &errs.Error{Kind: errs.TooLarge, Code: errs.CodeTooLarge, Field: start.Fields.Names.size(), Message: "the file is larger than this service accepts"}
	}
	file, err := described(start.Fields)
	if err == nil {
		_, err = mimeOf(start.Fields.ContentType, start.Fields.Names.contentType(), nil, file.Filename, file.Name)
	}
	if err == nil {
		err = s.roomFor(start.Length)
	}
	return err
}

// fieldsOf returns the fields that were sent at the beginning of the upload.
func fieldsOf(t metadata.ResumableUpload) UploadFields {
	f := UploadFields{Name: &t.Name, Format: &t.Format, Description: &t.Description, Metadata: &t.Descriptive, Filename: t.Filename, ContentType: t.ContentType, Names: ResumableUploadNames()}
	if t.SetID != (metadata.ID{}) {
		set := t.SetID.String()
		f.SetID = &set
	}
	if t.Expected != (blobs.Digest{}) {
		f.Expected = []blobs.Digest{t.Expected}
	}
	if t.Match != "" {
		f.Match = core.MatchTag(t.Match)
	}
	return f
}

// ChunkRules implements resumable.Repository for the uploads of users.
type ChunkRules struct{ *Uploads }

// ChunkRules returns the rules of the uploads of users.
func (s *Uploads) ChunkRules() ChunkRules { return ChunkRules{s} }

// Lookup returns an upload of the caller, as it is on stable storage. It returns an error if the
// key of the caller does not permit what the upload will do.
func (u ChunkRules) Lookup(ctx context.Context, p auth.Principal, id metadata.ID, _ bool) (t metadata.ResumableUpload, err error) {
	err = u.core.ViewDurable(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		if t, err = UploadOf(tx, id, p.UserID); err != nil || !p.Limits.Narrow() {
			return err
		}
		return mayContinue(tx, p, t)
	})
	return t, err
}

func mayContinue(tx *metadata.Tx, p auth.Principal, t metadata.ResumableUpload) error {
	if t.ResourceID != (metadata.ID{}) {
		r, err := core.LookupResource(tx, t.ResourceID.String())
		if err == nil {
			err = r.Set.Authorise(tx, p, auth.Write)
		}
		return err
	}
	set, err := core.LookupSet(tx, t.SetID.String(), "setId")
	if err == nil {
		err = set.Authorise(tx, p, auth.Add)
	}
	return err
}

// UploadOf returns an upload, or resumable.NotFound if it is not the sender's.
func UploadOf(tx *metadata.Tx, id, sender metadata.ID) (metadata.ResumableUpload, error) {
	t, err := tx.Uploads.Get(id)
	if errors.Is(err, metadata.ErrNotFound) || err == nil && t.SenderID != sender {
		return t, resumable.NotFound()
	}
	return t, err
}

// Update runs fn in a write transaction, with the present state of the caller.
func (u ChunkRules) Update(ctx context.Context, p auth.Principal, fn func(*metadata.Tx, auth.Principal) error) error {
	return u.core.Update(ctx, p, fn)
}

// Receive reserves the bytes that arrive, and delays the flushing of inline bodies until done is
// called.
func (u ChunkRules) Receive(ctx context.Context, t metadata.ResumableUpload, body io.Reader) (reserving io.Reader, done func(size int64)) {
	reserved, idle := u.core.Quotas.OfUpload(t.ID), u.core.Inline.Busy()
	return reserved.Reader(ctx, body, t.Checkpoint.Size), func(size int64) {
		reserved.Shrink(size)
		idle()
	}
}

// Ended releases the reservation of an upload.
func (u ChunkRules) Ended(id metadata.ID) { u.core.Quotas.Ended(id) }

// Complete creates the resource of a received file, like an upload in one request.
func (u ChunkRules) Complete(ctx context.Context, p auth.Principal, t metadata.ResumableUpload, staged blobs.Staged, with func(*metadata.Tx, metadata.Resource) error) error {
	return u.CompleteAs(ctx, u.NewUpload(p), t, staged, with)
}

// CompleteAs is like Complete for an upload that was begun on behalf of the sender.
func (u ChunkRules) CompleteAs(ctx context.Context, form *Upload, t metadata.ResumableUpload, staged blobs.Staged, with func(*metadata.Tx, metadata.Resource) error) (err error) {
	defer func() { _ = form.Discard() }() // nothing to remove
	form.reserved = u.core.Quotas.OfUpload(t.ID)
	if u.core.Stores.Objects != nil {
		if form.held, err = u.core.Stores.Objects.PartialObjects(t.Checkpoint); err != nil {
			return u.core.Stores.BlobError(err)
		}
	}
	form.received, form.with = &uploadBody{staged: staged, digest: staged.Content().Digest}, with
	if t.ResourceID != (metadata.ID{}) {
		_, err = form.Replace(ctx, t.ResourceID.String(), fieldsOf(t))
	} else {
		_, err = form.Create(ctx, fieldsOf(t))
	}
	return err
}
