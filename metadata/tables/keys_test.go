package tables

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/paging"
)

const (
	idHex       = "00112233445566778899aabbccddeeff"
	otherHex    = "ffeeddccbbaa99887766554433221100"
	reversedHex = "bfbebdbcbbbab9b8b7b6b5b4b3b2b1b0afaeadacabaaa9a8a7a6a5a4a3a2a1a0"
	digestHex   = "a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf"
)

func unhex(text string) []byte {
	raw, err := hex.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return raw
}

// TestKeysAreFrozen compares every key with its fixed bytes, because later versions must read the
// files of earlier ones.
func TestKeysAreFrozen(t *testing.T) {
	t.Parallel()
	id, other := metadata.ID(unhex(idHex)), metadata.ID(unhex(otherHex))
	digest := blobs.Digest(unhex(digestHex))
	stamp := metadata.Stamp(0x0102030405060708)
	for _, tc := range []struct {
		name string
		key  []byte
		want string
	}{
		{"id", idKey(id), idHex},
		{"name", nameKey("Alps-2"), "416c70732d32"},
		{"username", usernameKey("Anna.B@x_-9"), "616e6e612e6240785f2d39"},
		{"digest of a key", keyDigestKey(auth.KeyDigest(digest)), digestHex},
		{"sessions", sessionKey(metadata.SessionKey{User: id, Digest: auth.SessionDigest(digest)}), idHex + digestHex},
		{"digest of a blob", blobKey(digest), digestHex},
		{"trashed", objectKey(metadata.ObjectKey{Digest: digest, Object: "ob"}), digestHex + "6f62"},
		{"keys_by_user and the like", pairKey(id, other), idHex + otherHex},
		{"sets_by_state", idIndexKey(stateScope(metadata.Active), id), "01" + idHex},
		{"sets_by_dataspace", idIndexKey(containerScope(other, metadata.Deleted), id), otherHex + "02" + idHex},
		{"resources_by_time", timeIndexKey(stateScope(metadata.Deleted), stamp, id), "02" + "8102030405060708" + idHex},
		{"resources_by_set and the like", timeIndexKey(containerScope(other, metadata.Active), stamp, id), otherHex + "01" + "8102030405060708" + idHex},
		{"resources_by_name", nameIndexKey(containerScope(other, metadata.Active), "a/ä", id), otherHex + "01" + "612fc3a4" + "00" + idHex},
		{"blob_refs", blobRefKey(digest, id, 0x01020304), digestHex + idHex + "01020304"},
		{"versions", versionKey(metadata.VersionKey{Resource: id, Version: 0x01020304}), idHex + "01020304"},
		{"deliveries", deliveryKey(metadata.DeliveryKey{Webhook: id, Number: 0x0102030405060708}), idHex + "0102030405060708"},
		{"schemas_by_dataspace", idIndexKey(containerScope(other, metadata.Active), id), otherHex + "01" + idHex},
		{"schema_versions", schemaVersionKey(metadata.SchemaVersionKey{Schema: id, Number: 0x01020304}), idHex + "01020304"},
		{"edit_entries", editEntryKey(metadata.EditEntry{EditID: id, Number: 0x0102030405060708}), idHex + "0102030405060708"},
		{"folders", folderKey(metadata.FolderKey{SetID: id, Path: "a/"}), idHex + "612f"},
		{"transfers_by_end", timeIndexKey(nil, stamp, id), "8102030405060708" + idHex},
		{"transfers_by_digest", digestIDKey(digest, id), digestHex + idHex},
		{"bodies", versionKey(metadata.VersionKey{Resource: id, Version: 0x01020304}), idHex + "01020304"},
		{"audit", entryKey(0x0102030405060708), "0102030405060708"},
		{"usage_by_day", dayKey(id, 16524), idHex + "8000408c"},
		{"usage_by_day before 1970", dayKey(metadata.ID{}, -1), strings.Repeat("00", 16) + "7fffffff"},
	} {
		if got := hex.EncodeToString(tc.key); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

// TestBucketsAreFrozen compares the names of the buckets with fixed names.
func TestBucketsAreFrozen(t *testing.T) {
	t.Parallel()
	var names []string
	for _, b := range buckets {
		names = append(names, b.name)
	}
	const want = "meta dataspaces dataspace_names dataspaces_public sets set_names sets_by_state sets_by_dataspace resources " +
		"resources_by_time resources_by_dataspace resources_by_set resources_by_name users usernames keys keys_by_user " +
		"privileges privileges_by_dataspace privileges_by_user steps usage usage_by_day blobs blob_refs blobs_damaged bodies sessions " +
		"transfers transfers_by_end transfers_by_digest blobs_unreferenced versions audit webhooks deliveries " +
		"descriptive schemas schemas_by_dataspace schema_versions edits edits_by_set edit_entries folders file_properties links links_by_digest links_by_dataspace links_by_owner link_uses usage_by_user leases nodes blobs_by_object trashed trashed_by_object usage_by_storer"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("buckets:\n got %s\nwant %s", got, want)
	}
}

func FuzzTimeKeysAreInOrder(f *testing.F) {
	f.Add(int64(0), int64(1), []byte{1}, []byte{0})
	f.Add(int64(-1), int64(0), []byte{0xff}, []byte{})
	f.Add(int64(math.MinInt64), int64(math.MaxInt64), []byte{}, []byte{})
	f.Add(int64(255), int64(256), []byte{0xff}, []byte{0})
	f.Fuzz(func(t *testing.T, stamp1, stamp2 int64, from1, from2 []byte) {
		id1, id2 := someID(from1), someID(from2)
		key1 := timeIndexKey(stateScope(metadata.Active), metadata.Stamp(stamp1), id1)
		key2 := timeIndexKey(stateScope(metadata.Active), metadata.Stamp(stamp2), id2)
		if got, want := bytes.Compare(key1, key2), cmp.Or(cmp.Compare(stamp1, stamp2), id1.Compare(id2)); got != want {
			t.Errorf("%x and %x: order %d, want %d", key1, key2, got, want)
		}
		day1, day2 := dayKey(id1, metadata.Day(stamp1)), dayKey(id1, metadata.Day(stamp2))
		if got, want := bytes.Compare(day1, day2), cmp.Compare(metadata.Day(stamp1), metadata.Day(stamp2)); got != want {
			t.Errorf("%x and %x: order %d, want %d", day1, day2, got, want)
		}
		if day, ok := splitDayKey(day1); !ok || day != metadata.Day(stamp1) {
			t.Errorf("day of %x: %d, %v", day1, day, ok)
		}
		if id, ok := trailingID(key1); !ok || id != id1 {
			t.Errorf("id of %x: %v, %v", key1, id, ok)
		}
		of1, of2 := metadata.VersionKey{Resource: id1, Version: uint32(stamp1)}, metadata.VersionKey{Resource: id2, Version: uint32(stamp2)}
		body1, body2 := versionKey(of1), versionKey(of2)
		if got, want := bytes.Compare(body1, body2), cmp.Or(id1.Compare(id2), cmp.Compare(of1.Version, of2.Version)); got != want {
			t.Errorf("%x and %x: order %d, want %d", body1, body2, got, want)
		}
		if of, ok := splitVersionKey(body1); !ok || of != of1 {
			t.Errorf("split of %x: %v, %v", body1, of, ok)
		}
		edited1, edited2 := metadata.EditEntry{EditID: id1, Number: uint64(stamp1)}, metadata.EditEntry{EditID: id2, Number: uint64(stamp2)}
		if got, want := bytes.Compare(editEntryKey(edited1), editEntryKey(edited2)), cmp.Or(id1.Compare(id2), cmp.Compare(edited1.Number, edited2.Number)); got != want {
			t.Errorf("%v and %v: order %d, want %d", edited1, edited2, got, want)
		}
		if of, ok := splitEditEntryKey(editEntryKey(edited1)); !ok || of != edited1 {
			t.Errorf("split of the key of %v: %v, %v", edited1, of, ok)
		}
		entry1, entry2 := entryKey(uint64(stamp1)), entryKey(uint64(stamp2))
		if got, want := bytes.Compare(entry1, entry2), cmp.Compare(uint64(stamp1), uint64(stamp2)); got != want {
			t.Errorf("%x and %x: order %d, want %d", entry1, entry2, got, want)
		}
		if number, ok := splitEntryKey(entry1); !ok || number != uint64(stamp1) {
			t.Errorf("number of %x: %d, %v", entry1, number, ok)
		}
	})
}

func FuzzNameKeysAreInOrder(f *testing.F) {
	f.Add("a", "a", []byte{1}, []byte{2})
	f.Add("a", "a\x01", []byte{0xff}, []byte{})
	f.Add("a", "ab", []byte{0xff}, []byte{})
	f.Add("", "\xff", []byte{0xff}, []byte{})
	f.Fuzz(func(t *testing.T, name1, name2 string, from1, from2 []byte) {
		if strings.Contains(name1+name2, "\x00") {
			return // names contain no NUL
		}
		id1, id2, set := someID(from1), someID(from2), someID(nil)
		key1 := nameIndexKey(containerScope(set, metadata.Active), name1, id1)
		key2 := nameIndexKey(containerScope(set, metadata.Active), name2, id2)
		if got, want := bytes.Compare(key1, key2), cmp.Or(cmp.Compare(name1, name2), id1.Compare(id2)); got != want {
			t.Errorf("%q %v and %q %v: order %d, want %d", name1, id1, name2, id2, got, want)
		}
		if id, ok := trailingID(key1); !ok || id != id1 {
			t.Errorf("id of %x: %v, %v", key1, id, ok)
		}
	})
}

func someID(from []byte) (id metadata.ID) {
	copy(id[:], from)
	return id
}

// TestSpansMatchRanges draws bounds and adjacent keys, and compares the spans with the
// definition of the range.
func TestSpansMatchRanges(t *testing.T) {
	t.Parallel()
	stamps := rapid.SampledFrom([]int64{math.MinInt64, -1, 0, 1, 2, 255, 256, math.MaxInt64 - 1, math.MaxInt64})
	ids := rapid.SampledFrom([]metadata.ID{{15: 1}, {15: 2}, {0: 1}, metadata.ID(bytes.Repeat([]byte{0xff}, 16))})
	names := rapid.SampledFrom([]string{"a", "a\x01", "ab", "b", "\xff", "\xff\xff", "a\xff", "a\xffb"})
	rapid.Check(t, func(t *rapid.T) {
		container := ids.Draw(t, "container")
		scope := containerScope(container, metadata.Deleted)
		inScope := func(s span) span { return s.inScopes([]metadata.ID{container}, paging.Deleted)[0] }
		q := metadata.ResourceRange{
			Order: rapid.SampledFrom([]paging.Order{paging.Oldest, paging.Newest}).Draw(t, "order"),
			Since: metadata.Stamp(stamps.Draw(t, "since")), Until: metadata.Stamp(stamps.Draw(t, "until")),
		}
		if rapid.Bool().Draw(t, "after") {
			q.After = paging.Position{Stamp: stamps.Draw(t, "after stamp"), ID: ids.Draw(t, "after id")}
		}
		stamp, id := metadata.Stamp(stamps.Draw(t, "stamp")), ids.Draw(t, "id")
		place := cmp.Or(cmp.Compare(int64(stamp), q.After.Stamp), id.Compare(q.After.ID))
		if q.Order == paging.Newest {
			place = -place
		}
		want := stamp > q.Since && (q.Until == 0 || stamp < q.Until) && (q.After == paging.Position{} || place > 0)
		if got := holds(inScope(timeSpan(q)), timeIndexKey(scope, stamp, id)); got != want {
			t.Errorf("stamp %d, id %v: %v, want %v", stamp, id, got, want)
		}

		byName, name := metadata.ResourceRange{}, names.Draw(t, "name")
		switch rapid.IntRange(0, 2).Draw(t, "filter") {
		case 1:
			byName.Name = new(names.Draw(t, "exact"))
		case 2:
			byName.NamePrefix = names.Draw(t, "prefix")
		}
		if rapid.Bool().Draw(t, "after name") {
			byName.After = paging.Position{Name: names.Draw(t, "position"), ID: ids.Draw(t, "position id")}
		}
		place = cmp.Or(cmp.Compare(name, byName.After.Name), id.Compare(byName.After.ID))
		want = (byName.Name == nil || name == *byName.Name) && strings.HasPrefix(name, byName.NamePrefix) &&
			(byName.After == paging.Position{} || place > 0)
		if got := holds(inScope(nameSpan(byName)), nameIndexKey(scope, name, id)); got != want {
			t.Errorf("name %q, id %v: %v, want %v", name, id, got, want)
		}
		after := ids.Draw(t, "after the id")
		if got := holds(inScope(idSpan(nil, after)), idIndexKey(slices.Clone(scope), id)); got != (id.Compare(after) > 0) {
			t.Errorf("id %v after %v: %v", id, after, got)
		}
	})
}

func holds(s span, key []byte) bool { return !s.empty() && s.contains(key) }

func TestSpansOfNamesWithNULAreEmpty(t *testing.T) {
	t.Parallel()
	for _, q := range []metadata.ResourceRange{{Name: new("a\x00")}, {NamePrefix: "a\x00"}} {
		if s := nameSpan(q).inScopes([]metadata.ID{{1}}, paging.Active)[0]; !s.empty() {
			t.Errorf("%+v: from %x to %x", q, s.lo, s.hi)
		}
	}
}

func TestPastPrefix(t *testing.T) {
	t.Parallel()
	for prefix, want := range map[string]string{"": "", "01": "02", "01ff": "02", "fe": "ff", "fefeff": "feff", "ffff": "", "00": "01"} {
		if got := hex.EncodeToString(pastPrefix(unhex(prefix))); got != want {
			t.Errorf("past %q: %q, want %q", prefix, got, want)
		}
	}
}
