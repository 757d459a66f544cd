package tables

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/formats/audit"
	"labshelf/metadata"
)

// noun is the stored form of one type, without its Go type.
type noun struct {
	seal    func(key []byte, object any) []byte
	unseal  func(key, record []byte) (any, error)
	example any
	fields  string // hex of the record of the example, after the header
}

func nounOf[T any](fields func(*codec, *T), example T, hex string) noun {
	return noun{
		seal:    func(key []byte, object any) []byte { return seal(key, fields, object.(T)) },
		unseal:  func(key, record []byte) (any, error) { return unseal(key, record, fields) },
		example: example, fields: hex,
	}
}

const (
	recordHex  = idHex + "02" + "0000000000000005" + "0000000000000006" + "0000000000000007" + otherHex + idHex
	stampedHex = "0102030405060708"
	entryHex   = "0000000000000009"
	quotaHex   = "fffffffffffffffd"
	passageHex = otherHex + idHex + otherHex
)

// nouns returns all stored forms. In each example, no two adjacent fields are equal.
func nouns() map[string]noun {
	id, other, digest := metadata.ID(unhex(idHex)), metadata.ID(unhex(otherHex)), blobs.Digest(unhex(digestHex))
	record := metadata.Record{
		ID: id, State: metadata.Deleted, TakenBy: 5, Created: 6, Modified: 7, CreatedBy: other, ModifiedBy: id,
	}
	return map[string]noun{
		"dataspace": nounOf(dataspaceFields, metadata.Dataspace{
			Record: record, Name: "n", Title: "ti", Description: "", Visibility: metadata.Public, Origin: "ä",
			Retention: metadata.Retention{Last: 3, Days: 4}, Entry: 9, Quota: -3,
		}, recordHex+"016e"+"027469"+"00"+"02"+"02c3a4"+"00000003"+"00000004"+entryHex+quotaHex),
		"set": nounOf(setFields, metadata.Set{
			Record: record, DataspaceID: other, Name: "n", Title: "ti", Description: strings.Repeat("d", 200), Entry: 9, Extract: metadata.ExtractHeader,
		}, recordHex+otherHex+"016e"+"027469"+"c801"+strings.Repeat("64", 200)+entryHex+"02"),
		"resource": nounOf(resourceFields, metadata.Resource{
			Record: record, SetID: other, DataspaceID: id, Name: "n", Description: "de", Format: "PDF", MimeType: "a/b",
			Filename: "f", Digest: digest, Bytes: -2, Version: 3, Body: metadata.Purged, Label: "la", Entry: 9, Passage: metadata.Passage{MovedTo: other, LinkID: id, StoredBy: other},
		}, recordHex+otherHex+idHex+"016e"+"026465"+"03504446"+"03612f62"+"0166"+digestHex+"fffffffffffffffe"+"00000003"+"01"+"026c61"+entryHex+passageHex),
		"version": nounOf(versionFields, metadata.Version{
			ResourceID: id, Number: 3, Name: "n", Description: "de", Format: "PDF", MimeType: "a/b", Filename: "f", Digest: digest, Bytes: -2,
			Body: metadata.Purged, Created: 1, CreatedBy: other, Replaced: 2, ReplacedBy: id, Label: "la",
			Removed: metadata.Removal{At: 3, Rule: metadata.Erased, By: other, Kept: metadata.Retention{Last: 4, Days: 5}}, StoredBy: id,
		}, idHex+"00000003"+"016e"+"026465"+"03504446"+"03612f62"+"0166"+digestHex+"fffffffffffffffe"+"01"+"0000000000000001"+otherHex+
			"0000000000000002"+idHex+"026c61"+"0000000000000003"+"03"+otherHex+"00000004"+"00000005"+idHex),
		"user": nounOf(userFields, metadata.User{
			Record: record, Username: "u", Fullname: "Fu", About: "x", Sysadmin: true, Entry: 9, Quota: -3,
		}, recordHex+"0175"+"024675"+"0178"+"01"+entryHex+quotaHex),
		"key": nounOf(keyFields, metadata.Key{
			ID: id, UserID: other, Digest: auth.KeyDigest(digest), Label: "l", Prefix: "lsk_",
			Created: 1, Expires: 2, LastUsed: 3, Gone: 4, MadeWith: other,
			Limits: auth.Limits{Scope: auth.ScopeAdd, Dataspace: id, Set: other, Networks: "n"},
		}, idHex+otherHex+digestHex+"016c"+"046c736b5f"+"0000000000000001"+"0000000000000002"+"0000000000000003"+"0000000000000004"+otherHex+"02"+idHex+otherHex+"016e"),
		"session": nounOf(sessionFields, metadata.Session{
			UserID: id, KeyID: other, Digest: auth.SessionDigest(digest), Created: 1, Expires: 2,
		}, idHex+otherHex+digestHex+"0000000000000001"+"0000000000000002"),
		"transfer": nounOf(uploadFields, metadata.ResumableUpload{
			ID: id, SenderID: other, SetID: id, ResourceID: other, Created: 1, Expires: 2, Length: 3,
			Checkpoint: blobs.Checkpoint{Size: 4, Hash: "sha"}, Digest: digest, Name: "n", Format: "PDF", Description: "de", Filename: "f",
			ContentType: "a/b", Expected: blobs.Digest(unhex(reversedHex)), Match: "ta", Announced: "an", Made: id, Descriptive: "{}",
			Refusal: metadata.Refusal{Kind: errs.Conflict, Code: "code", Field: "fi", Message: "m"},
		}, idHex+otherHex+idHex+otherHex+"0000000000000001"+"0000000000000002"+"0000000000000003"+"0000000000000004"+"03736861"+digestHex+
			"016e"+"03504446"+"026465"+"0166"+"03612f62"+reversedHex+"027461"+"02616e"+idHex+"05"+"04636f6465"+"026669"+"016d"+"027b7d"),
		"webhook": nounOf(webhookFields, metadata.Webhook{
			Record: record, DataspaceID: other, URL: "u", Label: "l", Events: "e", Secret: "s", FormerSecret: "f", FormerUntil: 1,
			Position: 2, Epoch: metadata.EpochID(other), Deliveries: 1 << 63, Tries: 3, NextTry: 4, Paused: 5, PauseReason: metadata.PausedWithRole, PausedBecause: "b", Entry: 6,
			MadeWith: id,
		}, recordHex+otherHex+"0175"+"016c"+"0165"+"0173"+"0166"+"0000000000000001"+"0000000000000002"+otherHex+"8000000000000000"+"00000003"+
			"0000000000000004"+"0000000000000005"+"03"+"0162"+"0000000000000006"+idHex),
		"delivery": nounOf(deliveryFields, metadata.Delivery{
			WebhookID: id, Number: 1, Entry: 2, MessageID: "m", Event: "e", Tries: 3, First: 4, Last: 5, Status: 200, Micros: 6, Error: "x", Answer: "a", Skipped: true,
		}, idHex+"0000000000000001"+"0000000000000002"+"016d"+"0165"+"00000003"+"0000000000000004"+"0000000000000005"+"00000000000000c8"+
			"0000000000000006"+"0178"+"0161"+"01"),
		"descriptive": nounOf(descriptiveFields, metadata.Descriptive{ObjectID: id, JSON: "{}"}, idHex+"027b7d"),
		"folder": nounOf(folderFields, metadata.Folder{SetID: id, Path: "a/", Properties: "pr", Created: 1, CreatedBy: other},
			idHex+"02612f"+"027072"+"0000000000000001"+otherHex),
		"file properties": nounOf(filePropertiesFields, metadata.FileProperties{ResourceID: id, Properties: "pr", Attributes: metadata.FileAttributes{
			Timed: true, Modified: 2, Version: 3, Digest: digest, SHA1: [20]byte(unhex(digestHex)), MD5: [16]byte(unhex(reversedHex)),
		}}, idHex+"027072"+"01"+"0000000000000002"+"00000003"+digestHex+digestHex[:40]+reversedHex[:32]),
		"link": nounOf(linkFields, metadata.Link{
			Record: record, OwnerID: other, Kind: metadata.RequestLink, DataspaceID: id, SetID: other, Folder: "a/", Files: "f", Version: 3,
			Digest: auth.LinkDigest(digest), Password: "pa", Label: "la", Expires: 1, MaxUses: 2, HidesPeople: true, MaxBytes: 3, MaxFile: 4, Types: "ty", Role: auth.Editor, Entry: 9,
			MadeWith: other,
		}, recordHex+otherHex+"02"+idHex+otherHex+"02612f"+"0166"+"00000003"+digestHex+"027061"+"026c61"+"0000000000000001"+"00000002"+"01"+
			"0000000000000003"+"0000000000000004"+"027479"+"02"+entryHex+otherHex),
		"link use": nounOf(linkUseFields, metadata.LinkUse{LinkID: id, Count: 1, Bytes: 2, Last: 3}, idHex+"0000000000000001"+"0000000000000002"+"0000000000000003"),
		"schema of properties": nounOf(schemaRowFields, metadata.Schema{
			Record: record, DataspaceID: other, Name: "n", Title: "ti", Description: "de", For: metadata.ForSets, Types: "ty", Enforce: true, Version: 3, Entry: 9,
		}, recordHex+otherHex+"016e"+"027469"+"026465"+"02"+"027479"+"01"+"00000003"+entryHex),
		"schema version": nounOf(schemaVersionFields, metadata.SchemaVersion{SchemaID: id, Number: 3, Text: "{}", Created: 1, CreatedBy: other},
			idHex+"00000003"+"027b7d"+"0000000000000001"+otherHex),
		"edit": nounOf(editFields, metadata.BulkEdit{ID: id, SetID: other, By: id, Kind: metadata.EditUndo, Undoes: other, UndoneBy: id, Objects: 2, Created: 1, Entry: 9},
			idHex+otherHex+idHex+"03"+otherHex+idHex+"0000000000000002"+"0000000000000001"+entryHex),
		"privilege": nounOf(privilegeFields, metadata.Privilege{
			Record: record, UserID: other, DataspaceID: id, Role: auth.Editor,
		}, recordHex+otherHex+idHex+"02"),
		"step": nounOf(cascadeFields, metadata.Cascade{
			Container: id, DataspaceID: other, Restore: true, By: id, Deletion: 1, Begun: 2, AfterSet: other, AfterStamp: 3, Entry: 9,
		}, idHex+otherHex+"01"+idHex+"0000000000000001"+"0000000000000002"+otherHex+"0000000000000003"+entryHex),
		"counters": nounOf(countersFields, metadata.Counters{ActiveFiles: 1, ActiveBytes: 2, DeletedFiles: 3, DeletedBytes: -1, OldVersions: 4, OldBytes: 5},
			"0000000000000001"+"0000000000000002"+"0000000000000003"+"ffffffffffffffff"+"0000000000000004"+"0000000000000005"),
		"damage": nounOf(damageFields, metadata.Damage{Digest: digest, Found: 5, What: "bad"}, digestHex+"0000000000000005"+"03626164"),
		"scrub": nounOf(scrubFields, metadata.ScrubState{After: digest, Begun: 1, Checked: 2, Found: 3, Passes: 4},
			digestHex+"0000000000000001"+"0000000000000002"+"0000000000000003"+"0000000000000004"),
		"filling": nounOf(fillFields, metadata.FillState{Arrivals: 2, Switches: 1, AfterName: "te", AfterID: id},
			"0000000000000002"+"0000000000000001"+"027465"+idHex),
		"epoch": nounOf(epochFields, metadata.Epoch{ID: metadata.EpochID(id), Base: 1, Began: 2},
			idHex+"0000000000000001"+"0000000000000002"),
		"audit entry": nounOf(entryThree, metadata.AuditEntry{
			Number: 3, Leaf: []byte("leaf"), Completed: []audit.Hash{audit.Hash(unhex(digestHex)), audit.Hash(unhex(reversedHex))},
			Texts: audit.Sealed{Salt: id, Text: "te"}, Address: audit.Sealed{Salt: other, Text: "ad"},
		}, "046c656166"+"027465"+idHex+"026164"+otherHex+digestHex+reversedHex),
		"audit entry without values": nounOf(entryThree, metadata.AuditEntry{
			Number: 3, Leaf: []byte("leaf"), Completed: []audit.Hash{audit.Hash(unhex(digestHex)), audit.Hash(unhex(reversedHex))},
		}, "046c656166"+"00"+"00"+digestHex+reversedHex),
		"audit state": nounOf(auditStateFields, audit.State{
			Size: 5, Frontier: []audit.Hash{audit.Hash(unhex(digestHex)), audit.Hash(unhex(reversedHex))},
		}, "0000000000000005"+digestHex+reversedHex),
		"lease": nounOf(leaseFields, metadata.Lease{Name: "n", Holder: id, Fence: 1, Ends: 2, Detail: "de"},
			"016e"+idHex+"0000000000000001"+"0000000000000002"+"026465"),
		"node": nounOf(nodeFields, metadata.Node{Instance: id, Name: "n", Version: "v", Schema: 13, Since: 1, Seen: 2},
			idHex+"016e"+"0176"+"0000000d"+"0000000000000001"+"0000000000000002"),
		"usage of a user":  nounOf(userUsageFields, metadata.UserUsage{UserID: id, Bytes: -2}, idHex+"fffffffffffffffe"),
		"blob of a folder": nounOf(blobFields, blobs.Blob{Size: 0x0102030405060708}, stampedHex),
		"blob":             nounOf(blobFields, blobs.Blob{Size: 0x0102030405060708, Object: "ob"}, stampedHex+"026f62"),
		"trashed object": nounOf(trashedFields, metadata.TrashedObject{Blob: blobs.Blob{Digest: digest, Object: "ob", Size: 1}, Since: 2},
			digestHex+"026f62"+"0000000000000001"+"0000000000000002"),
		"body count": nounOf(bodyCountFields, metadata.BodyCount{Bodies: 1, Bytes: -2}, "0000000000000001"+"fffffffffffffffe"),
		"unreferenced": nounOf(unreferencedFields, metadata.Unreferenced{Digest: digest, Bytes: 1, Since: 2, Seen: 3},
			digestHex+"0000000000000001"+"0000000000000002"+"0000000000000003"),
		"blob count": nounOf(blobCountFields, metadata.BlobCount{Blobs: 1, Bytes: -2}, "0000000000000001"+"fffffffffffffffe"),
		"schema":     nounOf(schemaFields, uint32(1), "00000001"),
		"stamp":      nounOf(lastStampFields, metadata.Stamp(0x0102030405060708), stampedHex),
		"secret":     nounOf(secretFields, [32]byte(unhex(digestHex)), digestHex),
	}
}

