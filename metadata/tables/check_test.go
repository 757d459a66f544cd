package tables

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"testing"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
)

// fullStore returns a store with a row in every table.
func fullStore(t *testing.T) *memory {
	t.Helper()
	s := newMemory(t)
	if err := s.Update(t.Context(), metadatatest.EveryTable); err != nil {
		t.Fatal(err)
	}
	checkIntegrity(t, s)
	return s
}

// bucketsOfRows yields the buckets in a file of the current schema, except the bucket of single
// rows.
func bucketsOfRows() iter.Seq[Bucket] {
	return func(yield func(Bucket) bool) {
		for b := metaBucket + 1; b < BucketCount; b++ {
			if b.In(Schema) && !yield(b) {
				return
			}
		}
	}
}

// violations returns the names of the buckets in which Check finds a violation.
func violations(t *testing.T, s *memory) (in []string) {
	t.Helper()
	if err := s.Inspect(t.Context(), func(v metadata.Violation) { in = append(in, v.Kind) }); err != nil {
		t.Fatal(err)
	}
	slices.Sort(in)
	return slices.Compact(in)
}

// TestCheckFindsMissingKeys removes each key of the file in turn.
func TestCheckFindsMissingKeys(t *testing.T) {
	t.Parallel()
	s := fullStore(t)
	for b := range bucketsOfRows() {
		var key, value []byte
		behind(t, func() error {
			k, v := s.bucket(b).first()
			if key, value = slices.Clone(k), slices.Clone(v); key == nil {
				t.Errorf("%s is empty", b)
				return nil
			}
			return s.bucket(b).Delete(key)
		})
		found := violations(t, s)
		switch {
		case b == usageBucket, b == usageByDay, withoutIndex(b) && b != blobsUnreferenced: // no entry points to it
			if len(found) != 0 {
				t.Errorf("%s without %x: %q", b, key, found)
			}
		default:
			if len(found) == 0 {
				t.Errorf("%s without %x: no violation found", b, key)
			}
		}
		behind(t, func() error { return s.bucket(b).Put(key, value) })
	}
	checkIntegrity(t, s)
}

// withoutIndex reports whether the bucket contains the rows of a table without an index.
func withoutIndex(b Bucket) bool {
	return slices.ContainsFunc(everyTable, func(tb interface{ check(*checker) }) bool {
		fields := reflect.ValueOf(tb).Elem()
		return fields.FieldByName("bucket").Uint() == uint64(b) && fields.FieldByName("entries").IsNil()
	})
}

// TestCheckFindsExtraKeys adds a key to each bucket, for a missing row and for an existing one.
func TestCheckFindsExtraKeys(t *testing.T) {
	t.Parallel()
	s := fullStore(t)
	for b := range bucketsOfRows() {
		behind(t, func() error {
			in := s.bucket(b)
			key, value := in.first()
			return errors.Join(in.Put(append(slices.Clone(key), 0), slices.Clone(value)), in.Put([]byte{0}, nil))
		})
		if found := violations(t, s); !slices.Equal(found, []string{b.String()}) {
			t.Errorf("an extra key in %s: found in %q", b, found)
		}
		behind(t, func() error {
			in := s.bucket(b)
			first, _ := in.seek([]byte{0, 0})
			return errors.Join(in.Delete(append(slices.Clone(first), 0)), in.Delete([]byte{0}))
		})
	}
	checkIntegrity(t, s)
}

// TestCheckFindsDamage flips a bit in the value of each key that has one.
func TestCheckFindsDamage(t *testing.T) {
	t.Parallel()
	s := fullStore(t)
	for b := range bucketsOfRows() {
		flip := func() error {
			in := s.bucket(b)
			key, value := in.first()
			if value = slices.Clone(value); len(value) == 0 {
				value = append(value, 0)
			}
			value[len(value)-1] ^= 1
			return in.Put(key, value)
		}
		behind(t, flip)
		if found := violations(t, s); len(found) == 0 {
			t.Errorf("%s: no violation found", b)
		}
		behind(t, func() error {
			in := s.bucket(b)
			key, value := in.first()
			if len(value) == 1 {
				return in.Put(key, nil)
			}
			return flip()
		})
	}
	checkIntegrity(t, s)
}

