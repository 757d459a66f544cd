package metadatatest

import (
	"errors"
	"fmt"
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
			asks: func(p probe) []question {
				return []question{
					one("Dataspaces.ByName", p.names, func(tx *metadata.Tx, name string) (ulid, error) { return tx.Dataspaces.ByName(name) }),
					many("Dataspaces.Public", withZero(p.ids), func(tx *metadata.Tx, after ulid) iter.Seq2[ulid, error] { return tx.Dataspaces.Public(after) }),
				}
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
			asks: func(p probe) []question {
				return []question{
					one("Sets.ByName", p.names, func(tx *metadata.Tx, name string) (ulid, error) { return tx.Sets.ByName(name) }),
					many("Sets.Range", setRanges(p), func(tx *metadata.Tx, q metadata.SetRange) iter.Seq2[metadata.Set, error] { return tx.Sets.Range(q) }),
				}
			},
		}),
	describe("Resources", func(r metadata.Resource) ulid { return r.ID },
		func(tx *metadata.Tx, r metadata.Resource) error { return tx.Resources.Put(r) },
		func(tx *metadata.Tx, id ulid) (metadata.Resource, error) { return tx.Resources.Get(id) },
		func(t table[ulid, metadata.Resource], tx *metadata.Tx) { tx.Resources = resources{t} },
		details{
			often: 4,
			texts: map[string][]string{"Name": resourceNames(), "Filename": resourceNames()},
			asks: func(p probe) []question {
				return []question{
					many("Resources.Range", resourceRanges(p), func(tx *metadata.Tx, q metadata.ResourceRange) iter.Seq2[metadata.Resource, error] {
						return tx.Resources.Range(q)
					}),
					many("Resources.Children", childrenRanges(p), Children),
				}
			},
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
			asks: func(p probe) []question {
				return []question{one("Users.ByName", p.names, func(tx *metadata.Tx, name string) (ulid, error) { return tx.Users.ByName(name) })}
			},
		}),
	describe("Keys", func(k metadata.Key) userKey { return userKey{k.UserID, k.ID} },
		func(tx *metadata.Tx, k metadata.Key) error { return tx.Keys.Put(k) },
		func(tx *metadata.Tx, of userKey) (metadata.Key, error) { return tx.Keys.Get(of.User, of.ID) },
		func(t table[userKey, metadata.Key], tx *metadata.Tx) { tx.Keys = keys{t} },
		details{
			decides: true, often: 2,
			fit: fits(func(_ *machine, rt *rapid.T, _ *session, k metadata.Key) metadata.Key {
				k.Digest = auth.KeyDigest(digestOf(k.UserID, k.ID, rapid.ByteMax(1).Draw(rt, "digest")))
				return k
			}),
			ways: []way{by("Keys.ByDigest", func(tx *metadata.Tx, k metadata.Key) (metadata.Key, error) { return tx.Keys.ByDigest(k.Digest) })},
			asks: func(p probe) []question {
				return []question{
					one("Keys.ByDigest", p.keys, func(tx *metadata.Tx, d auth.KeyDigest) (metadata.Key, error) { return tx.Keys.ByDigest(d) }),
					many("Keys.OfUser", pairs(withZero(p.parents), withZero(p.after)), func(tx *metadata.Tx, of [2]ulid) iter.Seq2[metadata.Key, error] {
						return tx.Keys.OfUser(of[0], of[1])
					}),
				}
			},
		}),
	of("Sessions", func(tx *metadata.Tx) *metadata.Sessions { return &tx.Sessions }, metadata.Session.Key,
		func(t table[metadata.SessionKey, metadata.Session]) metadata.Sessions { return sessions{t} },
		details{
			decides: true, often: 2,
			asks: func(p probe) []question {
				return []question{many("Sessions.OfUser", withZero(p.parents), func(tx *metadata.Tx, user ulid) iter.Seq2[metadata.Session, error] {
					return tx.Sessions.OfUser(user)
				})}
			},
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
			asks: func(p probe) []question {
				ends := []metadata.Stamp{math.MinInt64, -1, 0, 255, 256, math.MaxInt64}
				return []question{
					many("Uploads.Ended", ends, func(tx *metadata.Tx, by metadata.Stamp) iter.Seq2[ulid, error] { return tx.Uploads.Ended(by) }),
					one("Uploads.Awaited", p.digests, func(tx *metadata.Tx, d blobs.Digest) (bool, error) { return tx.Uploads.Awaited(d) }),
				}
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
			asks: func(p probe) []question {
				return []question{
					one("Privileges.Of", pairs(p.parents, p.parents), func(tx *metadata.Tx, of [2]ulid) (metadata.Privilege, error) {
						return tx.Privileges.Of(of[0], of[1])
					}),
					many("Privileges.OfUser", pairs(withZero(p.parents), withZero(p.after)), func(tx *metadata.Tx, of [2]ulid) iter.Seq2[metadata.Privilege, error] {
						return tx.Privileges.OfUser(of[0], of[1])
					}),
					many("Privileges.OfDataspace", withZero(p.parents), func(tx *metadata.Tx, of ulid) iter.Seq2[metadata.Privilege, error] {
						return tx.Privileges.OfDataspace(of)
					}),
				}
			},
		}),
	of("Cascades", func(tx *metadata.Tx) *metadata.Table[ulid, metadata.Cascade] { return &tx.Cascades },
		func(c metadata.Cascade) ulid { return c.Container }, nil, details{decides: true}),
	describe("Usage", func(row usageRow) usageKey { return row.usageKey },
		func(tx *metadata.Tx, row usageRow) error { return tx.Usage.Put(row.Dataspace, row.Day, row.Counters) },
		func(tx *metadata.Tx, of usageKey) (usageRow, error) {
			for d, err := range tx.Usage.Days(of.Dataspace) {
				if err != nil || d.Day == of.Day {
					return usageRow{of, d.Counters}, err
				}
			}
			return usageRow{}, metadata.ErrNotFound
		},
		func(t table[usageKey, usageRow], tx *metadata.Tx) { tx.Usage = usage{t} },
		details{asks: func(p probe) []question {
			return []question{
				one("Usage.Get", withZero(p.parents), func(tx *metadata.Tx, of ulid) (metadata.Counters, error) { return tx.Usage.Get(of) }),
				many("Usage.Days", withZero(p.parents), func(tx *metadata.Tx, of ulid) iter.Seq2[metadata.DayCounters, error] { return tx.Usage.Days(of) }),
			}
		}}),
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
			asks: func(p probe) []question {
				return []question{many("Blobs.Refs", p.digests, func(tx *metadata.Tx, d blobs.Digest) iter.Seq2[metadata.VersionKey, error] {
					return tx.Blobs.Refs(d)
				})}
			},
		}),
	of("Trashed", func(tx *metadata.Tx) *metadata.TrashedObjects { return &tx.Trashed }, metadata.TrashedObject.Key,
		func(t table[metadata.ObjectKey, metadata.TrashedObject]) metadata.TrashedObjects { return trashed{t} },
		details{
			fit: fits(func(_ *machine, rt *rapid.T, _ *session, o metadata.TrashedObject) metadata.TrashedObject {
				o.Object = rapid.SampledFrom(objectNames(o.Digest)).Draw(rt, "object")
				return o
			}),
			asks: func(p probe) []question {
				return []question{
					many("Trashed.Of", p.digests, func(tx *metadata.Tx, d blobs.Digest) iter.Seq2[metadata.TrashedObject, error] {
						return tx.Trashed.Of(d)
					}),
					one("Trashed.Named", append(p.names, p.paths...), func(tx *metadata.Tx, object string) (bool, error) { return tx.Trashed.Named(object) }),
				}
			},
		}),
	of("Damages", func(tx *metadata.Tx) *metadata.Table[blobs.Digest, metadata.Damage] { return &tx.Damages },
		func(d metadata.Damage) blobs.Digest { return d.Digest }, nil, details{}),
	of("Unreferenced", func(tx *metadata.Tx) *metadata.UnreferencedBlobs { return &tx.Unreferenced },
		func(u metadata.Unreferenced) blobs.Digest { return u.Digest },
		func(t table[blobs.Digest, metadata.Unreferenced]) metadata.UnreferencedBlobs { return unreferenced{t} },
		details{
			fit: fits(func(_ *machine, _ *rapid.T, _ *session, u metadata.Unreferenced) metadata.Unreferenced {
				u.Bytes >>= 10 // the total must fit
				return u
			}),
			asks: func(probe) []question {
				return []question{value("Unreferenced.Total", func(tx *metadata.Tx) (metadata.BlobCount, error) { return tx.Unreferenced.Total() })}
			},
		}),
	describe("InlineBodies", func(row bodyRow) metadata.VersionKey { return row.VersionKey },
		func(tx *metadata.Tx, row bodyRow) error {
			return tx.InlineBodies.Put(row.VersionKey, []byte(row.Body))
		},
		func(tx *metadata.Tx, of metadata.VersionKey) (bodyRow, error) {
			body, err := tx.InlineBodies.Get(of)
			return bodyRow{of, string(body)}, err
		},
		func(t table[metadata.VersionKey, bodyRow], tx *metadata.Tx) { tx.InlineBodies = bodies{t} },
		details{
			often: 2,
			texts: map[string][]string{"Body": {"", "b", strings.Repeat("b", 4096), strings.Repeat("b", 128<<10)}},
			asks: func(p probe) []question {
				return []question{
					many("InlineBodies.All", append(valuesOf[metadata.VersionKey](p), metadata.VersionKey{}),
						func(tx *metadata.Tx, after metadata.VersionKey) iter.Seq2[metadata.VersionKey, error] {
							return tx.InlineBodies.All(after)
						}),
					value("InlineBodies.Total", func(tx *metadata.Tx) (metadata.BodyCount, error) { return tx.InlineBodies.Total() }),
				}
			},
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
		details{asks: func(p probe) []question {
			var all []question
			for _, of := range states() {
				all = append(all, many(fmt.Sprint("Schemas.OfDataspace ", of), p.ids, func(tx *metadata.Tx, in ulid) iter.Seq2[metadata.Schema, error] {
					return tx.Schemas.OfDataspace(in, of)
				}))
			}
			return all
		}}),
	of("SchemaVersions", func(tx *metadata.Tx) *metadata.SchemaVersions { return &tx.SchemaVersions }, metadata.SchemaVersion.Key, nil, details{}),
	of("Edits", func(tx *metadata.Tx) *metadata.BulkEdits { return &tx.Edits },
		func(e metadata.BulkEdit) ulid { return e.ID },
		func(t table[ulid, metadata.BulkEdit]) metadata.BulkEdits { return edits{t} },
		details{asks: func(p probe) []question {
			return []question{many("Edits.OfSet", pairs(p.parents, withZero(p.ids)), func(tx *metadata.Tx, of [2]ulid) iter.Seq2[metadata.BulkEdit, error] {
				return tx.Edits.OfSet(of[0], of[1])
			})}
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
			asks: func(p probe) []question {
				ranges := []metadata.LinkRange{{}}
				for _, id := range p.ids {
					ranges = append(ranges, metadata.LinkRange{After: id}, metadata.LinkRange{Dataspace: id}, metadata.LinkRange{Owner: id})
				}
				return []question{
					one("Links.ByDigest", p.links, func(tx *metadata.Tx, d auth.LinkDigest) (metadata.Link, error) { return tx.Links.ByDigest(d) }),
					many("Links.Range", ranges, func(tx *metadata.Tx, q metadata.LinkRange) iter.Seq2[metadata.Link, error] { return tx.Links.Range(q) }),
				}
			},
		}),
	of("LinkUses", func(tx *metadata.Tx) *metadata.Table[ulid, metadata.LinkUse] { return &tx.LinkUses },
		func(u metadata.LinkUse) ulid { return u.LinkID }, nil, details{}),
	of("Leases", func(tx *metadata.Tx) *metadata.Leases { return &tx.Leases },
		func(l metadata.Lease) string { return l.Name },
		func(t table[string, metadata.Lease]) metadata.Leases { return leases{t} },
		details{
			texts: map[string][]string{"Name": leaseNames()},
			asks: func(p probe) []question {
				return []question{many("Leases.Under", append(p.paths, ""), func(tx *metadata.Tx, prefix string) iter.Seq2[metadata.Lease, error] {
					return tx.Leases.Under(prefix)
				})}
			},
		}),
	of("Nodes", func(tx *metadata.Tx) *metadata.Table[ulid, metadata.Node] { return &tx.Nodes },
		func(n metadata.Node) ulid { return n.Instance }, nil, details{}),
}

// onlyRow describes a table of one row.
func onlyRow[R comparable](name string, field func(*metadata.Tx) *metadata.Value[R]) noun {
	get := func(tx *metadata.Tx, _ bool) (row R, err error) {
		if row, err = (*field(tx)).Get(); err == nil && row == *new(R) {
			err = metadata.ErrNotFound
		}
		return row, err
	}
	asks := func(probe) []question {
		return []question{value(name, func(tx *metadata.Tx) (R, error) { return get(tx, true) })}
	}
	n := describe(name, func(R) bool { return true }, func(tx *metadata.Tx, row R) error { return (*field(tx)).Put(row) }, get,
		func(t table[bool, R], tx *metadata.Tx) { *field(tx) = single[R]{t.transaction} }, details{asks: asks})
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
