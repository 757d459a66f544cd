package metadatatest

import (
	"crypto/sha256"
	"math"
	"reflect"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/metadata"
)

// pool contains the ids of one history. It has so few ids that most writes affect the row of an
// earlier one.
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

// probe returns the values for queries that reveal everything about a history.
func (p pool) probe() probe {
	asked := probeOf()
	asked.names = slices.Concat(containerNames(), resourceNames(), []string{"AA", "mixed.case", "", "o"})
	asked.parents, asked.after = slices.Concat(p.dataspaces, p.sets, p.users), slices.Concat(p.dataspaces, p.keys)
	asked.ids = slices.Concat(asked.parents, p.resources, p.keys, p.privileges)
	know(asked, asked.ids...)
	know(asked, p.digests...)
	know(asked, p.sessions()...)
	know(asked, slices.Concat(leaseNames(), folderPaths())...)
	for _, number := range numbers() {
		know(asked, number)
		know(asked, uint32(number))
	}
	for _, digest := range p.digests {
		know(asked, objectNames(digest)...)
	}
	for version := range byte(2) {
		for _, of := range pairs(p.users, p.keys) {
			know(asked, auth.KeyDigest(digestOf(of[0], of[1], version)))
		}
		for _, link := range p.resources {
			know(asked, auth.LinkDigest(digestOf(link, link, version)))
		}
	}
	return asked
}

// sessions returns a few session digests of each user. A session of one user may have the same
// digest as a session of another user.
func (p pool) sessions() (all []auth.SessionDigest) {
	for n := range byte(3) {
		all = append(all, mapped(p.users, func(user metadata.ID) auth.SessionDigest { return digestOf(user, user, n) })...)
	}
	return all
}

// digestOf returns one of the digests of a pair of ids, which no other pair has.
func digestOf(first, second metadata.ID, nth byte) [32]byte {
	return sha256.Sum256(append(slices.Concat(first[:], second[:]), nth))
}

// numbers returns numbers for keys.
func numbers() []uint64 { return []uint64{0, 1, 255, 256, math.MaxUint32, math.MaxUint64} }

func texts() []string {
	return []string{"", "text", "line\r\nbreak\t\"quoted\" \\ <&> \u2028 é 𝄞", strings.Repeat("long ", 3000)}
}

// write draws a write and performs it.
func (m *machine) write(rt *rapid.T, s *session) {
	if rapid.Bool().Draw(rt, "stamp") {
		m.stamp(s)
	}
	var often []noun
	for _, n := range nouns {
		often = append(often, slices.Repeat([]noun{n}, max(1, n.often))...)
	}
	n := often[rapid.IntRange(0, len(often)-1).Draw(rt, "table")]
	row := m.row(rt, s, n)
	if n.remove == nil || rapid.IntRange(0, 5).Draw(rt, "removes at 5") < 5 {
		s.do(op{"put in " + n.name, func(tx *metadata.Tx) (any, error) { return nil, n.put(tx, row) }})
		return
	}
	if present, err := n.all(s.tx, nil); err == nil && len(present) > 0 && rapid.Bool().Draw(rt, "which is there") {
		row = rapid.SampledFrom(present).Draw(rt, "row")
	}
	s.do(op{"remove from " + n.name, func(tx *metadata.Tx) (any, error) { return nil, n.remove(tx, row) }})
}

// stamp takes a stamp in both stores.
func (m *machine) stamp(s *session) metadata.Stamp {
	taken := s.do(op{"Stamp", func(tx *metadata.Tx) (any, error) { return tx.Stamp(), nil }})
	m.last = taken.Value.(metadata.Stamp)
	return m.last
}