// entryThree encodes entry 3, whose number is in its key.
func entryThree(c *codec, e *metadata.AuditEntry) {
	e.Number = 3
	auditFields(c, e)
}

// TestRecordsAreFrozen compares every record with its fixed bytes.
func TestRecordsAreFrozen(t *testing.T) {
	t.Parallel()
	for name, n := range nouns() {
		record := n.seal([]byte("key"), n.example)
		if got := hex.EncodeToString(record[recordHeader:]); got != n.fields {
			t.Errorf("%s:\n got %s\nwant %s", name, got, n.fields)
		}
		if record[0] != 1 {
			t.Errorf("%s: format %d", name, record[0])
		}
	}
	// The checksum is the CRC-32C of the key and the fields. "123456789" is the usual example of
	// CRC-32C.
	if got := seal([]byte("12345"), func(c *codec, text *[4]byte) { c.fixed(text[:]) }, [4]byte([]byte("6789"))); hex.EncodeToString(got) != "01e3069283"+"36373839" {
		t.Errorf("sealed: %x", got)
	}
}

// TestEveryFieldIsStored changes each field of each noun, and tests that the record changes.
func TestEveryFieldIsStored(t *testing.T) {
	t.Parallel()
	for name, n := range nouns() {
		if reflect.TypeOf(n.example).Kind() != reflect.Struct {
			continue
		}
		before := n.seal(nil, n.example)
		elsewhere := []string{"Damaged"} // other tables store the damage of blobs and the descriptive metadata
		if name != "transfer" {
			elsewhere = append(elsewhere, "Descriptive")
		}
		for _, field := range reflect.VisibleFields(reflect.TypeOf(n.example)) {
			if field.Anonymous || slices.Contains(elsewhere, field.Name) || field.Name == "Number" && strings.HasPrefix(name, "audit") {
				continue // the number of an entry is in its key
			}
			changed := reflect.New(reflect.TypeOf(n.example)).Elem()
			changed.Set(reflect.ValueOf(n.example))
			switch f := changed.FieldByIndex(field.Index); {
			case !f.IsZero():
				f.SetZero()
			case name == "blob" && field.Name == "Digest" || name == "blob of a folder": // the key, and a noun without that field
				continue
			case f.Type() == reflect.TypeFor[audit.Sealed]():
				f.Set(reflect.ValueOf(audit.Seal("no longer empty")))
			default:
				f.SetString("no longer empty")
			}
			if bytes.Equal(n.seal(nil, changed.Interface()), before) {
				t.Errorf("%s: %s is not stored", name, field.Name)
			}
		}
	}
}

