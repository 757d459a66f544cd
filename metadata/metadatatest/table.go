package metadatatest

import (
	"bytes"
	"cmp"
	"iter"
	"maps"
	"reflect"
	"slices"

	"labshelf/metadata"
)

// transaction is a transaction of Memory. It may change the maps that it has copied.
type transaction struct {
	*state
	writes bool
	copied map[reflect.Type]bool
}

func (t transaction) mustWrite() {
	if !t.writes {
		panic("metadatatest: a write in a read transaction")
	}
}

// rowsOf returns the rows of a table, which the caller must not change.
func rowsOf[K comparable, R any](s *state) map[K]R {
	rows, _ := s.tables[reflect.TypeFor[R]()].(map[K]R)
	return rows
}

// table contains the rows of one noun by key, in a map of a state.
type table[K comparable, R any] struct {
	transaction
	key func(R) K
}

func (t table[K, R]) rows() map[K]R { return rowsOf[K, R](t.state) }

// own returns a map that may be changed. It copies the map, because states share maps.
func (t table[K, R]) own() map[K]R {
	t.mustWrite()
	row, rows := reflect.TypeFor[R](), t.rows()
	if !t.copied[row] {
		own := make(map[K]R, len(rows)+1)
		maps.Copy(own, rows)
		t.tables[row], t.copied[row], rows = own, true, own
	}
	return rows
}

func (t table[K, R]) Get(key K) (R, error) {
	row, ok := t.rows()[key]
	if !ok {
		return row, metadata.ErrNotFound
	}
	return row, nil
}

func (t table[K, R]) Put(row R) error {
	t.own()[t.key(row)] = row
	return nil
}

func (t table[K, R]) Remove(key K) error {
	delete(t.own(), key)
	return nil
}

// All yields the rows after a key, or all rows if the key is zero.
func (t table[K, R]) All(after K) iter.Seq2[R, error] {
	var none K
	return t.all(func(row R) bool { return after == none || compareKeys(t.key(row), after) > 0 }, t.byKey)
}

// Before yields the rows with the same first part before a key, backwards.
func (t table[K, R]) Before(key K) iter.Seq2[R, error] {
	before := func(row R) bool { return sameFirst(t.key(row), key) && compareKeys(t.key(row), key) < 0 }
	return t.all(before, func(a, b R) int { return t.byKey(b, a) })
}

// From yields the rows with the same first part and an equal or greater key.
func (t table[K, R]) From(key K) iter.Seq2[R, error] {
	return t.all(func(row R) bool { return sameFirst(t.key(row), key) && compareKeys(t.key(row), key) >= 0 }, t.byKey)
}

func (t table[K, R]) byKey(a, b R) int { return compareKeys(t.key(a), t.key(b)) }

// one returns the matching row.
func (t table[K, R]) one(matches func(R) bool) (row R, err error) {
	for _, row := range t.rows() {
		if matches(row) {
			return row, nil
		}
	}
	return row, metadata.ErrNotFound
}

// all yields the matching rows, in order.
func (t table[K, R]) all(matches func(R) bool, order func(a, b R) int) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		var rows []R
		for _, row := range t.rows() {
			if matches(row) {
				rows = append(rows, row)
			}
		}
		slices.SortFunc(rows, order)
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// single is a table with one row.
type single[R any] struct {
	transaction
}

func (t single[R]) Get() (R, error) { return rowsOf[bool, R](t.state)[true], nil }

func (t single[R]) Put(row R) error {
	return table[bool, R]{t.transaction, func(R) bool { return true }}.Put(row)
}

// compareKeys compares keys part by part: ids and digests, strings, numbers.
func compareKeys[K any](a, b K) int {
	if a, ok := any(&a).(*metadata.ID); ok { // most keys
		return a.Compare(*any(&b).(*metadata.ID))
	}
	return compareParts(reflect.ValueOf(&a).Elem(), reflect.ValueOf(&b).Elem())
}

func compareParts(a, b reflect.Value) int {
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			if order := compareParts(a.Field(i), b.Field(i)); order != 0 {
				return order
			}
		}
		return 0
	case reflect.Array:
		return bytes.Compare(a.Bytes(), b.Bytes())
	case reflect.String:
		return cmp.Compare(a.String(), b.String())
	case reflect.Int32:
		return cmp.Compare(a.Int(), b.Int())
	default:
		return cmp.Compare(a.Uint(), b.Uint())
	}
}

// sameFirst reports whether two keys of several parts have the same first part.
func sameFirst[K any](a, b K) bool {
	return reflect.ValueOf(a).Field(0).Equal(reflect.ValueOf(b).Field(0))
}
