package files

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/describe"
	"labshelf/repository/internal/quota"
	"labshelf/repository/internal/rows"
	"labshelf/repository/resumable"
)

// Uploads receives files. It is safe for concurrent use.
type Uploads struct {
	Chunks *resumable.Uploads // files that come in chunks

	core         *core.Core
	descriptions *describe.Descriptions
	config       Config
}

// ChunksConfig is what is decided about files that come in chunks.
type ChunksConfig struct {
	Age time.Duration    // for which one may pause, and what became of it is remembered
	Now func() time.Time // the clock by which they expire

	// Ended reports whether the sender of an upload, where that is no user, has ended.
	Ended func(*metadata.Tx, metadata.ResumableUpload) (bool, error)
	// Restored is called for each unfinished upload of such a sender that an earlier process has
	// begun.
	Restored func(sender, upload metadata.ID)
}

// NewUploads returns the uploads of a repository, which receive files in chunks once Start has been
// called.
func NewUploads(core *core.Core, descriptions *describe.Descriptions, config Config) *Uploads {
	return &Uploads{core: core, descriptions: descriptions, config: config}
}

// Start begins to receive files in chunks, and reserves what the unfinished uploads of an earlier
// process had reserved; the error is about those that it could not read. The caller closes Chunks
// before the Core.
func (s *Uploads) Start(files blobs.PartialFiles, config ChunksConfig) error {
	err := s.restoreReservations(config.Restored)
	s.Chunks = resumable.Start(s.core.Stores, files, ChunkRules{s}, resumable.Config{Age: config.Age, Now: config.Now, Abandoned: config.Ended})
	return err
}

