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

// noun describes one table. The tests derive its random rows, its reads and its order from the
// description, and Memory its rows. Rows and keys are passed as values of their types.
type noun struct {
	name          string
	row           reflect.Type
	identity      []leaf // the fields that determine the key of a row
	rest          []leaf // its other stored fields
	put           func(tx *metadata.Tx, row any) error
	get           func(tx *metadata.Tx, row any) (any, error) // the row with the key of a row
	remove        func(tx *metadata.Tx, row any) error        // likewise; nil: no row is ever removed
	all           func(tx *metadata.Tx, row any) ([]any, error)
	before, from  func(tx *metadata.Tx, row any) ([]any, error)
	bind          func(transaction, *metadata.Tx) // sets the table of Memory
	decideEqually func(a, b *state) bool
	details
}

// details are the particulars of a noun.
type details struct {
	decides bool                                                          // its rows decide permissions
	often   int                                                           // how many times as often as others it is written; 0: once
	texts   map[string][]string                                           // values of fields that are no free text
	fit     func(m *machine, rt *rapid.T, s *session, row any) (free any) // makes a random row fit the others
	ways    []way                                                         // more ways to find a row
	asks    func(probe) []question                                        // more questions
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

// describe describes a table by its key and the functions that put and get a row. bind sets the
// table of Memory.
func describe[K comparable, R any](
	name string, key func(R) K, put func(*metadata.Tx, R) error, get func(*metadata.Tx, K) (R, error),
	bind func(table[K, R], *metadata.Tx), more details,
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
	n.put = func(tx *metadata.Tx, row any) error { return put(tx, row.(R)) }
	n.get = func(tx *metadata.Tx, row any) (any, error) { return get(tx, key(row.(R))) }
	n.ways = append([]way{{name + ".Get", n.get}}, more.ways...)
	n.asks = func(p probe) []question {
		asks := []question{one(name+".Get", valuesOf[K](p), get)}
		if more.asks != nil {
			asks = append(asks, more.asks(p)...)
		}
		return asks
	}
	n.bind = func(t transaction, tx *metadata.Tx) { bind(table[K, R]{t, key}, tx) }
	n.decideEqually = func(a, b *state) bool {
		rows, others := rowsOf[K, R](a), rowsOf[K, R](b)
		unchanged := reflect.ValueOf(rows).Pointer() == reflect.ValueOf(others).Pointer()
		return unchanged || maps.EqualFunc(rows, others, func(a, b R) bool { return decisive(a) == decisive(b) })
	}
	return n
}

// decisive returns the row without the fields that decide no permission.
func decisive(row any) any {
	if k, ok := row.(metadata.Key); ok {
		k.LastUsed = 0
		return k
	}
	return row
}

// of describes a Table. field returns its place in a transaction, and wrap adds the finders to the
// table of Memory; nil: it has no finder.
func of[T any, K comparable, R any](
	name string, field func(*metadata.Tx) *T, key func(R) K, wrap func(table[K, R]) T, more details,
) noun {
	tableIn := func(tx *metadata.Tx) metadata.Table[K, R] { return any(*field(tx)).(metadata.Table[K, R]) }
	before := sequence[T, K, R, metadata.Backwards[K, R]](field, metadata.Backwards[K, R].Before)
	from := sequence[T, K, R, metadata.Forwards[K, R]](field, metadata.Forwards[K, R].From)
	asks := more.asks
	more.asks = func(p probe) []question {
		keys := valuesOf[K](p)
		all := []question{many(name+".All", append(keys, *new(K)), func(tx *metadata.Tx, after K) iter.Seq2[R, error] { return tableIn(tx).All(after) })}
		if before != nil {
			all = append(all, many(name+".Before", keys, before))
		}
		if from != nil {
			all = append(all, many(name+".From", keys, from))
		}
		if asks != nil {
			all = append(all, asks(p)...)
		}
		return all
	}
	bind := func(t table[K, R], tx *metadata.Tx) {
		if wrap == nil {
			*field(tx) = any(t).(T)
		} else {
			*field(tx) = wrap(t)
		}
	}
	put := func(tx *metadata.Tx, row R) error { return tableIn(tx).Put(row) }
	get := func(tx *metadata.Tx, k K) (R, error) { return tableIn(tx).Get(k) }
	n := describe(name, key, put, get, bind, more)
	n.remove = func(tx *metadata.Tx, row any) error { return tableIn(tx).Remove(key(row.(R))) }
	rows := func(seq func(*metadata.Tx, K) iter.Seq2[R, error]) func(*metadata.Tx, any) ([]any, error) {
		if seq == nil {
			return nil
		}
		return func(tx *metadata.Tx, row any) ([]any, error) {
			var after K
			if row != nil {
				after = key(row.(R))
			}
			return list(fields(seq(tx, after), func(row R) any { return row }))
		}
	}
	n.all = rows(func(tx *metadata.Tx, after K) iter.Seq2[R, error] { return tableIn(tx).All(after) })
	n.before, n.from = rows(before), rows(from)
	return n
}

// sequence returns a method of an interface S that the table T has; nil: it does not have it.
func sequence[T any, K comparable, R, S any](field func(*metadata.Tx) *T, method func(S, K) iter.Seq2[R, error]) func(*metadata.Tx, K) iter.Seq2[R, error] {
	if !reflect.TypeFor[T]().Implements(reflect.TypeFor[S]()) {
		return nil
	}
	return func(tx *metadata.Tx, key K) iter.Seq2[R, error] { return method(any(*field(tx)).(S), key) }
}

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

// found returns an error unless every way to each row leads to the row.
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

// notFound returns an error unless every way to each row leads to ErrNotFound.
func notFound(tx *metadata.Tx, rows []any) (err error) {
	for _, row := range rows {
		for _, way := range nounOf(row).ways {
			if got, failed := way.find(tx, row); !errors.Is(failed, metadata.ErrNotFound) {
				err = errors.Join(err, fmt.Errorf("%s of what is not there: %+v, %v", way.name, got, failed))
			}
		}
	}
	return err
}
