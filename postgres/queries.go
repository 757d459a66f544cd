package postgres

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"labshelf/metadata"
	"labshelf/metadata/tables"
)

// longest is the maximum length in bytes of a key in key_values. headBytes is the number of bytes
// of a longer key that an index contains.
const (
	longest   = 2000
	headBytes = 1000
)

// The statements of reading. Each returned row carries the 1-based index of the key or range that
// it answers.
const (
	stateSQL = "select stamp, access, schema, long from state"

	valuesSQL = `select p.n, r.value from unnest($1::smallint[], $2::bytea[]) with ordinality as p (bucket, key, n)
		join key_values r on r.bucket = p.bucket and r.key = p.key`

	longValuesSQL = `select p.n, r.value from unnest($1::smallint[], $2::bytea[]) with ordinality as p (bucket, digest, n)
		join long_key_values r on r.bucket = p.bucket and r.digest = p.digest`

	lastSQL = `select p.n, r.key from unnest($1::smallint[]) with ordinality as p (bucket, n) cross join lateral
		(select key from key_values where bucket = p.bucket order by bucket desc, key desc limit 1) r`
)

// rangesSQL returns a statement that reads ranges of a table, within their buckets. An open range
// has no hi. order is the order of the index. The statement compares bounds column by column.
// Before version 18, PostgreSQL does not end a scan at a row bound such as (bucket, key) < ($1, $2)
// before the first column differs. A range with few keys would then read the rest of its bucket.
func rangesSQL(table, within, order string) string {
	return `select q.n, r.key, r.value, x.value
	from unnest($1::smallint[], $2::bytea[], $3::bytea[], $4::integer[], $5::smallint[]) with ordinality as q (bucket, lo, hi, most, records, n)
	cross join lateral (select key, value from ` + table + `
		where bucket = q.bucket and ` + within + `
		order by ` + order + ` limit q.most) r
	left join key_values x on x.bucket = q.records
		and x.key = case when length(r.value) > 0 then r.value else substr(r.key, greatest(1, length(r.key) - 15)) end`
}

// The bounds of a range, for an index. An open range ends at a value after all keys.
// long_key_values, which has few keys, uses their heads.
var (
	keys  = "key >= q.lo and key < coalesce(q.hi, " + behind(longest) + ")"
	heads = fmt.Sprintf("head >= substr(q.lo, 1, %[1]d) and head <= coalesce(substr(q.hi, 1, %[1]d), %[2]s) and key >= q.lo and (q.hi is null or key < q.hi)",
		headBytes, behind(headBytes))
)

// behind returns a value that is greater than all keys with this many bytes.
func behind(bytes int) string { return fmt.Sprintf("decode(repeat('ff', %d), 'hex')", bytes+1) }

var (
	ascendingSQL      = rangesSQL("key_values", keys, "key")
	descendingSQL     = rangesSQL("key_values", keys, "key desc")
	longAscendingSQL  = rangesSQL("long_key_values", heads, "head, key")
	longDescendingSQL = rangesSQL("long_key_values", heads, "head desc, key desc")
)

// asked is a question in progress: it maps the statements of a batch to the parts of the question.
type asked struct {
	*question
	long       longBuckets // buckets that were queried for long keys
	short, far []int       // for each statement, the indexes of its places
	forward    []int       // for each statement, the indexes of its ranges
	backward   []int
	longFor    []int
	longBack   []int
}

// longBuckets are the numbers of the buckets that have had long keys.
type longBuckets []int16

// queueQuestion adds the statements of a question to a batch.
func (s *Store) queueQuestion(b *pgx.Batch, q *question, long longBuckets) *asked {
	a := &asked{question: q, long: long}
	for i, p := range q.places {
		if len(p.key) > longest {
			a.far = append(a.far, i)
		} else {
			a.short = append(a.short, i)
		}
	}
	for i, r := range q.ranges {
		far := slices.Contains(long, s.numbers[r.bucket])
		if r.backwards {
			a.backward = append(a.backward, i)
			a.longBack = appendIf(far, a.longBack, i)
		} else {
			a.forward = append(a.forward, i)
			a.longFor = appendIf(far, a.longFor, i)
		}
	}
	s.queuePlaces(b, valuesSQL, q, a.short, func(key string) []byte { return []byte(key) })
	s.queuePlaces(b, longValuesSQL, q, a.far, digest)
	s.queueRanges(b, ascendingSQL, q, a.forward)
	s.queueRanges(b, descendingSQL, q, a.backward)
	s.queueRanges(b, longAscendingSQL, q, a.longFor)
	s.queueRanges(b, longDescendingSQL, q, a.longBack)
	if len(q.last) > 0 {
		numbers := make([]int16, len(q.last))
		for i, bucket := range q.last {
			numbers[i] = s.numbers[bucket]
		}
		b.Queue(lastSQL, numbers)
	}
	return a
}

func appendIf(wanted bool, to []int, i int) []int {
	if wanted {
		return append(to, i)
	}
	return to
}

func digest(key string) []byte {
	sum := sha256.Sum256([]byte(key))
	return sum[:]
}

