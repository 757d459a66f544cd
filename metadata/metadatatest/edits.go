package metadatatest

import (
	"fmt"
	"iter"
	"math"
	"testing"

	"pgregory.net/rapid"

	"labshelf/metadata"
	"labshelf/paging"
)

type schemas struct {
	table[metadata.ID, metadata.Schema]
}

func (t schemas) OfDataspace(dataspace metadata.ID, states paging.States) iter.Seq2[metadata.Schema, error] {
	return t.all(func(s metadata.Schema) bool { return s.DataspaceID == dataspace && has(states, s.State) }, t.byKey)
}

type edits struct {
	table[metadata.ID, metadata.BulkEdit]
}

func (t edits) OfSet(set, before metadata.ID) iter.Seq2[metadata.BulkEdit, error] {
	older := func(e metadata.BulkEdit) bool {
		return e.SetID == set && (before == metadata.ID{} || e.ID.Compare(before) < 0)
	}
	return t.all(older, func(a, b metadata.BulkEdit) int { return t.byKey(b, a) })
}

// putEdited is put for schemas, their versions, bulk edits and their entries.
func putEdited(tx *metadata.Tx, row any) error {
	switch row := row.(type) {
	case metadata.Schema:
		return tx.Schemas.Put(row)
	case metadata.SchemaVersion:
		return tx.SchemaVersions.Put(row)
	case metadata.BulkEdit:
		return tx.Edits.Put(row)
	case metadata.EditEntry:
		return tx.EditEntries.Put(row)
	}
	return putFolder(tx, row)
}

// waysToEdited is waysTo for the rows of putEdited.
func waysToEdited(row any) []way {
	switch row := row.(type) {
	case metadata.Schema:
		return []way{{"Schemas.Get", func(tx *metadata.Tx) (any, error) { return tx.Schemas.Get(row.ID) }}}
	case metadata.SchemaVersion:
		return []way{{"SchemaVersions.Get", func(tx *metadata.Tx) (any, error) { return tx.SchemaVersions.Get(row.Key()) }}}
	case metadata.BulkEdit:
		return []way{{"Edits.Get", func(tx *metadata.Tx) (any, error) { return tx.Edits.Get(row.ID) }}}
	case metadata.EditEntry:
		return []way{{"EditEntries.From", func(tx *metadata.Tx) (any, error) {
			for found, err := range tx.EditEntries.From(row) {
				return found, err
			}
			return nil, metadata.ErrNotFound
		}}}
	}
	return waysToFolder(row)
}

func (a *answers) askSchemas(tx *metadata.Tx, p probe) {
	noteAll(a, "Schemas.All", tx.Schemas.All(metadata.ID{}))
	noteAll(a, "SchemaVersions.All", tx.SchemaVersions.All(metadata.SchemaVersionKey{}))
	for _, id := range p.ids {
		row, err := tx.Schemas.Get(id)
		note(a, "Schemas.Get "+id.String(), row, err)
		noteAll(a, "Schemas.All after "+id.String(), tx.Schemas.All(id))
		for _, of := range states() {
			noteAll(a, fmt.Sprintf("Schemas.OfDataspace %s %d", id, of), tx.Schemas.OfDataspace(id, of))
		}
		last := metadata.SchemaVersionKey{Schema: id, Number: math.MaxUint32}
		version, err := tx.SchemaVersions.Get(last)
		note(a, "SchemaVersions.Get the last of "+id.String(), version, err)
		noteAll(a, "SchemaVersions.Before the last of "+id.String(), tx.SchemaVersions.Before(last))
		noteAll(a, "SchemaVersions.All after the last of "+id.String(), tx.SchemaVersions.All(last))
		for older, err := range tx.SchemaVersions.Before(last) {
			if err != nil {
				break // counted above
			}
			row, err := tx.SchemaVersions.Get(older.Key())
			note(a, fmt.Sprintf("SchemaVersions.Get %s %d", id, older.Number), row, err)
			noteAll(a, fmt.Sprintf("SchemaVersions.Before %s %d", id, older.Number), tx.SchemaVersions.Before(older.Key()))
		}
	}
}

func (a *answers) askEdits(tx *metadata.Tx, p probe) {
	noteAll(a, "Edits.All", tx.Edits.All(metadata.ID{}))
	noteAll(a, "EditEntries.All", tx.EditEntries.All(metadata.EditEntry{}))
	for _, id := range p.ids {
		row, err := tx.Edits.Get(id)
		note(a, "Edits.Get "+id.String(), row, err)
		noteAll(a, "Edits.All after "+id.String(), tx.Edits.All(id))
		noteAll(a, "Edits.OfSet "+id.String(), tx.Edits.OfSet(id, metadata.ID{}))
		for _, before := range p.ids {
			noteAll(a, fmt.Sprintf("Edits.OfSet %s before %s", id, before), tx.Edits.OfSet(id, before))
		}
		for _, number := range []uint64{0, 1, 256, math.MaxUint64} {
			from := metadata.EditEntry{EditID: id, Number: number}
			noteAll(a, fmt.Sprintf("EditEntries.From %s %d", id, number), tx.EditEntries.From(from))
			noteAll(a, fmt.Sprintf("EditEntries.All after %s %d", id, number), tx.EditEntries.All(from))
		}
	}
}

// sizesOfSchemas returns the smallest and largest schema.
func sizesOfSchemas(least, most metadata.Record, long string) []any {
	return []any{
		metadata.Schema{Record: least},
		metadata.Schema{
			Record: most, DataspaceID: maxID(), Name: long[:500], Title: long, Description: long, For: math.MaxUint8, Types: long, Enforce: true, Version: math.MaxUint32, Entry: math.MaxUint64,
		},
	}
}

