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
		}, recordHex+"016e"+"027469"+"00"+"02"+"02c3a4"),
		"set": nounOf(setFields, metadata.Set{
			Record: record, DataspaceID: other, Name: "n", Title: "ti", Description: strings.Repeat("d", 200),
		}, recordHex+otherHex+"016e"+"027469"+"c801"+strings.Repeat("64", 200)),
		"resource": nounOf(resourceFields, metadata.Resource{
			Record: record, SetID: other, DataspaceID: id, Name: "n", Description: "de", Format: "PDF", MimeType: "a/b",
			Filename: "f", Digest: digest, Bytes: -2, Version: 3, Body: metadata.Purged,
		}, recordHex+otherHex+idHex+"016e"+"026465"+"03504446"+"03612f62"+"0166"+digestHex+"fffffffffffffffe"+"00000003"+"01"),
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
		"counters": nounOf(countersFields, metadata.Counters{ActiveFiles: 1, ActiveBytes: 2, DeletedFiles: 3, DeletedBytes: -1},
			"0000000000000001"+"0000000000000002"+"0000000000000003"+"ffffffffffffffff"),
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
			if field.Anonymous || name == "resource" && field.Name == "Damaged" { // which is known of its blob, in another table
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