func TestRecordsRoundTrip(t *testing.T) {
	t.Parallel()
	text := rapid.StringN(0, -1, 300)
	records := rapid.Custom(func(t *rapid.T) metadata.Resource {
		return metadata.Resource{
			Record: metadata.Record{
				ID: metadata.ID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id")), State: metadata.State(rapid.Byte().Draw(t, "state")),
				Modified: metadata.Stamp(rapid.Int64().Draw(t, "modified")),
			},
			Name: text.Draw(t, "name"), Description: text.Draw(t, "description"), Format: text.Draw(t, "format"),
			MimeType: text.Draw(t, "type"), Filename: text.Draw(t, "filename"), Bytes: rapid.Int64().Draw(t, "bytes"),
			Version: rapid.Uint32().Draw(t, "version"), Body: metadata.BodyLocation(rapid.IntRange(0, 2).Draw(t, "body")),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		want, key := records.Draw(t, "resource"), rapid.SliceOf(rapid.Byte()).Draw(t, "key")
		record := seal(key, resourceFields, want)
		got, err := unseal(key, record, resourceFields)
		if diff := gocmp.Diff(want, got); err != nil || diff != "" {
			t.Fatalf("%v\n%s", err, diff)
		}
		clear(record) // the decoded object must not use the record's memory
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("after the record was overwritten: %s", diff)
		}
	})
}

