package metadatatest

import (
	"errors"
	"iter"
	"math"
	"strings"

	"pgregory.net/rapid"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/metadata"
)

// ulid is the type of most keys.
type ulid = metadata.ID

// nouns describes every table. A table without a finder is one line.
var nouns = []noun{
	of("Dataspaces", func(tx *metadata.Tx) *metadata.Dataspaces { return &tx.Dataspaces },
		func(d metadata.Dataspace) ulid { return d.ID },
		func(t table[ulid, metadata.Dataspace]) metadata.Dataspaces { return dataspaces{t} },
		details{
			decides: true,
			texts:   map[string][]string{"Name": containerNames()},
			fit: fits(func(_ *machine, _ *rapid.T, s *session, d metadata.Dataspace) metadata.Dataspace {
				d.Name = freeName(d.ID, d.Name, s.tx.Dataspaces.ByName)
				return d
			}),
			ways: []way{by("Dataspaces.ByName", func(tx *metadata.Tx, d metadata.Dataspace) (metadata.Dataspace, error) {
				return named(d.Name, tx.Dataspaces.ByName, tx.Dataspaces.Get)
			})},
			asks: []finder{
				one("ByName", probe.texts, metadata.Dataspaces.ByName), many("Public", probe.idsAndZero, metadata.Dataspaces.Public),
			},
		}),
	of("Sets", func(tx *metadata.Tx) *metadata.Sets { return &tx.Sets },
		func(s metadata.Set) ulid { return s.ID },
		func(t table[ulid, metadata.Set]) metadata.Sets { return sets{t} },
		details{
			decides: true, often: 2,
			texts: map[string][]string{"Name": containerNames()},
			fit: fits(func(_ *machine, _ *rapid.T, s *session, row metadata.Set) metadata.Set {
				row.Name = freeName(row.ID, row.Name, s.tx.Sets.ByName)
				return row
			}),
			ways: []way{by("Sets.ByName", func(tx *metadata.Tx, s metadata.Set) (metadata.Set, error) {
				return named(s.Name, tx.Sets.ByName, tx.Sets.Get)
			})},
			asks: []finder{one("ByName", probe.texts, metadata.Sets.ByName), many("Range", setRanges, metadata.Sets.Range)},
		}),
	describe("Resources", func(tx *metadata.Tx) *metadata.Resources { return &tx.Resources },
		func(r metadata.Resource) ulid { return r.ID }, metadata.Resources.Put, metadata.Resources.Get,
		func(t table[ulid, metadata.Resource]) metadata.Resources { return resources{t} },
		details{
			often: 4,
			texts: map[string][]string{"Name": resourceNames(), "Filename": resourceNames()},
			asks:  []finder{many("Range", resourceRanges, metadata.Resources.Range), many("Children", childrenRanges, childrenOf)},
		}),
	of("Versions", func(tx *metadata.Tx) *metadata.Versions { return &tx.Versions }, metadata.Version.Key, nil,
		details{often: 3, texts: map[string][]string{"Name": resourceNames()}}),
	of("Users", func(tx *metadata.Tx) *metadata.Users { return &tx.Users },
		func(u metadata.User) ulid { return u.ID },
		func(t table[ulid, metadata.User]) metadata.Users { return users{t} },
		details{
			decides: true,
			texts:   map[string][]string{"Username": containerNames()},
			fit: fits(func(_ *machine, rt *rapid.T, s *session, u metadata.User) metadata.User {
				u.Username = freeName(u.ID, u.Username, s.tx.Users.ByName)
				if rapid.Bool().Draw(rt, "shouts") {
					u.Username = strings.ToUpper(u.Username)
				}
				return u
			}),
			ways: []way{by("Users.ByName", func(tx *metadata.Tx, u metadata.User) (metadata.User, error) {
				return named(u.Username, tx.Users.ByName, tx.Users.Get)
			})},
			asks: []finder{one("ByName", probe.texts, metadata.Users.ByName)},
		}),
	describe("Keys", func(tx *metadata.Tx) *metadata.Keys { return &tx.Keys },
		func(k metadata.Key) userKey { return userKey{k.UserID, k.ID} }, metadata.Keys.Put,
		func(t metadata.Keys, of userKey) (metadata.Key, error) { return t.Get(of.User, of.ID) },
		func(t table[userKey, metadata.Key]) metadata.Keys { return keys{t} },
		details{
			decides: true, often: 2,
			fit: fits(func(_ *machine, rt *rapid.T, _ *session, k metadata.Key) metadata.Key {
				k.Digest = auth.KeyDigest(digestOf(k.UserID, k.ID, rapid.ByteMax(1).Draw(rt, "digest")))
				return k
			}),
			ways: []way{by("Keys.ByDigest", func(tx *metadata.Tx, k metadata.Key) (metadata.Key, error) { return tx.Keys.ByDigest(k.Digest) })},
			asks: []finder{
				one("ByDigest", valuesOf[auth.KeyDigest], metadata.Keys.ByDigest), many("OfUser", probe.parentsAndAfter, both(metadata.Keys.OfUser)),
			},
		}),
	of("Sessions", func(tx *metadata.Tx) *metadata.Sessions { return &tx.Sessions }, metadata.Session.Key,
		func(t table[metadata.SessionKey, metadata.Session]) metadata.Sessions { return sessions{t} },
		details{
			decides: true, often: 2,
			asks: []finder{many("OfUser", probe.parentsAndZero, metadata.Sessions.OfUser)},
		}),
	of("Uploads", func(tx *metadata.Tx) *metadata.ResumableUploads { return &tx.Uploads },
		func(u metadata.ResumableUpload) ulid { return u.ID },
		func(t table[ulid, metadata.ResumableUpload]) metadata.ResumableUploads { return uploads{t} },
		details{
			fit: fits(func(_ *machine, rt *rapid.T, _ *session, u metadata.ResumableUpload) metadata.ResumableUpload {
				if rapid.Bool().Draw(rt, "pending") {
					u.Made = ulid{}
				}
				return u
			}),
			asks: []finder{
				many("Ended", func(probe) []metadata.Stamp { return []metadata.Stamp{math.MinInt64, -1, 0, 255, 256, math.MaxInt64} }, metadata.ResumableUploads.Ended),
				one("Awaited", valuesOf[blobs.Digest], metadata.ResumableUploads.Awaited),
			},
		}),
	of("Privileges", func(tx *metadata.Tx) *metadata.Privileges { return &tx.Privileges },
		func(p metadata.Privilege) ulid { return p.ID },
		func(t table[ulid, metadata.Privilege]) metadata.Privileges { return privileges{t} },
		details{
			decides: true,
			fit: fits(func(_ *machine, _ *rapid.T, s *session, row metadata.Privilege) metadata.Privilege {
				if taken, err := s.tx.Privileges.Of(row.UserID, row.DataspaceID); err == nil {
					row.ID = taken.ID
				}
				return row
			}),
			ways: []way{by("Privileges.Of", func(tx *metadata.Tx, p metadata.Privilege) (metadata.Privilege, error) {
				return tx.Privileges.Of(p.UserID, p.DataspaceID)
			})},
			asks: []finder{
				one("Of", func(p probe) [][2]ulid { return pairs(p.parents, p.parents) },
					func(t metadata.Privileges, of [2]ulid) (metadata.Privilege, error) { return t.Of(of[0], of[1]) }),
				many("OfUser", probe.parentsAndAfter, both(metadata.Privileges.OfUser)),
				many("OfDataspace", probe.parentsAndZero, metadata.Privileges.OfDataspace),
			},
		}),
	of("Cascades", func(tx *metadata.Tx) *metadata.Table[ulid, metadata.Cascade] { return &tx.Cascades },
		func(c metadata.Cascade) ulid { return c.Container }, nil, details{decides: true}),
	describe("Usage", func(tx *metadata.Tx) *metadata.Usage { return &tx.Usage },
		func(row usageRow) usageKey { return row.usageKey },
		func(t metadata.Usage, row usageRow) error { return t.Put(row.Dataspace, row.Day, row.Counters) },
		func(t metadata.Usage, of usageKey) (usageRow, error) {
			for d, err := range t.Days(of.Dataspace) {
				if err != nil || d.Day == of.Day {
					return usageRow{of, d.Counters}, err
				}
			}
			return usageRow{}, metadata.ErrNotFound
		},
		func(t table[usageKey, usageRow]) metadata.Usage { return usage{t} },
		details{asks: []finder{one("Get", probe.parentsAndZero, metadata.Usage.Get), many("Days", probe.parentsAndZero, metadata.Usage.Days)}}),
	of("UserUsage", func(tx *metadata.Tx) *metadata.Table[ulid, metadata.UserUsage] { return &tx.UserUsage },
		func(u metadata.UserUsage) ulid { return u.UserID }, nil, details{}),
	of("Blobs", func(tx *metadata.Tx) *metadata.Blobs { return &tx.Blobs },
		func(b blobs.Blob) blobs.Digest { return b.Digest },
		func(t table[blobs.Digest, blobs.Blob]) metadata.Blobs { return blobRows{t} },
		details{
			fit: fits(func(_ *machine, rt *rapid.T, _ *session, b blobs.Blob) blobs.Blob {
				b.Object = rapid.SampledFrom(append(objectNames(b.Digest), "")).Draw(rt, "object")
				return b
			}),
			asks: []finder{many("Refs", valuesOf[blobs.Digest], metadata.Blobs.Refs)},
		}),
	of("Trashed", func(tx *metadata.Tx) *metadata.TrashedObjects { return &tx.Trashed }, metadata.TrashedObject.Key,
		func(t table[metadata.ObjectKey, metadata.TrashedObject]) metadata.TrashedObjects { return trashed{t} },
		details{
			fit: fits(func(_ *machine, rt *rapid.T, _ *session, o metadata.TrashedObject) metadata.TrashedObject {
				o.Object = rapid.SampledFrom(objectNames(o.Digest)).Draw(rt, "object")
				return o
			}),
			asks: []finder{many("Of", valuesOf[blobs.Digest], metadata.TrashedObjects.Of), one("Named", probe.texts, metadata.TrashedObjects.Named)},
		}),
	of("Damages", func(tx *metadata.Tx) *metadata.Table[blobs.Digest, metadata.Damage] { return &tx.Damages },
		func(d metadata.Damage) blobs.Digest { return d.Digest }, nil, details{}),
	of("Unreferenced", func(tx *metadata.Tx) *metadata.UnreferencedBlobs { return &tx.Unreferenced },
		func(u metadata.Unreferenced) blobs.Digest { return u.Digest },
		func(t table[blobs.Digest, metadata.Unreferenced]) metadata.UnreferencedBlobs { return unreferenced{t} },
		details{
			fit: fits(func(_ *machine, _ *rapid.T, _ *session, u metadata.Unreferenced) metadata.Unreferenced {
				u.Bytes >>= 10 // so that the total does not overflow
				return u
			}),
			asks: []finder{value("Total", metadata.UnreferencedBlobs.Total)},
		}),
	describe("InlineBodies", func(tx *metadata.Tx) *metadata.InlineBodies { return &tx.InlineBodies },
		func(row bodyRow) metadata.VersionKey { return row.VersionKey },
		func(t metadata.InlineBodies, row bodyRow) error { return t.Put(row.VersionKey, []byte(row.Body)) },
		func(t metadata.InlineBodies, of metadata.VersionKey) (bodyRow, error) {
			body, err := t.Get(of)
			return bodyRow{of, string(body)}, err
		},
		func(t table[metadata.VersionKey, bodyRow]) metadata.InlineBodies { return bodies{t} },
		details{
			often: 2,
			texts: map[string][]string{"Body": {"", "b", strings.Repeat("b", 4096), strings.Repeat("b", 128<<10)}},
			asks:  []finder{many("All", keysAndZero[metadata.VersionKey], metadata.InlineBodies.All), value("Total", metadata.InlineBodies.Total)},
		}),
	onlyRow("Scrub", func(tx *metadata.Tx) *metadata.Value[metadata.ScrubState] { return &tx.Scrub }),
	onlyRow("Filling", func(tx *metadata.Tx) *metadata.Value[metadata.FillState] { return &tx.Filling }),
	of("Webhooks", func(tx *metadata.Tx) *metadata.Table[ulid, metadata.Webhook] { return &tx.Webhooks },
		func(w metadata.Webhook) ulid { return w.ID }, nil, details{}),
	of("Deliveries", func(tx *metadata.Tx) *metadata.Deliveries { return &tx.Deliveries }, metadata.Delivery.Key, nil, details{often: 2}),
	of("Descriptive", func(tx *metadata.Tx) *metadata.Table[ulid, metadata.Descriptive] { return &tx.Descriptive },
		func(d metadata.Descriptive) ulid { return d.ObjectID }, nil, details{often: 2}),
	of("Schemas", func(tx *metadata.Tx) *metadata.Schemas { return &tx.Schemas },
		func(s metadata.Schema) ulid { return s.ID },
		func(t table[ulid, metadata.Schema]) metadata.Schemas { return schemas{t} },
		details{asks: []finder{many("OfDataspace", setRanges,
			func(t metadata.Schemas, q metadata.SetRange) iter.Seq2[metadata.Schema, error] {
				return t.OfDataspace(append(q.Dataspaces, ulid{})[0], q.States)
			})}}),
	of("SchemaVersions", func(tx *metadata.Tx) *metadata.SchemaVersions { return &tx.SchemaVersions }, metadata.SchemaVersion.Key, nil, details{}),
	of("Edits", func(tx *metadata.Tx) *metadata.BulkEdits { return &tx.Edits },
		func(e metadata.BulkEdit) ulid { return e.ID },
		func(t table[ulid, metadata.BulkEdit]) metadata.BulkEdits { return edits{t} },
		details{asks: []finder{
			many("OfSet", func(p probe) [][2]ulid { return pairs(p.parents, p.idsAndZero()) }, both(metadata.BulkEdits.OfSet)),
		}}),
	of("EditEntries", func(tx *metadata.Tx) *metadata.EditEntries { return &tx.EditEntries },
		func(e metadata.EditEntry) metadata.EditEntry { return e }, nil, details{}),
	of("Folders", func(tx *metadata.Tx) *metadata.Folders { return &tx.Folders }, metadata.Folder.Key, nil,
		details{texts: map[string][]string{"Path": folderPaths()}}),
	of("FileProperties", func(tx *metadata.Tx) *metadata.Table[ulid, metadata.FileProperties] { return &tx.FileProperties },
		func(p metadata.FileProperties) ulid { return p.ResourceID }, nil, details{}),
	of("Links", func(tx *metadata.Tx) *metadata.Links { return &tx.Links },
		func(l metadata.Link) ulid { return l.ID },
		func(t table[ulid, metadata.Link]) metadata.Links { return links{t} },
		details{
			fit: fits(func(_ *machine, rt *rapid.T, _ *session, l metadata.Link) metadata.Link {
				l.Digest = auth.LinkDigest(digestOf(l.ID, l.ID, rapid.ByteMax(1).Draw(rt, "digest")))
				return l
			}),
			ways: []way{by("Links.ByDigest", func(tx *metadata.Tx, l metadata.Link) (metadata.Link, error) { return tx.Links.ByDigest(l.Digest) })},
			asks: []finder{one("ByDigest", valuesOf[auth.LinkDigest], metadata.Links.ByDigest), many("Range", linkRanges, metadata.Links.Range)},
		}),
	of("LinkUses", func(tx *metadata.Tx) *metadata.Table[ulid, metadata.LinkUse] { return &tx.LinkUses },
		func(u metadata.LinkUse) ulid { return u.LinkID }, nil, details{}),
	of("Leases", func(tx *metadata.Tx) *metadata.Leases { return &tx.Leases },
		func(l metadata.Lease) string { return l.Name },
		func(t table[string, metadata.Lease]) metadata.Leases { return leases{t} },
		details{
			texts: map[string][]string{"Name": leaseNames()},
			asks:  []finder{many("Under", probe.texts, metadata.Leases.Under)},
		}),
	of("Nodes", func(tx *metadata.Tx) *metadata.Table[ulid, metadata.Node] { return &tx.Nodes },
		func(n metadata.Node) ulid { return n.Instance }, nil, details{}),
}

