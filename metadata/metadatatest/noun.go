package metadatatest

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"reflect"

	"pgregory.net/rapid"

	"labshelf/metadata"
)

// noun describes one table. The tests derive random rows, reads and the order of rows from the
// description, and Memory derives its table. Rows and keys are passed as values of their types.
type noun struct {
	name          string
	row           reflect.Type
	identity      []leaf // the fields that determine the key of a row
	rest          []leaf // its other stored fields
	put           func(tx *metadata.Tx, row any) error
	get           func(tx *metadata.Tx, row any) (any, error) // returns the row with the key of row
	remove        func(tx *metadata.Tx, row any) error        // removes the row with the key of row; nil if rows are never removed
	all           func(tx *metadata.Tx, row any) ([]any, error)
	before, from  func(tx *metadata.Tx, row any) ([]any, error)
	table         func(*metadata.Tx) any
	bind          func(transaction, *metadata.Tx) // sets the table of Memory
	decideEqually func(a, b *state) bool
	details
}

// details describe how a noun is tested.
type details struct {
	decides bool                                                          // its rows decide permissions
	often   int                                                           // frequency of writes relative to other tables; 0 means 1
	texts   map[string][]string                                           // allowed values of fields that are not free strings
	fit     func(m *machine, rt *rapid.T, s *session, row any) (free any) // makes a random row consistent with the others
	ways    []way                                                         // additional ways to find a row
	asks    []finder                                                      // additional queries
}

// way is one way to find a single row.
type way struct {
	name string
	find func(tx *metadata.Tx, row any) (any, error)
}

func by[R any](name string, find func(*metadata.Tx, R) (R, error)) way {
	return way{name, func(tx *metadata.Tx, row any) (any, error) { return find(tx, row.(R)) }}
}

func fits[R any](fit func(m *machine, rt *rapid.T, s *session, row R) R) func(*machine, *rapid.T, *session, any) any {
	return func(m *machine, rt *rapid.T, s *session, row any) any { return fit(m, rt, s, row.(R)) }
}

// describe describes a table by its field in a transaction, the key of a row, and the functions
// that put and get a row. wrap adds the finders to the table of Memory. It is nil for a table
// without finders.
func describe[T any, K comparable, R any](
	name string, field func(*metadata.Tx) *T, key func(R) K, put func(T, R) error, get func(T, K) (R, error),
	wrap func(table[K, R]) T, more details,
) noun {
	n := noun{name: name, row: reflect.TypeFor[R](), details: more}
	first, other := filled[R](false), filled[R](true)
	for _, f := range leavesOf(n.row) {
		if key(with(first, f, other)) != key(first) {
			n.identity = append(n.identity, f)
		} else {
			n.rest = append(n.rest, f)
		}
	}
	n.table = func(tx *metadata.Tx) any { return *field(tx) }
	n.put = func(tx *metadata.Tx, row any) error { return put(*field(tx), row.(R)) }
	n.get = func(tx *metadata.Tx, row any) (any, error) { return get(*field(tx), key(row.(R))) }
	n.ways = append([]way{{name + ".Get", n.get}}, more.ways...)
	n.asks = append([]finder{one("Get", valuesOf[K], get)}, more.asks...)
	n.bind = func(t transaction, tx *metadata.Tx) {
		if rows := (table[K, R]{t, key}); wrap == nil {
			*field(tx) = any(rows).(T)
		} else {
			*field(tx) = wrap(rows)
		}
	}
	n.decideEqually = func(a, b *state) bool {
		rows, others := rowsOf[K, R](a), rowsOf[K, R](b)
		unchanged := reflect.ValueOf(rows).Pointer() == reflect.ValueOf(others).Pointer()
		return unchanged || maps.EqualFunc(rows, others, func(a, b R) bool { return decisive(a) == decisive(b) })
	}
	return n
}

// decisive returns the row without the fields that do not affect permissions.
func decisive(row any) any {
	if k, ok := row.(metadata.Key); ok {
		k.LastUsed = 0
		return k
	}
	return row
}

// of describes a metadata.Table. For other tables, use describe.
func of[T any, K comparable, R any](
	name string, field func(*metadata.Tx) *T, key func(R) K, wrap func(table[K, R]) T, more details,
) noun {
	type rows = metadata.Table[K, R]
	in := func(t T) rows { return any(t).(rows) }
	n := describe(name, field, key, func(t T, row R) error { return in(t).Put(row) }, func(t T, k K) (R, error) { return in(t).Get(k) }, wrap, more)
	n.remove = func(tx *metadata.Tx, row any) error { return in(*field(tx)).Remove(key(row.(R))) }
	sequence := func(method func(t any, k K) iter.Seq2[R, error]) func(*metadata.Tx, any) ([]any, error) {
		return func(tx *metadata.Tx, row any) ([]any, error) {
			var k K
			if row != nil {
				k = key(row.(R))
			}
			return list(fields(method(*field(tx), k), func(row R) any { return row }))
		}
	}
	all := func(t any, after K) iter.Seq2[R, error] { return t.(rows).All(after) }
	n.all, n.asks = sequence(all), append(n.asks, many("All", keysAndZero[K], all))
	if implements[T, metadata.Backwards[K, R]]() {
		before := func(t any, k K) iter.Seq2[R, error] { return t.(metadata.Backwards[K, R]).Before(k) }
		n.before, n.asks = sequence(before), append(n.asks, many("Before", valuesOf[K], before))
	}
	if implements[T, metadata.Forwards[K, R]]() {
		from := func(t any, k K) iter.Seq2[R, error] { return t.(metadata.Forwards[K, R]).From(k) }
		n.from, n.asks = sequence(from), append(n.asks, many("From", valuesOf[K], from))
	}
	return n
}

// implements reports whether the interface T has the methods of the interface S.
func implements[T, S any]() bool { return reflect.TypeFor[T]().Implements(reflect.TypeFor[S]()) }

// nounOf returns the noun of a row.
func nounOf(row any) noun {
	for _, n := range nouns {
		if n.row == reflect.TypeOf(row) {
			return n
		}
	}
	panic(fmt.Sprintf("metadatatest: no table has a %T", row))
}

// put puts a row into its table.
func put(tx *metadata.Tx, row any) error { return nounOf(row).put(tx, row) }

func putAll(tx *metadata.Tx, rows []any) error {
	for _, row := range rows {
		if err := put(tx, row); err != nil {
			return fmt.Errorf("put %T: %w", row, err)
		}
	}
	return nil
}

// found returns an error unless every way to find a row returns it.
func found(tx *metadata.Tx, rows []any) (err error) {
	for _, row := range rows {
		for _, way := range nounOf(row).ways {
			got, failed := way.find(tx, row)
			if failed != nil {
				err = errors.Join(err, fmt.Errorf("%s: %w", way.name, failed))
			} else if got != row {
				err = errors.Join(err, fmt.Errorf("%s:\ngot  %+v\nwant %+v", way.name, got, row))
			}
		}
	}
	return err
}

// notFound returns an error unless every way to find a row returns ErrNotFound.
func notFound(tx *metadata.Tx, rows []any) (err error) {
	for _, row := range rows {
		for _, way := range nounOf(row).ways {
			if got, failed := way.find(tx, row); !errors.Is(failed, metadata.ErrNotFound) {
				err = errors.Join(err, fmt.Errorf("%s of a missing row: %+v, %v", way.name, got, failed))
			}
		}
	}
	return err
}
