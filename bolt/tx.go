package bolt

import (
	"bytes"
	"fmt"
	"iter"
	"time"

	"go.etcd.io/bbolt"

	"labshelf/audit"
	"labshelf/metadata"
)

// tx is one transaction of the file. Several operations may run in a write transaction, one after the other.
type tx struct {
	bolt   *bbolt.Tx
	opened [bucketCount]*bbolt.Bucket
	counts counts

	now    func() time.Time
	last   metadata.Stamp     // the last one given out, by this transaction or before it
	inline metadata.BodyCount // as of this transaction
	log    *audit.State       // of the audit log, likewise; nil: it has not been read
	logged bool               // entries were added to it

	version       uint64 // of the access rows that it sees; 0: unknown
	accessChanged bool   // it has changed some of them

	// Of the operation that runs now.
	wrote  bool
	failed error // the error of its first write that failed, or a damage that it met; it is then rolled back, whatever it returns
}

// counts is what listings have cost in a transaction.
type counts struct {
	index       int // steps of cursors in indexes; a seek is one
	records     int // records read
	recordSteps int // steps of cursors over records
}

// tables is the transaction as the contract has it.
func (t *tx) tables() *metadata.Tx {
	return &metadata.Tx{
		Dataspaces: dataspaces{t}, Sets: sets{t}, Resources: resources{t}, Versions: versions{t}, Users: users{t},
		Keys: keys{t}, Sessions: sessions{t}, Uploads: uploads{t}, Privileges: privileges{t}, Cascades: cascades{t}, Usage: usage{t}, UserUsage: userUsage{t}, Blobs: blobRows{t},
		Damages: damages{t}, Unreferenced: unreferenced{t}, InlineBodies: inlineBodies{t}, Scrub: scrub{t}, Filling: filling{t}, Lineage: lineage{t}, Audit: auditLog{t},
		Webhooks: webhooks{t}, Deliveries: deliveries{t}, Descriptive: descriptives{t},
		Schemas: schemas{t}, SchemaVersions: schemaVersions{t}, Edits: edits{t}, EditEntries: entriesOfEdits{t},
		Folders: folders{t}, FileProperties: propertiesOfFiles{t}, Links: links{t}, LinkUses: linkUses{t},
		Stamp: t.stamp, Access: t.access,
	}
}

func (t *tx) stamp() metadata.Stamp {
	t.mustWrite()
	t.last = metadata.NextStamp(t.last, t.now())
	return t.last
}

func (t *tx) mustWrite() {
	if !t.bolt.Writable() {
		panic("bolt: change in a read transaction")
	}
}

// bucket returns nil if there is no such bucket: in a file of an older schema that is read only.
func (t *tx) bucket(b bucket) *bbolt.Bucket {
	if t.opened[b] == nil {
		if t.opened[b] = t.bolt.Bucket([]byte(buckets[b].name)); t.opened[b] != nil {
			t.opened[b].FillPercent = buckets[b].fill
		}
	}
	return t.opened[b]
}

// get returns the value under a key, nil if there is none. It is valid as long as the transaction.
func (t *tx) get(b bucket, key []byte) []byte {
	in := t.bucket(b)
	if in == nil {
		return nil
	}
	return in.Get(key)
}

func (t *tx) put(b bucket, key, value []byte) {
	t.wrote, t.accessChanged = true, t.accessChanged || b.decidesAccess()
	if err := t.bucket(b).Put(key, value); err != nil && t.failed == nil {
		t.failed = fmt.Errorf("bolt: put into %s: %w", b, err)
	}
}

func (t *tx) delete(b bucket, key []byte) {
	t.wrote, t.accessChanged = true, t.accessChanged || b.decidesAccess()
	if err := t.bucket(b).Delete(key); err != nil && t.failed == nil {
		t.failed = fmt.Errorf("bolt: delete from %s: %w", b, err)
	}
}

// disordered tells whether a key that follows another one in a bucket is out of order. Then an offset within a page is damaged, and leads
// to another row, whose checksum is right; the operation fails.
func (t *tx) disordered(b bucket, before, key []byte, backwards bool) bool {
	if order := bytes.Compare(before, key); key == nil || order < 0 && !backwards || order > 0 && backwards {
		return false
	}
	if t.failed == nil {
		t.failed = fmt.Errorf("bolt: %s %x comes after %x: %w", b, key, before, metadata.ErrRecordDamaged)
	}
	return true
}

// walk yields the keys and values in a span of a bucket, ascending. They are valid as long as the transaction.
func (t *tx) walk(b bucket, s span) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		in := t.bucket(b)
		if in == nil {
			return
		}
		cursor := in.Cursor()
		key, value := cursor.Seek(s.lo)
		for s.contains(key) && yield(key, value) {
			before := key
			if key, value = cursor.Next(); t.disordered(b, before, key, false) {
				return
			}
		}
	}
}

// notFound is metadata.ErrNotFound with the key. Most of these errors are expected and never printed, so the text, which takes as long as
// the lookup, is made when it is asked for.
type notFound struct {
	in  bucket
	key string
}

func (e notFound) Error() string { return fmt.Sprintf("bolt: %s %x: %v", e.in, e.key, e.Unwrap()) }

func (e notFound) Unwrap() error { return metadata.ErrNotFound }

// The version of the rows that decide access is even, and odd while a commit that changes them is under way: bbolt shows a commit
// to readers before its last sync has returned. While the version is the same even number no such commit has become
// visible, and a transaction that begins now reads of those rows what was read before.

// decidesAccess tells whether the rows of a bucket decide who may do what, and where.
func (b bucket) decidesAccess() bool {
	switch b {
	case usersBucket, keysBucket, sessionsBucket, privilegesBucket, dataspacesBucket, setsBucket, cascadesBucket:
		return true
	}
	return false
}

// firstAccess is the version of a file that has just been opened.
const firstAccess = 2

// AccessVersion implements metadata.Store.
func (s *Store) AccessVersion() uint64 {
	return s.committer.accessSince(s.committer.access.Load())
}

// accessSince returns the version that was read before if it is still the present one, else 0.
func (c *committer) accessSince(before uint64) uint64 {
	if before%2 == 1 || c.access.Load() != before {
		return 0
	}
	return before
}

// access implements metadata.Tx.
func (t *tx) access() uint64 {
	if t.accessChanged {
		return 0
	}
	return t.version
}

// changeAccess is called before a commit that changes access rows becomes visible, and the function that it returns once the outcome
// is known and before any caller is answered. A commit that failed counts as well: some of it may be there.
func (c *committer) changeAccess() (done func()) {
	c.access.Add(1)
	return func() { c.access.Add(1) }
}
