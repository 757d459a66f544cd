package tables

import (
	"iter"

	"labshelf/metadata"
)

// definition defines how the rows of a noun are stored. Its values have size 0.
type definition[K comparable, R any] interface{ table() *table[K, R] }

// rows is the table of a noun in a transaction. It is a single pointer, so that converting it to an
// interface needs no allocation.
type rows[K comparable, R any, N definition[K, R]] struct{ *Tx }

// of returns the table of a noun in a transaction.
func of[N definition[K, R], K comparable, R any](t *Tx) rows[K, R, N] { return rows[K, R, N]{t} }

func (r rows[K, R, N]) table() *table[K, R] {
	var n N
	return n.table()
}

func (r rows[K, R, N]) Get(key K) (R, error) {
	tb := r.table()
	return tb.get(r.Tx, tb.of(key))
}

func (r rows[K, R, N]) Put(row R) error { return r.table().put(r.Tx, row) }

func (r rows[K, R, N]) Remove(key K) error {
	tb := r.table()
	return tb.remove(r.Tx, tb.of(key))
}

func (r rows[K, R, N]) All(after K) iter.Seq2[R, error] {
	var none K
	tb := r.table()
	if after == none {
		return tb.all(r.Tx, span{})
	}
	return tb.all(r.Tx, span{lo: justAfter(tb.of(after))})
}

func (r rows[K, R, N]) Before(key K) iter.Seq2[R, error] {
	tb := r.table()
	hi := tb.of(key)
	return tb.backwards(r.Tx, span{lo: hi[:tb.first], hi: hi})
}

func (r rows[K, R, N]) From(key K) iter.Seq2[R, error] {
	tb := r.table()
	lo := tb.of(key)
	return tb.all(r.Tx, scopeSpan(lo[:tb.first]).from(lo))
}

// readOnly replaces the clock and the stamps in a read transaction, which has neither.
func readOnly() metadata.Stamp { panic(errReadOnly) }

// fetchNothing is like Prefetch for engines that answer each read immediately.
func fetchNothing(func()) {}

const errReadOnly = "tables: change in a read transaction"
