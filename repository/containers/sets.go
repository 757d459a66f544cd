package containers

import (
	"cmp"
	"context"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/formats/audit"
	"labshelf/formats/descriptive"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/describe"
	"labshelf/repository/internal/rows"
)

// Sets offers the use cases of sets. It is safe for concurrent use.
type Sets struct {
	core         *core.Core
	descriptions *describe.Descriptions
}

// NewSets returns the sets of a repository.
func NewSets(core *core.Core, descriptions *describe.Descriptions) *Sets {
	return &Sets{core: core, descriptions: descriptions}
}

// SetFields are the changeable fields of a set. A nil field keeps its value.
type SetFields struct {
	Title, Description *string
	Extract            *metadata.Extract
	Metadata           descriptive.Patch
	core.Input
}

// NewSet describes a set to create in a dataspace.
type NewSet struct {
	DataspaceID, Name string
	SetFields
}

// apply validates the fields and sets them in a set.
func (f SetFields) apply(s *metadata.Set) error {
	core.Set(&s.Extract, f.Extract)
	return cmp.Or(
		core.ProseText.Set(&s.Description, "description", f.Description),
		describe.Describe(descriptive.Set, &s.Descriptive, f.Metadata, false),
		core.TitleText.Set(&s.Title, "title", f.Title),
		f.Malformed)
}

// Create creates a set in a dataspace.
func (s *Sets) Create(ctx context.Context, p auth.Principal, in NewSet) (created metadata.Set, err error) {
	check := core.Intent(func(tx *metadata.Tx, p auth.Principal) (write func() error, err error) {
		set, err := s.newSet(ctx, tx, p, in)
		return func() error {
			created = set
			created.Record = core.NewRecord(tx, p)
			return rows.SaveSet(tx, rows.Change{By: p, Action: audit.SetCreate}, nil, &created)
		}, err
	})
	err = s.descriptions.Describing(ctx, p, in.Metadata, check)
	return created, err
}

// newSet validates a new set.
func (s *Sets) newSet(ctx context.Context, tx *metadata.Tx, p auth.Principal, in NewSet) (set metadata.Set, err error) {
	d, err := core.LookupDataspace(tx, in.DataspaceID, "dataspaceId")
	if err != nil {
		return set, err
	}
	if err := core.Authorise(tx, p, d, auth.Write); err != nil {
		return set, err
	}
	set.DataspaceID, set.Name = d.ID, in.Name
	if err := cmp.Or(in.Without(in.Name), core.CheckContainerName(in.Name), in.apply(&set)); err != nil {
		return set, err
	}
	said := describe.OfSet("", &set)
	said.Made = true
	if err := s.descriptions.Conform(ctx, tx, said); err != nil {
		return set, err
	}
	if d.State == metadata.Deleted {
		return set, core.ParentDeleted("dataspaceId", "dataspace")
	}
	id, err := tx.Sets.ByName(set.Name)
	return set, free(id, err, core.Conflict(errs.CodeSetNameTaken, "name", "a set with this name exists, perhaps a deleted one or in another dataspace"))
}

// Get returns one set.
func (s *Sets) Get(ctx context.Context, p auth.Principal, id string) (set metadata.Set, err error) {
	err = s.core.Read(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		resolved, err := core.LookupSet(tx, id, "")
		if err != nil {
			return err
		}
		err = resolved.Admit(tx, p, auth.Read)
		set = resolved.Shown()
		return err
	})
	return set, err
}

// Update changes title, description, the sources of extracted properties, or descriptive
// metadata.
func (s *Sets) Update(ctx context.Context, p auth.Principal, id string, f SetFields, match core.Match) (updated metadata.Set, err error) {
	check := core.Intent(func(tx *metadata.Tx, p auth.Principal) (write func() error, err error) {
		resolved, err := core.LookupSet(tx, id, "")
		if err != nil {
			return nil, err
		}
		if err := resolved.Admit(tx, p, auth.Write); err != nil {
			return nil, err
		}
		set := resolved.Shown()
		before := set
		if err := f.apply(&set); err != nil {
			return nil, err
		}
		changed := set != before
		if err := s.descriptions.Conform(ctx, tx, describe.OfSet(before.Descriptive, &set)); err != nil {
			return nil, err
		}
		if err := core.Changeable(before.State, before.Tag(), before.Modified, match); err != nil {
			return nil, err
		}
		return func() (err error) {
			if changed {
				err = resolved.Write(tx, p, &set)
			}
			updated = set
			return err
		}, nil
	})
	err = s.descriptions.Describing(ctx, p, f.Metadata, check)
	return updated, err
}

// Delete deletes a set and its active contents. It returns when all of them are deleted.
func (s *Sets) Delete(ctx context.Context, p auth.Principal, id string, match core.Match) (metadata.Set, error) {
	return s.passSet(ctx, p, id, match, false)
}

// Restore restores a set and exactly the objects that its deletion took along.
func (s *Sets) Restore(ctx context.Context, p auth.Principal, id string, match core.Match) (metadata.Set, error) {
	return s.passSet(ctx, p, id, match, true)
}

func (s *Sets) passSet(ctx context.Context, p auth.Principal, id string, match core.Match, restore bool) (set metadata.Set, err error) {
	underWay := false
	err = s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		underWay = false
		resolved, err := core.LookupSet(tx, id, "")
		if err != nil {
			return err
		}
		if err := resolved.Admit(tx, p, auth.Write); err != nil {
			return err
		}
		set = resolved.Shown()
		c := core.Transition{
			Record: &set.Record, Restore: restore, By: p.UserID, Space: set.DataspaceID,
			Above: resolved.Above, Own: resolved.Own, Shown: set.State, Tag: set.Tag(),
		}
		if resolved.Dataspace.State == metadata.Deleted {
			c.Orphaned = core.ParentDeleted("", "dataspace of this set")
		}
		cascade, wait, err := c.Begin(tx, match)
		if underWay = wait; cascade == nil || err != nil {
			return err
		}
		if err := rows.SaveSet(tx, c.Change(p, audit.SetDelete, audit.SetRestore), &resolved.Set, &set); err != nil {
			return err
		}
		cascade.Entry = set.Entry
		done, err := core.BeginCascade(tx, cascade)
		underWay = !done
		return err
	})
	if err == nil && underWay {
		err = s.core.AwaitCascade(ctx, set.ID)
	}
	return set, err
}
