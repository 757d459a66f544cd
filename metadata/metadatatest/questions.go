package metadatatest

import (
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"

	"labshelf/metadata"
	"labshelf/paging"
)

// probe contains the values that queries use as arguments.
type probe struct {
	ids     []metadata.ID // ids of rows
	parents []metadata.ID // ids of users and containers
	after   []metadata.ID // ids after which some listings begin
	names   []string
	parts   map[reflect.Type][]reflect.Value // the parts of keys, by type
}

// probeOf returns a probe with every id, string and digest of the rows, except the zero id, which
// names nothing.
func probeOf(rows ...any) probe {
	p := probe{parts: map[reflect.Type][]reflect.Value{}}
	for _, row := range rows {
		n := nounOf(row)
		for _, f := range slices.Concat(n.identity, n.rest) {
			switch v := f.in(reflect.ValueOf(row)); {
			case f.kind == reflect.TypeFor[metadata.ID]():
				p.ids = append(p.ids, v.Interface().(metadata.ID))
			case f.kind == reflect.TypeFor[string]():
				p.names = append(p.names, v.String())
			case v.Kind() == reflect.Array:
				p.know(v.Interface())
			}
		}
		for _, f := range n.identity {
			if v := f.in(reflect.ValueOf(row)); v.Kind() != reflect.Array {
				p.know(v.Interface())
			}
		}
	}
	slices.SortFunc(p.ids, metadata.ID.Compare)
	p.ids = slices.DeleteFunc(slices.Compact(p.ids), func(id metadata.ID) bool { return id == metadata.ID{} })
	slices.Sort(p.names)
	p.names = slices.Compact(p.names)
	p.parents = p.ids
	know(p, p.ids...)
	return p
}

// know adds parts of keys, each once.
func know[V any](p probe, values ...V) {
	for _, value := range values {
		p.know(value)
	}
}

func (p probe) know(value any) {
	v := reflect.ValueOf(value)
	if !slices.ContainsFunc(p.parts[v.Type()], func(known reflect.Value) bool { return known.Equal(v) }) {
		p.parts[v.Type()] = append(p.parts[v.Type()], v)
	}
}

// valuesOf returns the keys of a type for queries: all combinations of their parts. No key is "".
func valuesOf[K any](p probe) []K {
	all := mapped(p.values(reflect.TypeFor[K]()), func(v reflect.Value) K { return v.Interface().(K) })
	return slices.DeleteFunc(all, func(key K) bool { return any(key) == any("") })
}

func (p probe) values(kind reflect.Type) []reflect.Value {
	if kind.Kind() != reflect.Struct {
		return p.parts[kind]
	}
	all := []reflect.Value{reflect.New(kind).Elem()}
	for i := range kind.NumField() {
		var longer []reflect.Value
		for _, begun := range all {
			for _, part := range p.values(kind.Field(i).Type) {
				made := changeable(begun.Interface())
				made.Field(i).Set(part)
				longer = append(longer, made)
			}
		}
		all = longer
	}
	return all
}

// question is a query, with a list of arguments.
type question struct {
	name string
	args int
	text func(nth int) string
	// ask runs the query with the nth argument. most limits the number of items that it reads of a
	// sequence; 0 means all items.
	ask func(tx *metadata.Tx, nth, most int) (any, error)
}

// finder is a query of a table for the values in a probe.
type finder struct {
	name string
	args func(p probe) []any
	read func(table, arg any, most int) (any, error)
}

func (f finder) question(n noun, p probe) question {
	name, args := n.name+"."+f.name, f.args(p)
	return question{
		name, len(args), func(nth int) string { return fmt.Sprintf("%s %v", name, args[nth]) },
		func(tx *metadata.Tx, nth, most int) (any, error) { return f.read(n.table(tx), args[nth], most) },
	}
}

func asked[A any](args func(probe) []A) func(probe) []any {
	return func(p probe) []any { return mapped(args(p), func(arg A) any { return arg }) }
}

// one returns a query for one row or value.
func one[T, A, R any](name string, args func(probe) []A, find func(T, A) (R, error)) finder {
	return finder{name, asked(args), func(table, arg any, _ int) (any, error) { return find(table.(T), arg.(A)) }}
}

// many returns a query for a sequence.
func many[T, A, R any](name string, args func(probe) []A, find func(T, A) iter.Seq2[R, error]) finder {
	return finder{name, asked(args), func(table, arg any, most int) (any, error) {
		return upTo(most, find(table.(T), arg.(A)))
	}}
}

// value returns a query without an argument.
func value[T, R any](name string, get func(T) (R, error)) finder {
	return one(name, func(probe) []string { return []string{""} }, func(t T, _ string) (R, error) { return get(t) })
}

