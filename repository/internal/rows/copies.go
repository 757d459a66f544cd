package rows

import (
	"errors"

	"labshelf/auth/errs"
	"labshelf/metadata"
)

// FormerVersion is a former version of one resource as another one is to have it.
type FormerVersion struct {
	row  metadata.Version
	body []byte // to be stored with it; nil: none is
	adds int64  // bytes that the other one does not have yet
}

// FormerVersions returns the former versions of a resource, at most so many, the newest first, as
// another one is to have them, which has the same history up to its own present version, or none
// where it is new. What that one has itself keeps its bytes, unless those of the first one are
// gone. The user by stores the others. An ErrRecordDamaged says what is wrong with an inline body.
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

// AddedBytes is how many bytes more the other one is going to have with them.
func AddedBytes(former []FormerVersion) (bytes int64) {
	for _, f := range former {
		bytes += f.adds
	}
	return bytes
}

// SaveFormerVersions stores them, when the resource that they are to be of has been saved, and
// returns what that adds to the counters of its dataspace.
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
