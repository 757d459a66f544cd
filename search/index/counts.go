package index

import (
	"bytes"
	"cmp"
	"slices"

	"labshelf/search"
)

// Count is the number of hits with a value.
type Count[K any] struct {
	Value K
	N     int
}

// Counts contains the most frequent values among all hits, not only one page: most frequent first,
// then smallest first.
type Counts struct {
	Kinds      []Count[search.Kind]
	Dataspaces []Count[[16]byte]
	Tags       []Count[string] // ignoring case; shown in the smallest of the used spellings
	Creators   []Count[string]
	Years      []Count[int] // of hits that have one
}

// tally counts values of one kind.
type tally[K comparable] map[K]int

// top returns the most frequent values.
func (t tally[K]) top(limit int, compare func(a, b K) int) []Count[K] {
	all := make([]Count[K], 0, len(t))
	for value, n := range t {
		all = append(all, Count[K]{value, n})
	}
	slices.SortFunc(all, func(a, b Count[K]) int {
		return cmp.Or(cmp.Compare(b.N, a.N), compare(a.Value, b.Value))
	})
	return all[:min(limit, len(all)):min(limit, len(all))]
}

// labelTally counts labels by their folded form.
type labelTally map[string]*labelCount

type labelCount struct {
	written string
	n       int
}

func (t labelTally) add(folded, written []byte, n int) {
	c := t[string(folded)]
	if c == nil {
		t[string(folded)] = &labelCount{string(written), n}
		return
	}
	c.n += n
	if string(written) < c.written {
		c.written = string(written)
	}
}

func (t labelTally) merge(other labelTally) {
	for folded, c := range other {
		t.add([]byte(folded), []byte(c.written), c.n)
	}
}

// top returns the most frequent labels.
func (t labelTally) top(limit int) []Count[string] {
	counts := tally[string]{}
	for folded, c := range t {
		counts[folded] = c.n
	}
	list := counts.top(limit, cmp.Compare)
	for i := range list {
		list[i].Value = t[list[i].Value].written
	}
	return list
}

// counter counts hits.
type counter struct {
	kinds          tally[search.Kind]
	dataspaces     tally[[16]byte]
	years          tally[int]
	tags, creators labelTally
}

func newCounter() *counter {
	return &counter{tally[search.Kind]{}, tally[[16]byte]{}, tally[int]{}, labelTally{}, labelTally{}}
}

// count counts the hits of a shard.
func (c *counter) count(w *scratch, s *shard, dataspace [16]byte) {
	c.dataspaces[dataspace] += w.result.count()
	flags, years := s.column(secFlags), s.column(secYears)
	var kinds [kindFlags + 1]int
	for doc := range w.result.each {
		kinds[flags.at(doc)&kindFlags]++
	}
	for kind, n := range kinds {
		if n > 0 {
			c.kinds[search.Kind(kind)] += n
		}
	}
	if years.width > 0 || years.base != 0 {
		for doc := range w.result.each {
			if year := int(years.at(doc)); year != 0 {
				c.years[year]++
			}
		}
	}
	w.countLabels(s.labels(secTags), c.tags)
	w.countLabels(s.labels(secCreators), c.creators)
}

// countLabels counts labels by number first.
func (w *scratch) countLabels(l labelsOf, to labelTally) {
	if l.labels.n == 0 {
		return
	}
	if len(w.counts) < l.labels.n {
		w.counts = make([]uint32, l.labels.n)
	}
	counts := w.counts[:l.labels.n]
	clear(counts)
	for doc := range w.result.each {
		for i, end := l.bounds(doc); i < end; i++ {
			counts[l.of.at(i)]++
		}
	}
	for i, n := range counts {
		if n > 0 {
			folded, written := openLabel(l.labels.at(i))
			to.add(folded, written, int(n))
		}
	}
}

// merge adds the counts of another counter.
func (c *counter) merge(other *counter) {
	for k, n := range other.kinds {
		c.kinds[k] += n
	}
	for k, n := range other.dataspaces {
		c.dataspaces[k] += n
	}
	for k, n := range other.years {
		c.years[k] += n
	}
	c.tags.merge(other.tags)
	c.creators.merge(other.creators)
}

// top returns the most frequent values of each kind.
func (c *counter) top(limit int) Counts {
	return Counts{
		Kinds:      c.kinds.top(limit, cmp.Compare[search.Kind]),
		Dataspaces: c.dataspaces.top(limit, func(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) }),
		Tags:       c.tags.top(limit),
		Creators:   c.creators.top(limit),
		Years:      c.years.top(limit, cmp.Compare[int]),
	}
}
