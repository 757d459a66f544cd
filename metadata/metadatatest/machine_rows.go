package metadatatest

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/metadata"
)

// pool contains the ids of one history. It has so few ids that most writes meet an earlier one.
type pool struct {
	dataspaces, sets, resources, users, keys, privileges []metadata.ID
	digests                                              []blobs.Digest
}

func drawPool(rt *rapid.T) pool {
	edges := rapid.SampledFrom([]byte{0x00, 0x01, 0x7f, 0xff})
	some := rapid.Custom(func(t *rapid.T) metadata.ID {
		var id metadata.ID
		for _, i := range []int{0, 5, 6, 14} {
			id[i] = edges.Draw(t, "byte")
		}
		id[15] = rapid.ByteMin(1).Draw(t, "last byte")
		return id
	})
	all := rapid.SliceOfNDistinct(some, 34, 34, rapid.ID[metadata.ID]).Draw(rt, "ids")
	next := func(n int) (taken []metadata.ID) {
		taken, all = all[:n:n], all[n:]
		return taken
	}
	return pool{
		dataspaces: next(3), sets: next(5), resources: next(14), users: next(3), keys: next(4), privileges: next(5),
		digests: []blobs.Digest{{}, {31: 1}, {0: 0xff}},
	}
}

// probe returns the questions that reveal everything about a history.
func (p pool) probe() probe {
	asked := probe{digests: p.digests, names: slices.Concat(containerNames(), resourceNames(), []string{"a", "AA", "mixed.case", ""})}
	asked.parents = slices.Concat(p.dataspaces, p.sets, p.users)
	asked.ids = slices.Concat(asked.parents, p.resources, p.keys, p.privileges)
	for _, key := range p.keys {
		for version := range byte(2) {
			asked.keys = append(asked.keys, keyDigest(key, version))
		}
	}
	for _, user := range p.users {
		for n := range byte(3) {
			asked.sessions = append(asked.sessions, sessionDigest(user, n))
		}
	}
	return asked
}

// keyDigest returns one of the two digests of a key.
func keyDigest(key metadata.ID, version byte) auth.KeyDigest {
	digest := auth.KeyDigest{31: version}
	copy(digest[:], key[:])
	return digest
}

func containerNames() []string { return []string{"aa", "ab", "aa-b", "zz", "Mixed.Case"} }

func resourceNames() []string {
	return []string{"a", "a\x01", "a\xff", "a/b", "b", "é", "é\u0301", strings.Repeat("n", 4096)}
}

func texts() []string {
	return []string{"", "text", "line\r\nbreak\t\"quoted\" \\ <&> \u2028 é 𝄞", strings.Repeat("long ", 3000)}
}

// change draws a new value for a field: always in a new row, sometimes in an existing one.
func change[T any](rt *rapid.T, isNew bool, field *T, values *rapid.Generator[T]) {
	if isNew || rapid.Bool().Draw(rt, "changes") {
		*field = values.Draw(rt, "value")
	}
}

// write draws a write and performs it.
func (m *machine) write(rt *rapid.T, s *session) {
	draw := []func(*rapid.T, *session) any{
		m.resource, m.resource, m.resource, m.resource, m.dataspace, m.set, m.set, m.user, m.key, m.key, m.session, m.session, m.upload, m.privilege, m.cascade, m.counters, m.blob,
		m.damage, m.scrub, m.fill, m.body, m.body, m.unreferenced, m.version, m.version, m.version, m.webhook, m.delivery, m.delivery,
		m.descriptive, m.descriptive, m.schema, m.schemaVersion, m.edit, m.editEntry, m.folder, m.fileProperties, m.link, m.linkUse, m.userUsage, m.lease, m.node, m.trashed,
	}
	switch n := rapid.IntRange(0, len(draw)+8).Draw(rt, "write"); n {
	case len(draw):
		m.stamp(s)
	case len(draw) + 1:
		digest := rapid.SampledFrom(m.pool.digests).Draw(rt, "digest")
		m.removeBlob(s, digest)
	case len(draw) + 2:
		if running, err := list(inOrder(s.tx.Cascades.All(metadata.ID{}))); err == nil && len(running) > 0 {
			container := rapid.SampledFrom(running).Draw(rt, "step").Container
			s.do(op{"Cascades.Remove", func(tx *metadata.Tx) (any, error) { return nil, tx.Cascades.Remove(container) }})
		}
	case len(draw) + 3:
		of := m.versionKey(rt)
		s.do(op{"InlineBodies.Remove", func(tx *metadata.Tx) (any, error) { return nil, tx.InlineBodies.Remove(of) }})
	case len(draw) + 4:
		user := rapid.SampledFrom(m.pool.users).Draw(rt, "user")
		digest := sessionDigest(rapid.SampledFrom(m.pool.users).Draw(rt, "digest of user"), 0)
		if present, err := list(s.tx.Sessions.OfUser(user)); err == nil && len(present) > 0 && rapid.Bool().Draw(rt, "of the user") {
			digest = rapid.SampledFrom(present).Draw(rt, "session").Digest
		}
		s.do(op{"Sessions.Remove", func(tx *metadata.Tx) (any, error) {
			return nil, tx.Sessions.Remove(metadata.SessionKey{User: user, Digest: digest})
		}})
	case len(draw) + 5:
		of := rapid.SampledFrom(m.pool.resources).Draw(rt, "upload")
		s.do(op{"Uploads.Remove", func(tx *metadata.Tx) (any, error) { return nil, tx.Uploads.Remove(of) }})
	case len(draw) + 6:
		m.removeWebhook(rt, s)
	case len(draw) + 7:
		m.removeDescriptive(rt, s)
	case len(draw) + 8:
		m.removeFolder(rt, s)
		m.removeNode(rt, s)
	default:
		row := draw[n](rt, s)
		s.do(op{fmt.Sprintf("put %T", row), func(tx *metadata.Tx) (any, error) { return nil, put(tx, row) }})
	}
}

