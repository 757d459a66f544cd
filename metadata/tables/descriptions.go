package tables

import (
	"bytes"
	"fmt"
	"iter"

	"labshelf/metadata"
	"labshelf/paging"
)

// What is said about objects: descriptive metadata, the schemas that they follow, the bulk edits
// that change them, folders, and what clients keep with files.

type descriptives struct{ *Tx }

func (d descriptives) Get(object metadata.ID) (metadata.Descriptive, error) {
	return descriptiveTable.get(d.Tx, idKey(object))
}

func (d descriptives) Put(row metadata.Descriptive) error { return descriptiveTable.put(d.Tx, row) }

func (d descriptives) Remove(object metadata.ID) error {
	return descriptiveTable.remove(d.Tx, idKey(object))
}

func (d descriptives) All(after metadata.ID) iter.Seq2[metadata.Descriptive, error] {
	return descriptiveTable.all(d.Tx, idSpan(nil, after))
}

type schemas struct{ *Tx }

func (s schemas) Get(id metadata.ID) (metadata.Schema, error) {
	return schemaTable.get(s.Tx, idKey(id))
}

func (s schemas) Put(row metadata.Schema) error { return schemaTable.put(s.Tx, row) }

func (s schemas) All(after metadata.ID) iter.Seq2[metadata.Schema, error] {
	return schemaTable.all(s.Tx, idSpan(nil, after))
}

func (s schemas) OfDataspace(dataspace metadata.ID, states paging.States) iter.Seq2[metadata.Schema, error] {
	l := listing{index: schemasByDataspace, spans: idSpan(nil, metadata.ID{}).inScopes([]metadata.ID{dataspace}, states)}
	return sequence(func(fn func(*metadata.Schema) bool) error { return each(s.Tx, &schemaTable, l, &codec{}, fn) })
}

type schemaVersions struct{ *Tx }

func (v schemaVersions) Get(of metadata.SchemaVersionKey) (metadata.SchemaVersion, error) {
	return schemaVersionTable.get(v.Tx, schemaVersionKey(of))
}

func (v schemaVersions) Put(row metadata.SchemaVersion) error {
	return schemaVersionTable.put(v.Tx, row)
}

func (v schemaVersions) Before(of metadata.SchemaVersionKey) iter.Seq2[metadata.SchemaVersion, error] {
	return schemaVersionTable.backwards(v.Tx, span{lo: idKey(of.Schema), hi: schemaVersionKey(of)})
}

func (v schemaVersions) All(after metadata.SchemaVersionKey) iter.Seq2[metadata.SchemaVersion, error] {
	s := span{}
	if after != (metadata.SchemaVersionKey{}) {
		s.lo = justAfter(schemaVersionKey(after))
	}
	return schemaVersionTable.all(v.Tx, s)
}

type edits struct{ *Tx }

func (e edits) Get(id metadata.ID) (metadata.BulkEdit, error) { return editTable.get(e.Tx, idKey(id)) }

func (e edits) Put(row metadata.BulkEdit) error { return editTable.put(e.Tx, row) }

func (e edits) All(after metadata.ID) iter.Seq2[metadata.BulkEdit, error] {
	return editTable.all(e.Tx, idSpan(nil, after))
}

func (e edits) OfSet(set, before metadata.ID) iter.Seq2[metadata.BulkEdit, error] {
	s := span{lo: idKey(set), hi: pairKey(set, before), scope: idSize}
	if before == (metadata.ID{}) {
		s.hi = justAfter(pairKey(set, metadata.ID(bytes.Repeat([]byte{0xff}, idSize))))
	}
	l := listing{index: editsBySet, spans: []span{s}, backwards: true}
	return sequence(func(fn func(*metadata.BulkEdit) bool) error { return each(e.Tx, &editTable, l, &codec{}, fn) })
}

type entriesOfEdits struct{ *Tx }

func (e entriesOfEdits) Put(row metadata.EditEntry) error {
	e.mustWrite()
	key := editEntryKey(row)
	e.put(editEntries, key, seal(key, editEntryFields, row))
	return e.failed
}

func (e entriesOfEdits) From(of metadata.EditEntry) iter.Seq2[metadata.EditEntry, error] {
	return e.rows(scopeSpan(idKey(of.EditID)).from(editEntryKey(of)))
}

func (e entriesOfEdits) All(after metadata.EditEntry) iter.Seq2[metadata.EditEntry, error] {
	s := span{}
	if after != (metadata.EditEntry{}) {
		s.lo = justAfter(editEntryKey(after))
	}
	return e.rows(s)
}

func (e entriesOfEdits) rows(s span) iter.Seq2[metadata.EditEntry, error] {
	return func(yield func(metadata.EditEntry, error) bool) {
		for key, record := range e.walk(editEntries, s) {
			row, ok := splitEditEntryKey(key)
			if _, err := unseal(key, record, editEntryFields); err != nil || !ok {
				yield(row, fmt.Errorf("tables: %s %x: %w", editEntries, key, metadata.ErrRecordDamaged))
				return
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

type folders struct{ *Tx }

func (f folders) Get(of metadata.FolderKey) (metadata.Folder, error) {
	return folderTable.get(f.Tx, folderKey(of))
}

func (f folders) Put(row metadata.Folder) error { return folderTable.put(f.Tx, row) }

func (f folders) Remove(of metadata.FolderKey) error { return folderTable.remove(f.Tx, folderKey(of)) }

func (f folders) From(of metadata.FolderKey) iter.Seq2[metadata.Folder, error] {
	return folderTable.all(f.Tx, scopeSpan(idKey(of.SetID)).from(folderKey(of)))
}

func (f folders) All(after metadata.FolderKey) iter.Seq2[metadata.Folder, error] {
	s := span{}
	if after != (metadata.FolderKey{}) {
		s.lo = justAfter(folderKey(after))
	}
	return folderTable.all(f.Tx, s)
}

type propertiesOfFiles struct{ *Tx }

func (p propertiesOfFiles) Get(resource metadata.ID) (metadata.FileProperties, error) {
	return filePropertiesTable.get(p.Tx, idKey(resource))
}

func (p propertiesOfFiles) Put(row metadata.FileProperties) error {
	return filePropertiesTable.put(p.Tx, row)
}

func (p propertiesOfFiles) Remove(resource metadata.ID) error {
	return filePropertiesTable.remove(p.Tx, idKey(resource))
}

func (p propertiesOfFiles) All(after metadata.ID) iter.Seq2[metadata.FileProperties, error] {
	return filePropertiesTable.all(p.Tx, idSpan(nil, after))
}
