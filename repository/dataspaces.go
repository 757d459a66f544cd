package repository

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/formats/audit"
	"labshelf/formats/descriptive"
	"labshelf/metadata"
	"labshelf/repository/internal/rows"
)

const maxOriginChars = 500

// dataspaceFields are the fields of a dataspace that can be changed.
var dataspaceFields = setters[metadata.Dataspace]{
	"title":       textSetter(titleText, func(d *metadata.Dataspace) *string { return &d.Title }),
	"description": textSetter(proseText, func(d *metadata.Dataspace) *string { return &d.Description }),
	"origin":      textSetter(text{max: maxOriginChars}, func(d *metadata.Dataspace) *string { return &d.Origin }),
	"visibility":  setVisibility,
	"retention":   setRetention,
	"quota":       quotaSetter(func(d *metadata.Dataspace) *int64 { return &d.Quota }),
	"metadata":    metadataSetter(descriptive.Dataspace, func(d *metadata.Dataspace) *string { return &d.Descriptive }),
}

func setVisibility(d *metadata.Dataspace, field string, value any) error {
	s, err := stringValue(field, value)
	if err != nil {
		return err
	}
	switch strings.ToLower(s) {
	case "private":
		d.Visibility = metadata.Private
	case "public":
		d.Visibility = metadata.Public
	case "open":
		d.Visibility = metadata.Open
	default:
		return invalid(field, "visibility must be private, public or open")
	}
	return nil
}

// Bounds of a retention.
const (
	maxRetainedVersions = 1_000_000
	maxRetainedDays     = 36_500
)

// setRetention says which versions are kept, as metadata.Retention writes it.
func setRetention(d *metadata.Dataspace, field string, value any) error {
	s, err := stringValue(field, value)
	if err != nil {
		return err
	}
	for _, kept := range []metadata.Retention{{}, {Last: numberIn(s, maxRetainedVersions)}, {Days: numberIn(s, maxRetainedDays)}} {
		if kept.String() == s {
			d.Retention = kept
			return nil
		}
	}
	return invalid(field, "%s must be everything, last N (1 to %d versions, the present one included) or N days (1 to %d)", field, maxRetainedVersions, maxRetainedDays)
}

// numberIn returns the number in a text, if it is not greater than most; else 0.
func numberIn(text string, most uint64) uint32 {
	n, err := strconv.ParseUint(strings.Trim(text, "last dy"), 10, 32)
	if err != nil || n > most {
		return 0
	}
	return uint32(n)
}

// checkContainerName is the rule for the names of sets and dataspaces.
func checkContainerName(name string) error {
	allowed := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_'
	}
	if len(name) < minSetNameChars || len(name) > maxSetNameChars || strings.ContainsFunc(name, func(r rune) bool { return !allowed(r) }) {
		return invalid("name", "name must have %d to %d characters, each a lowercase letter a-z, a digit, - or _", minSetNameChars, maxSetNameChars)
	}
	return nil
}

// free returns nil if a look-up by name found nothing, and taken if it did.
func free(_ metadata.ID, err error, taken *errs.Error) error {
	switch {
	case errors.Is(err, metadata.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	return taken
}

// CreateDataspace makes a dataspace; its creator becomes its admin. Fields: name, optional title,
// description, visibility, origin, retention, metadata; and of sysadmins quota.
func (s *Service) CreateDataspace(ctx context.Context, p auth.Principal, f Fields) (created metadata.Dataspace, err error) {
	err = s.update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		if !s.config.UsersCreateDataspaces {
			if err := onlySysadmin(p); err != nil {
				return err
			}
		}
		d := metadata.Dataspace{Visibility: metadata.Private, Quota: s.config.DataspaceQuota}
		if d.Name, err = f.required("name"); err != nil {
			return err
		}
		if err := checkContainerName(d.Name); err != nil {
			return err
		}
		if err := create(&d, f, dataspaceFields, "name"); err != nil {
			return err
		}
		if err := onlySysadminSets(p, s.config.DataspaceQuota, d.Quota); err != nil {
			return err
		}
		id, err := tx.Dataspaces.ByName(d.Name)
		if err := free(id, err, conflict(errs.CodeDataspaceTaken, "name", "a dataspace with this name exists, perhaps a deleted one")); err != nil {
			return err
		}
		d.Record = newRecord(tx, p)
		admin := metadata.Privilege{Record: newRecord(tx, p), UserID: p.UserID, DataspaceID: d.ID, Role: auth.Admin}
		created = d
		return errors.Join(
			rows.SaveDataspace(tx, rows.Change{By: p, Action: audit.DataspaceCreate}, nil, &created),
			rows.SavePrivilege(tx, rows.Change{By: p, Action: audit.PrivilegeGrant}, nil, admin))
	})
	return created, err
}

