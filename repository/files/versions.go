package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/core"
	"labshelf/repository/internal/quota"
	"labshelf/repository/internal/rows"
	"labshelf/repository/maintenance"
)

// Versions offers the use cases of file versions. It is safe for concurrent use.
type Versions struct {
	core   *core.Core
	files  *Files
	upkeep *maintenance.Upkeep
}

// NewVersions returns the versions of the files of a repository. It erases versions through upkeep.
func NewVersions(core *core.Core, files *Files, upkeep *maintenance.Upkeep) *Versions {
	return &Versions{core: core, files: files, upkeep: upkeep}
}

// The versions of a resource are numbered from 1; the highest number is the present version. Every
// caller who may read the resource may read all its versions, unless it is deleted. Version numbers
// in requests are strings.

// nextVersion returns a resource with the file and the description of another one, as the next
// version.
func nextVersion(r, file metadata.Resource) metadata.Resource {
	r.Name, r.Format, r.Description = file.Name, file.Format, file.Description
	r.MimeType, r.Filename = file.MimeType, file.Filename
	r.Digest, r.Bytes, r.Body, r.Version, r.Label = file.Digest, file.Bytes, file.Body, r.Version+1, ""
	return r
}

// List lists the versions of a resource, newest first. It does not list versions from
// before versions were kept.
func (s *Versions) List(ctx context.Context, p auth.Principal, req core.ListRequest) (core.Page[metadata.Version], error) {
	return core.List(ctx, s.core, p, paging.ResourceVersions, req, core.Lister[metadata.Version]{
		Items: func(tx *metadata.Tx, _ auth.Principal, q paging.Query) (iter.Seq2[metadata.Version, error], error) {
			resolved, err := core.LookupResource(tx, req.Container)
			if err == nil {
				err = versioned(resolved)
			}
			return s.versions(tx, resolved, q.After), err
		},
		Position: func(v metadata.Version) paging.Position {
			return paging.Position{Stamp: int64(v.Number), ID: v.ResourceID}
		},
	})
}

// versions yields the versions of a resource after a position, newest first.
func (s *Versions) versions(tx *metadata.Tx, r core.ResolvedResource, after paging.Position) iter.Seq2[metadata.Version, error] {
	damaged := s.core.Stores.Damaged(tx)
	return func(yield func(metadata.Version, error) bool) {
		show := func(v metadata.Version, err error) bool {
			was := v.Of(r.Resource)
			v.Damaged = damaged(&was)
			return yield(v, err)
		}
		before := r.VersionKey()
		if after != (paging.Position{}) {
			before.Version = uint32(after.Stamp)
		} else if !show(rows.PresentVersion(tx, r.Resource)) {
			return
		}
		for v, err := range tx.Versions.Before(before) {
			if !show(v, err) {
				return
			}
		}
	}
}

// Get returns one version.
func (s *Versions) Get(ctx context.Context, p auth.Principal, id, number string) (v metadata.Version, err error) {
	err = s.core.Read(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		resolved, err := core.ReadableResource(tx, p, id)
		if err != nil {
			return err
		}
		v, err = s.shownVersion(tx, resolved, number)
		return err
	})
	return v, err
}

// Open is like OpenResource for one version. It returns the resource as it was then; Modified is
// the time at which the version was stored.
func (s *Versions) Open(ctx context.Context, p auth.Principal, id, number string) (metadata.Resource, io.ReadSeekCloser, error) {
	return s.files.Open(ctx, p, id, func(tx *metadata.Tx, r core.ResolvedResource) (metadata.Resource, error) {
		v, err := KeptVersion(tx, r, number)
		was := v.Of(r.Shown())
		was.Modified, was.ModifiedBy = v.Created, v.CreatedBy
		return was, err
	})
}

// Restore makes a copy of an earlier version the new present version; they share the blob.
// If the resource already equals that version, nothing changes, so that the request can be
// repeated.
func (s *Versions) Restore(ctx context.Context, p auth.Principal, id, number string, match core.Match) (restored metadata.Resource, err error) {
	err = s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		resolved, v, err := changeableVersion(tx, p, id, number, match)
		if err != nil {
			return err
		}
		restored = resolved.Shown()
		s.core.Stores.SetDamaged(tx, &restored)
		was := v.Of(restored)
		same := was
		same.Version, same.Label, same.Body, same.Damaged = restored.Version, restored.Label, restored.Body, restored.Damaged
		same.StoredBy = restored.StoredBy
		if same == restored {
			return nil
		}
		var body []byte
		if was.Body == metadata.Inline {
			body, err = rows.VerifyInline(tx, was)
		} else {
			err = s.files.sound(tx, was)
		}
		if err != nil {
			return err
		}
		if err := s.core.Quotas.Check(tx, quota.Place{Dataspace: restored.DataspaceID, User: p.UserID}, was.Bytes); err != nil {
			return err
		}
		restored = nextVersion(restored, was)
		restored.Damaged = false
		change := rows.Change{By: p, Action: audit.VersionRestore}
		change.Values.Change("restored", "", number)
		err = resolved.Write(tx, change, &restored)
		if restored.Body == metadata.Inline {
			err = errors.Join(err, tx.InlineBodies.Put(restored.VersionKey(), body), s.core.Inline.Count(tx))
		}
		return err
	})
	s.core.Inline.Wake()
	return restored, err
}

