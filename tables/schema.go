package tables

import (
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"labshelf/metadata"
)

// Schema is the schema version that this program writes. It is the same for all engines.
const Schema uint32 = 14

// step is a part of a migration.
type step func(*Tx, Buckets) error

// migrations lead from version 1, one by one, to Schema.
var migrations = [Schema - 1][]step{
	{addBuckets(2)},
	{addBuckets(3)},
	{addBuckets(4)},
	{addBuckets(5)},
	{addEpoch},
	{addBuckets(7)},
	{addBuckets(8)},
	{mergeRefs, addBuckets(9), beginLog},
	{addBuckets(10)},
	{addBuckets(11)},
	{addBuckets(12), countUsers},
	{addBuckets(13)},
	{addBuckets(14)},
}

// Migrate brings metadata from a schema version to the next one, in a transaction of the engine.
func Migrate(kv KV, in Buckets, version uint32) error {
	t := Write(kv, State{}, 0, time.Now)
	for _, step := range migrations[version-1] {
		if err := step(t, in); err != nil {
			return fmt.Errorf("tables: bring to version %d: %w", version+1, err)
		}
	}
	putMetaRow(t, schemaRow, schemaFields, version+1)
	return t.failed
}

// Initialize makes complete metadata without rows, in a transaction of an engine that holds nothing yet.
func Initialize(kv KV, in Buckets) error {
	for b := range BucketCount {
		if !b.In(Schema) {
			continue
		}
		if err := in.CreateBucket(b); err != nil {
			return err
		}
	}
	t := Write(kv, State{}, 0, time.Now)
	var secret [32]byte
	rand.Read(secret[:]) // never fails
	putMetaRow(t, schemaRow, schemaFields, Schema)
	putMetaRow(t, lastStampRow, lastStampFields, 0)
	putMetaRow(t, secretRow, secretFields, secret)
	if t.failed != nil {
		return t.failed
	}
	return errors.Join(addEpoch(t, in), beginLog(t, in))
}

// Header is what an engine reads before its first transaction.
type Header struct {
	Schema uint32
	Secret [32]byte
	State  State
}

// ReadHeader reads the rows that every start needs, in a read transaction. It returns a metadata.ErrTooNew, and of the Header the Schema alone, for
// metadata of a version above Schema, and a metadata.ErrRecordDamaged for those that lack a row or a bucket of theirs.
func ReadHeader(kv KV) (h Header, err error) {
	t := Read(kv, 0)
	if kv.Cursor(metaBucket, false) == nil {
		return h, fmt.Errorf("tables: %w: it holds something else", metadata.ErrRecordDamaged)
	}
	if h.Schema, err = metaRow(t, schemaRow, schemaFields); err != nil {
		return h, err
	}
	if h.Schema > Schema {
		return h, fmt.Errorf("%w: %d, known is %d", metadata.ErrTooNew, h.Schema, Schema)
	}
	if h.State, err = ReadState(kv); err != nil {
		return h, err
	}
	if h.Secret, err = metaRow(t, secretRow, secretFields); err != nil {
		return h, err
	}
	if h.Schema >= epochVersion {
		if _, err = metaRow(t, epochRow, epochFields); err != nil {
			return h, err
		}
	}
	for b := range BucketCount {
		if b.In(h.Schema) && kv.Cursor(b, false) == nil {
			return h, fmt.Errorf("tables: %w: no bucket %s", metadata.ErrRecordDamaged, b)
		}
	}
	return h, nil
}

// ReadState returns what the next commit continues. It returns an ErrTooNew for metadata of a version above Schema.
func ReadState(kv KV) (state State, err error) {
	t := Read(kv, 0)
	schema, err := metaRow(t, schemaRow, schemaFields)
	if err != nil {
		return state, err
	}
	if schema > Schema {
		return state, fmt.Errorf("%w: %d, known is %d", metadata.ErrTooNew, schema, Schema)
	}
	if state.Last, err = LastStamp(kv); err != nil {
		return state, err
	}
	state.Inline, err = inlineBodies{t}.Total()
	return state, err
}

// LastStamp returns the last stamp that a commit has given out.
func LastStamp(kv KV) (metadata.Stamp, error) {
	return metaRow(Read(kv, 0), lastStampRow, lastStampFields)
}

// addBuckets makes the buckets that a schema version adds.
func addBuckets(version uint32) step {
	return func(_ *Tx, in Buckets) error {
		for b := range BucketCount {
			if buckets[b].since != version {
				continue
			}
			if err := in.CreateBucket(b); err != nil {
				return err
			}
		}
		return nil
	}
}

// refsVersion is the schema version since which the references of former versions are among those of the present ones.
const refsVersion = 9

// mergeRefs moves the references of former versions among those of the present ones.
func mergeRefs(t *Tx, in Buckets) error {
	for key := range t.walk(versionRefs, span{}) {
		t.put(blobRefs, key, nil)
	}
	if t.failed != nil {
		return t.failed
	}
	return in.DeleteBucket(versionRefs)
}

// countUsers counts what users use.
func countUsers(t *Tx, _ Buckets) error {
	used := map[metadata.ID]int64{}
	for r, err := range resourceTable.all(t, span{}) {
		if err != nil {
			return err
		}
		if r.Body != metadata.Purged {
			used[r.CreatedBy] += r.Bytes
		}
	}
	for v, err := range versionTable.all(t, span{}) {
		if err != nil {
			return err
		}
		if v.Body == metadata.Purged {
			continue
		}
		r, err := resourceTable.get(t, idKey(v.ResourceID))
		if err != nil {
			return err
		}
		used[r.CreatedBy] += v.Bytes
	}
	for user, bytes := range used {
		t.put(usageByUser, idKey(user), seal(idKey(user), userUsageFields, metadata.UserUsage{UserID: user, Bytes: bytes}))
	}
	return t.failed
}