// TestDamageIsFound flips each bit of each record, truncates it at each offset, extends it, and
// reads it under another key.
func TestDamageIsFound(t *testing.T) {
	t.Parallel()
	key := []byte("key")
	for name, n := range nouns() {
		sound := n.seal(key, n.example)
		damaged := func(how string, key, record []byte) {
			t.Helper()
			if got, err := n.unseal(key, record); !errors.Is(err, metadata.ErrRecordDamaged) {
				t.Errorf("%s, %s: %+v, %v", name, how, got, err)
			}
		}
		for bit := range 8 * len(sound) {
			record := bytes.Clone(sound)
			record[bit/8] ^= 1 << (bit % 8)
			damaged("a bit flipped", key, record)
		}
		for length := range sound {
			damaged("cut off", key, sound[:length])
		}
		damaged("longer", key, append(bytes.Clone(sound), 0))
		damaged("under another key", []byte("kez"), sound)
		damaged("nothing", key, nil)
	}
}

// TestMisfitsAreFound seals invalid fields under a valid checksum.
func TestMisfitsAreFound(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		record []byte
		open   func(record []byte) error
	}{
		"truth of 2":         {seal(nil, func(c *codec, v *uint8) { c.uint8(v) }, 2), unsealing(func(c *codec, v *bool) { c.truth(v) })},
		"text too short":     {seal(nil, raw, "\x05abc"), unsealing(justText)},
		"text too long":      {seal(nil, raw, "\x02abc"), unsealing(justText)},
		"length unfinished":  {seal(nil, raw, "\x80"), unsealing(justText)},
		"length too long":    {seal(nil, raw, "\x83\x00abc"), unsealing(justText)},
		"length of 70 bits":  {seal(nil, raw, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), unsealing(justText)},
		"length of all bits": {seal(nil, raw, string(binary.AppendUvarint(nil, 1<<64-1))), unsealing(justText)},
	} {
		if err := tc.open(tc.record); !errors.Is(err, metadata.ErrRecordDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func raw(c *codec, text *string)      { c.data = append(c.data, *text...) }
func justText(c *codec, text *string) { c.text(text) }

func unsealing[T any](fields func(*codec, *T)) func([]byte) error {
	return func(record []byte) error {
		_, err := unseal(nil, record, fields)
		return err
	}
}

// FuzzUnseal searches for fields that make decoding panic, or that are accepted although encoding
// would write others.
func FuzzUnseal(f *testing.F) {
	for _, n := range nouns() {
		f.Add(unhex(n.fields))
	}
	f.Fuzz(func(t *testing.T, fields []byte) {
		record := seal(nil, raw, string(fields))
		for name, n := range nouns() {
			object, err := n.unseal(nil, record)
			if err != nil && !errors.Is(err, metadata.ErrRecordDamaged) {
				t.Errorf("%s: %v", name, err)
			}
			if err == nil && !bytes.Equal(n.seal(nil, object), record) {
				t.Errorf("%s: %x was encoded from %x", name, n.seal(nil, object), record)
			}
		}
	})
}