// Upload is one upload. A gateway calls Into or Over when it knows the destination, and Receive
// when the body comes, in either order; then Create or Replace; and at the end Discard, always.
type Upload struct {
	service  *Uploads
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
func (s *Uploads) NewUpload(p auth.Principal) *Upload {
	return &Upload{service: s, caller: p, done: s.core.Inline.Busy()}
}

// NewUploadFrom is NewUpload for a file from a sender, which is stored in the name of p.
func (s *Uploads) NewUploadFrom(sender Sender, p auth.Principal) *Upload {
	u := s.NewUpload(p)
	u.sender = sender
	return u
}

// Into tells whether the caller may create a resource in the set, before the body is read.
func (u *Upload) Into(ctx context.Context, setID string) error {
	if u.into == setID && setID != "" {
		return nil // the transaction that writes has the last word
	}
	err := u.Admit(ctx, func(tx *metadata.Tx, p auth.Principal) (metadata.ID, error) {
		set, err := core.LookupSet(tx, setID, "setId")
		if err == nil {
			err = core.Authorise(tx, p, set.Dataspace, auth.Write)
		}
		return set.DataspaceID, err
	})
	if err == nil {
		u.into = setID
	}
	return err
}

// Over tells whether the caller may replace the resource, before the body is read.
func (u *Upload) Over(ctx context.Context, id string) error {
	if u.over == id && id != "" {
		return nil // the transaction that writes has the last word
	}
	err := u.Admit(ctx, func(tx *metadata.Tx, p auth.Principal) (metadata.ID, error) {
		r, err := core.LookupResource(tx, id)
		if err == nil {
			err = core.Authorise(tx, p, r.Set.Dataspace, auth.Write)
		}
		return r.DataspaceID, err
	})
	if err == nil {
		u.over = id
	}
	return err
}

// Admit runs place in a read transaction before the body is read. place refuses a caller without
// the right to write, or returns the dataspace that receives the file.
func (u *Upload) Admit(ctx context.Context, place func(tx *metadata.Tx, p auth.Principal) (metadata.ID, error)) error {
	return u.service.core.View(ctx, u.caller, func(tx *metadata.Tx, p auth.Principal) error {
		dataspace, err := place(tx, p)
		if err != nil {
			return err
		}
		return u.reserve(tx, quota.Place{Dataspace: dataspace, User: p.UserID})
	})
}

// Receive reads the body to its end: a small one into memory, a larger one onto stable storage. The
// length in blobs.WithLength helps. An *Error from body is returned unchanged.
func (u *Upload) Receive(ctx context.Context, body io.Reader) (err error) {
	if err := u.reserved.Fits(ctx, u.least); err != nil {
		return err
	}
	length, known := blobs.LengthOf(body)
	if !known {
		length = -1
	}
	watched := core.Watch(u.reserved.Reader(ctx, body, 0), func() error { return u.still(ctx) })
	u.received, err = u.service.receive(ctx, watched, length)
	return err
}

// still refuses a sender that may not write any more, while the body comes.
func (u *Upload) still(ctx context.Context) error {
	if u.sender != nil {
		return core.Revoked(u.sender.Still(ctx))
	}
	return core.Revoked(u.service.core.View(ctx, u.caller, func(tx *metadata.Tx, p auth.Principal) error {
		switch {
		case u.into != "":
			set, err := core.LookupSet(tx, u.into, "setId")
			if err == nil {
				err = core.Authorise(tx, p, set.Dataspace, auth.Write)
			}
			return err
		case u.over != "":
			r, err := core.LookupResource(tx, u.over)
			if err == nil {
				err = core.Authorise(tx, p, r.Set.Dataspace, auth.Write)
			}
			return err
		}
		return nil
	}))
}

// Discard ends the upload and removes the unused body. After an error it may be called again.
func (u *Upload) Discard() error {
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
func (u *Upload) Create(ctx context.Context, f UploadFields) (created metadata.Resource, err error) {
	if f.SetID == nil {
		return metadata.Resource{}, core.Missing("setId", "setId is required: the id of the set that receives the file")
	}
	if err := u.Into(ctx, *f.SetID); err != nil {
		return metadata.Resource{}, err
	}
	file, err := u.Describe(f)
	if err != nil {
		return metadata.Resource{}, err
	}
	err = u.Commit(ctx, func(tx *metadata.Tx, p auth.Principal) (write func() error, err error) {
		set, err := core.OpenSet(tx, p, *f.SetID)
		if err != nil {
			return nil, err
		}
		return u.PlanCreate(ctx, tx, p, set.Set, file, &created)
	})
	return created, err
}

// PlanCreate checks the resource that is made of the file in a set, and returns what makes it.
func (u *Upload) PlanCreate(ctx context.Context, tx *metadata.Tx, p auth.Principal, in metadata.Set, file metadata.Resource, created *metadata.Resource) (write func() error, err error) {
	file.SetID, file.DataspaceID = in.ID, in.DataspaceID
	if u.sender != nil {
		if err := u.sender.Admit(tx, &file); err != nil {
			return nil, err
		}
	}
	if err := u.service.descriptions.Conform(ctx, tx, describe.Arriving("", &file)); err != nil {
		return nil, err
	}
	return func() error {
		*created = file
		created.Record = core.NewRecord(tx, p)
		return errors.Join(core.PutResource(tx, rows.Change{By: p, Action: audit.ResourceCreate}, nil, created), u.record(tx, *created))
	}, nil
}

// Replace gives the resource another file, name, format and description. Descriptive metadata that
// the upload does not set stay.
func (u *Upload) Replace(ctx context.Context, id string, f UploadFields) (replaced metadata.Resource, err error) {
	if err := u.Over(ctx, id); err != nil {
		return metadata.Resource{}, err
	}
	file, err := u.Describe(f)
	if err != nil {
		return metadata.Resource{}, err
	}
	err = u.Commit(ctx, func(tx *metadata.Tx, p auth.Principal) (write func() error, err error) {
		resolved, err := replaceable(tx, p, id, f)
		if err != nil {
			return nil, err
		}
		return u.PlanReplace(ctx, tx, p, resolved, f, file, &replaced)
	})
	return replaced, err
}

// PlanReplace checks the next version that the file makes of a resource, and returns what makes it.
func (u *Upload) PlanReplace(ctx context.Context, tx *metadata.Tx, p auth.Principal, resolved core.ResolvedResource, f UploadFields, file metadata.Resource, replaced *metadata.Resource) (write func() error, err error) {
	next := nextVersion(resolved.Shown(), file)
	before := next.Descriptive
	if err := f.describe(&next); err != nil {
		return nil, err
	}
	if err := u.service.descriptions.Conform(ctx, tx, describe.Arriving(before, &next)); err != nil {
		return nil, err
	}
	return func() error {
		*replaced = next
		return errors.Join(resolved.Write(tx, rows.Change{By: p, Action: audit.ResourceReplace}, replaced), u.record(tx, *replaced))
	}, nil
}

// replaceable finds the resource that the caller is about to give another file.
func replaceable(tx *metadata.Tx, p auth.Principal, id string, f UploadFields) (core.ResolvedResource, error) {
	resolved, err := core.LookupResource(tx, id)
	if err != nil {
		return resolved, err
	}
	if err := resolved.Admit(tx, p, auth.Write); err != nil {
		return resolved, err
	}
	r := resolved.Shown()
	if f.SetID != nil && *f.SetID != r.SetID.String() {
		return resolved, RefuseMove("setId")
	}
	return resolved, core.Changeable(r.State, r.Tag(), r.Modified, f.Match)
}

// record writes, with the resource, the body itself or that its file is committed.
func (u *Upload) record(tx *metadata.Tx, r metadata.Resource) error {
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
		return errors.Join(tx.InlineBodies.Put(r.VersionKey(), u.received.bytes), u.service.core.Inline.Count(tx))
	}
	held := slices.ContainsFunc(u.held, func(o blobs.Object) bool { return o.Name == u.file.Object })
	return rows.RecordBlob(tx, u.file, held)
}

// Commit writes the record of the received body, and the body with it or its file before it.
func (u *Upload) Commit(ctx context.Context, check core.Intent) (err error) {
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
	err = u.service.core.Update(ctx, u.caller, check.AndWrite)
	u.service.core.Inline.Wake()
	return err
}
