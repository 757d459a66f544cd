package bolt

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"reflect"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/errs"
	"labshelf/metadata"
)

// noun is the stored form of one type, without its type.
type noun struct {
	seal    func(key []byte, object any) []byte
	unseal  func(key, record []byte) (any, error)
	example any
	fields  string // hex of the example's record behind the header
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
)

// nouns are all stored forms, with an example of each that has no two equal fields in a row.
func nouns() map[string]noun {
	id, other, digest := metadata.ID(unhex(idHex)), metadata.ID(unhex(otherHex)), blobs.Digest(unhex(digestHex))
	record := metadata.Record{
		ID: id, State: metadata.Deleted, TakenBy: 5, Created: 6, Modified: 7, CreatedBy: other, ModifiedBy: id,
	}
	return map[string]noun{
		"dataspace": nounOf(dataspaceFields, metadata.Dataspace{
			Record: record, Name: "n", Title: "ti", Description: "", Visibility: metadata.Public, Origin: "ä",
			Retention: metadata.Retention{Last: 3, Days: 4},
		}, recordHex+"016e"+"027469"+"00"+"02"+"02c3a4"+"00000003"+"00000004"),
		"set": nounOf(setFields, metadata.Set{
			Record: record, DataspaceID: other, Name: "n", Title: "ti", Description: strings.Repeat("d", 200),
		}, recordHex+otherHex+"016e"+"027469"+"c801"+strings.Repeat("64", 200)),
		"resource": nounOf(resourceFields, metadata.Resource{
			Record: record, SetID: other, DataspaceID: id, Name: "n", Description: "de", Format: "PDF", MimeType: "a/b",
			Filename: "f", Digest: digest, Bytes: -2, Version: 3, Body: metadata.Purged, Label: "la",
		}, recordHex+otherHex+idHex+"016e"+"026465"+"03504446"+"03612f62"+"0166"+digestHex+"fffffffffffffffe"+"00000003"+"01"+"026c61"),
		"version": nounOf(versionFields, metadata.Version{
			ResourceID: id, Number: 3, Name: "n", Description: "de", Format: "PDF", MimeType: "a/b", Filename: "f", Digest: digest, Bytes: -2,
			Body: metadata.Purged, Created: 1, CreatedBy: other, Replaced: 2, ReplacedBy: id, Label: "la",
			Removed: metadata.Removal{At: 3, Rule: metadata.Erased, By: other, Kept: metadata.Retention{Last: 4, Days: 5}},
		}, idHex+"00000003"+"016e"+"026465"+"03504446"+"03612f62"+"0166"+digestHex+"fffffffffffffffe"+"01"+"0000000000000001"+otherHex+
			"0000000000000002"+idHex+"026c61"+"0000000000000003"+"03"+otherHex+"00000004"+"00000005"),
		"user": nounOf(userFields, metadata.User{
			Record: record, Username: "u", Fullname: "Fu", About: "x", Sysadmin: true,
		}, recordHex+"0175"+"024675"+"0178"+"01"),
		"key": nounOf(keyFields, metadata.Key{
			ID: id, UserID: other, Digest: auth.KeyDigest(digest), Label: "l", Prefix: "lsk_",
			Created: 1, Expires: 2, LastUsed: 3, Gone: 4,
		}, idHex+otherHex+digestHex+"016c"+"046c736b5f"+"0000000000000001"+"0000000000000002"+"0000000000000003"+"0000000000000004"),
		"session": nounOf(sessionFields, metadata.Session{
			UserID: id, KeyID: other, Digest: auth.SessionDigest(digest), Created: 1, Expires: 2,
		}, idHex+otherHex+digestHex+"0000000000000001"+"0000000000000002"),
		"transfer": nounOf(uploadFields, metadata.ResumableUpload{
			ID: id, UserID: other, SetID: id, ResourceID: other, Created: 1, Expires: 2, Length: 3,
			Checkpoint: blobs.Checkpoint{Size: 4, Hash: "sha"}, Digest: digest, Name: "n", Format: "PDF", Description: "de", Filename: "f",
			ContentType: "a/b", Expected: blobs.Digest(unhex(reversedHex)), Match: "ta", Announced: "an", Made: id,
			Refusal: metadata.Refusal{Kind: errs.Conflict, Code: "code", Field: "fi", Message: "m"},
		}, idHex+otherHex+idHex+otherHex+"0000000000000001"+"0000000000000002"+"0000000000000003"+"0000000000000004"+"03736861"+digestHex+
			"016e"+"03504446"+"026465"+"0166"+"03612f62"+reversedHex+"027461"+"02616e"+idHex+"05"+"04636f6465"+"026669"+"016d"),
		"privilege": nounOf(privilegeFields, metadata.Privilege{
			Record: record, UserID: other, DataspaceID: id, Role: auth.Editor,
		}, recordHex+otherHex+idHex+"02"),
		"step": nounOf(cascadeFields, metadata.Cascade{
			Container: id, DataspaceID: other, Restore: true, By: id, Deletion: 1, Begun: 2, AfterSet: other, AfterStamp: 3,
		}, idHex+otherHex+"01"+idHex+"0000000000000001"+"0000000000000002"+otherHex+"0000000000000003"),
		"counters": nounOf(countersFields, metadata.Counters{ActiveFiles: 1, ActiveBytes: 2, DeletedFiles: 3, DeletedBytes: -1, OldVersions: 4, OldBytes: 5},
			"0000000000000001"+"0000000000000002"+"0000000000000003"+"ffffffffffffffff"+"0000000000000004"+"0000000000000005"),
		"damage": nounOf(damageFields, metadata.Damage{Digest: digest, Found: 5, What: "bad"}, digestHex+"0000000000000005"+"03626164"),
		"scrub": nounOf(scrubFields, metadata.ScrubState{After: digest, Begun: 1, Checked: 2, Found: 3, Passes: 4},
			digestHex+"0000000000000001"+"0000000000000002"+"0000000000000003"+"0000000000000004"),
		"epoch": nounOf(epochFields, metadata.Epoch{ID: metadata.EpochID(id), Base: 1, Began: 2},
			idHex+"0000000000000001"+"0000000000000002"),
		"size":       nounOf(sizeFields, int64(0x0102030405060708), stampedHex),
		"body count": nounOf(bodyCountFields, metadata.BodyCount{Bodies: 1, Bytes: -2}, "0000000000000001"+"fffffffffffffffe"),
		"unreferenced": nounOf(unreferencedFields, metadata.Unreferenced{Digest: digest, Bytes: 1, Since: 2, Seen: 3},
			digestHex+"0000000000000001"+"0000000000000002"+"0000000000000003"),
		"blob count": nounOf(blobCountFields, metadata.BlobCount{Blobs: 1, Bytes: -2}, "0000000000000001"+"fffffffffffffffe"),
		"schema":     nounOf(schemaFields, uint32(1), "00000001"),
		"stamp":      nounOf(lastStampFields, metadata.Stamp(0x0102030405060708), stampedHex),
		"secret":     nounOf(secretFields, [32]byte(unhex(digestHex)), digestHex),
	}
}