// onlyRow describes a table of one row.
func onlyRow[R comparable](name string, field func(*metadata.Tx) *metadata.Value[R]) noun {
	get := func(t metadata.Value[R], _ bool) (row R, err error) {
		if row, err = t.Get(); err == nil && row == *new(R) {
			err = metadata.ErrNotFound
		}
		return row, err
	}
	n := describe(name, field, func(R) bool { return true }, metadata.Value[R].Put, get,
		func(t table[bool, R]) metadata.Value[R] { return single[R]{t.transaction} }, details{asks: []finder{value("Get", metadata.Value[R].Get)}})
	n.ways = nil // it always has a row
	return n
}

func named[T any](name string, byName func(string) (ulid, error), get func(ulid) (T, error)) (row T, err error) {
	id, err := byName(name)
	if err != nil {
		return row, err
	}
	return get(id)
}

// freeName returns a name that no other row has.
func freeName(id ulid, name string, byName func(string) (ulid, error)) string {
	if taken, err := byName(name); !errors.Is(err, metadata.ErrNotFound) && taken != id {
		return name + "-" + strings.ToLower(id.String())
	}
	return name
}

func containerNames() []string { return []string{"aa", "ab", "aa-b", "zz", "Mixed.Case"} }

func resourceNames() []string {
	return []string{"a", "a\x01", "a\xff", "a/b", "b", "é", "é\u0301", strings.Repeat("n", 4096)}
}

func folderPaths() []string {
	return []string{"", "a/", "a/b/", "a!/", "\xff/", strings.Repeat("n", 255) + "/"}
}

func leaseNames() []string { return []string{"a", "a/b", "a0", "\xff", strings.Repeat("n", 200)} }

// objectNames are names of objects that only blobs with this digest have.
func objectNames(of blobs.Digest) []string {
	text := of.String()
	return []string{text[:13] + text[len(text)-13:], text}
}
