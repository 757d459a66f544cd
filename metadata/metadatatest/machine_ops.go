package metadatatest

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/paging"
)

// pool is what the rows of one history are made of: few enough ids that most writes meet an earlier one.
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

// probe returns what to ask to learn everything about a history.
func (p pool) probe() probe {
	asked := probe{digests: p.digests, names: slices.Concat(containerNames(), resourceNames())}
	asked.parents = slices.Concat(p.dataspaces, p.sets, p.users)
	asked.ids = slices.Concat(asked.parents, p.resources, p.keys, p.privileges)
	for _, key := range p.keys {
		for version := range byte(2) {
			asked.keys = append(asked.keys, keyDigest(key, version))
		}
	}
	return asked
}

// keyDigest returns one of the two digests that a key may have.
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

// change draws a new value for a field: always in a new row, at times in one that is replaced.
func change[T any](rt *rapid.T, isNew bool, field *T, values *rapid.Generator[T]) {
	if isNew || rapid.Bool().Draw(rt, "changes") {
		*field = values.Draw(rt, "value")
	}
}

// write draws a write and does it.
func (m *machine) write(rt *rapid.T, s *session) {
	draw := []func(*rapid.T, *session) any{
		m.resource, m.resource, m.resource, m.resource, m.dataspace, m.set, m.set, m.user, m.key, m.session, m.transfer, m.privilege, m.step, m.counters, m.blob,
		m.damage, m.scrub, m.body, m.body, m.unreferenced,
	}
	switch n := rapid.IntRange(0, len(draw)+5).Draw(rt, "write"); n {
	case len(draw):
		m.stamp(s)
	case len(draw) + 1:
		digest := rapid.SampledFrom(m.pool.digests).Draw(rt, "digest")
		m.removeBlob(s, digest)
	case len(draw) + 2:
		if running, err := list(inOrder(s.tx.Steps.All())); err == nil && len(running) > 0 {
			container := rapid.SampledFrom(running).Draw(rt, "step").Container
			s.do(op{"Steps.Remove", func(tx *metadata.Tx) (any, error) { return nil, tx.Steps.Remove(container) }})
		}
	case len(draw) + 3:
		of := m.bodyKey(rt)
		s.do(op{"Bodies.Remove", func(tx *metadata.Tx) (any, error) { return nil, tx.Bodies.Remove(of) }})
		s.do(op{"Bodies.Total", func(tx *metadata.Tx) (any, error) { return tx.Bodies.Total() }})
	case len(draw) + 4:
		user := rapid.SampledFrom(m.pool.users).Draw(rt, "user")
		digest := sessionDigest(user, rapid.Byte().Draw(rt, "session")%3)
		s.do(op{"Sessions.Remove", func(tx *metadata.Tx) (any, error) { return nil, tx.Sessions.Remove(user, digest) }})
	case len(draw) + 5:
		of := rapid.SampledFrom(m.pool.resources).Draw(rt, "transfer")
		s.do(op{"Transfers.Remove", func(tx *metadata.Tx) (any, error) { return nil, tx.Transfers.Remove(of) }})
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

// record draws what all rows have. The modification has a stamp of its own, or shares one with other rows.
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
	change(rt, err != nil, &d.Visibility, rapid.SampledFrom([]metadata.Visibility{metadata.Private, metadata.Public}))
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
		r.Body = rapid.SampledFrom([]metadata.Body{metadata.Filed, metadata.Purged, metadata.Held}).Draw(rt, "body")
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

// privilege draws a privilege of a new pair, or one that there is; either way no pair gets a second one.
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

// sessionDigest is of one of the few sessions of a user: no two users have the same.
func sessionDigest(user metadata.ID, n byte) auth.SessionDigest {
	digest := auth.SessionDigest{31: n}
	copy(digest[:], user[:])
	return digest
}

func (m *machine) step(rt *rapid.T, _ *session) any {
	return metadata.Step{
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
		},
	}
}

func (m *machine) blob(rt *rapid.T, _ *session) any {
	return blobRow{rapid.SampledFrom(m.pool.digests).Draw(rt, "blob"), rapid.Int64Min(0).Draw(rt, "size")}
}

func (m *machine) bodyKey(rt *rapid.T) metadata.BodyKey {
	version := rapid.SampledFrom([]uint32{0, 1, math.MaxUint32}).Draw(rt, "version")
	return metadata.BodyKey{Resource: rapid.SampledFrom(m.pool.resources).Draw(rt, "body of"), Version: version}
}

func (m *machine) body(rt *rapid.T, _ *session) any {
	return bodyRow{m.bodyKey(rt), strings.Repeat("b", rapid.SampledFrom([]int{0, 1, 4096, 128 << 10}).Draw(rt, "length"))}
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

// reads draws listings and single rows.
func (m *machine) reads(rt *rapid.T, s *session, most int) {
	for range rapid.IntRange(most/2, most).Draw(rt, "reads") {
		s.do(m.read(rt, s))
	}
}

func (m *machine) read(rt *rapid.T, s *session) op {
	few := rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(rt, "items")
	after := func(ids []metadata.ID) metadata.ID {
		return rapid.SampledFrom(slices.Concat(ids, []metadata.ID{{}, m.pool.resources[0]})).Draw(rt, "after")
	}
	switch rapid.IntRange(0, 14).Draw(rt, "read") {
	case 0:
		from := after(m.pool.dataspaces)
		return rowsOp("Dataspaces.All", few, func(tx *metadata.Tx) iter.Seq2[metadata.Dataspace, error] { return tx.Dataspaces.All(from) })
	case 1:
		from := after(m.pool.dataspaces)
		return rowsOp("Dataspaces.Public", few, func(tx *metadata.Tx) iter.Seq2[metadata.ID, error] { return tx.Dataspaces.Public(from) })
	case 2:
		from := after(m.pool.users)
		return rowsOp("Users.All", few, func(tx *metadata.Tx) iter.Seq2[metadata.User, error] { return tx.Users.All(from) })
	case 3:
		of, from := m.pool.users[rapid.IntRange(0, 1).Draw(rt, "of user")], after(m.pool.keys)
		return rowsOp("Keys.OfUser", few, func(tx *metadata.Tx) iter.Seq2[metadata.Key, error] { return tx.Keys.OfUser(of, from) })
	case 4:
		return rowsOp("Privileges.All", few, allAfter(after(m.pool.privileges)))
	case 5:
		return rowsOp("Privileges.OfUser", few, ofUser(rapid.SampledFrom(m.pool.users).Draw(rt, "of user"), after(m.pool.dataspaces)))
	case 6, 7:
		q := metadata.SetRange{Dataspaces: m.someDataspaces(rt), After: after(m.pool.sets)}
		q.States = rapid.SampledFrom(states()).Draw(rt, "states")
		seq := func(tx *metadata.Tx) iter.Seq2[metadata.Set, error] { return tx.Sets.Range(q) }
		return rowsOp(fmt.Sprintf("Sets.Range %+v", q), few, seq)
	case 8:
		from := m.bodyKey(rt)
		return rowsOp("Bodies.All", few, func(tx *metadata.Tx) iter.Seq2[metadata.BodyKey, error] { return tx.Bodies.All(from) })
	case 9:
		return m.transfers(rt, few)
	default:
		q := m.resourceRange(rt, s)
		if rapid.Bool().Draw(rt, "lent") {
			seq := func(tx *metadata.Tx) iter.Seq2[metadata.Resource, error] { return Paged(tx, q) }
			return rowsOp(fmt.Sprintf("Resources.Page %+v", q), few, seq)
		}
		seq := func(tx *metadata.Tx) iter.Seq2[metadata.Resource, error] { return tx.Resources.Range(q) }
		return rowsOp(fmt.Sprintf("Resources.Range %+v", q), few, seq)
	}
}

// someDataspaces draws dataspaces in any order, none of them, or nil.
func (m *machine) someDataspaces(rt *rapid.T) []metadata.ID {
	if rapid.Bool().Draw(rt, "of all dataspaces") {
		return nil
	}
	n := rapid.IntRange(0, len(m.pool.dataspaces)).Draw(rt, "dataspaces")
	return rapid.Permutation(m.pool.dataspaces).Draw(rt, "of dataspaces")[:n]
}

// resourceRange draws a range in which, mostly, a certain resource is, or whose bounds are at or beside it.
func (m *machine) resourceRange(rt *rapid.T, s *session) (q metadata.ResourceRange) {
	near := metadata.Resource{Record: metadata.Record{ID: m.pool.resources[0], State: metadata.Active, Modified: 1}, Name: "a", SetID: m.pool.sets[0]}
	if rows, err := list(s.tx.Resources.Range(metadata.ResourceRange{States: paging.All})); err == nil && len(rows) > 0 {
		near = rapid.SampledFrom(rows).Draw(rt, "near")
	}
	q.States = rapid.SampledFrom([]paging.States{paging.All, paging.States(near.State), paging.Active, paging.Deleted}).Draw(rt, "states")
	q.Order = rapid.SampledFrom([]paging.Order{paging.Oldest, paging.Newest, paging.ByName}).Draw(rt, "order")
	if q.Order == paging.ByName || rapid.Bool().Draw(rt, "of a set") {
		q.Set = rapid.SampledFrom(append(m.pool.sets, near.SetID, near.SetID)).Draw(rt, "set")
	} else {
		q.Dataspaces = m.someDataspaces(rt)
	}
	if q.Order == paging.ByName {
		m.nameBounds(rt, &q, near)
		return q
	}
	if rapid.Bool().Draw(rt, "after a position") {
		beside := rapid.SampledFrom([]int64{0, 0, 0, -1, 1}).Draw(rt, "beside")
		q.After = paging.Position{Stamp: int64(near.Modified) + beside, ID: near.ID}
	}
	bound := rapid.SampledFrom([]metadata.Stamp{0, 0, 0, near.Modified, near.Modified - 1, near.Modified + 1, m.last})
	q.Since, q.Until = bound.Draw(rt, "since"), bound.Draw(rt, "until")
	return q
}

func (m *machine) nameBounds(rt *rapid.T, q *metadata.ResourceRange, near metadata.Resource) {
	switch rapid.IntRange(0, 3).Draw(rt, "name filter") {
	case 0:
		q.Name = &near.Name
	case 1:
		q.NamePrefix = near.Name[:rapid.IntRange(0, min(2, len(near.Name))).Draw(rt, "prefix length")]
	}
	if rapid.Bool().Draw(rt, "after a position") {
		q.After = paging.Position{Name: near.Name, ID: rapid.SampledFrom(append(m.pool.resources, near.ID, near.ID, near.ID)).Draw(rt, "after id")}
	}
}
