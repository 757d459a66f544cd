package rows

import (
	"errors"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/formats/audit"
	"labshelf/metadata"
)

// keepVersion writes down what a resource was before a replacement. The inline body stays under the
// key of the version.
func keepVersion(tx *metadata.Tx, before, after metadata.Resource) error {
	v, err := PresentVersion(tx, before)
	if err != nil {
		return err
	}
	v.Damaged, v.StoredBy = false, otherThan(v.CreatedBy, v.Storer())
	v.Replaced, v.ReplacedBy = after.Modified, after.ModifiedBy
	return tx.Versions.Put(v)
}

// PresentVersion returns the version that a resource is in. Its file came when the one before was
// replaced; where that was not kept, at the last change, or before it.
func PresentVersion(tx *metadata.Tx, r metadata.Resource) (metadata.Version, error) {
	v := metadata.VersionOf(r)
	v.Created, v.CreatedBy = r.Created, r.CreatedBy
	if r.Version == 0 {
		return v, nil
	}
	older, err := tx.Versions.Get(metadata.VersionKey{Resource: r.ID, Version: r.Version - 1})
	v.Created, v.CreatedBy = older.Replaced, older.ReplacedBy
	if errors.Is(err, metadata.ErrNotFound) {
		v.Created, v.CreatedBy, err = r.Modified, r.ModifiedBy, nil
	}
	return v, err
}

// InVersion returns a resource as it is, or was, in a version. ErrNotFound: that was not kept.
func InVersion(tx *metadata.Tx, of metadata.VersionKey) (metadata.Resource, error) {
	r, err := tx.Resources.Get(of.Resource)
	if err != nil || r.Version == of.Version {
		return r, err
	}
	v, err := tx.Versions.Get(of)
	return v.Of(r), err
}

// RecordFlushed records that the inline body of a version has become a file, unless the version
// does not need it any more.
func RecordFlushed(tx *metadata.Tx, of metadata.VersionKey, file blobs.Content) error {
	flushed, err := InVersion(tx, of)
	if err != nil || !flushed.Needs(of) {
		return err
	}
	flushed.Body = metadata.InBlob
	if err := RecordBlob(tx, file, false); err != nil {
		return err
	}
	if r, err := tx.Resources.Get(of.Resource); err != nil || r.Version == of.Version {
		return errors.Join(err, storeResource(tx, &r, flushed))
	}
	v, err := tx.Versions.Get(of)
	after := v
	after.Body = metadata.InBlob
	return errors.Join(err, saveVersion(tx, v, after, 0))
}

// RemoveVersion removes the bytes of a version, whose row stays, with an entry in the history of
// its resource. A blob that thereby loses its last reference is recorded as unreferenced since
// then. The counters of the dataspace, which lose CountedVersion, are left to the caller.
func RemoveVersion(tx *metadata.Tx, c Change, v metadata.Version, why metadata.Removal, since metadata.Stamp) error {
	if err := logVersion(tx, c, why.At, v, audit.Entry{Before: v.Digest, Bytes: uint64(v.Bytes)}, audit.Changes{}); err != nil {
		return err
	}
	if err := countUser(tx, v.Storer(), CountedVersion(v).Negated().Bytes()); err != nil {
		return err
	}
	after := v
	after.Body, after.Removed, after.Damaged = metadata.Purged, why, false
	return saveVersion(tx, v, after, since)
}

// LabelVersion stores a version with another label.
func LabelVersion(tx *metadata.Tx, c Change, v metadata.Version, label string) error {
	var texts audit.Changes
	texts.Change("label", v.Label, label)
	if err := logVersion(tx, c, 0, v, audit.Entry{}, texts); err != nil {
		return err
	}
	if v.Label = label; !v.Present() {
		return tx.Versions.Put(v)
	}
	r, err := tx.Resources.Get(v.ResourceID)
	r.Label = label
	return errors.Join(err, tx.Resources.Put(r))
}

// logVersion appends an entry about a version to the history of its resource.
func logVersion(tx *metadata.Tx, c Change, stamp metadata.Stamp, v metadata.Version, e audit.Entry, texts audit.Changes) error {
	r, err := tx.Resources.Get(v.ResourceID)
	if err != nil {
		return err
	}
	e.Object, e.Previous, e.Version = audit.Object{Kind: audit.Resource, ID: r.ID}, r.Entry, uint64(v.Number)+1
	if r.Entry, err = c.Log(tx, stamp, e, texts); err != nil {
		return err
	}
	return tx.Resources.Put(r)
}

// saveVersion stores a changed version, and removes the inline body that it no longer needs.
func saveVersion(tx *metadata.Tx, before, after metadata.Version, since metadata.Stamp) error {
	var err error
	if before.Body == metadata.Inline && after.Body != metadata.Inline {
		err = tx.InlineBodies.Remove(before.Key())
	}
	if err = errors.Join(err, tx.Versions.Put(after)); err != nil || before.Body != metadata.InBlob || after.Body == metadata.InBlob {
		return err
	}
	return noteUnreferenced(tx, blobs.Blob{Digest: before.Digest, Size: before.Bytes}, since)
}

// noteUnreferenced records that nothing refers to a blob since a stamp, if that is so.
func noteUnreferenced(tx *metadata.Tx, b blobs.Blob, since metadata.Stamp) error {
	if err := Unreferenced(tx, b.Digest); err != nil {
		return errs.Ignore(err, ErrReferenced)
	}
	return tx.Unreferenced.Put(metadata.Unreferenced{Digest: b.Digest, Bytes: b.Size, Since: since})
}

// CountedVersion is what a version adds to the counters.
func CountedVersion(v metadata.Version) metadata.Counters {
	if v.Present() || v.Body == metadata.Purged {
		return metadata.Counters{}
	}
	return metadata.Counters{OldVersions: 1, OldBytes: v.Bytes}
}
