// Package containers offers the use cases of dataspaces, sets, and users with their keys and roles,
// and of usage and quotas. It builds on the packages core and describe.
package containers

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/formats/audit"
	"labshelf/formats/descriptive"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/describe"
	"labshelf/repository/internal/rows"
)

// Config holds the operator's settings for dataspaces and users.
type Config struct {
	UsersCreateDataspaces bool  // registered users may create dataspaces; otherwise only sysadmins
	DataspaceQuota        int64 // bytes, for new dataspaces; 0 for none
	UserQuota             int64 // bytes, for new users; 0 for none
}

// Dataspaces offers the use cases of dataspaces and their usage. It is safe for concurrent use.
type Dataspaces struct {
	core   *core.Core
	config Config
}

// NewDataspaces returns the dataspaces of a repository.
func NewDataspaces(core *core.Core, config Config) *Dataspaces {
	return &Dataspaces{core: core, config: config}
}

const maxOriginChars = 500

// DataspaceFields are the changeable fields of a dataspace. A nil field keeps its value.
type DataspaceFields struct {
	Title, Description, Origin *string
	Visibility                 *metadata.Visibility
	Retention                  *metadata.Retention
	Quota                      *int64 // bytes; 0 for no limit
	Metadata                   descriptive.Patch
	core.Input
}

// NewDataspace describes a dataspace to create.
type NewDataspace struct {
	Name string
	DataspaceFields
}

// apply validates the fields and sets them in a dataspace.
func (f DataspaceFields) apply(d *metadata.Dataspace) error {
	core.Set(&d.Visibility, f.Visibility)
	core.Set(&d.Retention, f.Retention)
	return cmp.Or(
		core.ProseText.Set(&d.Description, "description", f.Description),
		describe.Describe(descriptive.Dataspace, &d.Descriptive, f.Metadata, false),
		core.TextRule{Max: maxOriginChars}.Set(&d.Origin, "origin", f.Origin),
		setQuota(&d.Quota, f.Quota),
		checkRetention(d.Retention),
		core.TitleText.Set(&d.Title, "title", f.Title),
		f.Malformed)
}

// Bounds of a retention.
const (
	maxRetainedVersions = 1_000_000
	maxRetainedDays     = 36_500
)

// ParseRetention parses a retention in the form of metadata.Retention.String.
func ParseRetention(text string) (metadata.Retention, error) {
	for _, kept := range []metadata.Retention{{}, {Last: numberIn(text, maxRetainedVersions)}, {Days: numberIn(text, maxRetainedDays)}} {
		if kept.String() == text {
			return kept, nil
		}
	}
	return metadata.Retention{}, errRetention()
}

func checkRetention(kept metadata.Retention) error {
	if kept.Last > maxRetainedVersions || kept.Days > maxRetainedDays {
		return errRetention()
	}
	return nil
}

func errRetention() error {
	return core.Invalid("retention", "retention must be everything, last N (1 to %d versions, including the current one) or N days (1 to %d)", maxRetainedVersions, maxRetainedDays)
}

// numberIn returns the number in a text, or 0 if it is greater than most.
func numberIn(text string, most uint64) uint32 {
	n, err := strconv.ParseUint(strings.Trim(text, "last dy"), 10, 32)
	if err != nil || n > most {
		return 0
	}
	return uint32(n)
}

// free returns nil if a lookup by name found nothing, and taken if it found something.
func free(_ metadata.ID, err error, taken *errs.Error) error {
	switch {
	case errors.Is(err, metadata.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	return taken
}

// Create creates a dataspace. Its creator becomes its admin. Only sysadmins may set a
// quota.
func (s *Dataspaces) Create(ctx context.Context, p auth.Principal, in NewDataspace) (created metadata.Dataspace, err error) {
	err = s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		allowed := core.OnlySysadmin
		if s.config.UsersCreateDataspaces {
			allowed = core.Unlimited
		}
		if err := allowed(p); err != nil {
			return err
		}
		d := metadata.Dataspace{Name: in.Name, Visibility: metadata.Private, Quota: s.config.DataspaceQuota}
		if err := cmp.Or(in.Without(in.Name), core.CheckContainerName(in.Name), in.apply(&d)); err != nil {
			return err
		}
		if err := onlySysadminSets(p, s.config.DataspaceQuota, d.Quota); err != nil {
			return err
		}
		id, err := tx.Dataspaces.ByName(d.Name)
		if err := free(id, err, core.Conflict(errs.CodeDataspaceTaken, "name", "a dataspace with this name exists, perhaps a deleted one")); err != nil {
			return err
		}
		d.Record = core.NewRecord(tx, p)
		admin := metadata.Privilege{Record: core.NewRecord(tx, p), UserID: p.UserID, DataspaceID: d.ID, Role: auth.Admin}
		created = d
		return errors.Join(
			rows.SaveDataspace(tx, rows.Change{By: p, Action: audit.DataspaceCreate}, nil, &created),
			rows.SavePrivilege(tx, rows.Change{By: p, Action: audit.PrivilegeGrant}, nil, admin))
	})
	return created, err
}