// stamp takes a stamp in both stores.
func (m *machine) stamp(s *session) metadata.Stamp {
	taken := s.do(op{"Stamp", func(tx *metadata.Tx) (any, error) { return tx.Stamp(), nil }})
	m.last = taken.Value.(metadata.Stamp)
	return m.last
}

// record draws the fields of all rows. The modification has its own stamp, or shares one with other
// rows.
func (m *machine) record(rt *rapid.T, s *session, isNew bool, r *metadata.Record) {
	change(rt, isNew, &r.State, rapid.SampledFrom([]metadata.State{metadata.Active, metadata.Deleted}))
	change(rt, isNew, &r.CreatedBy, rapid.SampledFrom(m.pool.users))
	change(rt, isNew, &r.ModifiedBy, rapid.SampledFrom(m.pool.users))
	change(rt, isNew, &r.TakenBy, rapid.SampledFrom([]metadata.Stamp{0, m.last}))
	switch rapid.IntRange(0, 3).Draw(rt, "modified") {
	case 0:
		r.Modified = max(m.last, 1)
	case 1, 2:
		r.Modified = m.stamp(s)
	}
	if r.Created == 0 {
		r.Created, r.Modified = max(r.Modified, 1), max(r.Modified, 1)
	}
}

// freeName draws a name that no other row has.
func freeName(rt *rapid.T, id metadata.ID, byName func(string) (metadata.ID, error)) *rapid.Generator[string] {
	return rapid.Map(rapid.SampledFrom(containerNames()), func(name string) string {
		if taken, err := byName(name); err == nil && taken != id {
			return name + "-" + strings.ToLower(id.String())
		}
		return name
	})
}

func (m *machine) dataspace(rt *rapid.T, s *session) any {
	id := rapid.SampledFrom(m.pool.dataspaces).Draw(rt, "dataspace")
	d, err := s.tx.Dataspaces.Get(id)
	d.ID = id
	m.record(rt, s, err != nil, &d.Record)
	change(rt, err != nil, &d.Name, freeName(rt, id, s.tx.Dataspaces.ByName))
	change(rt, err != nil, &d.Title, rapid.SampledFrom(texts()))
	change(rt, err != nil, &d.Description, rapid.SampledFrom(texts()))
	change(rt, err != nil, &d.Origin, rapid.SampledFrom(texts()))
	change(rt, err != nil, &d.Retention, rapid.SampledFrom([]metadata.Retention{{}, {Last: 1}, {Days: math.MaxUint32}}))
	change(rt, err != nil, &d.Quota, rapid.SampledFrom([]int64{0, 1, math.MaxInt64}))
	change(rt, err != nil, &d.Visibility, rapid.SampledFrom([]metadata.Visibility{metadata.Private, metadata.Public, metadata.Open}))
	return d
}

