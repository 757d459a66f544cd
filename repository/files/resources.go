// Package files offers the use cases of the files of sets: uploading, opening and verifying,
// editing, versions, copying and moving, archives, and folder paths. It builds on the packages
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

// Config holds the operator's settings for files.
type Config struct {
	MaxUpload   int64 // maximum bytes of one file; 0 for no limit
	ArchiveRoom int64 // maximum files in all open archives together; 0 for 1,048,576

	// Room returns the free space of the file system for files, so that a file that cannot fit is
	// refused before it arrives. If it is nil or returns an error, the free space is unknown.
	Room func() (blobs.FreeSpace, error)
}

// Files offers the use cases of resources. It is safe for concurrent use.
type Files struct {
	core         *core.Core
	descriptions *describe.Descriptions
	config       Config
	checksums    *admission.Queue // of ComputeChecksums, which runs one request at a time
	archived     atomic.Int64     // number of files in open archives
}

// maxQueued is the maximum number of requests of one caller that wait to compute checksums.
const maxQueued = 16

// New returns the files of a repository.
func New(core *core.Core, descriptions *describe.Descriptions, config Config) *Files {
	config.ArchiveRoom = cmp.Or(config.ArchiveRoom, ArchiveRoom)
	return &Files{
		core: core, descriptions: descriptions, config: config,
		checksums: admission.NewQueue(admission.Limits{Slots: 1, PerCaller: maxQueued}),
	}
}

// Archived returns the counter of the files in open archives. It is for tests.
func (s *Files) Archived() *atomic.Int64 { return &s.archived }

// Fields are the fields of a resource that can change without a new file. A nil field keeps its
// value.
type Fields struct {
	Name, Description, Format *string
	Metadata                  descriptive.Patch
	core.Input
}

// apply validates the fields and sets them in a resource.
func (f Fields) apply(r *metadata.Resource) error {
	return cmp.Or(
		core.ProseText.Set(&r.Description, "description", f.Description),
		core.FormText.Set(&r.Format, "format", f.Format),
		describe.Describe(descriptive.Resource, &r.Descriptive, f.Metadata, false),
		core.NameText.Set(&r.Name, "name", f.Name),
		f.Malformed)
}

// RefuseMove returns the error for an edit that names another set or dataspace.
func RefuseMove(field string) error {
	return core.Conflict(errs.CodeResourceMove, field, "an update cannot move a resource to another set; request a move instead")
}

// Get returns the record of one resource.
func (s *Files) Get(ctx context.Context, p auth.Principal, id string) (r metadata.Resource, err error) {
	err = s.core.Read(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		resolved, err := core.LookupResource(tx, id)
		if err == nil {
			err = resolved.Admit(tx, p, auth.Read)
		}
		r = resolved.Shown()
		if p.Anonymous { // the file that it has become and the link it came through might not be open
			r.Passage = metadata.Passage{}
		}
		s.core.Stores.SetDamaged(tx, &r)
		return err
	})
	return r, err
}

// Edit changes name, description, format or descriptive metadata.
func (s *Files) Edit(ctx context.Context, p auth.Principal, id string, f Fields, match core.Match) (edited metadata.Resource, err error) {
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

// Delete marks a resource as deleted. Its record and bytes stay until it is purged.
func (s *Files) Delete(ctx context.Context, p auth.Principal, id string, match core.Match) (metadata.Resource, error) {
	return s.passResource(ctx, p, id, match, metadata.Deleted)
}

// Restore makes a deleted resource active again.
func (s *Files) Restore(ctx context.Context, p auth.Principal, id string, match core.Match) (metadata.Resource, error) {
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