// newRecord makes the record of an object that the caller creates.
func newRecord(tx *metadata.Tx, p auth.Principal) metadata.Record {
	stamp := tx.Stamp()
	return metadata.Record{ID: metadata.NewID(stamp), State: metadata.Active, Created: stamp, Modified: stamp, CreatedBy: p.UserID, ModifiedBy: p.UserID}
}

// GetDataspace returns one dataspace.
func (s *Service) GetDataspace(ctx context.Context, p auth.Principal, id string) (d metadata.Dataspace, err error) {
	err = s.read(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		if d, err = lookupDataspace(tx, id, ""); err != nil {
			return err
		}
		return admit(tx, p, &d, auth.Read)
	})
	return d, err
}

// UpdateDataspace changes title, description, visibility, origin, retention or descriptive
// metadata; a sysadmin also changes quota, which may be less than what is used.
func (s *Service) UpdateDataspace(ctx context.Context, p auth.Principal, id string, edit Edit[metadata.Dataspace]) (updated metadata.Dataspace, err error) {
	err = s.update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		d, err := lookupDataspace(tx, id, "")
		if err != nil {
			return err
		}
		if err := admit(tx, p, &d, auth.Manage); err != nil {
			return err
		}
		before := d
		changed, err := apply(&d, edit, dataspaceFields, readOnly)
		if err == nil {
			err = onlySysadminSets(p, before.Quota, d.Quota)
		}
		if err != nil {
			return err
		}
		if err := changeable(before.State, before.Tag(), before.Modified, edit.Match); err != nil {
			return err
		}
		if changed {
			d.Modified, d.ModifiedBy = tx.Stamp(), p.UserID
			err = rows.SaveDataspace(tx, rows.Change{By: p, Action: audit.DataspaceUpdate}, &before, &d)
		}
		updated = d
		return err
	})
	return updated, err
}

// changeable tells whether an object in this state and version may be edited.
func changeable(shown metadata.State, tag string, modified metadata.Stamp, match Match) error {
	if err := match.Check(tag, modified); err != nil {
		return err
	}
	if shown == metadata.Deleted {
		return conflict(errs.CodeDeleted, "", "this is deleted; restore it first")
	}
	return nil
}

// DeleteDataspace deletes a dataspace and what is active in it. It returns when all of it is
// deleted.
func (s *Service) DeleteDataspace(ctx context.Context, p auth.Principal, id string, match Match) (metadata.Dataspace, error) {
	return s.passDataspace(ctx, p, id, match, false)
}

// RestoreDataspace restores a dataspace and exactly what its deletion took along.
func (s *Service) RestoreDataspace(ctx context.Context, p auth.Principal, id string, match Match) (metadata.Dataspace, error) {
	return s.passDataspace(ctx, p, id, match, true)
}

