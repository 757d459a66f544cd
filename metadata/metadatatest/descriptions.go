package metadatatest

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"labshelf/metadata"
)

// waysToDescriptive returns every way to find a row of descriptive metadata.
func waysToDescriptive(row any) []way {
	d, ok := row.(metadata.Descriptive)
	if !ok {
		return waysToEdited(row)
	}
	return []way{{"Descriptive.Get", func(tx *metadata.Tx) (any, error) { return tx.Descriptive.Get(d.ObjectID) }}}
}

func (a *answers) askDescriptive(tx *metadata.Tx, p probe) {
	noteAll(a, "Descriptive.All", tx.Descriptive.All(metadata.ID{}))
	for _, id := range p.ids {
		row, err := tx.Descriptive.Get(id)
		note(a, "Descriptive.Get "+id.String(), row, err)
		noteAll(a, "Descriptive.All after "+id.String(), tx.Descriptive.All(id))
	}
	a.askSchemas(tx, p)
	a.askEdits(tx, p)
	a.askFolders(tx, p)
	a.askNodes(tx, p)
	a.askLinks(tx, p)
}

// sizesOfDescriptive returns the smallest and largest descriptive metadata.
func sizesOfDescriptive() []any {
	return []any{
		metadata.Descriptive{ObjectID: id(15), JSON: "{}"},
		metadata.Descriptive{ObjectID: maxID(), JSON: strings.Repeat("ä\u2028<&>\"\\", 64<<10/10)},
		metadata.SchemaVersion{SchemaID: id(16)},
		metadata.SchemaVersion{SchemaID: maxID(), Number: math.MaxUint32, Text: strings.Repeat("t", 64<<10), Created: math.MaxInt64, CreatedBy: maxID()},
		metadata.BulkEdit{ID: id(17)},
		metadata.BulkEdit{
			ID: maxID(), SetID: maxID(), By: maxID(), Kind: math.MaxUint8, Undoes: maxID(), UndoneBy: maxID(), Objects: math.MaxInt64, Created: math.MaxInt64, Entry: math.MaxUint64,
		},
		metadata.EditEntry{EditID: maxID(), Number: math.MaxUint64},
	}
}

// descriptive draws the metadata of a container or a resource, which may not exist.
func (m *machine) descriptive(rt *rapid.T, _ *session) any {
	return metadata.Descriptive{ObjectID: m.described(rt), JSON: rapid.SampledFrom(texts()).Draw(rt, "metadata")}
}

func (m *machine) described(rt *rapid.T) metadata.ID {
	return rapid.SampledFrom(append(m.pool.resources[:4:4], m.pool.sets...)).Draw(rt, "object")
}

func (m *machine) removeDescriptive(rt *rapid.T, s *session) {
	id := m.described(rt)
	s.do(op{"Descriptive.Remove", func(tx *metadata.Tx) (any, error) { return nil, tx.Descriptive.Remove(id) }})
}

// testDescriptive tests that rows are replaced as a whole, listed in the order of the objects' ids,
// and can be removed, even if missing.
func testDescriptive(t *testing.T, s *store) {
	row := func(n byte, json string) metadata.Descriptive {
		return metadata.Descriptive{ObjectID: id(n), JSON: json}
	}
	s.put(t, row(3, `{"tags":["c"]}`), row(1, `{"tags":["a long one","b"]}`), row(2, `{}`), row(1, `{"tags":["a"]}`))
	after := func(of metadata.ID) []metadata.Descriptive {
		return view(t, s, func(tx *metadata.Tx) ([]metadata.Descriptive, error) { return list(tx.Descriptive.All(of)) })
	}
	same(t, "all", after(metadata.ID{}), []metadata.Descriptive{row(1, `{"tags":["a"]}`), row(2, `{}`), row(3, `{"tags":["c"]}`)})
	same(t, "after the first", after(id(1)), []metadata.Descriptive{row(2, `{}`), row(3, `{"tags":["c"]}`)})
	for range 2 {
		s.update(t, func(tx *metadata.Tx) error { return tx.Descriptive.Remove(id(2)) })
		same(t, "after one is removed", after(id(1)), []metadata.Descriptive{row(3, `{"tags":["c"]}`)})
	}
	err := s.View(t.Context(), func(tx *metadata.Tx) error {
		_, err := tx.Descriptive.Get(id(2))
		return err
	})
	isError(t, "what was removed", err, metadata.ErrNotFound)
}