// row draws a row with a new key, or an existing row with some fields changed.
func (m *machine) row(rt *rapid.T, s *session, n noun) any {
	row := reflect.New(n.row).Elem()
	draw := func(f leaf, inKey bool) {
		f.in(row).Set(reflect.ValueOf(m.value(rt, n, f, inKey)).Convert(f.kind))
	}
	for _, f := range n.identity {
		draw(f, true)
	}
	present, err := n.get(s.tx, row.Interface())
	if err == nil {
		row.Set(reflect.ValueOf(present))
	}
	for _, f := range n.rest {
		if err != nil || rapid.Bool().Draw(rt, "changes") {
			draw(f, false)
		}
	}
	if n.fit != nil {
		return n.fit(m, rt, s, row.Interface())
	}
	return row.Interface()
}

// value draws the value of a field.
func (m *machine) value(rt *rapid.T, n noun, f leaf, inKey bool) any {
	if values := choices()[f.kind]; values != nil {
		return rapid.SampledFrom(values).Draw(rt, f.name)
	}
	switch kind := f.kind; {
	case kind == reflect.TypeFor[metadata.ID]():
		return rapid.SampledFrom(m.idsFor(n, f)).Draw(rt, f.name)
	case kind == reflect.TypeFor[blobs.Digest]():
		return rapid.SampledFrom(m.pool.digests).Draw(rt, f.name)
	case kind == reflect.TypeFor[auth.SessionDigest]():
		return rapid.SampledFrom(m.pool.sessions()).Draw(rt, f.name)
	case kind == reflect.TypeFor[metadata.Stamp]():
		return m.moment(rt, f.name)
	case kind == reflect.TypeFor[metadata.Day]():
		return rapid.SampledFrom([]int{0, 1, 255, 256, 16524, 1 << 24}).Draw(rt, f.name)
	}
	switch f.kind.Kind() {
	case reflect.Array:
		return array(f.kind, rapid.Byte().Draw(rt, f.name))
	case reflect.String:
		if values := n.texts[f.name]; values != nil {
			return rapid.SampledFrom(values).Draw(rt, f.name)
		}
		return rapid.SampledFrom(texts()).Draw(rt, f.name)
	case reflect.Int64:
		return rapid.Int64Min(0).Draw(rt, f.name)
	}
	if inKey {
		return rapid.SampledFrom(numbers()).Draw(rt, f.name)
	}
	return rapid.Uint64().Draw(rt, f.name)
}

// idsFor returns the ids that a field may have.
func (m *machine) idsFor(n noun, f leaf) []metadata.ID {
	ids := map[string][]metadata.ID{
		"Dataspaces.ID": m.pool.dataspaces, "Sets.ID": m.pool.sets, "Users.ID": m.pool.users, "Keys.ID": m.pool.keys, "Privileges.ID": m.pool.privileges,
		"SetID": m.pool.sets, "AfterSet": withZero(m.pool.sets), "DataspaceID": m.pool.dataspaces, "Dataspace": withZero(m.pool.dataspaces),
		"Links.DataspaceID": withZero(m.pool.dataspaces), "Webhooks.DataspaceID": withZero(m.pool.dataspaces),
		"Container": slices.Concat(m.pool.dataspaces, m.pool.sets), "ObjectID": slices.Concat(m.pool.resources[:4], m.pool.sets),
	}
	for _, user := range []string{"UserID", "OwnerID", "SenderID", "CreatedBy", "ModifiedBy", "By", "Holder", "Instance"} {
		ids[user] = m.pool.users
	}
	for _, name := range []string{n.name + "." + f.name, f.name} {
		if values := ids[name]; values != nil {
			return values
		}
	}
	return m.pool.resources
}

// moment draws a stamp. It is usually near the present. For a clock reading in a key, it may be at
// a bound of the key format.
func (m *machine) moment(rt *rapid.T, name string) metadata.Stamp {
	switch name {
	case "Modified":
		return max(1, m.last-rapid.SampledFrom([]metadata.Stamp{0, 0, 1}).Draw(rt, name))
	case "Expires", "Last", "by":
		return rapid.SampledFrom([]metadata.Stamp{math.MinInt64, -1, 0, 255, 256, m.last - 1, m.last, m.last + 1, math.MaxInt64}).Draw(rt, name)
	}
	return rapid.SampledFrom([]metadata.Stamp{0, m.last}).Draw(rt, name)
}
