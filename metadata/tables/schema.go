package tables

import (
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"labshelf/auth/errs"
	"labshelf/metadata"
)

// Schema is the schema version that this program writes. It is the same for all engines.
const Schema uint32 = 16

// Oldest is the oldest schema version that this program migrates. No release wrote an older one.
const Oldest uint32 = 14

// step is one part of a migration.
type step func(*Tx, Buckets) error

// migrations lead from Oldest to Schema, one version at a time.
var migrations = [Schema - Oldest][]step{
	{addBuckets(15), countStorers},
	{}, // keys may have limits
}

// Migrate migrates metadata from a schema version to the next one, in a transaction of the engine.
func Migrate(kv KV, in Buckets, version uint32) error {
	t := Write(kv, State{}, 0, time.Now)
	for _, step := range migrations[version-Oldest] {
		if err := step(t, in); err != nil {
			return fmt.Errorf("tables: upgrade to version %d: %w", version+1, err)
		}
	}
	putMetaRow(t, schemaRow, schemaFields, version+1)
	return t.failed
}

// Initialize creates complete metadata without rows, in a transaction of an empty engine. now is
// the clock of the store. The first epoch begins at its time.
func Initialize(kv KV, in Buckets, now func() time.Time) error {
	for b := range BucketCount {
		if !b.In(Schema) {
			continue
		}
		if err := in.CreateBucket(b); err != nil {
			return err
		}
	}
	t := Write(kv, State{}, 0, now)
	var secret [32]byte
	rand.Read(secret[:]) // never fails
	putMetaRow(t, schemaRow, schemaFields, Schema)
	putMetaRow(t, lastStampRow, lastStampFields, 0)
	putMetaRow(t, secretRow, secretFields, secret)
	if t.failed != nil {
		return t.failed
	}
	return errors.Join(addEpoch(t), beginLog(t))
}

// Header contains the rows that an engine reads before its first transaction.
type Header struct {
	Schema uint32
	Secret [32]byte
	State  State
}

// ReadHeader reads the rows that every start needs, in a read transaction. For metadata of a
// version above Schema it returns metadata.ErrTooNew, for one below Oldest metadata.ErrTooOld, and
// sets only the field Schema. If a row or a bucket is missing, it returns
// metadata.ErrRecordDamaged.
func ReadHeader(kv KV) (h Header, err error) {
	t := Read(kv, 0)
	if kv.Cursor(metaBucket, false) == nil {
		return h, fmt.Errorf("tables: %w: the store contains no labshelf metadata", metadata.ErrRecordDamaged)
	}
	if h.Schema, err = metaRow(t, schemaRow, schemaFields); err != nil {
		return h, err
	}
	if err = readable(h.Schema); err != nil {
		return h, err
	}
	if h.State, err = ReadState(kv); err != nil {
		return h, err
	}
	if h.Secret, err = metaRow(t, secretRow, secretFields); err != nil {
		return h, err
	}
	if _, err = metaRow(t, epochRow, epochFields); err != nil {
		return h, err
	}
	for b := range BucketCount {
		if b.In(h.Schema) && kv.Cursor(b, false) == nil {
			return h, fmt.Errorf("tables: %w: no bucket %s", metadata.ErrRecordDamaged, b)
		}
	}
	return h, nil
}

// readable returns an error for a version that this program does not know or no longer migrates.
func readable(version uint32) error {
	switch {
	case version > Schema:
		return fmt.Errorf("%w: schema %d; this version supports up to %d", metadata.ErrTooNew, version, Schema)
	case version < Oldest:
		return fmt.Errorf("%w: schema %d; this version supports %d and later", metadata.ErrTooOld, version, Oldest)
	}
	return nil
}

// ReadState returns the state that the next commit continues. Its errors for other versions are
// the errors of ReadHeader.
func ReadState(kv KV) (state State, err error) {
	t := Read(kv, 0)
	schema, err := metaRow(t, schemaRow, schemaFields)
	if err != nil {
		return state, err
	}
	if err := readable(schema); err != nil {
		return state, err
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

// addBuckets returns a step that creates the buckets that a schema version adds.
func addBuckets(version uint32) step {
	return func(_ *Tx, in Buckets) error {
		for b := range BucketCount {
			if buckets[b].in.since != version {
				continue
			}
			if err := in.CreateBucket(b); err != nil {
				return err
			}
		}
		return nil
	}
}

// countStorers counts each version for the user who stored it. It removes the counters of schema
// 14, which counted all versions for the creator of the resource.
func countStorers(t *Tx, in Buckets) error {
	moved, used, err := storedVersions(t)
	if err != nil {
		return err
	}
	replaced, err := storedResources(t, used)
	if err != nil {
		return err
	}
	for _, v := range moved {
		key := versionTable.key(&v)
		t.put(versionsBucket, key, seal(key, versionFields, v))
	}
	for _, r := range replaced {
		t.put(resourcesBucket, idKey(r.ID), seal(idKey(r.ID), resourceFields, r))
	}
	for user, bytes := range used {
		t.put(usageByStorer, idKey(user), seal(idKey(user), userUsageFields, metadata.UserUsage{UserID: user, Bytes: bytes}))
	}
	if t.failed != nil {
		return t.failed
	}
	return in.DeleteBucket(usageByUser)
}

// storedVersions returns the former versions that a move stored again, with the user who moved
// them. It also returns the bytes of all former versions by user.
func storedVersions(t *Tx) (moved []metadata.Version, used map[metadata.ID]int64, err error) {
	used = map[metadata.ID]int64{}
	for v, err := range versionTable.all(t, span{}) {
		if err != nil {
			return nil, nil, err
		}
		if v.Body == metadata.Purged {
			continue
		}
		r, err := resourceTable.get(t, idKey(v.ResourceID))
		if err != nil {
			return nil, nil, err
		}
		if v.Created < r.Created && v.CreatedBy != r.CreatedBy {
			v.StoredBy = r.CreatedBy
			moved = append(moved, v)
		}
		used[v.Storer()] += v.Bytes
	}
	return moved, used, nil
}

// storedResources returns the resources whose current version was stored by another user than the
// creator. It adds the bytes of current versions to used. If the previous version is unknown, or
// the version is older than the record, the creator stored it, because the record was created by a
// move.
func storedResources(t *Tx, used map[metadata.ID]int64) (replaced []metadata.Resource, err error) {
	for r, err := range resourceTable.all(t, span{}) {
		if err != nil {
			return nil, err
		}
		if r.Body == metadata.Purged {
			continue
		}
		if r.Version > 0 {
			former, err := versionTable.get(t, versionKey(metadata.VersionKey{Resource: r.ID, Version: r.Version - 1}))
			if err = errs.Ignore(err, metadata.ErrNotFound); err != nil {
				return nil, err
			}
			if former.Replaced >= r.Created && former.ReplacedBy != r.CreatedBy {
				r.StoredBy = former.ReplacedBy
				replaced = append(replaced, r)
			}
		}
		used[r.Storer()] += r.Bytes
	}
	return replaced, nil
}
