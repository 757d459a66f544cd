package tables

import (
	"iter"

	"labshelf/auth"
	"labshelf/metadata"
)

func linkFields(c *codec, l *metadata.Link) {
	recordFields(c, &l.Record)
	c.fixed(l.OwnerID[:])
	c.uint8((*uint8)(&l.Kind))
	c.fixed(l.DataspaceID[:])
	c.fixed(l.SetID[:])
	c.text(&l.Folder)
	c.text(&l.Files)
	c.uint32(&l.Version)
	c.fixed(l.Digest[:])
	c.text(&l.Password)
	c.text(&l.Label)
	c.stamp(&l.Expires)
	c.uint32(&l.MaxUses)
	c.truth(&l.HidesPeople)
	c.int64(&l.MaxBytes)
	c.int64(&l.MaxFile)
	c.text(&l.Types)
	c.uint8((*uint8)(&l.Role))
	c.uint64(&l.Entry)
	added(c, &l.MadeWith, idField)
}

func linkUseFields(c *codec, u *metadata.LinkUse) {
	c.fixed(u.LinkID[:])
	c.uint64(&u.Count)
	c.int64(&u.Bytes)
	c.stamp(&u.Last)
}

type links struct{ *Tx }

func (l links) Get(id metadata.ID) (metadata.Link, error) { return linkTable.get(l.Tx, idKey(id)) }

func (l links) ByDigest(digest auth.LinkDigest) (metadata.Link, error) {
	id, err := idIn(l.Tx, linksByDigest, digest[:])
	if err != nil {
		return metadata.Link{}, err
	}
	return l.Get(id)
}

func (l links) Put(row metadata.Link) error { return linkTable.put(l.Tx, row) }

func (l links) Range(q metadata.LinkRange) iter.Seq2[metadata.Link, error] {
	switch none := (metadata.ID{}); {
	case q.Dataspace != none:
		return linkTable.byIndex(l.Tx, linksByDataspace, idSpan(idKey(q.Dataspace), q.After))
	case q.Owner != none:
		return linkTable.byIndex(l.Tx, linksByOwner, idSpan(idKey(q.Owner), q.After))
	}
	return linkTable.all(l.Tx, idSpan(nil, q.After))
}

type linkUses struct{ *Tx }

func (u linkUses) Get(link metadata.ID) (metadata.LinkUse, error) {
	return linkUseTable.get(u.Tx, idKey(link))
}

func (u linkUses) Put(row metadata.LinkUse) error { return linkUseTable.put(u.Tx, row) }

func (u linkUses) All(after metadata.ID) iter.Seq2[metadata.LinkUse, error] {
	return linkUseTable.all(u.Tx, idSpan(nil, after))
}
