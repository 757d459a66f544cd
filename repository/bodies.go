package repository

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"labshelf/metadata"
)

// readBody reads the held body of a resource. An ErrRecordDamaged says what is wrong with it.
func readBody(tx *metadata.Tx, r metadata.Resource) ([]byte, error) {
	body, err := tx.Bodies.Get(r.BodyKey())
	switch {
	case errors.Is(err, metadata.ErrNotFound):
		err = fmt.Errorf("%w: it is missing", metadata.ErrRecordDamaged)
	case err == nil && int64(len(body)) != r.Bytes:
		err = fmt.Errorf("%w: it has %d bytes, not %d", metadata.ErrRecordDamaged, len(body), r.Bytes)
	}
	return body, err
}

// verifyBody is readBody with a look at every byte.
func verifyBody(tx *metadata.Tx, r metadata.Resource) ([]byte, error) {
	body, err := readBody(tx, r)
	if err == nil && sha256.Sum256(body) != r.Digest {
		err = fmt.Errorf("%w: it has another digest", metadata.ErrRecordDamaged)
	}
	return body, err
}

// keepResource stores a resource, new (before is nil) or changed, and takes out the held body that it no longer needs: because
// there is another version, a file, or nothing any more. A blob that thereby loses its last reference is noted as unreferenced since
// the last change of the resource: its replacement, or, for one that is purged, its deletion. All writing of resources comes through here.
func keepResource(tx *metadata.Tx, before *metadata.Resource, after metadata.Resource) error {
	var err error
	after.Damaged = false
	if before != nil && before.Body == metadata.Held && (after.Body != metadata.Held || after.Version != before.Version) {
		err = tx.Bodies.Remove(before.BodyKey())
	}
	if err = errors.Join(err, tx.Resources.Put(after)); err != nil {
		return err
	}
	if before == nil || before.Body != metadata.Filed || after.Body == metadata.Filed && after.Digest == before.Digest {
		return nil
	}
	if err := unused(tx, before.Digest); err != nil {
		return ignore(err, errReferred)
	}
	return tx.Unreferenced.Put(metadata.Unreferenced{Digest: before.Digest, Bytes: before.Bytes, Since: after.Modified})
}

// vouchForFile writes down that the file of a resource is in its place and whole. It comes with the record that refers to it.
func vouchForFile(tx *metadata.Tx, r metadata.Resource) error {
	return errors.Join(tx.Damages.Remove(r.Digest), tx.Unreferenced.Remove(r.Digest), tx.Blobs.Put(r.Digest, r.Bytes))
}