func (m *machine) set(rt *rapid.T, s *session) any {
	id := rapid.SampledFrom(m.pool.sets).Draw(rt, "set")
	row, err := s.tx.Sets.Get(id)
	row.ID = id
	m.record(rt, s, err != nil, &row.Record)
	change(rt, err != nil, &row.DataspaceID, rapid.SampledFrom(m.pool.dataspaces))
	change(rt, err != nil, &row.Name, freeName(rt, id, s.tx.Sets.ByName))
	change(rt, err != nil, &row.Title, rapid.SampledFrom(texts()))
	change(rt, err != nil, &row.Description, rapid.SampledFrom(texts()))
	change(rt, err != nil, &row.Extract, rapid.SampledFrom([]metadata.Extract{0, metadata.ExtractSidecar, metadata.ExtractHeader}))
	return row
}

func (m *machine) resource(rt *rapid.T, s *session) any {
	id := rapid.SampledFrom(m.pool.resources).Draw(rt, "resource")
	r, err := s.tx.Resources.Get(id)
	r.ID = id
	m.record(rt, s, err != nil, &r.Record)
	change(rt, err != nil, &r.SetID, rapid.SampledFrom(m.pool.sets))
	change(rt, err != nil, &r.DataspaceID, rapid.SampledFrom(m.pool.dataspaces))
	change(rt, err != nil, &r.Name, rapid.SampledFrom(resourceNames()))
	if rapid.IntRange(0, 3).Draw(rt, "file") == 0 {
		r.Digest = rapid.SampledFrom(m.pool.digests).Draw(rt, "digest")
		r.Bytes = rapid.Int64Min(0).Draw(rt, "bytes")
		r.Filename = rapid.SampledFrom(resourceNames()).Draw(rt, "filename")
		r.MimeType = rapid.SampledFrom(texts()).Draw(rt, "type")
		r.Format = rapid.SampledFrom(texts()).Draw(rt, "format")
		r.Description = rapid.SampledFrom(texts()).Draw(rt, "description")
		r.Version = rapid.Uint32().Draw(rt, "version")
		r.Label = rapid.SampledFrom(texts()).Draw(rt, "label")
		r.Body = rapid.SampledFrom([]metadata.BodyLocation{metadata.InBlob, metadata.Purged, metadata.Inline}).Draw(rt, "body")
	}
	return r
}

func (m *machine) user(rt *rapid.T, s *session) any {
	id := rapid.SampledFrom(m.pool.users).Draw(rt, "user")
	u, err := s.tx.Users.Get(id)
	u.ID = id
	m.record(rt, s, err != nil, &u.Record)
	change(rt, err != nil, &u.Username, freeName(rt, id, s.tx.Users.ByName))
	if rapid.Bool().Draw(rt, "shouts") {
		u.Username = strings.ToUpper(u.Username)
	}
	change(rt, err != nil, &u.Fullname, rapid.SampledFrom(texts()))
	change(rt, err != nil, &u.About, rapid.SampledFrom(texts()))
	change(rt, err != nil, &u.Sysadmin, rapid.Bool())
	return u
}

func (m *machine) key(rt *rapid.T, s *session) any {
	n := rapid.IntRange(0, len(m.pool.keys)-1).Draw(rt, "key")
	id, user := m.pool.keys[n], m.pool.users[n%2]
	k, err := s.tx.Keys.Get(user, id)
	k.ID, k.UserID = id, user
	change(rt, err != nil, &k.Digest, rapid.SampledFrom([]auth.KeyDigest{keyDigest(id, 0), keyDigest(id, 1)}))
	change(rt, err != nil, &k.Label, rapid.SampledFrom(texts()))
	change(rt, err != nil, &k.Prefix, rapid.SampledFrom([]string{"", "lsk_abcd"}))
	change(rt, err != nil, &k.Created, rapid.SampledFrom([]metadata.Stamp{1, m.last}))
	change(rt, err != nil, &k.Expires, rapid.SampledFrom([]metadata.Stamp{0, m.last}))
	change(rt, err != nil, &k.LastUsed, rapid.SampledFrom([]metadata.Stamp{0, m.last}))
	change(rt, err != nil, &k.Gone, rapid.SampledFrom([]metadata.Stamp{0, m.last}))
	return k
}

// privilege draws a privilege of a new pair, or an existing one. So no pair gets a second one.
func (m *machine) privilege(rt *rapid.T, s *session) any {
	id := rapid.SampledFrom(m.pool.privileges).Draw(rt, "privilege")
	user := rapid.SampledFrom(m.pool.users).Draw(rt, "of user")
	dataspace := rapid.SampledFrom(m.pool.dataspaces).Draw(rt, "in dataspace")
	p, err := s.tx.Privileges.Of(user, dataspace)
	if err != nil {
		p, err = s.tx.Privileges.Get(id)
		p.ID, p.UserID, p.DataspaceID = id, user, dataspace
	}
	m.record(rt, s, err != nil, &p.Record)
	change(rt, err != nil, &p.Role, rapid.SampledFrom([]auth.Role{auth.Member, auth.Editor, auth.Admin}))
	return p
}

