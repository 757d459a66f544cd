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

type links struct {
	rows[metadata.ID, metadata.Link, linkNoun]
}

func (l links) ByDigest(digest auth.LinkDigest) (metadata.Link, error) {
	id, err := idIn(l.Tx, linksByDigest, digest[:])
	if err != nil {
		return metadata.Link{}, err
	}
	return linkTable.get(l.Tx, idKey(id))
}

func (l links) Range(q metadata.LinkRange) iter.Seq2[metadata.Link, error] {
	switch none := (metadata.ID{}); {
	case q.Dataspace != none:
		return linkTable.byIndex(l.Tx, linksByDataspace, idSpan(idKey(q.Dataspace), q.After))
	case q.Owner != none:
		return linkTable.byIndex(l.Tx, linksByOwner, idSpan(idKey(q.Owner), q.After))
	}
	return linkTable.all(l.Tx, idSpan(nil, q.After))
}
