package bolt

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"

	"go.etcd.io/bbolt"

	"labshelf/audit"
	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
)

// fullStore has a row in every table.
func fullStore(t *testing.T) *Store {
	t.Helper()
	s := openStore(t)
	err := s.Update(t.Context(), func(tx *metadata.Tx) error {
		record := func(kind byte) metadata.Record {
			stamp := tx.Stamp()
			return metadata.Record{ID: idAt(kind, 1), State: metadata.Active, Created: stamp, Modified: stamp}
		}
		user, space, set := idAt('U', 1), idAt('D', 1), idAt('S', 1)
		return errors.Join(
			tx.Users.Put(metadata.User{Record: record('U'), Username: "Anna"}),
			tx.Dataspaces.Put(metadata.Dataspace{Record: record('D'), Name: "alps", Visibility: metadata.Public}),
			tx.Sets.Put(metadata.Set{Record: record('S'), DataspaceID: space, Name: "peaks"}),
			tx.Resources.Put(metadata.Resource{Record: record('R'), SetID: set, DataspaceID: space, Name: "map", Version: 1}),
			tx.Versions.Put(metadata.Version{ResourceID: idAt('R', 1), Replaced: tx.Stamp()}),
			tx.Sessions.Put(metadata.Session{UserID: user, KeyID: idAt('K', 1), Digest: auth.SessionDigest{1}, Created: tx.Stamp()}),
			tx.Uploads.Put(metadata.ResumableUpload{ID: idAt('T', 1), SenderID: user, Created: tx.Stamp(), Expires: 9, Digest: blobs.Digest{1}}),
			tx.Keys.Put(metadata.Key{ID: idAt('K', 1), UserID: user, Digest: auth.KeyDigest{1}, Created: tx.Stamp()}),
			tx.Privileges.Put(metadata.Privilege{Record: record('P'), UserID: user, DataspaceID: space, Role: auth.Admin}),
			tx.Cascades.Put(metadata.Cascade{Container: set, DataspaceID: space}),
			tx.Usage.Put(space, 1, metadata.Counters{ActiveFiles: 1}),
			tx.UserUsage.Put(metadata.UserUsage{UserID: user, Bytes: 9}),
			tx.Blobs.Put(blobs.Digest{}, 9),
			tx.Damages.Put(metadata.Damage{Digest: blobs.Digest{}, What: "it is too short"}),
			tx.Unreferenced.Put(metadata.Unreferenced{Digest: blobs.Digest{2}, Bytes: 7}),
			tx.Scrub.Put(metadata.ScrubState{Passes: 1}),
			tx.Filling.Put(metadata.FillState{Arrivals: 1}),
			tx.Webhooks.Put(metadata.Webhook{Record: record('W'), URL: "https://hooks.example.org"}),
			tx.Deliveries.Put(metadata.Delivery{WebhookID: idAt('W', 1), MessageID: "e.1"}),
			tx.Descriptive.Put(metadata.Descriptive{ObjectID: idAt('R', 1), JSON: "{}"}),
			tx.Schemas.Put(metadata.Schema{Record: record('C'), DataspaceID: space, Name: "runs", Version: 1}),
			tx.SchemaVersions.Put(metadata.SchemaVersion{SchemaID: idAt('C', 1), Number: 1, Text: "{}", Created: tx.Stamp()}),
			tx.Edits.Put(metadata.BulkEdit{ID: idAt('E', 1), SetID: set, Created: tx.Stamp()}),
			tx.EditEntries.Put(metadata.EditEntry{EditID: idAt('E', 1), Number: 1}),
			tx.Folders.Put(metadata.Folder{SetID: set, Path: "a/"}),
			tx.FileProperties.Put(metadata.FileProperties{ResourceID: idAt('R', 1), Properties: "p"}),
			tx.Links.Put(metadata.Link{Record: record('L'), Kind: metadata.ShareLink, DataspaceID: idAt('D', 1), OwnerID: idAt('U', 1)}),
			tx.LinkUses.Put(metadata.LinkUse{LinkID: idAt('L', 1), Count: 1}),
			tx.InlineBodies.Put(metadata.VersionKey{Resource: idAt('R', 1)}, []byte("body")),
			logEntry(tx), logEntry(tx), // behind the one that begins the epoch
		)
	})
	if err != nil {
		t.Fatal(err)
	}
	checkIntegrity(t, s)
	return s
}

