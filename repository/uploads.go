package repository

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/formats/audit"
	"labshelf/formats/descriptive"
	"labshelf/metadata"
	"labshelf/repository/internal/quota"
	"labshelf/repository/internal/rows"
	"labshelf/repository/resumable"
)

// FormUpload is one upload. A gateway calls Into or Over when it knows the destination, and Receive
// when the body comes, in either order; then Create or Replace; and at the end Discard, always.
type FormUpload struct {
	service  *Service
	caller   auth.Principal
	received *uploadBody
	file     blobs.Content                               // as it was committed, once it is
	held     []blobs.Object                              // that the row of a resumable upload names until its resource is made
	into     string                                      // the set in which the caller may create, as an earlier transaction said
	over     string                                      // the resource that the caller may replace, as an earlier transaction said
	with     func(*metadata.Tx, metadata.Resource) error // what is written in the same commit; nil: nothing
	sender   Sender                                      // nil: the caller
	done     func()                                      // no longer counts as under way
	least    int64                                       // bytes that the file has, as was announced; what is not positive says nothing
	reserved *quota.Reservation                          // nil: nothing, where there is no quota or the place is not known
	ended    bool
}

// UploadFields is what came with the body. Nil texts were left out.
type UploadFields struct {
	SetID                     *string
	Name, Format, Description *string
	Metadata                  *string // a merge patch of the descriptive metadata
	Filename                  string  // as sent, with folders perhaps
	ContentType               string  // as sent; "" is unknown
	Expected                  []blobs.Digest
	Match                     Match // of a replacement
	Attributes                Attributes
	Names                     FieldNames
}

// FieldNames are what the request calls the fields that come with the file in a form; "" is file.
type FieldNames struct{ Name, Filename, ContentType, Digest, Size string }

// name returns what the request calls the name of the file.
func (n FieldNames) name() string { return cmp.Or(n.Name, "name") }

// filename returns what the request calls the file name.
func (n FieldNames) filename() string    { return cmp.Or(n.Filename, "file") }
func (n FieldNames) contentType() string { return cmp.Or(n.ContentType, "file") }
func (n FieldNames) size() string        { return cmp.Or(n.Size, "file") }
func (n FieldNames) digest() string      { return cmp.Or(n.Digest, "file") }

// Sender is the sender of a file if that is not the caller: a link, in whose owner's name the file
// is stored.
type Sender interface {
	// Still refuses the sender while the body comes.
	Still(ctx context.Context) error
	// Begin admits an upload in chunks, in the transaction that makes its row, and names the sender
	// in the row. It is called before that, too, while the row has no id.
	Begin(tx *metadata.Tx, t *metadata.ResumableUpload) error
	// Admit refuses the file in the transaction that makes its resource, and names the sender in
	// the resource.
	Admit(tx *metadata.Tx, r *metadata.Resource) error
	// Count counts the file in the same commit.
	Count(tx *metadata.Tx, r metadata.Resource) error
	// Uploads returns the uploads in chunks of the sender.
	Uploads() *resumable.Uploads
}

// NewUpload begins an upload; the caller ends it with Discard in any case. Meanwhile inline bodies
// are not flushed, unless one has waited for long or many are stored.
func (s *Service) NewUpload(p auth.Principal) *FormUpload {
	return &FormUpload{service: s, caller: p, done: s.inline.Busy()}
}

// NewUploadFrom is NewUpload for a file from a sender, which is stored in the name of p.
func (s *Service) NewUploadFrom(sender Sender, p auth.Principal) *FormUpload {
	u := s.NewUpload(p)
	u.sender = sender
	return u
}

// Into tells whether the caller may create a resource in the set, before the body is read.
func (u *FormUpload) Into(ctx context.Context, setID string) error {
	if u.into == setID && setID != "" {
		return nil // the transaction that writes has the last word
	}
	err := u.admit(ctx, func(tx *metadata.Tx, p auth.Principal) (metadata.ID, error) {
		set, err := lookupSet(tx, setID, "setId")
		if err == nil {
			err = authorise(tx, p, set.dataspace, auth.Write)
		}
		return set.DataspaceID, err
	})
	if err == nil {
		u.into = setID
	}
	return err
}