// both makes one argument of two ids.
func both[T, R any](find func(t T, first, second metadata.ID) R) func(T, [2]metadata.ID) R {
	return func(t T, of [2]metadata.ID) R { return find(t, of[0], of[1]) }
}

// questions returns every query for the values in the probe.
func questions(p probe) []question {
	lineage := noun{name: "Lineage", table: func(tx *metadata.Tx) any { return tx.Lineage }}
	all := []question{value("LastStamp", metadata.Lineage.LastStamp).question(lineage, p)}
	for _, n := range nouns {
		all = append(all, mapped(n.asks, func(f finder) question { return f.question(n, p) })...)
	}
	return slices.DeleteFunc(all, func(q question) bool { return q.args == 0 })
}

// contents returns the results of every query for the values in the probe.
func contents(tx *metadata.Tx, p probe) (map[string]any, error) { return answersTo(tx, questions(p)) }

// answersTo runs queries and returns their results. It omits empty results.
func answersTo(tx *metadata.Tx, asked []question) (answers map[string]any, err error) {
	answers = map[string]any{}
	for _, q := range asked {
		for nth := range q.args {
			switch answer, failed := q.ask(tx, nth, 0); {
			case errors.Is(failed, metadata.ErrNotFound):
			case failed != nil:
				err = errors.Join(err, fmt.Errorf("%s: %w", q.text(nth), failed))
			case !reflect.ValueOf(answer).IsZero():
				answers[q.text(nth)] = answer
			}
		}
	}
	return answers, err
}

// read returns a function that reads the contents in a read transaction.
func read(p probe) func(*metadata.Tx) (map[string]any, error) {
	asked := questions(p)
	return func(tx *metadata.Tx) (map[string]any, error) {
		tx.Prefetch(func() { _, _ = answersTo(tx, asked) })
		return answersTo(tx, asked)
	}
}

// states are the sets of states that a listing can request.
func states() []paging.States { return []paging.States{paging.Active, paging.Deleted, paging.All} }

// pairs returns all pairs of two lists.
func pairs[A any](first, second []A) (all [][2]A) {
	for _, a := range first {
		for _, b := range second {
			all = append(all, [2]A{a, b})
		}
	}
	return all
}

// withZero returns the ids and the zero id.
func withZero(ids []metadata.ID) []metadata.ID { return append(ids[:len(ids):len(ids)], metadata.ID{}) }

func (p probe) idsAndZero() []metadata.ID { return withZero(p.ids) }

func (p probe) parentsAndZero() []metadata.ID { return withZero(p.parents) }

func (p probe) parentsAndAfter() [][2]metadata.ID {
	return pairs(withZero(p.parents), withZero(p.after))
}

// texts returns all strings.
func (p probe) texts() []string { return append(slices.Concat(p.names, valuesOf[string](p)), "") }

func keysAndZero[K any](p probe) []K { return append(valuesOf[K](p), *new(K)) }

// linkRanges returns ranges of links: of all, of each dataspace and owner, and after each.
func linkRanges(p probe) []metadata.LinkRange {
	all := []metadata.LinkRange{{}}
	for _, id := range p.ids {
		all = append(all, metadata.LinkRange{After: id}, metadata.LinkRange{Dataspace: id}, metadata.LinkRange{Owner: id})
	}
	return all
}

// setRanges returns ranges of sets, of all and of each parent.
func setRanges(p probe) (all []metadata.SetRange) {
	for _, of := range states() {
		all = append(all, metadata.SetRange{States: of})
		for _, parent := range p.parents {
			all = append(all, metadata.SetRange{Dataspaces: []metadata.ID{parent}, States: of})
		}
	}
	return all
}

// resourceRanges returns ranges of resources: of all, of each parent as a dataspace, and as a set.
func resourceRanges(p probe) (all []metadata.ResourceRange) {
	add := func(q metadata.ResourceRange, orders ...paging.Order) {
		for _, q.Order = range orders {
			for _, q.States = range states() {
				all = append(all, q)
			}
		}
	}
	add(metadata.ResourceRange{}, paging.Oldest, paging.Newest)
	for _, parent := range p.parents {
		add(metadata.ResourceRange{Dataspaces: []metadata.ID{parent}}, paging.Oldest, paging.Newest)
		add(metadata.ResourceRange{Set: parent}, paging.Oldest, paging.Newest, paging.ByName, paging.ByNameDown)
	}
	return all
}

// childrenRanges returns ranges by name of each parent as a set.
func childrenRanges(p probe) (all []metadata.ResourceRange) {
	for _, q := range resourceRanges(p) {
		if q.Order == paging.ByName {
			all = append(all, q)
		}
	}
	return all
}
