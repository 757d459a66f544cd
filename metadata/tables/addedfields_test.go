package tables

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"labshelf/metadata"
)

// TestZeroAddedFieldsAreOmitted tests that added fields with zero values are omitted, so that the
// records equal the records of earlier schemas.
func TestZeroAddedFieldsAreOmitted(t *testing.T) {
	t.Parallel()
	const retentionHex, labelHex = "0000000300000004", "026c61"
	const removalHex, noIDHex = "000000000000000303" + otherHex + "0000000400000005", "00000000000000000000000000000000"
	kept := metadata.Retention{Last: 3, Days: 4}
	dataspace := func(example any, kept metadata.Retention, entry uint64, quota int64) metadata.Dataspace {
		d := example.(metadata.Dataspace)
		d.Retention, d.Entry, d.Quota = kept, entry, quota
		return d
	}
	resource := func(example any, label string, entry uint64, moved bool) metadata.Resource {
		r := example.(metadata.Resource)
		if r.Label, r.Entry = label, entry; !moved {
			r.Passage = metadata.Passage{}
		}
		return r
	}
	for _, tc := range []struct {
		name  string
		added string // hex of the example, beginning at the first added field
		zero  func(example any) any
		less  string // hex of the same part without added fields
	}{
		{"dataspace", retentionHex + entryHex + quotaHex, func(o any) any { return dataspace(o, metadata.Retention{}, 0, 0) }, ""},
		{"dataspace", entryHex + quotaHex, func(o any) any { return dataspace(o, kept, 0, 0) }, ""},
		{"dataspace", quotaHex, func(o any) any { return dataspace(o, kept, 9, 0) }, ""},
		{"dataspace", retentionHex + entryHex + quotaHex, func(o any) any { return dataspace(o, metadata.Retention{}, 9, 0) }, "0000000000000000" + entryHex},
		{"dataspace", retentionHex + entryHex + quotaHex, func(o any) any { return dataspace(o, metadata.Retention{}, 0, -3) }, "0000000000000000" + "0000000000000000" + quotaHex},
		{"resource", labelHex + entryHex + passageHex, func(o any) any { return resource(o, "", 0, false) }, ""},
		{"resource", entryHex + passageHex, func(o any) any { return resource(o, "la", 0, false) }, ""},
		{"resource", passageHex, func(o any) any { return resource(o, "la", 9, false) }, ""},
		{"resource", otherHex, func(o any) any { r := o.(metadata.Resource); r.StoredBy = metadata.ID{}; return r }, ""},
		{"resource", passageHex, func(o any) any {
			r := o.(metadata.Resource)
			r.MovedTo, r.LinkID = metadata.ID{}, metadata.ID{}
			return r
		}, noIDHex + noIDHex + otherHex},
		{"resource", labelHex + entryHex + passageHex, func(o any) any { return resource(o, "", 9, false) }, "00" + entryHex},
		{"resource", labelHex + entryHex + passageHex, func(o any) any { return resource(o, "", 0, true) }, "00" + "0000000000000000" + passageHex},
		{"resource", labelHex + entryHex + passageHex, func(o any) any { return resource(o, "la", 0, true) }, labelHex + "0000000000000000" + passageHex},
		{"set", entryHex + "02", func(o any) any { s := o.(metadata.Set); s.Entry, s.Extract = 0, 0; return s }, ""},
		{"set", "02", func(o any) any { s := o.(metadata.Set); s.Extract = 0; return s }, ""},
		{"set", entryHex + "02", func(o any) any { s := o.(metadata.Set); s.Entry = 0; return s }, "0000000000000000" + "02"},
		{"user", entryHex + quotaHex, func(o any) any { u := o.(metadata.User); u.Entry, u.Quota = 0, 0; return u }, ""},
		{"user", quotaHex, func(o any) any { u := o.(metadata.User); u.Quota = 0; return u }, ""},
		{"user", entryHex + quotaHex, func(o any) any { u := o.(metadata.User); u.Entry = 0; return u }, "0000000000000000" + quotaHex},
		{"file properties", "01" + "0000000000000002" + "00000003" + digestHex + digestHex[:40] + reversedHex[:32], func(o any) any {
			p := o.(metadata.FileProperties)
			p.Attributes = metadata.FileAttributes{}
			return p
		}, ""},
		{"step", entryHex, func(o any) any { s := o.(metadata.Cascade); s.Entry = 0; return s }, ""},
		{"counters", "00000000000000040000000000000005", func(o any) any { c := o.(metadata.Counters); c.OldVersions, c.OldBytes = 0, 0; return c }, ""},
		{"version", removalHex + idHex, func(o any) any {
			v := o.(metadata.Version)
			v.Removed, v.StoredBy = metadata.Removal{}, metadata.ID{}
			return v
		}, ""},
		{"version", idHex, func(o any) any { v := o.(metadata.Version); v.StoredBy = metadata.ID{}; return v }, ""},
		{"version", removalHex + idHex, func(o any) any { v := o.(metadata.Version); v.Removed = metadata.Removal{}; return v }, strings.Repeat("0", len(removalHex)) + idHex},
	} {
		n := nouns()[tc.name]
		want, has := strings.CutSuffix(n.fields, tc.added)
		without := tc.zero(n.example)
		record := n.seal(nil, without)
		if got := hex.EncodeToString(record[recordHeader:]); got != want+tc.less || !has {
			t.Errorf("%s:\n got %s\nwant %s", tc.name, got, want+tc.less)
		}
		if got, err := n.unseal(nil, record); err != nil || got != without {
			t.Errorf("%s: %+v, %v", tc.name, got, err)
		}
	}
}

// TestEmptyAddedFieldsAreMisfits tests that a record is reported as damaged if all its added fields
// are zero, because encoding would omit them.
func TestEmptyAddedFieldsAreMisfits(t *testing.T) {
	t.Parallel()
	const noEntry = "0000000000000000"
	for name, more := range map[string]string{"dataspace": noEntry, "resource": "00", "set": "00", "user": noEntry, "step": noEntry} {
		n := nouns()[name]
		all := strings.TrimSuffix(n.fields, map[string]string{"set": "02", "resource": passageHex, "dataspace": quotaHex, "user": quotaHex}[name]) // fields that were added after the entry
		base := strings.TrimSuffix(all, entryHex)
		if added := map[string]string{"dataspace": "0000000300000004", "resource": "026c61"}[name]; added != "" {
			base = strings.TrimSuffix(base, added)
		}
		for _, fields := range []string{base + more, all[:len(all)-len(entryHex)] + noEntry} {
			if got, err := n.unseal(nil, seal(nil, raw, string(unhex(fields)))); !errors.Is(err, metadata.ErrRecordDamaged) {
				t.Errorf("%s: %+v, %v", name, got, err)
			}
		}
		if got, err := n.unseal(nil, seal(nil, raw, string(unhex(base)))); err != nil {
			t.Errorf("%s without them: %+v, %v", name, got, err)
		}
	}
}