// bucketsOfRows are the buckets in a file of the present schema, but for the one of single rows.
func bucketsOfRows() iter.Seq[bucket] {
	return func(yield func(bucket) bool) {
		for b := metaBucket + 1; b < bucketCount; b++ {
			if b.isIn(uint32(1+len(migrations()))) && !yield(b) {
				return
			}
		}
	}
}

// logEntry appends an entry with texts to the audit log.
func logEntry(tx *metadata.Tx) error {
	_, err := tx.Log(audit.Entry{Action: audit.UserCreate, Stamp: int64(tx.Stamp())}, `{"username":"Anna"}`, "::1")
	return err
}

// raw changes the file of an open store behind its back.
func (s *Store) raw(t *testing.T, change func(*bbolt.Tx) error) {
	t.Helper()
	if err := s.db.Update(change); err != nil {
		t.Fatal(err)
	}
}

// violations are the names of the buckets in which Check finds something.
func violations(t *testing.T, s *Store) (in []string) {
	t.Helper()
	if err := s.Inspect(t.Context(), func(v metadata.Violation) { in = append(in, v.Kind) }); err != nil {
		t.Fatal(err)
	}
	slices.Sort(in)
	return slices.Compact(in)
}

// TestCheckFindsWhatIsMissing takes out each key of the file in turn.
func TestCheckFindsWhatIsMissing(t *testing.T) {
	t.Parallel()
	s := fullStore(t)
	for b := range bucketsOfRows() {
		var key, value []byte
		s.raw(t, func(tx *bbolt.Tx) error {
			k, v := tx.Bucket([]byte(b.String())).Cursor().First()
			if key, value = slices.Clone(k), slices.Clone(v); key == nil {
				t.Errorf("%s is empty", b)
				return nil
			}
			return tx.Bucket([]byte(b.String())).Delete(key)
		})
		found := violations(t, s)
		switch b {
		case cascadesBucket, sessionsBucket, usageBucket, usageByDay, blobsBucket, blobsDamaged, webhooksBucket, deliveriesBucket, descriptiveBucket,
			schemaVersionsBucket, editEntries, foldersBucket, filePropertiesBucket, linkUsesBucket, usageByUser: // nothing points there
			if len(found) != 0 {
				t.Errorf("%s without %x: %q", b, key, found)
			}
		default:
			if len(found) == 0 {
				t.Errorf("%s without %x: nothing found", b, key)
			}
		}
		s.raw(t, func(tx *bbolt.Tx) error { return tx.Bucket([]byte(b.String())).Put(key, value) })
	}
	checkIntegrity(t, s)
}

