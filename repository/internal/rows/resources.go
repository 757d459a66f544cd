// Package rows changes rows of the metadata that belong together: a resource with its versions, its
// inline body, the record of its blob and the counters of its dataspace and its creator. Its
// functions run in a transaction of the caller, and ask for no permission.
package rows

import (
	"errors"
	"fmt"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/paging"
)

// SaveResource stores a resource with its descriptive metadata, new (before is nil) or changed,
// with an entry in the audit log. The descriptive metadata are in both, or in neither. All writing
// of resources comes through here, but that of RecordFlushed, which changes nothing that anybody
// sees.
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

// storeResource stores a resource, new (before is nil) or changed. Where its file was replaced,
// what it was becomes a version; else the inline body goes that it no longer needs, because there
// is a file, or nothing any more. A blob that thereby loses its last reference is recorded as
// unreferenced since the last change of the resource, its deletion.
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

// CountUsage adds a change to the counters of a dataspace. The day is that of the change, never one
// before the last counted.
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

// otherThan returns the user who stored a version, or the zero id for the one whom the record
// names.
func otherThan(named, storer metadata.ID) metadata.ID {
	if storer == named {
		return metadata.ID{}
	}
	return storer
}

// countStorers adds the bytes that storing a resource, new (before is nil) or changed, adds for
// the user who stored its present version. A replaced version still counts.
func countStorers(tx *metadata.Tx, before *metadata.Resource, after metadata.Resource) error {
	if before != nil && before.Version == after.Version {
		return countUser(tx, after.Storer(), ChangeCounted(before, after).Bytes())
	}
	return countUser(tx, after.Storer(), Counted(after).Bytes())
}

// countUser adds to what a user uses. The counters of dataspaces are left to CountUsage, since a
// step of many resources changes them once.
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

// ChangeCounted is what storing a resource, new (before is nil) or changed, adds to the counters.
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

// Counted is what one resource adds to the counters.
func Counted(r metadata.Resource) metadata.Counters {
	switch {
	case r.State == metadata.Active:
		return metadata.Counters{ActiveFiles: 1, ActiveBytes: r.Bytes}
	case r.Body == metadata.Purged:
		return metadata.Counters{DeletedFiles: 1}
	}
	return metadata.Counters{DeletedFiles: 1, DeletedBytes: r.Bytes}
}

// Counters returns the counters of a dataspace. Each resource counts in them, so where they are
// zero and there is one, their row is lost.
func Counters(tx *metadata.Tx, dataspace metadata.ID) (metadata.Counters, error) {
	counters, err := tx.Usage.Get(dataspace)
	if err != nil || counters != (metadata.Counters{}) {
		return counters, err
	}
	for _, err := range tx.Resources.Range(metadata.ResourceRange{Dataspaces: []metadata.ID{dataspace}, States: paging.All, Order: paging.Oldest}) {
		if err == nil {
			err = fmt.Errorf("%w: dataspace %s has resources and no usage", metadata.ErrRecordDamaged, dataspace)
		}
		return counters, err
	}
	return counters, nil
}