// TestCheckNamesDamagedBody tests that a damaged body is reported once, without the total. Other
// damage of bodies is reported differently.
func TestCheckNamesDamagedBody(t *testing.T) {
	t.Parallel()
	s := fullStore(t)
	of := metadata.VersionKey{Resource: metadatatest.IDAt('R', 1)}
	behind(t, func() error {
		in := s.bucket(bodiesBucket)
		body := slices.Clone(in.Get(versionKey(of)))
		body[recordHeader] ^= 1
		return in.Put(versionKey(of), body)
	})
	var found []metadata.Violation
	if err := s.Inspect(t.Context(), func(v metadata.Violation) { found = append(found, v) }); err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || found[0].Kind != bodiesBucket.String() || found[0].ID != keyText(versionKey(of)) {
		t.Errorf("found %v", found)
	}
	if err := s.Update(t.Context(), func(tx *metadata.Tx) error { return tx.InlineBodies.Remove(of) }); err != nil {
		t.Fatal(err)
	}
	checkIntegrity(t, s)
}

// TestCheckFindsGapsInLog tests that entries must be numbered from 0 without a gap up to the size
// in the state, and that they must be readable.
func TestCheckFindsGapsInLog(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		damage func(entries, meta *mapBucket) error
		want   string // bucket and error
	}{
		"the first is gone": {func(entries, _ *mapBucket) error { return entries.Delete(entryKey(0)) },
			"rows: audit 0000000000000001: it is not entry 0, which is missing"},
		"one in between is gone": {func(entries, _ *mapBucket) error { return entries.Delete(entryKey(1)) },
			"rows: audit 0000000000000002: it is not entry 1, which is missing"},
		"the last is gone": {func(entries, _ *mapBucket) error { return entries.Delete(entryKey(2)) },
			"rows: audit: there are 2 entries, and meta says 3"},
		"one has the record of another": {func(entries, _ *mapBucket) error {
			return entries.Put(entryKey(1), slices.Clone(entries.Get(entryKey(2))))
		}, "rows: audit 0000000000000001: tables: audit 0000000000000001: " + metadata.ErrRecordDamaged.Error() + ": checksum"},
		"one has too few hashes": {func(entries, _ *mapBucket) error {
			return entries.Put(entryKey(1), seal(entryKey(1), auditFields, metadata.AuditEntry{Number: 2, Leaf: []byte{1}}))
		}, "rows: audit 0000000000000001: tables: audit 0000000000000001: " + metadata.ErrRecordDamaged.Error() + ": its fields do not fit"},
		"the state has fewer entries": {func(_, meta *mapBucket) error {
			return meta.Put([]byte(auditRow), seal([]byte(auditRow), auditStateFields, audit.State{Size: 1, Frontier: make([]audit.Hash, 1)}))
		}, "rows: audit: there are 3 entries, and meta says 1"},
		"the state has too few hashes": {func(_, meta *mapBucket) error {
			return meta.Put([]byte(auditRow), seal([]byte(auditRow), auditStateFields, audit.State{Size: 3, Frontier: make([]audit.Hash, 1)}))
		}, "rows: meta " + keyText([]byte(auditRow)) + ": tables: meta " + fmt.Sprintf("%x", auditRow) + ": " + metadata.ErrRecordDamaged.Error() + ": its fields do not fit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fullStore(t)
			behind(t, func() error { return tc.damage(s.bucket(auditBucket), s.bucket(metaBucket)) })
			var found []string
			if err := s.Inspect(t.Context(), func(v metadata.Violation) { found = append(found, v.String()) }); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(found, []string{tc.want}) {
				t.Errorf("found %q, want %q", found, tc.want)
			}
		})
	}
}