// TestRecordsAreFrozen holds every record to its bytes.
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
	// The checksum is CRC-32C of the key and the fields, "123456789" the example in every description of it.
	if got := seal([]byte("12345"), func(c *codec, text *[4]byte) { c.fixed(text[:]) }, [4]byte([]byte("6789"))); hex.EncodeToString(got) != "01e3069283"+"36373839" {
		t.Errorf("sealed: %x", got)
	}
}

// TestEveryFieldIsStored changes each field of each noun, so that none is left out of the stored form.
func TestEveryFieldIsStored(t *testing.T) {
	t.Parallel()
	for name, n := range nouns() {
		if reflect.TypeOf(n.example).Kind() != reflect.Struct {
			continue
		}
		before := n.seal(nil, n.example)
		for _, field := range reflect.VisibleFields(reflect.TypeOf(n.example)) {
			if field.Anonymous || field.Name == "Damaged" { // which is known of its blob, in another table
				continue
			}
			changed := reflect.New(reflect.TypeOf(n.example)).Elem()
			changed.Set(reflect.ValueOf(n.example))
			if f := changed.FieldByIndex(field.Index); f.IsZero() {
				f.SetString("no longer empty")
			} else {
				f.SetZero()
			}
			if bytes.Equal(n.seal(nil, changed.Interface()), before) {
				t.Errorf("%s: %s is not stored", name, field.Name)
			}
		}
	}
}

// TestAddedFieldsAreLeftOut where they are zero: these records are those of the versions that had no such fields.
func TestAddedFieldsAreLeftOut(t *testing.T) {
	t.Parallel()
	for name, zero := range map[string]func(noun) any{
		"dataspace": func(n noun) any { d := n.example.(metadata.Dataspace); d.Retention = metadata.Retention{}; return d },
		"resource":  func(n noun) any { r := n.example.(metadata.Resource); r.Label = ""; return r },
		"counters":  func(n noun) any { c := n.example.(metadata.Counters); c.OldVersions, c.OldBytes = 0, 0; return c },
		"version":   func(n noun) any { v := n.example.(metadata.Version); v.Removed = metadata.Removal{}; return v },
	} {
		added := map[string]string{"dataspace": "0000000300000004", "resource": "026c61", "counters": "00000000000000040000000000000005",
			"version": "000000000000000303" + otherHex + "0000000400000005"}[name]
		n := nouns()[name]
		want := strings.TrimSuffix(n.fields, added)
		without := zero(n)
		record := n.seal(nil, without)
		if got := hex.EncodeToString(record[recordHeader:]); got != want || want == n.fields {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
		if got, err := n.unseal(nil, record); err != nil || got != without {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestRecordsComeBack(t *testing.T) {
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
		clear(record) // what was decoded keeps no part of the record
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("after the record was overwritten: %s", diff)
		}
	})
}

// TestDamageIsFound flips each bit of each record, cuts it off at each place, makes it longer, and asks for it under another
// key.
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

// TestMisfitsAreFound seals fields of a wrong form, which no flipped bit gets past the checksum.
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

// FuzzUnseal looks for fields that make decoding panic, or that are taken though encoding would have written others.
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
				t.Errorf("%s: %x came out of %x", name, n.seal(nil, object), record)
			}
		}
	})
}