// schema draws a schema whose ids are ids of resources.
func (m *machine) schema(rt *rapid.T, s *session) any {
	id := rapid.SampledFrom(m.pool.resources).Draw(rt, "schema")
	row, err := s.tx.Schemas.Get(id)
	row.ID = id
	m.record(rt, s, err != nil, &row.Record)
	change(rt, err != nil, &row.DataspaceID, rapid.SampledFrom(m.pool.dataspaces))
	change(rt, err != nil, &row.Name, rapid.SampledFrom(texts()))
	change(rt, err != nil, &row.Types, rapid.SampledFrom(texts()))
	change(rt, err != nil, &row.Enforce, rapid.Bool())
	change(rt, err != nil, &row.Version, rapid.Uint32())
	return row
}

func (m *machine) schemaVersion(rt *rapid.T, _ *session) any {
	return metadata.SchemaVersion{
		SchemaID: rapid.SampledFrom(m.pool.resources).Draw(rt, "version of schema"), Number: rapid.SampledFrom([]uint32{1, 2, 255, 256, math.MaxUint32}).Draw(rt, "number"),
		Text: rapid.SampledFrom(texts()).Draw(rt, "text"), Created: m.last, CreatedBy: rapid.SampledFrom(m.pool.users).Draw(rt, "by"),
	}
}

// edit draws a bulk edit whose ids are ids of resources.
func (m *machine) edit(rt *rapid.T, _ *session) any {
	return metadata.BulkEdit{
		ID: rapid.SampledFrom(m.pool.resources).Draw(rt, "edit"), SetID: rapid.SampledFrom(m.pool.sets).Draw(rt, "of set"),
		By: rapid.SampledFrom(m.pool.users).Draw(rt, "by"), Kind: metadata.EditOfMany, UndoneBy: rapid.SampledFrom(m.pool.resources).Draw(rt, "undone by"),
		Objects: rapid.Int64().Draw(rt, "objects"), Created: m.last, Entry: rapid.Uint64().Draw(rt, "entry"),
	}
}

func (m *machine) editEntry(rt *rapid.T, _ *session) any {
	number := rapid.SampledFrom([]uint64{0, 1, 255, 256, math.MaxUint64}).Draw(rt, "number")
	return metadata.EditEntry{EditID: rapid.SampledFrom(m.pool.resources).Draw(rt, "entry of edit"), Number: number}
}

// testSchemas tests that schemas are listed by dataspace and state, and that their versions are
// listed newest first.
func testSchemas(t *testing.T, s *store) {
	row := func(n byte, dataspace metadata.ID, state metadata.State) metadata.Schema {
		return metadata.Schema{Record: metadata.Record{ID: id(n), State: state}, DataspaceID: dataspace, Name: "same"}
	}
	s.put(t, row(4, id(1), metadata.Active), row(3, id(2), metadata.Active), row(2, id(1), metadata.Deleted), row(1, id(1), metadata.Active), row(5, id(1), metadata.Active))
	s.put(t, row(4, id(1), metadata.Deleted))
	for states, want := range map[paging.States][]metadata.ID{
		paging.Active: {id(1), id(5)}, paging.Deleted: {id(2), id(4)},
	} {
		got := view(t, s, func(tx *metadata.Tx) ([]metadata.Schema, error) { return list(tx.Schemas.OfDataspace(id(1), states)) })
		same(t, fmt.Sprint("schemas in states ", states), mapped(got, func(s metadata.Schema) metadata.ID { return s.ID }), want)
	}
	for _, number := range []uint32{2, 1, 256, 255} {
		s.put(t, metadata.SchemaVersion{SchemaID: id(1), Number: number}, metadata.SchemaVersion{SchemaID: id(2), Number: number})
	}
	before := metadata.SchemaVersionKey{Schema: id(1), Number: 256}
	got := view(t, s, func(tx *metadata.Tx) ([]metadata.SchemaVersion, error) { return list(tx.SchemaVersions.Before(before)) })
	same(t, "versions", mapped(got, metadata.SchemaVersion.Key), []metadata.SchemaVersionKey{{Schema: id(1), Number: 255}, {Schema: id(1), Number: 2}, {Schema: id(1), Number: 1}})
}

// testEdits tests that the bulk edits of a set are listed newest first, and their entries by
// number.
func testEdits(t *testing.T, s *store) {
	for n := byte(1); n <= 6; n++ {
		s.put(t, metadata.BulkEdit{ID: id(n), SetID: id(n % 2), Objects: int64(n)})
		for _, number := range []uint64{256, 1, 255, 1} {
			s.put(t, metadata.EditEntry{EditID: id(n), Number: number})
		}
	}
	for before, want := range map[metadata.ID][]metadata.ID{{}: {id(5), id(3), id(1)}, id(5): {id(3), id(1)}, id(1): {}} {
		got := view(t, s, func(tx *metadata.Tx) ([]metadata.BulkEdit, error) { return list(tx.Edits.OfSet(id(1), before)) })
		same(t, fmt.Sprint("edits before ", before), mapped(got, func(e metadata.BulkEdit) metadata.ID { return e.ID }), want)
	}
	from := metadata.EditEntry{EditID: id(2), Number: 2}
	got := view(t, s, func(tx *metadata.Tx) ([]metadata.EditEntry, error) { return list(tx.EditEntries.From(from)) })
	same(t, "entries", got, []metadata.EditEntry{{EditID: id(2), Number: 255}, {EditID: id(2), Number: 256}})
}