func (m *machine) session(rt *rapid.T, _ *session) any {
	user, key := rapid.SampledFrom(m.pool.users).Draw(rt, "session of"), rapid.SampledFrom(m.pool.users).Draw(rt, "its key")
	return metadata.Session{UserID: user, KeyID: key, Digest: sessionDigest(user, rapid.Byte().Draw(rt, "session")%3), Created: m.last, Expires: m.last + 1}
}

// sessionDigest returns the digest of one of few sessions of a user. No two users share one.
func sessionDigest(user metadata.ID, n byte) auth.SessionDigest {
	digest := auth.SessionDigest{31: n}
	copy(digest[:], user[:])
	return digest
}

func (m *machine) cascade(rt *rapid.T, _ *session) any {
	return metadata.Cascade{
		Container:   rapid.SampledFrom(slices.Concat(m.pool.dataspaces, m.pool.sets)).Draw(rt, "container"),
		DataspaceID: rapid.SampledFrom(m.pool.dataspaces).Draw(rt, "dataspace"),
		Restore:     rapid.Bool().Draw(rt, "restore"),
		By:          rapid.SampledFrom(m.pool.users).Draw(rt, "by"),
		Deletion:    m.last,
		Begun:       m.last,
		AfterSet:    rapid.SampledFrom(append(m.pool.sets, metadata.ID{})).Draw(rt, "after set"),
		AfterStamp:  rapid.SampledFrom([]metadata.Stamp{0, m.last}).Draw(rt, "after stamp"),
	}
}

func (m *machine) counters(rt *rapid.T, _ *session) any {
	number := rapid.Int64Min(0)
	return usageRow{
		Dataspace: rapid.SampledFrom(append(m.pool.dataspaces, metadata.ID{})).Draw(rt, "usage of"),
		Day:       metadata.Day(rapid.SampledFrom([]int{0, 1, 255, 256, 16524, 1 << 24}).Draw(rt, "day")),
		Counters: metadata.Counters{
			ActiveFiles: number.Draw(rt, "active files"), ActiveBytes: number.Draw(rt, "active bytes"),
			DeletedFiles: number.Draw(rt, "deleted files"), DeletedBytes: number.Draw(rt, "deleted bytes"),
			OldVersions: rapid.SampledFrom([]int64{0, 1}).Draw(rt, "old versions"), OldBytes: rapid.SampledFrom([]int64{0, 2}).Draw(rt, "old bytes"),
		},
	}
}

func (m *machine) userUsage(rt *rapid.T, _ *session) any {
	return metadata.UserUsage{UserID: rapid.SampledFrom(m.pool.users).Draw(rt, "usage of user"), Bytes: rapid.Int64Min(0).Draw(rt, "used")}
}

func (m *machine) blob(rt *rapid.T, _ *session) any {
	digest := rapid.SampledFrom(m.pool.digests).Draw(rt, "blob")
	return blobs.Blob{Digest: digest, Size: rapid.Int64Min(0).Draw(rt, "size"), Object: rapid.SampledFrom(append(objectNames(digest), "")).Draw(rt, "object")}
}

func (m *machine) versionKey(rt *rapid.T) metadata.VersionKey {
	version := rapid.SampledFrom([]uint32{0, 1, math.MaxUint32}).Draw(rt, "version")
	return metadata.VersionKey{Resource: rapid.SampledFrom(m.pool.resources).Draw(rt, "body of"), Version: version}
}

func (m *machine) body(rt *rapid.T, _ *session) any {
	return bodyRow{m.versionKey(rt), strings.Repeat("b", rapid.SampledFrom([]int{0, 1, 4096, 128 << 10}).Draw(rt, "length"))}
}

// version draws one of few versions, removed or not.
func (m *machine) version(rt *rapid.T, _ *session) any {
	key := m.versionKey(rt)
	v := metadata.Version{
		ResourceID: key.Resource, Number: key.Version, Name: rapid.SampledFrom(resourceNames()).Draw(rt, "name"),
		Description: rapid.SampledFrom(texts()).Draw(rt, "description"), MimeType: "a/b", Filename: "file",
		Digest: rapid.SampledFrom(m.pool.digests).Draw(rt, "digest"), Bytes: rapid.Int64Min(0).Draw(rt, "bytes"),
		Body:    rapid.SampledFrom([]metadata.BodyLocation{metadata.InBlob, metadata.InBlob, metadata.Purged, metadata.Inline}).Draw(rt, "body"),
		Created: m.last, CreatedBy: rapid.SampledFrom(m.pool.users).Draw(rt, "by"), Replaced: m.last, Label: rapid.SampledFrom(texts()).Draw(rt, "label"),
	}
	if v.Body == metadata.Purged {
		v.Removed = metadata.Removal{At: m.last, Rule: metadata.ByRetention, Kept: metadata.Retention{Last: 1}}
	}
	return v
}