func (s *Store) queuePlaces(b *pgx.Batch, sql string, q *question, which []int, name func(string) []byte) {
	if len(which) == 0 {
		return
	}
	buckets, keys := make([]int16, len(which)), make([][]byte, len(which))
	for n, i := range which {
		buckets[n], keys[n] = s.numbers[q.places[i].bucket], name(q.places[i].key)
	}
	b.Queue(sql, buckets, keys)
}

func (s *Store) queueRanges(b *pgx.Batch, sql string, q *question, which []int) {
	if len(which) == 0 {
		return
	}
	n := len(which)
	buckets, records, most := make([]int16, n), make([]int16, n), make([]int32, n)
	lo, hi := make([][]byte, n), make([][]byte, n)
	for n, i := range which {
		r := q.ranges[i]
		buckets[n], records[n] = s.numbers[r.bucket], noBucket
		if r.records != tables.BucketCount {
			records[n] = s.numbers[r.records]
		}
		lo[n], most[n] = []byte(r.lo), int32(q.most[i])
		if !r.open {
			hi[n] = []byte(r.hi)
		}
	}
	b.Queue(sql, buckets, lo, hi, most, records)
}

// noBucket is not the number of any bucket.
const noBucket = -1

// answer adds the results of a question's statements to the known answers.
func (a *asked) answer(s *Store, results pgx.BatchResults, into *reader) error {
	var memory arena
	if into.forget && len(into.values) > forgetAt {
		clear(into.values)
	}
	for _, which := range [][]int{a.short, a.far} {
		if err := a.answerPlaces(results, which, into, &memory); err != nil {
			return err
		}
	}
	pairs := make([][]pair, len(a.ranges))
	for _, which := range [][]int{a.forward, a.backward, a.longFor, a.longBack} {
		if err := a.answerRanges(results, which, pairs, &memory); err != nil {
			return err
		}
	}
	for i, r := range a.ranges {
		into.add(r, ordered(r, pairs[i], a.most[i]))
	}
	if len(a.last) == 0 {
		return nil
	}
	for _, bucket := range a.last {
		if !slices.Contains(a.long, s.numbers[bucket]) {
			into.last[bucket] = []byte{}
		}
	}
	return each(results, func(n int, values [][]byte) error {
		if bucket := a.last[n]; !slices.Contains(a.long, s.numbers[bucket]) {
			into.last[bucket] = memory.keep(values[0])
		}
		return nil
	})
}

func (a *asked) answerPlaces(results pgx.BatchResults, which []int, into *reader, memory *arena) error {
	if len(which) == 0 {
		return nil
	}
	for _, i := range which {
		into.values[a.places[i]] = nil
	}
	return each(results, func(n int, values [][]byte) error {
		into.values[a.places[which[n]]] = memory.keep(values[0])
		return nil
	})
}

func (a *asked) answerRanges(results pgx.BatchResults, which []int, pairs [][]pair, memory *arena) error {
	if len(which) == 0 {
		return nil
	}
	return each(results, func(n int, values [][]byte) error {
		i := which[n]
		pairs[i] = append(pairs[i], pair{memory.keep(values[0]), memory.keep(values[1]), memory.keep(values[2])})
		return nil
	})
}

// ordered merges the pairs of two tables into the order of the range. A join mostly returns rows in
// the order of the index, but does not guarantee it.
func ordered(r keyRange, pairs []pair, most int) found {
	compare := func(a, b pair) int {
		if r.backwards {
			a, b = b, a
		}
		return bytes.Compare(a.key, b.key)
	}
	if !slices.IsSortedFunc(pairs, compare) {
		slices.SortFunc(pairs, compare)
	}
	if len(pairs) < most {
		return found{pairs, true}
	}
	return found{pairs[:most], false}
}

// each calls fn for the rows of the next statement, with the 0-based index of the question's part
// and the other values.
func each(results pgx.BatchResults, fn func(n int, values [][]byte) error) error {
	rows, err := results.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		values := rows.RawValues()
		if len(values[0]) != 8 {
			return errors.New("the database returned an unexpected result")
		}
		if err := fn(int(binary.BigEndian.Uint64(values[0]))-1, values[1:]); err != nil {
			return err
		}
	}
	return rows.Err()
}

// state is the row of the table state.
type state struct {
	stamp  int64
	access int64
	schema int32
	long   longBuckets
}

// readState reads the state. It returns an error for the state of a newer program.
func readState(row pgx.Row) (st state, err error) {
	if err = row.Scan(&st.stamp, &st.access, &st.schema, (*[]int16)(&st.long)); err != nil {
		return st, err
	}
	if st.schema > int32(tables.Schema) {
		return st, fmt.Errorf("%w: schema %d; this version supports up to %d", metadata.ErrTooNew, st.schema, tables.Schema)
	}
	return st, nil
}

// arena copies values into few large blocks.
type arena struct{ free []byte }

// keep returns a copy of value, or nil for nil.
func (a *arena) keep(value []byte) []byte {
	if value == nil {
		return nil
	}
	if len(value) > cap(a.free)-len(a.free) {
		a.free = make([]byte, 0, max(len(value), 16<<10))
	}
	begin := len(a.free)
	a.free = append(a.free, value...)
	return a.free[begin:len(a.free):len(a.free)]
}
