package index

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"

	"labshelf/search"
)

func trailing(word uint64) int { return bits.TrailingZeros64(word) }

// Order is the order of hits.
type Order uint8

// Orders of hits. Equal documents are ordered by id.
const (
	ByRelevance Order = iota // highest score first, then newest
	Newest                   // by stamp
	Oldest
	ByName // by folded name
)

// Hit is a found document and its position.
type Hit struct {
	Dataspace [16]byte
	Kind      search.Kind
	Position
}

// Position is the position of a hit in the order.
type Position struct {
	Score int
	Stamp uint64
	Name  string   // folded; only for the order by name
	ID    [16]byte // of the document
}

// orders compare positions.
var orders = [...]func(a, b *Position) int{
	ByRelevance: func(a, b *Position) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Stamp, a.Stamp), bytes.Compare(a.ID[:], b.ID[:]))
	},
	Newest: func(a, b *Position) int {
		return cmp.Or(cmp.Compare(b.Stamp, a.Stamp), bytes.Compare(a.ID[:], b.ID[:]))
	},
	Oldest: func(a, b *Position) int {
		return cmp.Or(cmp.Compare(a.Stamp, b.Stamp), bytes.Compare(a.ID[:], b.ID[:]))
	},
	ByName: func(a, b *Position) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), bytes.Compare(a.ID[:], b.ID[:]))
	},
}

// collector keeps the first hits in an order after a position.
type collector struct {
	order   Order
	compare func(a, b *Position) int
	after   *Position
	limit   int
	hits    []Hit
	bound   *Position // hits at or after this position are dropped
	hit     Hit       // the current hit
	total   int
}

func newCollector(r *Request) *collector {
	return &collector{order: r.Order, compare: orders[r.Order], after: r.After, limit: r.Limit}
}

// collect adds the hits of a shard.
func (k *collector) collect(w *scratch, s *shard, dataspace [16]byte) {
	k.total += w.result.count()
	if k.limit == 0 {
		return
	}
	if k.order == ByName {
		k.collectByName(w, s, dataspace)
		return
	}
	stamps, flags := s.column(secStamps), s.column(secFlags)
	for i, word := range w.result {
		for ; word != 0; word &= word - 1 {
			doc := 64*i + trailing(word)
			p := &k.hit.Position
			*p = Position{Score: int(w.scores[doc]), Stamp: stamps.at(doc)} // with the smallest id
			if k.bound != nil && k.compare(p, k.bound) > 0 {
				continue
			}
			p.ID = s.id(doc)
			k.hit.Dataspace, k.hit.Kind = dataspace, search.Kind(flags.at(doc)&kindFlags)
			k.offer()
		}
	}
}

// collectByName adds the first hits of a shard, whose documents are ordered by name.
func (k *collector) collectByName(w *scratch, s *shard, dataspace [16]byte) {
	first := 0
	if k.after != nil {
		first = s.firstAfter(k.after.Name, k.after.ID)
	}
	names, stamps, flags := s.names(), s.column(secStamps), s.column(secFlags)
	for doc := range w.result.each {
		if doc < first {
			continue
		}
		k.hit = Hit{
			dataspace, search.Kind(flags.at(doc) & kindFlags),
			Position{Score: int(w.scores[doc]), Stamp: stamps.at(doc), Name: string(names.at(doc)), ID: s.id(doc)},
		}
		if k.bound != nil && k.compare(&k.hit.Position, k.bound) >= 0 {
			return
		}
		k.offer()
	}
}

// offer adds the current hit if it is after the position.
func (k *collector) offer() {
	if k.after != nil && k.compare(&k.hit.Position, k.after) <= 0 {
		return
	}
	k.hits = append(k.hits, k.hit)
	if len(k.hits) >= 2*k.limit+64 {
		k.trim()
	}
}

// trim keeps the first hits, in order.
func (k *collector) trim() {
	slices.SortFunc(k.hits, func(a, b Hit) int { return k.compare(&a.Position, &b.Position) })
	if len(k.hits) > k.limit {
		k.hits = k.hits[:k.limit]
	}
	if len(k.hits) == k.limit && k.limit > 0 {
		bound := k.hits[k.limit-1].Position
		k.bound = &bound
	}
}

// merge adds the hits of another collector.
func (k *collector) merge(other *collector) {
	k.total += other.total
	k.hits = append(k.hits, other.hits...)
}