func (m *machine) damage(rt *rapid.T, _ *session) any {
	what := rapid.SampledFrom(texts()).Draw(rt, "what")
	return metadata.Damage{Digest: rapid.SampledFrom(m.pool.digests).Draw(rt, "damaged"), Found: m.last, What: what}
}

func (m *machine) scrub(rt *rapid.T, _ *session) any {
	number := rapid.Int64Min(0)
	return scrubRow{metadata.ScrubState{
		After: rapid.SampledFrom(m.pool.digests).Draw(rt, "after"), Begun: m.last,
		Checked: number.Draw(rt, "checked"), Found: number.Draw(rt, "found"), Passes: number.Draw(rt, "passes"),
	}}
}

func (m *machine) fill(rt *rapid.T, _ *session) any {
	return fillRow{metadata.FillState{
		Arrivals: rapid.Uint64().Draw(rt, "arrivals"), Switches: rapid.Uint64().Draw(rt, "switches"),
		AfterName: rapid.SampledFrom(texts()).Draw(rt, "after name"), AfterID: rapid.SampledFrom(m.pool.resources).Draw(rt, "after id"),
	}}
}

// upload draws an upload in any state: received or not, complete or not, expired or not. Its ids
// are ids of resources.
func (m *machine) upload(rt *rapid.T, _ *session) any {
	t := metadata.ResumableUpload{
		ID: rapid.SampledFrom(m.pool.resources).Draw(rt, "upload"), SenderID: rapid.SampledFrom(m.pool.users).Draw(rt, "upload of"),
		Created: m.last, Expires: m.moment(rt, "expires"),
		Length: 3, Checkpoint: blobs.Checkpoint{
			Size: 1, Hash: rapid.SampledFrom(texts()).Draw(rt, "checkpoint"), Parts: rapid.SampledFrom(texts()).Draw(rt, "parts"),
		},
	}
	if rapid.Bool().Draw(rt, "whole") {
		t.Digest = rapid.SampledFrom(m.pool.digests).Draw(rt, "digest")
	}
	switch rapid.IntRange(0, 3).Draw(rt, "done") {
	case 0, 1:
		t.Made = rapid.SampledFrom(m.pool.resources).Draw(rt, "made")
	case 2:
		t.Refusal = metadata.Refusal{Kind: errs.Forbidden, Code: errs.CodeForbidden, Message: "text"}
	}
	return t
}

// moment draws a stamp near the present, or at a bound of the key format.
func (m *machine) moment(rt *rapid.T, what string) metadata.Stamp {
	return rapid.SampledFrom([]metadata.Stamp{math.MinInt64, -1, 0, 255, 256, m.last - 1, m.last, m.last + 1, math.MaxInt64}).Draw(rt, what)
}

func (m *machine) unreferenced(rt *rapid.T, _ *session) any {
	number := rapid.Int64Range(0, 1<<40)
	return metadata.Unreferenced{
		Digest: rapid.SampledFrom(m.pool.digests).Draw(rt, "unreferenced"), Bytes: number.Draw(rt, "bytes"),
		Since: m.last, Seen: metadata.Stamp(number.Draw(rt, "seen")),
	}
}

// removeBlob removes all rows of a digest.
func (m *machine) removeBlob(s *session, digest blobs.Digest) {
	s.do(op{"Blobs.Remove", func(tx *metadata.Tx) (any, error) { return nil, tx.Blobs.Remove(digest) }})
	s.do(op{"Trashed.Remove", func(tx *metadata.Tx) (any, error) {
		return nil, tx.Trashed.Remove(metadata.ObjectKey{Digest: digest, Object: objectNames(digest)[1]})
	}})
	s.do(op{"Unreferenced.Remove", func(tx *metadata.Tx) (any, error) { return nil, tx.Unreferenced.Remove(digest) }})
	s.do(op{"Damages.Remove", func(tx *metadata.Tx) (any, error) { return nil, tx.Damages.Remove(digest) }})
}