// TestCheckFindsWhatIsTooMuch adds a key to each bucket: of a row that there is not, and of one that there is.
func TestCheckFindsWhatIsTooMuch(t *testing.T) {
	t.Parallel()
	s := fullStore(t)
	for b := range bucketsOfRows() {
		s.raw(t, func(tx *bbolt.Tx) error {
			in := tx.Bucket([]byte(b.String()))
			key, value := in.Cursor().First()
			return errors.Join(in.Put(append(slices.Clone(key), 0), slices.Clone(value)), in.Put([]byte{0}, nil))
		})
		if found := violations(t, s); !slices.Equal(found, []string{b.String()}) {
			t.Errorf("too much in %s: found in %q", b, found)
		}
		s.raw(t, func(tx *bbolt.Tx) error {
			in := tx.Bucket([]byte(b.String()))
			first, _ := in.Cursor().Seek([]byte{0, 0})
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
		flip := func(tx *bbolt.Tx) error {
			in := tx.Bucket([]byte(b.String()))
			key, value := in.Cursor().First()
			if value = slices.Clone(value); len(value) == 0 {
				value = append(value, 0)
			}
			value[len(value)-1] ^= 1
			return in.Put(key, value)
		}
		s.raw(t, flip)
		if found := violations(t, s); len(found) == 0 {
			t.Errorf("%s: nothing found", b)
		}
		s.raw(t, func(tx *bbolt.Tx) error {
			in := tx.Bucket([]byte(b.String()))
			key, value := in.Cursor().First()
			if len(value) == 1 {
				return in.Put(key, nil)
			}
			return flip(tx)
		})
	}
	checkIntegrity(t, s)
}

// TestCheckNamesDamagedBody once, not the total too: other damage of bodies is told apart from it. Without it all is well.
func TestCheckNamesDamagedBody(t *testing.T) {
	t.Parallel()
	s := fullStore(t)
	of := metadata.VersionKey{Resource: idAt('R', 1)}
	s.raw(t, func(tx *bbolt.Tx) error {
		in := tx.Bucket([]byte(bodiesBucket.String()))
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

// TestCheckFindsGapsInLog: entries are numbered from 0 without a gap, as many as the state says, and each can be read.
func TestCheckFindsGapsInLog(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		damage func(entries, meta *bbolt.Bucket) error
		want   string // where and what
	}{
		"the first is gone": {func(entries, _ *bbolt.Bucket) error { return entries.Delete(entryKey(0)) },
			"rows: audit 0000000000000001: it is not entry 0, which is missing"},
		"one in between is gone": {func(entries, _ *bbolt.Bucket) error { return entries.Delete(entryKey(1)) },
			"rows: audit 0000000000000002: it is not entry 1, which is missing"},
		"the last is gone": {func(entries, _ *bbolt.Bucket) error { return entries.Delete(entryKey(2)) },
			"rows: audit: there are 2 entries, and meta says 3"},
		"one has the record of another": {func(entries, _ *bbolt.Bucket) error {
			return entries.Put(entryKey(1), slices.Clone(entries.Get(entryKey(2))))
		}, "rows: audit 0000000000000001: bolt: audit 0000000000000001: " + metadata.ErrRecordDamaged.Error() + ": checksum"},
		"one has too few hashes": {func(entries, _ *bbolt.Bucket) error {
			return entries.Put(entryKey(1), seal(entryKey(1), auditFields, metadata.AuditEntry{Number: 2, Leaf: []byte{1}}))
		}, "rows: audit 0000000000000001: bolt: audit 0000000000000001: " + metadata.ErrRecordDamaged.Error() + ": its fields do not fit"},
		"the state is that of fewer": {func(_, meta *bbolt.Bucket) error {
			return meta.Put([]byte(auditRow), seal([]byte(auditRow), auditStateFields, audit.State{Size: 1, Frontier: make([]audit.Hash, 1)}))
		}, "rows: audit: there are 3 entries, and meta says 1"},
		"the state has too few hashes": {func(_, meta *bbolt.Bucket) error {
			return meta.Put([]byte(auditRow), seal([]byte(auditRow), auditStateFields, audit.State{Size: 3, Frontier: make([]audit.Hash, 1)}))
		}, "rows: meta " + keyText([]byte(auditRow)) + ": bolt: meta " + fmt.Sprintf("%x", auditRow) + ": " + metadata.ErrRecordDamaged.Error() + ": its fields do not fit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fullStore(t)
			s.raw(t, func(tx *bbolt.Tx) error { return tc.damage(tx.Bucket([]byte("audit")), tx.Bucket([]byte("meta"))) })
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
	s.raw(t, func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte("meta")).Put([]byte(lastStampRow), seal([]byte(lastStampRow), lastStampFields, 5))
	})
	want := []string{
		"dataspaces", "edits", "keys", "links", "privileges", "resources", "schema_versions", "schemas", "sessions", "sets", "transfers", "users", "versions", "webhooks",
	}
	if found := violations(t, s); !slices.Equal(found, want) {
		t.Errorf("found in %q", found)
	}
}

func TestCheckEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := fullStore(t)
	ctx, cancel := context.WithCancel(t.Context())
	s.raw(t, func(tx *bbolt.Tx) error {
		return errors.Join(tx.Bucket([]byte("users")).Put([]byte("a"), nil), tx.Bucket([]byte("users")).Put([]byte("b"), nil))
	})
	reported := 0
	err := s.Inspect(ctx, func(metadata.Violation) { reported++; cancel() })
	if !errors.Is(err, context.Canceled) || reported != 1 {
		t.Errorf("%v after %d reports", err, reported)
	}
}

// TestDamagedRowsAreErrors asks for rows whose records or index entries are damaged, in every way there is.
func TestDamagedRowsAreErrors(t *testing.T) {
	t.Parallel()
	s := fullStore(t)
	s.raw(t, func(tx *bbolt.Tx) error {
		for b := range bucketsOfRows() {
			in := tx.Bucket([]byte(b.String()))
			key, value := in.Cursor().First()
			if len(value) == 0 {
				continue
			}
			if err := in.Put(slices.Clone(key), slices.Clone(value[:len(value)-1])); err != nil {
				return err
			}
		}
		return nil
	})
	var user, space, set, resource = idAt('U', 1), idAt('D', 1), idAt('S', 1), idAt('R', 1)
	err := s.View(t.Context(), func(tx *metadata.Tx) error {
		for name, read := range map[string]func() error{
			"dataspace":            func() error { _, err := tx.Dataspaces.Get(space); return err },
			"dataspace by name":    func() error { _, err := tx.Dataspaces.ByName("alps"); return err },
			"dataspaces":           func() error { return last(tx.Dataspaces.All(metadata.ID{})) },
			"set":                  func() error { _, err := tx.Sets.Get(set); return err },
			"set by name":          func() error { _, err := tx.Sets.ByName("peaks"); return err },
			"sets":                 func() error { return last(tx.Sets.Range(metadata.SetRange{States: 3})) },
			"resource":             func() error { _, err := tx.Resources.Get(resource); return err },
			"resources":            func() error { return last(tx.Resources.Range(metadata.ResourceRange{States: 3, Order: 1})) },
			"resources, borrowed":  func() error { return last(metadatatest.Paged(tx, metadata.ResourceRange{States: 3, Order: 1})) },
			"user":                 func() error { _, err := tx.Users.Get(user); return err },
			"user by name":         func() error { _, err := tx.Users.ByName("anna"); return err },
			"users":                func() error { return last(tx.Users.All(metadata.ID{})) },
			"key by digest":        func() error { _, err := tx.Keys.ByDigest(auth.KeyDigest{1}); return err },
			"key, lost":            func() error { return last(tx.Keys.OfUser(user, metadata.ID{})) },
			"session":              func() error { _, err := tx.Sessions.Get(user, auth.SessionDigest{1}); return err },
			"sessions":             func() error { return last(tx.Sessions.OfUser(user)) },
			"transfer":             func() error { _, err := tx.Uploads.Get(idAt('T', 1)); return err },
			"privilege":            func() error { _, err := tx.Privileges.Get(idAt('P', 1)); return err },
			"privilege of a pair":  func() error { _, err := tx.Privileges.Of(user, space); return err },
			"privileges":           func() error { return last(tx.Privileges.All(metadata.ID{})) },
			"privileges of a user": func() error { return last(tx.Privileges.OfUser(user, metadata.ID{})) },
			"privileges of all":    func() error { return last(tx.Privileges.OfDataspace(space)) },
			"step":                 func() error { _, err := tx.Cascades.Get(set); return err },
			"steps":                func() error { return last(tx.Cascades.All()) },
			"usage":                func() error { _, err := tx.Usage.Get(space); return err },
			"usage of a user":      func() error { _, err := tx.UserUsage.Get(user); return err },
			"days":                 func() error { return last(tx.Usage.Days(space)) },
			"blob":                 func() error { _, err := tx.Blobs.Size(blobs.Digest{}); return err },
			"blobs":                func() error { return last(tx.Blobs.All(nil)) },
			"damage":               func() error { _, err := tx.Damages.Get(blobs.Digest{}); return err },
			"damages":              func() error { return last(tx.Damages.All()) },
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
	// What cannot be read cannot be replaced: its index entries would stay.
	err = s.Update(t.Context(), func(tx *metadata.Tx) error {
		return tx.Resources.Put(metadata.Resource{Record: metadata.Record{ID: resource, State: metadata.Active}})
	})
	if !errors.Is(err, metadata.ErrRecordDamaged) {
		t.Errorf("put over a damaged resource: %v", err)
	}
}

// last returns the error that ends a sequence.
func last[T any](seq iter.Seq2[T, error]) (end error) {
	for _, err := range seq {
		end = err
	}
	return end
}