// Over tells whether the caller may replace the resource, before the body is read.
func (u *FormUpload) Over(ctx context.Context, id string) error {
	if u.over == id && id != "" {
		return nil // the transaction that writes has the last word
	}
	err := u.admit(ctx, func(tx *metadata.Tx, p auth.Principal) (metadata.ID, error) {
		r, err := lookupResource(tx, id)
		if err == nil {
			err = authorise(tx, p, r.set.dataspace, auth.Write)
		}
		return r.DataspaceID, err
	})
	if err == nil {
		u.over = id
	}
	return err
}

// admit runs place in a read transaction before the body is read. place refuses a caller who may
// not write, or returns the dataspace that receives the file.
func (u *FormUpload) admit(ctx context.Context, place func(tx *metadata.Tx, p auth.Principal) (metadata.ID, error)) error {
	return u.service.view(ctx, u.caller, func(tx *metadata.Tx, p auth.Principal) error {
		dataspace, err := place(tx, p)
		if err != nil {
			return err
		}
		return u.reserve(tx, quota.Place{Dataspace: dataspace, User: p.UserID})
	})
}

// Receive reads the body to its end: a small one into memory, a larger one onto stable storage. The
// length in blobs.WithLength helps. An *Error from body is returned unchanged.
func (u *FormUpload) Receive(ctx context.Context, body io.Reader) (err error) {
	if err := u.reserved.Fits(ctx, u.least); err != nil {
		return err
	}
	length, known := blobs.LengthOf(body)
	if !known {
		length = -1
	}
	watched := watch(u.reserved.Reader(ctx, body, 0), func() error { return u.still(ctx) })
	u.received, err = u.service.receive(ctx, watched, length)
	return err
}

// still refuses a sender that may not write any more, while the body comes.
func (u *FormUpload) still(ctx context.Context) error {
	if u.sender != nil {
		return revoked(u.sender.Still(ctx))
	}
	return revoked(u.service.view(ctx, u.caller, func(tx *metadata.Tx, p auth.Principal) error {
		switch {
		case u.into != "":
			set, err := lookupSet(tx, u.into, "setId")
			if err == nil {
				err = authorise(tx, p, set.dataspace, auth.Write)
			}
			return err
		case u.over != "":
			r, err := lookupResource(tx, u.over)
			if err == nil {
				err = authorise(tx, p, r.set.dataspace, auth.Write)
			}
			return err
		}
		return nil
	}))
}

// Discard ends the upload and removes the unused body. After an error it may be called again.
func (u *FormUpload) Discard() error {
	if !u.ended {
		u.done()
		if u.ended = true; u.with == nil { // a resumable upload goes on
			u.reserved.Release()
		}
	}
	if u.received == nil {
		return nil
	}
	err := u.service.discard(u.received)
	if err == nil {
		u.received = nil
	}
	return err
}

// Create makes the resource.
func (u *FormUpload) Create(ctx context.Context, f UploadFields) (created metadata.Resource, err error) {
	if f.SetID == nil {
		return metadata.Resource{}, missing("setId", "setId is required: the id of the set that receives the file")
	}
	if err := u.Into(ctx, *f.SetID); err != nil {
		return metadata.Resource{}, err
	}
	file, err := u.describe(f)
	if err != nil {
		return metadata.Resource{}, err
	}
	err = u.commit(ctx, func(tx *metadata.Tx, p auth.Principal) (write func() error, err error) {
		set, err := openSet(tx, p, *f.SetID)
		if err != nil {
			return nil, err
		}
		return u.create(ctx, tx, p, set.Set, file, &created)
	})
	return created, err
}

