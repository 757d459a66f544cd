package tables

import (
	"bytes"
	"iter"

	"labshelf/metadata"
	"labshelf/paging"
)

type schemas struct {
	rows[metadata.ID, metadata.Schema, schemaNoun]
}

func (s schemas) OfDataspace(dataspace metadata.ID, states paging.States) iter.Seq2[metadata.Schema, error] {
	l := listing{index: schemasByDataspace, spans: idSpan(nil, metadata.ID{}).inScopes([]metadata.ID{dataspace}, states)}
	return sequence(func(fn func(*metadata.Schema) bool) error { return each(s.Tx, &schemaTable, l, &codec{}, fn) })
}

type edits struct {
	rows[metadata.ID, metadata.BulkEdit, editNoun]
}

func (e edits) OfSet(set, before metadata.ID) iter.Seq2[metadata.BulkEdit, error] {
	s := span{lo: idKey(set), hi: pairKey(set, before), scope: idSize}
	if before == (metadata.ID{}) {
		s.hi = justAfter(pairKey(set, metadata.ID(bytes.Repeat([]byte{0xff}, idSize))))
	}
	l := listing{index: editsBySet, spans: []span{s}, backwards: true}
	return sequence(func(fn func(*metadata.BulkEdit) bool) error { return each(e.Tx, &editTable, l, &codec{}, fn) })
}
