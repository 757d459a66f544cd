package rows

import (
	"errors"

	"labshelf/auth/errs"
	"labshelf/metadata"
)

// FormerVersion is a former version of one resource, prepared for another resource.
type FormerVersion struct {
	row  metadata.Version
	body []byte // inline body to store with it; nil without one
	adds int64  // bytes that the other resource does not have yet
}

// FormerVersions returns the former versions of the resource from, at most this many, newest first,
// prepared for the resource to. That resource is new, or has the same history up to its own present
// version. Versions that it already has keep their bytes, unless the bytes in from are purged. The
// user by is the storer of the others. An ErrRecordDamaged reports a damaged inline body.
func FormerVersions(tx *metadata.Tx, from, to metadata.Resource, by metadata.ID, most int) ([]FormerVersion, error) {
	versions, err := Collect(tx.Versions.Before(from.VersionKey()), most)
	if err != nil {
		return nil, err
	}
	former := make([]FormerVersion, len(versions))
	for i, v := range versions {
		next := &former[i].row
		*next = v
		next.StoredBy = otherThan(v.CreatedBy, by)
		if v.Body == metadata.Purged {
			continue
		}
		own, err := InVersion(tx, metadata.VersionKey{Resource: to.ID, Version: v.Number})
		if former[i].adds = v.Bytes; err == nil && own.Body != metadata.Purged {
			next.Body, next.StoredBy, former[i].adds = own.Body, otherThan(v.CreatedBy, own.Storer()), 0
			continue
		}
		switch {
		case errs.Ignore(err, metadata.ErrNotFound) != nil:
			return nil, err
		case v.Body == metadata.Inline:
			if former[i].body, err = VerifyInline(tx, v.Of(from)); err != nil {
				return nil, err
			}
		}
	}
	return former, nil
}

// AddedBytes returns the number of bytes that the former versions add to the other resource.
func AddedBytes(former []FormerVersion) (bytes int64) {
	for _, f := range former {
		bytes += f.adds
	}
	return bytes
}

// SaveFormerVersions stores former versions for the resource of, which must be saved first. It
// returns the change to the counters of the dataspace.
func SaveFormerVersions(tx *metadata.Tx, of metadata.ID, former []FormerVersion, since metadata.Stamp) (added metadata.Counters, err error) {
	used := map[metadata.ID]int64{}
	for _, f := range former {
		f.row.ResourceID = of
		own, err := tx.Versions.Get(f.row.Key())
		switch {
		case err == nil:
			added = added.Add(CountedVersion(own).Negated())
			used[own.Storer()] -= CountedVersion(own).Bytes()
			err = saveVersion(tx, own, f.row, since)
		case errors.Is(err, metadata.ErrNotFound):
			err = tx.Versions.Put(f.row)
		}
		if f.body != nil {
			err = errors.Join(err, tx.InlineBodies.Put(f.row.Key(), f.body))
		}
		if err != nil {
			return added, err
		}
		added = added.Add(CountedVersion(f.row))
		used[f.row.Storer()] += CountedVersion(f.row).Bytes()
	}
	for user, bytes := range used {
		err = errors.Join(err, countUser(tx, user, bytes))
	}
	return added, err
}