// create checks the resource that is made of the file in a set, and returns what makes it.
func (u *FormUpload) create(ctx context.Context, tx *metadata.Tx, p auth.Principal, in metadata.Set, file metadata.Resource, created *metadata.Resource) (write func() error, err error) {
	file.SetID, file.DataspaceID = in.ID, in.DataspaceID
	if u.sender != nil {
		if err := u.sender.Admit(tx, &file); err != nil {
			return nil, err
		}
	}
	if err := u.service.conform(ctx, tx, arriving("", &file)); err != nil {
		return nil, err
	}
	return func() error {
		*created = file
		created.Record = newRecord(tx, p)
		return errors.Join(putResource(tx, rows.Change{By: p, Action: audit.ResourceCreate}, nil, created), u.record(tx, *created))
	}, nil
}

// openSet finds the set in which the caller is about to create a resource.
func openSet(tx *metadata.Tx, p auth.Principal, id string) (resolvedSet, error) {
	set, err := lookupSet(tx, id, "setId")
	if err != nil {
		return set, err
	}
	if err := authorise(tx, p, set.dataspace, auth.Write); err != nil {
		return set, err
	}
	return set, set.open("setId")
}

// open refuses a set into which nothing can be put. field is where its id came from.
func (s resolvedSet) open(field string) error {
	switch {
	case s.dataspace.State == metadata.Deleted:
		return parentDeleted(field, "dataspace of this set")
	case s.shown().State == metadata.Deleted:
		return parentDeleted(field, "set")
	}
	return nil
}

// Replace gives the resource another file, name, format and description. Descriptive metadata that
// the upload does not set stay.
func (u *FormUpload) Replace(ctx context.Context, id string, f UploadFields) (replaced metadata.Resource, err error) {
	if err := u.Over(ctx, id); err != nil {
		return metadata.Resource{}, err
	}
	file, err := u.describe(f)
	if err != nil {
		return metadata.Resource{}, err
	}
	err = u.commit(ctx, func(tx *metadata.Tx, p auth.Principal) (write func() error, err error) {
		resolved, err := replaceable(tx, p, id, f)
		if err != nil {
			return nil, err
		}
		return u.replace(ctx, tx, p, resolved, f, file, &replaced)
	})
	return replaced, err
}

// replace checks the next version that the file makes of a resource, and returns what makes it.
func (u *FormUpload) replace(ctx context.Context, tx *metadata.Tx, p auth.Principal, resolved resolvedResource, f UploadFields, file metadata.Resource, replaced *metadata.Resource) (write func() error, err error) {
	next := nextVersion(resolved.shown(), file)
	before := next.Descriptive
	if err := f.describe(&next); err != nil {
		return nil, err
	}
	if err := u.service.conform(ctx, tx, arriving(before, &next)); err != nil {
		return nil, err
	}
	return func() error {
		*replaced = next
		return errors.Join(resolved.write(tx, rows.Change{By: p, Action: audit.ResourceReplace}, replaced), u.record(tx, *replaced))
	}, nil
}

// replaceable finds the resource that the caller is about to give another file.
func replaceable(tx *metadata.Tx, p auth.Principal, id string, f UploadFields) (resolvedResource, error) {
	resolved, err := lookupResource(tx, id)
	if err != nil {
		return resolved, err
	}
	if err := resolved.admit(tx, p, auth.Write); err != nil {
		return resolved, err
	}
	r := resolved.shown()
	if f.SetID != nil && *f.SetID != r.SetID.String() {
		return resolved, refuseResourceField("setId")
	}
	return resolved, changeable(r.State, r.Tag(), r.Modified, f.Match)
}

// record writes, with the resource, the body itself or that its file is committed.
func (u *FormUpload) record(tx *metadata.Tx, r metadata.Resource) error {
	if u.with != nil {
		if err := u.with(tx, r); err != nil {
			return err
		}
	}
	if u.sender != nil {
		if err := u.sender.Count(tx, r); err != nil {
			return err
		}
	}
	if r.Body == metadata.Inline {
		return errors.Join(tx.InlineBodies.Put(r.VersionKey(), u.received.bytes), u.service.inline.Count(tx))
	}
	held := slices.ContainsFunc(u.held, func(o blobs.Object) bool { return o.Name == u.file.Object })
	return rows.RecordBlob(tx, u.file, held)
}

