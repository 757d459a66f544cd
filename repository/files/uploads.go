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
	Chunks *resumable.Uploads // uploads in chunks

	core         *core.Core
	descriptions *describe.Descriptions
	config       Config
}

// ChunksConfig is the configuration of uploads in chunks.
type ChunksConfig struct {
	Age time.Duration    // maximum pause of an upload, and how long its result is kept
	Now func() time.Time // the clock for their expiry

	// Ended reports whether the sender of an upload has ended, if the sender is not a user.
	Ended func(*metadata.Tx, metadata.ResumableUpload) (bool, error)
	// Restored is called for each unfinished upload of such a sender that began before a restart.
	Restored func(sender, upload metadata.ID)
}

// NewUploads returns the uploads of a repository. They accept uploads in chunks after Start.
func NewUploads(core *core.Core, descriptions *describe.Descriptions, config Config) *Uploads {
	return &Uploads{core: core, descriptions: descriptions, config: config}
}

// Start starts to accept uploads in chunks, and restores the reservations of unfinished uploads.
// The error reports uploads that it could not read. The caller must close Chunks before the Core.
func (s *Uploads) Start(files blobs.PartialFiles, config ChunksConfig) error {
	err := s.restoreReservations(config.Restored)
	s.Chunks = resumable.Start(s.core.Stores, files, ChunkRules{s}, resumable.Config{Age: config.Age, Now: config.Now, Abandoned: config.Ended})
	return err
}

// Upload is one upload. A gateway calls Into or Over when it knows the destination, and Receive
// when the body arrives, in either order. It then calls Create or Replace, and always Discard at
// the end.
type Upload struct {
	service  *Uploads
	caller   auth.Principal
	received *uploadBody
	file     blobs.Content                               // set once the file is committed
	held     []blobs.Object                              // named by the row of a resumable upload
	into     string                                      // set where the caller may create
	over     string                                      // resource that the caller may replace
	with     func(*metadata.Tx, metadata.Resource) error // also runs in the commit; may be nil
	sender   Sender                                      // nil if the caller sends the file
	done     func()                                      // marks the upload as no longer in progress
	least    int64                                       // announced length; 0 if unknown
	reserved *quota.Reservation                          // nil without a quota or a place
	ended    bool
}

// Sender is the sender of a file if that is not the caller: a link, on whose owner's behalf the
// file is stored.
type Sender interface {
	// Still returns an error if the sender may no longer send. It is called while the body arrives.
	Still(ctx context.Context) error
	// Begin checks an upload in chunks, in the transaction that creates its row, and sets the
	// sender in the row. It is also called earlier, when the row has no id.
	Begin(tx *metadata.Tx, t *metadata.ResumableUpload) error
	// Admit checks the file in the transaction that creates its resource, and sets the sender in
	// the resource.
	Admit(tx *metadata.Tx, r *metadata.Resource) error
	// Count counts the file in the same commit.
	Count(tx *metadata.Tx, r metadata.Resource) error
	// Uploads returns the uploads in chunks of the sender.
	Uploads() *resumable.Uploads
}

// NewUpload begins an upload. The caller must end it with Discard. Until then, inline bodies are
// not flushed, unless one has waited too long or too many are stored.
func (s *Uploads) NewUpload(p auth.Principal) *Upload {
	return &Upload{service: s, caller: p, done: s.core.Inline.Busy()}
}

// NewUploadFrom is like NewUpload for a file of a sender, which is stored on behalf of p.
func (s *Uploads) NewUploadFrom(sender Sender, p auth.Principal) *Upload {
	u := s.NewUpload(p)
	u.sender = sender
	return u
}

// Into checks, before the body is read, whether the caller may create a resource in the set.
func (u *Upload) Into(ctx context.Context, setID string) error {
	if u.into == setID && setID != "" {
		return nil // the writing transaction checks again
	}
	err := u.Admit(ctx, func(tx *metadata.Tx, p auth.Principal) (metadata.ID, error) {
		set, err := core.LookupSet(tx, setID, "setId")
		if err == nil {
			err = set.Authorise(tx, p, auth.Add)
		}
		return set.DataspaceID, err
	})
	if err == nil {
		u.into = setID
	}
	return err
}

// Over checks, before the body is read, whether the caller may replace the resource.
func (u *Upload) Over(ctx context.Context, id string) error {
	if u.over == id && id != "" {
		return nil // the writing transaction checks again
	}
	err := u.Admit(ctx, func(tx *metadata.Tx, p auth.Principal) (metadata.ID, error) {
		r, err := core.LookupResource(tx, id)
		if err == nil {
			err = r.Set.Authorise(tx, p, auth.Write)
		}
		return r.DataspaceID, err
	})
	if err == nil {
		u.over = id
	}
	return err
}

// Admit runs place in a read transaction before the body is read. place must return an error if the
// caller is not allowed to write there, and otherwise the dataspace that receives the file.
func (u *Upload) Admit(ctx context.Context, place func(tx *metadata.Tx, p auth.Principal) (metadata.ID, error)) error {
	return u.service.core.View(ctx, u.caller, func(tx *metadata.Tx, p auth.Principal) error {
		dataspace, err := place(tx, p)
		if err != nil {
			return err
		}
		return u.reserve(tx, quota.Place{Dataspace: dataspace, User: p.UserID})
	})
}

// Receive reads the body to its end: a short one into memory, a longer one onto stable storage. It
// is more efficient if the body has a length, as from blobs.WithLength. Receive returns an
// *errs.Error of body unchanged.
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

// still returns an error if the sender may no longer write.
func (u *Upload) still(ctx context.Context) error {
	if u.sender != nil {
		return core.Revoked(u.sender.Still(ctx))
	}
	return core.Revoked(u.service.core.View(ctx, u.caller, func(tx *metadata.Tx, p auth.Principal) error {
		switch {
		case u.into != "":
			set, err := core.LookupSet(tx, u.into, "setId")
			if err == nil {
				err = set.Authorise(tx, p, auth.Add)
			}
			return err
		case u.over != "":
			r, err := core.LookupResource(tx, u.over)
			if err == nil {
				err = r.Set.Authorise(tx, p, auth.Write)
			}
			return err
		}
		return nil
	}))
}

// Discard ends the upload and removes an uncommitted body. After an error it may be called again.
func (u *Upload) Discard() error {
	if !u.ended {
		u.done()
		if u.ended = true; u.with == nil { // a resumable upload continues
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

// Create creates the resource.
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
		set, err := core.OpenSet(tx, p, *f.SetID, auth.Add)
		if err != nil {
			return nil, err
		}
		return u.PlanCreate(ctx, tx, p, set.Set, file, &created)
	})
	return created, err
}

// PlanCreate checks the new resource of the file in a set, and returns the function that writes it.
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

// Replace replaces the file, name, format and description of a resource. Descriptive metadata that
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

// PlanReplace checks the next version of a resource, and returns the function that writes it.
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

// replaceable looks up the resource that the caller wants to replace, and checks that it may be
// replaced.
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

// record writes, with the resource, its inline body or the record of its file.
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

// Commit writes the record of the received body. It writes an inline body in the same transaction,
// and a file before it.
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
