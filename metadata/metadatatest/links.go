package metadatatest

import (
	"iter"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"labshelf/auth"
	"labshelf/metadata"
)

type links struct {
	table[metadata.ID, metadata.Link]
}

func (t links) ByDigest(digest auth.LinkDigest) (metadata.Link, error) {
	for l, err := range t.all(func(l metadata.Link) bool { return l.Digest == digest }, t.byKey) {
		return l, err
	}
	return metadata.Link{}, metadata.ErrNotFound
}

func (t links) Range(q metadata.LinkRange) iter.Seq2[metadata.Link, error] {
	return t.all(func(l metadata.Link) bool {
		in := q.Dataspace == l.DataspaceID
		if q.Dataspace == (metadata.ID{}) {
			in = q.Owner == (metadata.ID{}) || q.Owner == l.OwnerID
		}
		return in && l.ID.Compare(q.After) > 0
	}, t.byKey)
}

// linkDigest returns a digest that no other link has.
func linkDigest(of metadata.ID, nth byte) auth.LinkDigest {
	return auth.LinkDigest(append(slices.Concat(of[:], of[1:]), nth))
}

func (a *answers) askLinks(tx *metadata.Tx, p probe) {
	noteAll(a, "Links.Range", tx.Links.Range(metadata.LinkRange{}))
	noteAll(a, "LinkUses.All", tx.LinkUses.All(metadata.ID{}))
	for _, id := range p.ids {
		row, err := tx.Links.Get(id)
		note(a, "Links.Get "+id.String(), row, err)
		use, err := tx.LinkUses.Get(id)
		note(a, "LinkUses.Get "+id.String(), use, err)
		noteAll(a, "Links.Range after "+id.String(), tx.Links.Range(metadata.LinkRange{After: id}))
		noteAll(a, "LinkUses.All after "+id.String(), tx.LinkUses.All(id))
		noteAll(a, "Links.Range of dataspace "+id.String(), tx.Links.Range(metadata.LinkRange{Dataspace: id}))
		noteAll(a, "Links.Range of owner "+id.String(), tx.Links.Range(metadata.LinkRange{Owner: id}))
		for nth := range byte(2) {
			row, err := tx.Links.ByDigest(linkDigest(id, nth))
			note(a, "Links.ByDigest "+id.String(), row, err)
		}
	}
}

func (m *machine) link(rt *rapid.T, s *session) any {
	id := rapid.SampledFrom(m.pool.resources).Draw(rt, "link")
	l, err := s.tx.Links.Get(id)
	l.ID = id
	m.record(rt, s, err != nil, &l.Record)
	l.Kind = metadata.LinkKind(rapid.IntRange(1, 3).Draw(rt, "kind"))
	l.Digest = linkDigest(id, byte(rapid.IntRange(0, 1).Draw(rt, "digest")))
	change(rt, err != nil, &l.DataspaceID, rapid.SampledFrom(append(m.pool.dataspaces, metadata.ID{})))
	change(rt, err != nil, &l.OwnerID, rapid.SampledFrom(m.pool.users))
	change(rt, err != nil, &l.Label, rapid.SampledFrom(texts()))
	return l
}

func (m *machine) linkUse(rt *rapid.T, _ *session) any {
	return metadata.LinkUse{LinkID: rapid.SampledFrom(m.pool.resources).Draw(rt, "use of"), Count: rapid.Uint64().Draw(rt, "count"), Last: m.last}
}

// sizesOfLinks returns the smallest and largest link and link use.
func sizesOfLinks(least, most metadata.Record, long string) []any {
	return []any{
		metadata.Link{Record: least, Kind: metadata.ShareLink},
		metadata.Link{
			Record: most, OwnerID: maxID(), Kind: metadata.Invitation, DataspaceID: maxID(), SetID: maxID(), Folder: long, Files: strings.Repeat("f", 16*500),
			Version: math.MaxUint32, Digest: auth.LinkDigest(slices.Repeat([]byte{0xff}, 32)), Password: long, Label: long, Expires: math.MaxInt64,
			MaxUses: math.MaxUint32, HidesPeople: true, MaxBytes: math.MaxInt64, MaxFile: math.MaxInt64, Types: long, Role: auth.Admin, Entry: math.MaxUint64,
			MadeWith: maxID(),
		},
		metadata.LinkUse{LinkID: id(16)},
		metadata.LinkUse{LinkID: maxID(), Count: math.MaxUint64, Bytes: math.MaxInt64, Last: math.MaxInt64},
	}
}

// testLinks tests that links are found by their current digest, dataspace and owner, and not by
// former ones.
func testLinks(t *testing.T, s *store) {
	link := func(n, dataspace, owner, digest byte) metadata.Link {
		return metadata.Link{
			Record: metadata.Record{ID: id(n), State: metadata.Active}, Kind: metadata.ShareLink, DataspaceID: id(dataspace), OwnerID: id(owner),
			Digest: linkDigest(id(digest), 0),
		}
	}
	s.put(t, link(3, 1, 2, 3), link(1, 1, 1, 1), link(2, 2, 1, 2))
	s.put(t, link(1, 2, 2, 9))
	found := func(q metadata.LinkRange) []metadata.ID {
		all := view(t, s, func(tx *metadata.Tx) ([]metadata.Link, error) { return list(tx.Links.Range(q)) })
		return mapped(all, func(l metadata.Link) metadata.ID { return l.ID })
	}
	same(t, "of a dataspace", found(metadata.LinkRange{Dataspace: id(2)}), []metadata.ID{id(1), id(2)})
	same(t, "of an owner, after one", found(metadata.LinkRange{Owner: id(2), After: id(1)}), []metadata.ID{id(3)})
	same(t, "all", found(metadata.LinkRange{}), []metadata.ID{id(1), id(2), id(3)})
	err := s.View(t.Context(), func(tx *metadata.Tx) error {
		if l, err := tx.Links.ByDigest(linkDigest(id(9), 0)); err != nil || l.ID != id(1) {
			t.Errorf("by the digest that it has now: %v, %v", l.ID, err)
		}
		_, err := tx.Links.ByDigest(linkDigest(id(1), 0))
		return err
	})
	isError(t, "by the digest that it had", err, metadata.ErrNotFound)
}