// Get returns one dataspace.
func (s *Dataspaces) Get(ctx context.Context, p auth.Principal, id string) (d metadata.Dataspace, err error) {
	err = s.core.Read(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		if d, err = core.LookupDataspace(tx, id, ""); err != nil {
			return err
		}
		return core.Admit(tx, core.Passing(p), &d, auth.Read)
	})
	return d, err
}

// Update changes title, description, visibility, origin, retention or descriptive
// metadata. Only sysadmins may change the quota, which may be less than the present usage.
func (s *Dataspaces) Update(ctx context.Context, p auth.Principal, id string, f DataspaceFields, match core.Match) (updated metadata.Dataspace, err error) {
	err = s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		d, err := core.LookupDataspace(tx, id, "")
		if err != nil {
			return err
		}
		if err := core.Admit(tx, p, &d, auth.Manage); err != nil {
			return err
		}
		before := d
		if err := f.apply(&d); err != nil {
			return err
		}
		if err := onlySysadminSets(p, before.Quota, d.Quota); err != nil {
			return err
		}
		if err := core.Changeable(before.State, before.Tag(), before.Modified, match); err != nil {
			return err
		}
		if d != before {
			d.Modified, d.ModifiedBy = tx.Stamp(), p.UserID
			err = rows.SaveDataspace(tx, rows.Change{By: p, Action: audit.DataspaceUpdate}, &before, &d)
		}
		updated = d
		return err
	})
	return updated, err
}

// Delete deletes a dataspace and its active contents. It returns when all of them are
// deleted.
func (s *Dataspaces) Delete(ctx context.Context, p auth.Principal, id string, match core.Match) (metadata.Dataspace, error) {
	return s.passDataspace(ctx, p, id, match, false)
}

// Restore restores a dataspace and exactly the objects that its deletion took along.
func (s *Dataspaces) Restore(ctx context.Context, p auth.Principal, id string, match core.Match) (metadata.Dataspace, error) {
	return s.passDataspace(ctx, p, id, match, true)
}

func (s *Dataspaces) passDataspace(ctx context.Context, p auth.Principal, id string, match core.Match, restore bool) (d metadata.Dataspace, err error) {
	underWay := false
	err = s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		underWay = false
		if d, err = core.LookupDataspace(tx, id, ""); err != nil {
			return err
		}
		if err := core.Admit(tx, p, &d, auth.Manage); err != nil {
			return err
		}
		before := d
		cascades, err := rows.Collect(tx.Cascades.All(metadata.ID{}), 1<<20)
		if err != nil {
			return err
		}
		c := core.Transition{Record: &d.Record, Restore: restore, By: p.UserID, Space: d.ID, Shown: d.State, Tag: d.Tag()}
		for _, cascade := range cascades {
			switch {
			case cascade.Container == d.ID:
				c.Own = &cascade
			case cascade.DataspaceID == d.ID:
				c.Within = true
			}
		}
		cascade, wait, err := c.Begin(tx, match)
		if underWay = wait; cascade == nil || err != nil {
			return err
		}
		if err := rows.SaveDataspace(tx, c.Change(p, audit.DataspaceDelete, audit.DataspaceRestore), &before, &d); err != nil {
			return err
		}
		cascade.Entry = d.Entry
		done, err := core.BeginCascade(tx, cascade)
		underWay = !done
		return err
	})
	if err == nil && underWay {
		err = s.core.AwaitCascade(ctx, d.ID)
	}
	return d, err
}
