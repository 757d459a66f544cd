// Package files is the room of the files of sets: upload, whatever a file comes through, open and
// verify, edit, versions, copies and moves, archives, and the paths that names make. It stands on
// core, describe and containers.
package files

import (
	"cmp"
	"context"
	"sync/atomic"

	"labshelf/auth"
	"labshelf/auth/admission"
	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/formats/audit"
	"labshelf/formats/descriptive"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/describe"
	"labshelf/repository/internal/rows"
)

// Config is what an operator decides about files.
type Config struct {
	MaxUpload   int64 // bytes of one file; 0: no limit
	ArchiveRoom int64 // files of all archives that are under way together; 0: 1,048,576

	// Room returns how much space the file system of the files has left, so that a file which
	// cannot fit is refused before it comes. nil, or an error: that is not known.
	Room func() (blobs.FreeSpace, error)
}

// Files are the resources of a repository. It is safe for concurrent use.
type Files struct {
	core         *core.Core
	descriptions *describe.Descriptions
	config       Config
	checksums    *admission.Queue // of requests that compute some, one at a time
	archived     atomic.Int64     // files of the archives that are under way
}

// maxQueued is how many requests of one caller wait to compute checksums.
const maxQueued = 16

// New returns the files of a repository.
func New(core *core.Core, descriptions *describe.Descriptions, config Config) *Files {
	config.ArchiveRoom = cmp.Or(config.ArchiveRoom, ArchiveRoom)
	return &Files{
		core: core, descriptions: descriptions, config: config,
		checksums: admission.NewQueue(admission.Limits{Slots: 1, PerCaller: maxQueued}),
	}
}

// Archived returns the counter of the files in archives that are under way; for tests.
func (s *Files) Archived() *atomic.Int64 { return &s.archived }

// Fields are the fields of a resource that can be changed without a new file. A nil field stays as
// it is.
type Fields struct {
	Name, Description, Format *string
	Metadata                  descriptive.Patch
	core.Input
}

// apply checks the fields and stores them in a resource.
func (f Fields) apply(r *metadata.Resource) error {
	return cmp.Or(
		core.ProseText.Set(&r.Description, "description", f.Description),
		core.FormText.Set(&r.Format, "format", f.Format),
		describe.Describe(descriptive.Resource, &r.Descriptive, f.Metadata, false),
		core.NameText.Set(&r.Name, "name", f.Name),
		f.Malformed)
}

// RefuseMove is the error of an edit that names another set or dataspace than the resource's own.
func RefuseMove(field string) error {
	return core.Conflict(errs.CodeResourceMove, field, "a resource is moved to another set by POST /v1/resources/{id}/move")
}

// GetResource returns the record of one resource.
func (s *Files) GetResource(ctx context.Context, p auth.Principal, id string) (r metadata.Resource, err error) {
	err = s.core.Read(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		resolved, err := core.LookupResource(tx, id)
		if err == nil {
			err = resolved.Admit(tx, p, auth.Read)
		}
		r = resolved.Shown()
		if p.Anonymous { // what it has become, and through which link it came, may not be open
			r.Passage = metadata.Passage{}
		}
		s.core.Stores.SetDamaged(tx, &r)
		return err
	})
	return r, err
}

// EditResource changes name, description, format or descriptive metadata.
func (s *Files) EditResource(ctx context.Context, p auth.Principal, id string, f Fields, match core.Match) (edited metadata.Resource, err error) {
	check := core.Intent(func(tx *metadata.Tx, p auth.Principal) (write func() error, err error) {
		resolved, err := core.LookupResource(tx, id)
		if err != nil {
			return nil, err
		}
		if err := resolved.Admit(tx, p, auth.Write); err != nil {
			return nil, err
		}
		r := resolved.Shown()
		s.core.Stores.SetDamaged(tx, &r)
		before := r
		if err := f.apply(&r); err != nil {
			return nil, err
		}
		changed := r != before
		if err := s.descriptions.Conform(ctx, tx, describe.OfResource(before.Descriptive, &r)); err != nil {
			return nil, err
		}
		if err := core.Changeable(before.State, before.Tag(), before.Modified, match); err != nil {
			return nil, err
		}
		return func() (err error) {
			if changed {
				err = resolved.Write(tx, rows.Change{By: p, Action: audit.ResourceEdit}, &r)
			}
			edited = r
			return err
		}, nil
	})
	err = s.descriptions.Describing(ctx, p, f.Metadata, check)
	return edited, err
}

// DeleteResource marks a resource deleted; its record and its bytes stay until it is purged.
func (s *Files) DeleteResource(ctx context.Context, p auth.Principal, id string, match core.Match) (metadata.Resource, error) {
	return s.passResource(ctx, p, id, match, metadata.Deleted)
}

// RestoreResource makes a deleted resource active again.
func (s *Files) RestoreResource(ctx context.Context, p auth.Principal, id string, match core.Match) (metadata.Resource, error) {
	return s.passResource(ctx, p, id, match, metadata.Active)
}

func (s *Files) passResource(ctx context.Context, p auth.Principal, id string, match core.Match, to metadata.State) (passed metadata.Resource, err error) {
	err = s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		resolved, err := core.LookupResource(tx, id)
		if err != nil {
			return err
		}
		if err := resolved.Admit(tx, p, auth.Write); err != nil {
			return err
		}
		r := resolved.Shown()
		s.core.Stores.SetDamaged(tx, &r)
		passed = r
		if err := match.Check(r.Tag(), r.Modified); err != nil || r.State == to {
			return err
		}
		action, err := resolved.Pass(&r, to)
		if err != nil {
			return err
		}
		err = resolved.Write(tx, rows.Change{By: p, Action: action}, &r)
		passed = r
		return err
	})
	return passed, err
}