// intent checks what an upload is to do, in a transaction, and returns what does it there.
type intent func(*metadata.Tx, auth.Principal) (write func() error, err error)

// only checks, and writes nothing.
func (check intent) only(tx *metadata.Tx, p auth.Principal) error {
	_, err := check(tx, p)
	return err
}

// andWrite checks, then writes.
func (check intent) andWrite(tx *metadata.Tx, p auth.Principal) error {
	write, err := check(tx, p)
	if err != nil {
		return err
	}
	return write()
}

// commit writes the record of the received body, and the body with it or its file before it.
func (u *FormUpload) commit(ctx context.Context, check intent) (err error) {
	if err := u.reserved.Settle(ctx, u.received.size()); err != nil {
		return err
	}
	defer func() {
		if err == nil {
			u.reserved.Release()
		} else {
			u.reserved.Keep()
		}
	}()
	if u.received.location() == metadata.InBlob {
		return u.commitFile(ctx, check)
	}
	err = u.service.update(ctx, u.caller, check.andWrite)
	u.service.inline.Wake()
	return err
}

// describe checks the fields and returns the resource of fields and body, without its location.
func (u *FormUpload) describe(f UploadFields) (r metadata.Resource, err error) {
	if u.received == nil {
		return r, missing("file", "file is required: the file to upload")
	}
	for _, want := range f.Expected {
		if want != u.received.digest {
			return r, &errs.Error{Kind: errs.Invalid, Code: errs.CodeDigestMismatch, Field: f.Names.digest(),
				Message: "the file that arrived has the SHA-256 " + u.received.digest.String() + ", not the one announced; nothing was changed"}
		}
	}
	if r, err = described(f); err != nil {
		return r, err
	}
	r.Digest, r.Bytes, r.Body = u.received.digest, u.received.size(), u.received.location()
	r.MimeType, err = mimeOf(f.ContentType, f.Names.contentType(), u.received.head(), r.Filename, r.Name)
	return r, err
}

// described is what can be said of a resource without its body.
func described(f UploadFields) (r metadata.Resource, err error) {
	r.Filename = f.Filename[strings.LastIndexAny(f.Filename, `/\`)+1:]
	if r.Name, err = nameOf(f, r.Filename); err != nil {
		return r, err
	}
	r.Format = formatOf(r.Filename)
	if r.Format == "" {
		r.Format = formatOf(r.Name)
	}
	if f.Format != nil && *f.Format != "" {
		r.Format = *f.Format
	}
	if f.Description != nil {
		r.Description = *f.Description
	}
	for _, c := range []struct {
		field string
		rule  text
		value string
	}{
		{f.Names.name(), nameText, r.Name}, {"format", formText, r.Format}, {"description", proseText, r.Description},
	} {
		if err := c.rule.check(c.field, c.value); err != nil {
			return r, err
		}
	}
	return r, f.describe(&r)
}

// describe merges what came with the file into the descriptive metadata of a resource.
func (f UploadFields) describe(r *metadata.Resource) error {
	if f.Metadata == nil || *f.Metadata == "" {
		return nil
	}
	return describe(descriptive.Resource, &r.Descriptive, []byte(*f.Metadata), true)
}

// nameOf checks the file name and returns the resource's name: the one sent, else the file name.
func nameOf(f UploadFields, filename string) (string, error) {
	if filename != "" {
		if err := fileText.check(f.Names.filename(), filename); err != nil {
			return "", err
		}
	}
	if f.Name != nil && *f.Name != "" {
		return *f.Name, nil
	}
	if filename == "" || filename == "." || filename == ".." {
		return "", missing("name", "name is required where the file name is missing, . or ..")
	}
	return filename, nil
}
