package repository

import (
	"context"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/formats/audit"
	"labshelf/formats/descriptive"
	"labshelf/metadata"
	"labshelf/repository/internal/rows"
)

// setFields are the fields of a set that can be changed.
var setFields = setters[metadata.Set]{
	"title":       textSetter(titleText, func(s *metadata.Set) *string { return &s.Title }),
	"description": textSetter(proseText, func(s *metadata.Set) *string { return &s.Description }),
	"extract":     setExtract,
	"metadata":    metadataSetter(descriptive.Set, func(s *metadata.Set) *string { return &s.Descriptive }),
}

func setExtract(s *metadata.Set, field string, value any) error {
	words, err := stringsValue(field, value)
	if err != nil {
		return err
	}
	var ok bool
	if s.Extract, ok = metadata.ParseExtract(words); !ok {
		return invalid(field, "%s is a list of sidecar and header, each at most once", field)
	}
	return nil
}

// refuseSetField is readOnly, with a code of its own for what people try.
func refuseSetField(field string) error {
	if field == "dataspaceId" {
		return conflict(errs.CodeSetCannotMove, field, "a set cannot be moved to another dataspace")
	}
	return readOnly(field)
}

// CreateSet makes a set in a dataspace. Fields: name, dataspaceId, optional title, description,
// extract, metadata.
func (s *Service) CreateSet(ctx context.Context, p auth.Principal, f Fields) (created metadata.Set, err error) {
	dataspaceID, err := f.required("dataspaceId")
	if err != nil {
		return metadata.Set{}, err
	}
	check := intent(func(tx *metadata.Tx, p auth.Principal) (write func() error, err error) {
		set, err := s.newSet(ctx, tx, p, dataspaceID, f)
		return func() error {
			created = set
			created.Record = newRecord(tx, p)
			return rows.SaveSet(tx, rows.Change{By: p, Action: audit.SetCreate}, nil, &created)
		}, err
	})
	err = s.describing(ctx, p, f, check)
	return created, err
}

// newSet reads and checks what a request says about a new one.
func (s *Service) newSet(ctx context.Context, tx *metadata.Tx, p auth.Principal, dataspaceID string, f Fields) (set metadata.Set, err error) {
	d, err := lookupDataspace(tx, dataspaceID, "dataspaceId")
	if err != nil {
		return set, err
	}
	if err := authorise(tx, p, d, auth.Write); err != nil {
		return set, err
	}
	set.DataspaceID = d.ID
	if set.Name, err = f.required("name"); err != nil {
		return set, err
	}
	if err := checkContainerName(set.Name); err != nil {
		return set, err
	}
	if err := create(&set, f, setFields, "name", "dataspaceId"); err != nil {
		return set, err
	}
	said := ofSet("", &set)
	said.made = true
	if err := s.conform(ctx, tx, said); err != nil {
		return set, err
	}
	if d.State == metadata.Deleted {
		return set, parentDeleted("dataspaceId", "dataspace")
	}
	id, err := tx.Sets.ByName(set.Name)
	return set, free(id, err, conflict(errs.CodeSetNameTaken, "name", "a set with this name exists, perhaps a deleted one or in another dataspace"))
}

// GetSet returns one set.
func (s *Service) GetSet(ctx context.Context, p auth.Principal, id string) (set metadata.Set, err error) {
	err = s.read(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		resolved, err := lookupSet(tx, id, "")
		if err != nil {
			return err
		}
		err = resolved.admit(tx, p, auth.Read)
		set = resolved.shown()
		return err
	})
	return set, err
}

// UpdateSet changes title, description, from where properties are extracted, or descriptive
// metadata.
func (s *Service) UpdateSet(ctx context.Context, p auth.Principal, id string, edit Edit[metadata.Set]) (updated metadata.Set, err error) {
	check := intent(func(tx *metadata.Tx, p auth.Principal) (write func() error, err error) {
		resolved, err := lookupSet(tx, id, "")
		if err != nil {
			return nil, err
		}
		if err := resolved.admit(tx, p, auth.Write); err != nil {
			return nil, err
		}
		set := resolved.shown()
		before := set
		changed, err := apply(&set, edit, setFields, refuseSetField)
		if err == nil {
			err = s.conform(ctx, tx, ofSet(before.Descriptive, &set))
		}
		if err != nil {
			return nil, err
		}
		if err := changeable(before.State, before.Tag(), before.Modified, edit.Match); err != nil {
			return nil, err
		}
		return func() (err error) {
			if changed {
				err = resolved.write(tx, p, &set)
			}
			updated = set
			return err
		}, nil
	})
	err = s.describing(ctx, p, edit.Fields, check)
	return updated, err
}

// write stores a set with other fields, under a new stamp. A cascade that is still due is applied
// first.
func (s resolvedSet) write(tx *metadata.Tx, p auth.Principal, changed *metadata.Set) error {
	before := s.Set
	if rows.Due(s.above, s.Record) {
		rows.Take(s.above, &before.Record, tx.Stamp())
		if err := rows.SaveSet(tx, rows.ChangeOf(s.above, audit.Set), &s.Set, &before); err != nil {
			return err
		}
		changed.Record = before.Record
	}
	changed.Modified, changed.ModifiedBy = tx.Stamp(), p.UserID
	return rows.SaveSet(tx, rows.Change{By: p, Action: audit.SetUpdate}, &before, changed)
}

// DeleteSet deletes a set and what is active in it. It returns when all of it is deleted.
func (s *Service) DeleteSet(ctx context.Context, p auth.Principal, id string, match Match) (metadata.Set, error) {
	return s.passSet(ctx, p, id, match, false)
}

// RestoreSet restores a set and exactly what its deletion took along.
func (s *Service) RestoreSet(ctx context.Context, p auth.Principal, id string, match Match) (metadata.Set, error) {
	return s.passSet(ctx, p, id, match, true)
}

func (s *Service) passSet(ctx context.Context, p auth.Principal, id string, match Match, restore bool) (set metadata.Set, err error) {
	underWay := false
	err = s.update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		underWay = false
		resolved, err := lookupSet(tx, id, "")
		if err != nil {
			return err
		}
		if err := resolved.admit(tx, p, auth.Write); err != nil {
			return err
		}
		set = resolved.shown()
		c := transition{
			record: &set.Record, restore: restore, by: p.UserID, space: set.DataspaceID,
			above: resolved.above, own: resolved.own, shown: set.State, tag: set.Tag(),
		}
		if resolved.dataspace.State == metadata.Deleted {
			c.orphaned = parentDeleted("", "dataspace of this set")
		}
		cascade, wait, err := c.begin(tx, match)
		if underWay = wait; cascade == nil || err != nil {
			return err
		}
		if err := rows.SaveSet(tx, c.change(p, audit.SetDelete, audit.SetRestore), &resolved.Set, &set); err != nil {
			return err
		}
		cascade.Entry = set.Entry
		done, err := beginCascade(tx, cascade)
		underWay = !done
		return err
	})
	if err == nil && underWay {
		err = s.awaitCascade(ctx, set.ID)
	}
	return set, err
}