func (s *Service) passDataspace(ctx context.Context, p auth.Principal, id string, match Match, restore bool) (d metadata.Dataspace, err error) {
	underWay := false
	err = s.update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		underWay = false
		if d, err = lookupDataspace(tx, id, ""); err != nil {
			return err
		}
		if err := admit(tx, p, &d, auth.Manage); err != nil {
			return err
		}
		before := d
		cascades, err := rows.Collect(tx.Cascades.All(), 1<<20)
		if err != nil {
			return err
		}
		c := transition{record: &d.Record, restore: restore, by: p.UserID, space: d.ID, shown: d.State, tag: d.Tag()}
		for _, cascade := range cascades {
			switch {
			case cascade.Container == d.ID:
				c.own = &cascade
			case cascade.DataspaceID == d.ID:
				c.within = true
			}
		}
		cascade, wait, err := c.begin(tx, match)
		if underWay = wait; cascade == nil || err != nil {
			return err
		}
		if err := rows.SaveDataspace(tx, c.change(p, audit.DataspaceDelete, audit.DataspaceRestore), &before, &d); err != nil {
			return err
		}
		cascade.Entry = d.Entry
		done, err := beginCascade(tx, cascade)
		underWay = !done
		return err
	})
	if err == nil && underWay {
		err = s.awaitCascade(ctx, d.ID)
	}
	return d, err
}

// UsageSummary is how much is stored, in a dataspace or in several, and how that came to be.
type UsageSummary struct {
	metadata.Counters
	Days       []metadata.DayCounters // ascending; the sums at the end of each day on which one of them changed
	Dataspaces []DataspaceCounters
	Quota      int64 // of one dataspace, where the caller may know it; 0: none
}

// DataspaceCounters are the counters of one dataspace.
type DataspaceCounters struct {
	DataspaceID metadata.ID
	metadata.Counters
	Quota int64 // as in UsageSummary
}

// DataspaceUsage returns the usage of one dataspace, without Dataspaces.
func (s *Service) DataspaceUsage(ctx context.Context, p auth.Principal, id string) (u UsageSummary, err error) {
	err = s.view(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		dataspace, err := readableDataspace(tx, p, id)
		if err != nil {
			return err
		}
		if u, err = usageOf(tx, p, []metadata.ID{dataspace}); err == nil {
			u.Quota, u.Dataspaces = u.Dataspaces[0].Quota, nil
		}
		return err
	})
	return u, err
}

// Usage returns the usage of all dataspaces that the caller may read.
func (s *Service) Usage(ctx context.Context, p auth.Principal) (u UsageSummary, err error) {
	err = s.view(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		ids, err := readable(tx, p, metadata.ID{})
		if err != nil {
			return err
		}
		if ids == nil {
			for d, err := range tx.Dataspaces.All(metadata.ID{}) {
				if err != nil {
					return err
				}
				ids = append(ids, d.ID)
			}
		}
		u, err = usageOf(tx, p, ids)
		return err
	})
	return u, err
}

// usageOf sums the counters of several dataspaces. A day on which only some of them changed counts
// the others as they were.
func usageOf(tx *metadata.Tx, p auth.Principal, dataspaces []metadata.ID) (UsageSummary, error) {
	u := UsageSummary{Dataspaces: []DataspaceCounters{}, Days: []metadata.DayCounters{}}
	changes := map[metadata.Day]metadata.Counters{}
	for _, id := range dataspaces {
		counters, err := rows.Counters(tx, id)
		if err != nil {
			return u, err
		}
		u.Counters = u.Add(counters)
		shown, err := quotaShown(tx, p, id)
		if err != nil {
			return u, err
		}
		u.Dataspaces = append(u.Dataspaces, DataspaceCounters{id, counters, shown})
		var before metadata.Counters
		for day, err := range tx.Usage.Days(id) {
			if err != nil {
				return u, err
			}
			changes[day.Day] = changes[day.Day].Add(day.Counters).Add(before.Negated())
			before = day.Counters
		}
		if before != counters {
			return u, fmt.Errorf("%w: the usage of dataspace %s is not that of its last day", metadata.ErrRecordDamaged, id)
		}
	}
	var sum metadata.Counters
	for _, day := range slices.Sorted(maps.Keys(changes)) {
		sum = sum.Add(changes[day])
		u.Days = append(u.Days, metadata.DayCounters{Day: day, Counters: sum})
	}
	return u, nil
}
