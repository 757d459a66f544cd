package metadatatest

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"labshelf/metadata"
)

func rowTests() map[string]func(*testing.T, *store) {
	return map[string]func(*testing.T, *store){
		"rows are read as they were put":                  testRows,
		"rows of any size are read":                       testSizes,
		"rows are listed in the order of their keys":      testOrder,
		"rows are listed by the first part of their keys": testParts,
		"indexes follow every change of a row":            testChanges,
		"rows and ranges are copies":                      testCopies,
		"bodies are copies":                               testBodyCopies,
		"sequences are read alternately and ended early":  testSequences,
	}
}

func testRows(t *testing.T, s *store) {
	rows := filledRows(false)
	asked := probeOf(rows...)
	same(t, "an empty store", view(t, s, read(asked)), map[string]any{})
	inUpdate := map[string]any{}
	s.update(t, func(tx *metadata.Tx) error {
		if err := notFound(tx, rows); err != nil {
			return err
		}
		if err := putAll(tx, rows); err != nil {
			return err
		}
		if err := found(tx, rows); err != nil {
			return err
		}
		var err error
		inUpdate, err = contents(tx, asked)
		return err
	})
	for name, in := range map[string]metadata.Reader{"View": s, "ViewDurable": durable{s}} {
		err := in.View(t.Context(), func(tx *metadata.Tx) error { return found(tx, rows) })
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		same(t, name+" after the commit", view(t, in, read(asked)), inUpdate)
	}
	s.reopen(t)
	same(t, "after closing and opening again", view(t, s, read(asked)), inUpdate)

	others := filledRows(true)
	if err := s.View(t.Context(), func(tx *metadata.Tx) error { return notFound(tx, others) }); err != nil {
		t.Error(err)
	}
}

// durable is the store with ViewDurable as View.
type durable struct{ *store }

func (d durable) View(ctx context.Context, fn func(*metadata.Tx) error) error {
	return d.ViewDurable(ctx, fn)
}

func testSizes(t *testing.T, s *store) {
	var rows []any
	for _, n := range nouns {
		rows = append(rows, n.mostRow(), n.leastRow()) // the last row remains in a table of one row
	}
	s.put(t, rows...)
	rows = slices.DeleteFunc(rows, func(row any) bool { return len(nounOf(row).identity) == 0 })
	if err := s.View(t.Context(), func(tx *metadata.Tx) error { return found(tx, rows) }); err != nil {
		t.Error(err)
	}
	asked := probeOf(rows...)
	same(t, "everything", view(t, s, read(asked)), view(t, onlyHolds(t, rows...), read(asked)))
}

// testOrder tests that every table lists its rows in the order of keys and after a key, replaces a
// whole row, and removes a row. Removing a missing row is allowed.
func testOrder(t *testing.T, s *store) {
	for _, n := range nouns {
		if n.remove == nil {
			continue
		}
		first, second, third := n.filled(false, 1), n.filled(false, 40), n.filled(false, 70)
		s.put(t, third, withIdentity(n.filled(true, 1), first), second, first)
		after := func(row any) []any {
			return view(t, s, func(tx *metadata.Tx) ([]any, error) { return n.all(tx, row) })
		}
		same(t, n.name, after(nil), []any{first, second, third})
		same(t, n.name+" after the first", after(first), []any{second, third})
		for range 2 {
			s.update(t, func(tx *metadata.Tx) error { return n.remove(tx, second) })
			same(t, n.name+" after one is removed", after(nil), []any{first, third})
			same(t, n.name+" after the removed one", after(second), []any{third})
		}
		if err := s.View(t.Context(), func(tx *metadata.Tx) error { return notFound(tx, []any{second}) }); err != nil {
			t.Error(err)
		}
	}
}

// testParts tests tables whose keys share their first part. Rows before a key are listed with the
// greatest key first, and rows with an equal or greater key in order. Rows with other first parts
// are not listed.
func testParts(t *testing.T, s *store) {
	for _, n := range nouns {
		if n.before == nil && n.from == nil {
			continue
		}
		parts := []any{"", "a!/", "a/", "a/b/", "a0/", "b/"}
		if n.identity[1].kind.Kind() != reflect.String {
			parts = []any{0, 1, 2, 255, 256, 257, uint32(1 << 31), uint32(math.MaxUint32)}
		}
		missing := func(i int) bool { return i == 2 || i == len(parts)-1 }
		rows := make([]any, len(parts))
		for i, part := range parts {
			for _, next := range []byte{1, 40, 70} {
				row := changeable(n.filled(false, next))
				second := n.identity[1].in(row)
				if second.Set(reflect.ValueOf(part).Convert(second.Type())); !missing(i) {
					s.put(t, row.Interface())
				}
				if next == 40 {
					rows[i] = row.Interface()
				}
			}
		}
		for i, row := range rows {
			var before, from []any
			for j, other := range rows {
				switch {
				case missing(j):
				case j < i:
					before = append([]any{other}, before...)
				default:
					from = append(from, other)
				}
			}
			if n.before != nil {
				same(t, fmt.Sprint(n.name, " before ", parts[i]), view(t, s, func(tx *metadata.Tx) ([]any, error) { return n.before(tx, row) }), before)
			}
			if n.from != nil {
				same(t, fmt.Sprint(n.name, " from ", parts[i]), view(t, s, func(tx *metadata.Tx) ([]any, error) { return n.from(tx, row) }), from)
			}
		}
	}
}

// id returns an id for tests. A greater n results in a greater id.
func id(n byte) metadata.ID { return metadata.ID{0: 1, 15: n} }

func maxID() metadata.ID { return metadata.ID(slices.Repeat([]byte{0xff}, 16)) }

// onlyHolds returns a store in memory that has never contained other rows.
func onlyHolds(t *testing.T, rows ...any) *Memory {
	m := NewMemory(newClock().now)
	err := m.Update(t.Context(), func(tx *metadata.Tx) error { return putAll(tx, rows) })
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// testChanges changes each field of each row, and changes it back. Then all reads must return the
// same results as if the other versions of the row had never existed.
func testChanges(t *testing.T, s *store) {
	others := filledRows(true)
	for i, row := range filledRows(false) {
		contents := read(probeOf(row, others[i]))
		s.put(t, row)
		for _, f := range nounOf(row).rest {
			changed := changeable(row)
			f.in(changed).Set(f.in(reflect.ValueOf(others[i])))
			for _, version := range []any{row, changed.Interface(), row} {
				s.put(t, version)
				got := view(t, s, contents)
				same(t, fmt.Sprintf("%T after a change of %s", row, f.name), got, view(t, onlyHolds(t, version), contents))
			}
		}
		s.reopen(t)
		same(t, fmt.Sprintf("%T after closing and opening again", row), view(t, s, contents), view(t, onlyHolds(t, row), contents))
		s.stop(t)
		s.dir = t.TempDir()
		s.start(t)
	}
}