// VersionFields are the changeable fields of a version.
type VersionFields struct {
	Label *string
	core.Input
}

// Label sets the label of a version, or removes it if it is empty. Retention never removes a
// version with a label. The resource does not change.
func (s *Versions) Label(ctx context.Context, p auth.Principal, id, number string, f VersionFields, match core.Match) (v metadata.Version, err error) {
	err = s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		resolved, err := core.LookupResource(tx, id)
		if err == nil {
			err = resolved.Set.Authorise(tx, p, auth.Write)
		}
		if err != nil {
			return err
		}
		if f.Label == nil {
			return cmp.Or[error](f.Malformed, core.Missing("label", "label is required"))
		}
		label := ""
		if err := cmp.Or(core.LabelText.Set(&label, "label", f.Label), f.Malformed); err != nil {
			return err
		}
		if _, v, err = changeableVersion(tx, p, id, number, match); err != nil || v.Label == label {
			return err
		}
		before := v
		v.Label = label
		return rows.LabelVersion(tx, rows.Change{By: p, Action: audit.VersionLabel}, before, v.Label)
	})
	return v, err
}

// Erase permanently removes the bytes of a version, even if it has a label or its resource
// is deleted. The row stays. shared reports that another version or resource has the same bytes,
// which are then kept for it. Erasing a version twice is not an error.
func (s *Versions) Erase(ctx context.Context, p auth.Principal, id, number string) (v metadata.Version, shared bool, err error) {
	var key metadata.VersionKey
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		resolved, err := core.LookupResource(tx, id)
		if err != nil {
			return err
		}
		if err := core.OnlySysadmin(p); err != nil {
			return err
		}
		if v, err = lookupVersion(tx, resolved, number); err == nil && v.Present() {
			err = core.Conflict(errs.CodeVersionPresent, "", "this is the current version; replace the file first, or delete the resource and have it purged")
		}
		key = v.Key()
		return err
	})
	if err != nil {
		return v, false, err
	}
	return s.upkeep.EraseVersion(ctx, key, p)
}

// changeableVersion looks up a version that has its bytes, and checks that the caller may change
// it.
func changeableVersion(tx *metadata.Tx, p auth.Principal, id, number string, match core.Match) (resolved core.ResolvedResource, v metadata.Version, err error) {
	if resolved, err = core.LookupResource(tx, id); err != nil {
		return resolved, v, err
	}
	if err = resolved.Admit(tx, p, auth.Write); err != nil {
		return resolved, v, err
	}
	if _, err = lookupVersion(tx, resolved, number); err != nil {
		return resolved, v, err
	}
	if err = match.Check(resolved.Shown().Tag(), resolved.Modified); err == nil {
		v, err = KeptVersion(tx, resolved, number)
	}
	return resolved, v, err
}

// KeptVersion looks up a version that has its bytes, of a resource that is not deleted.
func KeptVersion(tx *metadata.Tx, r core.ResolvedResource, number string) (metadata.Version, error) {
	v, err := lookupVersion(tx, r, number)
	if err == nil {
		err = versioned(r)
	}
	if err == nil && v.Body == metadata.Purged {
		err = &errs.Error{Kind: errs.Gone, Code: errs.CodeVersionRemoved,
			Message: fmt.Sprintf("the file of this version was removed on %s (%s)", v.Removed.At.Time().UTC().Format("2006-01-02T15:04:05Z"), v.Removed)}
	}
	return v, err
}

// shownVersion looks up a version of a resource that is not deleted, with the known damage of its
// file.
func (s *Versions) shownVersion(tx *metadata.Tx, r core.ResolvedResource, number string) (metadata.Version, error) {
	v, err := lookupVersion(tx, r, number)
	if err == nil {
		err = versioned(r)
	}
	was := v.Of(r.Resource)
	v.Damaged = err == nil && s.core.Stores.Damaged(tx)(&was)
	return v, err
}

// versioned returns an error for a deleted resource, whose versions are hidden until it is
// restored.
func versioned(r core.ResolvedResource) error {
	if r.Shown().State == metadata.Deleted {
		return &errs.Error{Kind: errs.Gone, Code: errs.CodeResourceGone, Message: "the resource is deleted; restore it to access its versions"}
	}
	return nil
}

// lookupVersion looks up a version by a number that a client sent.
func lookupVersion(tx *metadata.Tx, r core.ResolvedResource, number string) (metadata.Version, error) {
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil || strconv.FormatUint(n, 10) != number || n < 1 || n > uint64(r.Version)+1 {
		return metadata.Version{}, &errs.Error{Kind: errs.NotFound, Code: errs.CodeVersionNotFound,
			Message: fmt.Sprintf("the resource has no such version; its versions are numbered from 1 to %d", uint64(r.Version)+1)}
	}
	key := metadata.VersionKey{Resource: r.ID, Version: uint32(n - 1)}
	if key == r.VersionKey() {
		return rows.PresentVersion(tx, r.Resource)
	}
	v, err := tx.Versions.Get(key)
	if errors.Is(err, metadata.ErrNotFound) {
		err = &errs.Error{Kind: errs.Gone, Code: errs.CodeVersionUnkept, Message: "this version was replaced before labshelf kept versions; it has no record"}
	}
	return v, err
}
