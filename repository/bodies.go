package repository

import (
	"crypto/sha256"
	"errors"
	"fmt"
)

// readBody reads the held body of a resource. An ErrRecordDamaged says what is wrong with it.
func readBody(tx *Tx, r Resource) ([]byte, error) {
	body, err := tx.Bodies.Get(r.bodyKey())
	switch {
	case errors.Is(err, ErrNotFound):
		err = fmt.Errorf("%w: it is missing", ErrRecordDamaged)
	case err == nil && int64(len(body)) != r.Bytes:
		err = fmt.Errorf("%w: it has %d bytes, not %d", ErrRecordDamaged, len(body), r.Bytes)
	}
	return body, err
}

// verifyBody is readBody with a look at every byte.
func verifyBody(tx *Tx, r Resource) ([]byte, error) {
	body, err := readBody(tx, r)
	if err == nil && sha256.Sum256(body) != r.Digest {
		err = fmt.Errorf("%w: it has another digest", ErrRecordDamaged)
	}
	return body, err
}

// keepResource stores a resource, new (before is nil) or changed, and takes out the held body that it no longer needs: because
// there is another version, a file, or nothing any more. A blob that thereby loses its last reference is noted as unreferenced since
// the last change of the resource: its replacement, or, for one that is purged, its deletion. All writing of resources comes through here.
func keepResource(tx *Tx, before *Resource, after Resource) error {
	var err error
	after.Damaged = false
	if before != nil && before.Body == Held && (after.Body != Held || after.Version != before.Version) {
		err = tx.Bodies.Remove(before.bodyKey())
	}
	if err = errors.Join(err, tx.Resources.Put(after)); err != nil {
		return err
	}
	if before == nil || before.Body != Filed || after.Body == Filed && after.Digest == before.Digest {
		return nil
	}
	if err := unused(tx, before.Digest); err != nil {
		return ignore(err, errReferred)
	}
	return tx.Unreferenced.Put(Unreferenced{Digest: before.Digest, Bytes: before.Bytes, Since: after.Modified})
}

// vouchForFile writes down that the file of a resource is in its place and whole. It comes with the record that refers to it.
func vouchForFile(tx *Tx, r Resource) error {
	return errors.Join(tx.Damages.Remove(r.Digest), tx.Unreferenced.Remove(r.Digest), tx.Blobs.Put(r.Digest, r.Bytes))
}
