package rows

import (
	"errors"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/formats/audit"
	"labshelf/metadata"
)

// keepVersion stores the state of a resource before a replacement as a version. The inline body
// stays under the key of the version.
func keepVersion(tx *metadata.Tx, before, after metadata.Resource) error {
	v, err := PresentVersion(tx, before)
	if err != nil {
		return err
	}
	v.Damaged, v.StoredBy = false, otherThan(v.CreatedBy, v.Storer())
	v.Replaced, v.ReplacedBy = after.Modified, after.ModifiedBy
	return tx.Versions.Put(v)
}

// PresentVersion returns the present version of a resource. Its file was stored when the preceding
// version was replaced. If the preceding version was not kept, the time of the last change stands
// in.
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

// InVersion returns a resource as it is, or was, in a version, or ErrNotFound if that was not kept.
func InVersion(tx *metadata.Tx, of metadata.VersionKey) (metadata.Resource, error) {
	r, err := tx.Resources.Get(of.Resource)
	if err != nil || r.Version == of.Version {
		return r, err
	}
	v, err := tx.Versions.Get(of)
	return v.Of(r), err
}

// RecordFlushed records that the inline body of a version has been flushed to a file, unless the
// version no longer needs the body.
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

// RemoveVersion removes the bytes of a version and keeps its row. The history of the resource gets
// an entry. A blob that loses its last reference is recorded as unreferenced since the stamp since.
// The caller subtracts CountedVersion from the counters of the dataspace.
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

// LabelVersion stores a version with a new label.
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

// saveVersion stores a changed version, and removes an inline body that is no longer needed.
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

// noteUnreferenced records a blob as unreferenced since a stamp if nothing refers to it.
func noteUnreferenced(tx *metadata.Tx, b blobs.Blob, since metadata.Stamp) error {
	if err := Unreferenced(tx, b.Digest); err != nil {
		return errs.Ignore(err, ErrReferenced)
	}
	return tx.Unreferenced.Put(metadata.Unreferenced{Digest: b.Digest, Bytes: b.Size, Since: since})
}

// CountedVersion returns what a version adds to the counters.
func CountedVersion(v metadata.Version) metadata.Counters {
	if v.Present() || v.Body == metadata.Purged {
		return metadata.Counters{}
	}
	return metadata.Counters{OldVersions: 1, OldBytes: v.Bytes}
}