func TestCheckFindsStampsOfTheFuture(t *testing.T) {
	t.Parallel()
	s := fullStore(t)
	behind(t, func() error {
		return s.bucket(metaBucket).Put([]byte(lastStampRow), seal([]byte(lastStampRow), lastStampFields, 5))
	})
	want := []string{
		"dataspaces", "edits", "keys", "leases", "links", "privileges", "resources", "schema_versions", "schemas", "sessions", "sets", "transfers", "trashed", "users", "versions", "webhooks",
	}
	if found := violations(t, s); !slices.Equal(found, want) {
		t.Errorf("found in %q", found)
	}
}

func TestCheckEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := fullStore(t)
	ctx, cancel := context.WithCancel(t.Context())
	behind(t, func() error {
		return errors.Join(s.bucket(usersBucket).Put([]byte("a"), nil), s.bucket(usersBucket).Put([]byte("b"), nil))
	})
	reported := 0
	err := s.Inspect(ctx, func(metadata.Violation) { reported++; cancel() })
	if !errors.Is(err, context.Canceled) || reported != 1 {
		t.Errorf("%v after %d reports", err, reported)
	}
}

// TestDamagedRowsAreErrors reads rows whose records or index entries are damaged in all possible
// ways.
func TestDamagedRowsAreErrors(t *testing.T) {
	t.Parallel()
	s := fullStore(t)
	behind(t, func() error {
		for b := range bucketsOfRows() {
			in := s.bucket(b)
			key, value := in.first()
			if len(value) == 0 {
				continue
			}
			if err := in.Put(slices.Clone(key), slices.Clone(value[:len(value)-1])); err != nil {
				return err
			}
		}
		return nil
	})
	var user, space, set, resource = metadatatest.IDAt('U', 1), metadatatest.IDAt('D', 1), metadatatest.IDAt('S', 1), metadatatest.IDAt('R', 1)
	err := s.View(t.Context(), func(tx *metadata.Tx) error {
		for name, read := range map[string]func() error{
			"dataspace":           func() error { _, err := tx.Dataspaces.Get(space); return err },
			"dataspace by name":   func() error { _, err := tx.Dataspaces.ByName("alps"); return err },
			"dataspaces":          func() error { return last(tx.Dataspaces.All(metadata.ID{})) },
			"set":                 func() error { _, err := tx.Sets.Get(set); return err },
			"set by name":         func() error { _, err := tx.Sets.ByName("peaks"); return err },
			"sets":                func() error { return last(tx.Sets.Range(metadata.SetRange{States: 3})) },
			"resource":            func() error { _, err := tx.Resources.Get(resource); return err },
			"resources":           func() error { return last(tx.Resources.Range(metadata.ResourceRange{States: 3, Order: 1})) },
			"resources, borrowed": func() error { return last(metadatatest.Paged(tx, metadata.ResourceRange{States: 3, Order: 1})) },
			"user":                func() error { _, err := tx.Users.Get(user); return err },
			"user by name":        func() error { _, err := tx.Users.ByName("anna"); return err },
			"users":               func() error { return last(tx.Users.All(metadata.ID{})) },
			"key by digest":       func() error { _, err := tx.Keys.ByDigest(auth.KeyDigest{1}); return err },
			"key, lost":           func() error { return last(tx.Keys.OfUser(user, metadata.ID{})) },
			"session": func() error {
				_, err := tx.Sessions.Get(metadata.SessionKey{User: user, Digest: auth.SessionDigest{1}})
				return err
			},
			"sessions":             func() error { return last(tx.Sessions.OfUser(user)) },
			"transfer":             func() error { _, err := tx.Uploads.Get(metadatatest.IDAt('T', 1)); return err },
			"privilege":            func() error { _, err := tx.Privileges.Get(metadatatest.IDAt('P', 1)); return err },
			"privilege of a pair":  func() error { _, err := tx.Privileges.Of(user, space); return err },
			"privileges":           func() error { return last(tx.Privileges.All(metadata.ID{})) },
			"privileges of a user": func() error { return last(tx.Privileges.OfUser(user, metadata.ID{})) },
			"privileges of all":    func() error { return last(tx.Privileges.OfDataspace(space)) },
			"step":                 func() error { _, err := tx.Cascades.Get(set); return err },
			"steps":                func() error { return last(tx.Cascades.All(metadata.ID{})) },
			"usage":                func() error { _, err := tx.Usage.Get(space); return err },
			"usage of a user":      func() error { _, err := tx.UserUsage.Get(user); return err },
			"days":                 func() error { return last(tx.Usage.Days(space)) },
			"blob":                 func() error { _, err := tx.Blobs.Get(blobs.Digest{}); return err },
			"blobs":                func() error { return last(tx.Blobs.All(blobs.Digest{})) },
			"damage":               func() error { _, err := tx.Damages.Get(blobs.Digest{}); return err },
			"damages":              func() error { return last(tx.Damages.All(blobs.Digest{})) },
			"audit entry":          func() error { _, err := tx.Audit.Get(0); return err },
		} {
			if err := read(); !errors.Is(err, metadata.ErrRecordDamaged) {
				t.Errorf("%s: %v", name, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	// An unreadable row cannot be replaced, because its index entries would remain.
	err = s.Update(t.Context(), func(tx *metadata.Tx) error {
		return tx.Resources.Put(metadata.Resource{Record: metadata.Record{ID: resource, State: metadata.Active}})
	})
	if !errors.Is(err, metadata.ErrRecordDamaged) {
		t.Errorf("put over a damaged resource: %v", err)
	}
}

// last returns the error at the end of a sequence.
func last[T any](seq iter.Seq2[T, error]) (end error) {
	for _, err := range seq {
		end = err
	}
	return end
}

// TestCheckFindsWrongReferences tests that each reference must belong to exactly one row, of a
// resource or a former version.
func TestCheckFindsWrongReferences(t *testing.T) {
	t.Parallel()
	s := newMemory(t)
	file, other, of := blobs.Digest{1}, blobs.Digest{2}, metadatatest.IDAt('R', 1)
	err := s.Update(t.Context(), func(tx *metadata.Tx) error {
		stamp := tx.Stamp()
		r := metadata.Resource{Record: metadata.Record{ID: of, State: metadata.Active, Created: stamp, Modified: stamp}, Digest: file, Version: 1}
		return errors.Join(tx.Resources.Put(r), tx.Versions.Put(metadata.Version{ResourceID: of, Digest: other, Replaced: stamp}))
	})
	if err != nil {
		t.Fatal(err)
	}
	checkIntegrity(t, s)
	for what, key := range map[string][]byte{
		"of the digest of the other version": blobRefKey(file, of, 0),
		"of the digest of the former one":    blobRefKey(other, of, 1),
		"of a future version":                blobRefKey(file, of, 2),
		"of another resource":                blobRefKey(file, metadatatest.IDAt('R', 2), 1),
		"of no version":                      blobRefKey(file, of, 1)[:digestSize+idSize],
	} {
		behind(t, func() error { return s.bucket(blobRefs).Put(key, nil) })
		if found := violations(t, s); !slices.Equal(found, []string{blobRefs.String()}) {
			t.Errorf("%s: found in %q", what, found)
		}
		behind(t, func() error { return s.bucket(blobRefs).Delete(key) })
	}
	for table, key := range map[Bucket][]byte{resourcesBucket: blobRefKey(file, of, 1), versionsBucket: blobRefKey(other, of, 0)} {
		behind(t, func() error { return s.bucket(blobRefs).Delete(key) })
		if found := violations(t, s); !slices.Equal(found, []string{table.String()}) {
			t.Errorf("without the reference of a row in %s: found in %q", table, found)
		}
		behind(t, func() error { return s.bucket(blobRefs).Put(key, nil) })
	}
	checkIntegrity(t, s)
}
