// Package rows changes rows of the metadata that belong together: a resource with its versions, its
// inline body, the record of its blob, and the counters of its dataspace and of its storer. Its
// functions run in a transaction of the caller and check no permissions.
package rows

import (
	"errors"
	"fmt"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/paging"
)

// SaveResource stores a new (before is nil) or changed resource with its descriptive metadata and
// an entry in the audit log. Both before and after must have the descriptive metadata, or neither.
// All writes of resources use SaveResource, except RecordFlushed, whose change is not visible to
// clients.
func SaveResource(tx *metadata.Tx, c Change, before, after *metadata.Resource) (err error) {
	e, stamp, texts := c.resourceEntry(before, *after)
	was := ""
	if before != nil {
		was = before.Descriptive
	}
	if err := changeDescriptive(tx, after.ID, was, after.Descriptive, &texts); err != nil {
		return err
	}
	if after.Entry, err = c.Log(tx, stamp, e, texts); err != nil {
		return err
	}
	if before == nil || before.Version != after.Version {
		after.StoredBy = otherThan(after.CreatedBy, c.By.UserID)
	} else {
		after.StoredBy = before.StoredBy
	}
	if err := countStorers(tx, before, *after); err != nil {
		return err
	}
	return storeResource(tx, before, *after)
}

// storeResource stores a new (before is nil) or changed resource. If its file was replaced, the
// former state becomes a version. Otherwise storeResource removes an inline body that is no longer
// needed. A blob that loses its last reference is recorded as unreferenced since the last change of
// the resource, its deletion.
func storeResource(tx *metadata.Tx, before *metadata.Resource, after metadata.Resource) error {
	after.Damaged, after.Descriptive = false, ""
	replaced := before != nil && after.Version != before.Version
	if replaced {
		if err := keepVersion(tx, *before, after); err != nil {
			return err
		}
	}
	var err error
	if before != nil && !replaced && before.Body == metadata.Inline && after.Body != metadata.Inline {
		err = tx.InlineBodies.Remove(before.VersionKey())
	}
	err = errors.Join(err, tx.Resources.Put(after))
	if err != nil || before == nil || replaced || before.Body != metadata.InBlob || after.Body == metadata.InBlob {
		return err
	}
	return noteUnreferenced(tx, blobs.Blob{Digest: before.Digest, Size: before.Bytes}, after.Modified)
}

// CountUsage adds a change to the counters of a dataspace. day is the day of the change, never
// before the last counted day.
func CountUsage(tx *metadata.Tx, dataspace metadata.ID, day metadata.Day, change metadata.Counters) error {
	if change == (metadata.Counters{}) {
		return nil
	}
	counters, err := Counters(tx, dataspace)
	if err != nil {
		return err
	}
	return tx.Usage.Put(dataspace, day, counters.Add(change))
}

// otherThan returns the user who stored a version, or the zero id if the record already names that
// user.
func otherThan(named, storer metadata.ID) metadata.ID {
	if storer == named {
		return metadata.ID{}
	}
	return storer
}

// countStorers counts the bytes of a new (before is nil) or changed resource for the user who
// stored its present version. A replaced version still counts.
func countStorers(tx *metadata.Tx, before *metadata.Resource, after metadata.Resource) error {
	if before != nil && before.Version == after.Version {
		return countUser(tx, after.Storer(), ChangeCounted(before, after).Bytes())
	}
	return countUser(tx, after.Storer(), Counted(after).Bytes())
}

// countUser adds bytes to the usage of a user. The caller updates the counters of the dataspace
// with CountUsage, once for each step of many resources.
func countUser(tx *metadata.Tx, user metadata.ID, bytes int64) error {
	if bytes == 0 {
		return nil
	}
	used, err := tx.UserUsage.Get(user)
	if err = errs.Ignore(err, metadata.ErrNotFound); err != nil {
		return err
	}
	return tx.UserUsage.Put(metadata.UserUsage{UserID: user, Bytes: used.Bytes + bytes})
}

// ChangeCounted returns what storing a new (before is nil) or changed resource adds to the
// counters.
func ChangeCounted(before *metadata.Resource, after metadata.Resource) metadata.Counters {
	change := Counted(after)
	if before != nil {
		change = change.Add(Counted(*before).Negated())
		if after.Version != before.Version {
			change = change.Add(metadata.Counters{OldVersions: 1, OldBytes: before.Bytes})
		}
	}
	return change
}

// Counted returns what one resource adds to the counters.
func Counted(r metadata.Resource) metadata.Counters {
	switch {
	case r.State == metadata.Active:
		return metadata.Counters{ActiveFiles: 1, ActiveBytes: r.Bytes}
	case r.Body == metadata.Purged:
		return metadata.Counters{DeletedFiles: 1}
	}
	return metadata.Counters{DeletedFiles: 1, DeletedBytes: r.Bytes}
}

// Counters returns the counters of a dataspace. Every resource counts in them, so counters that are
// zero although the dataspace has a resource mean a lost row: ErrRecordDamaged.
func Counters(tx *metadata.Tx, dataspace metadata.ID) (metadata.Counters, error) {
	counters, err := tx.Usage.Get(dataspace)
	if err != nil || counters != (metadata.Counters{}) {
		return counters, err
	}
	for _, err := range tx.Resources.Range(metadata.ResourceRange{Dataspaces: []metadata.ID{dataspace}, States: paging.All, Order: paging.Oldest}) {
		if err == nil {
			err = fmt.Errorf("%w: dataspace %s has resources but no usage row", metadata.ErrRecordDamaged, dataspace)
		}
		return counters, err
	}
	return counters, nil
}
