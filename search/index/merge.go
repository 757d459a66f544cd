package index

import (
	"bytes"
	"cmp"
	"container/heap"
	"slices"
)

// mergeSource is a shard in a merge, with its live documents.
type mergeSource struct {
	bytes    []byte
	shard    shard
	rows     rows
	dead     bitmap
	renumber []int32 // the new number of each document; negative if it is dropped
}

// mergeShards returns one shard with the live documents of several, or nil if none is left.
func mergeShards(sources []*mergeSource) []byte {
	if len(sources) == 1 && sources[0].dead.count() == 0 {
		return sources[0].bytes
	}
	type origin struct {
		source, doc int32
		name        string
		id          [16]byte
	}
	var order []origin
	for i, s := range sources {
		s.rows = s.shard.rows()
		s.renumber = make([]int32, s.shard.n)
		for doc := range s.shard.n {
			s.renumber[doc] = -1
			if !s.dead.has(doc) {
				order = append(order, origin{int32(i), int32(doc), string(s.rows.names.at(doc)), s.shard.id(doc)})
			}
		}
	}
	if len(order) == 0 {
		return nil
	}
	slices.SortFunc(order, func(a, b origin) int {
		return cmp.Or(cmp.Compare(a.name, b.name), bytes.Compare(a.id[:], b.id[:]))
	})

	w := shardWriter{properties: map[string]*values{}}
	for doc, from := range order {
		source := sources[from.source]
		r := source.rows.at(int(from.doc))
		w.add(&r)
		source.renumber[from.doc] = int32(doc)
	}
	for _, s := range sources {
		s.addProperties(w.properties)
	}
	for _, v := range w.properties {
		v.sort()
	}
	for z := range zoneCount {
		w.postings[z] = mergeZone(sources, z, &w.texts[z], w.n)
	}
	return w.bytes()
}

// addProperties adds the values of live documents.
func (s *mergeSource) addProperties(to map[string]*values) {
	paths := s.shard.table(secPaths)
	for i := range paths.n {
		stored := openValues(openBundle(s.shard.data.part(secValues), paths.n).part(i))
		v := new(values)
		stored.addTo(v, s.renumber)
		if len(v.texts)+len(v.numbers)+len(v.dates) == 0 {
			continue
		}
		path := string(paths.at(i))
		if to[path] == nil {
			to[path] = new(values)
		}
		all := to[path]
		all.texts, all.numbers, all.dates = append(all.texts, v.texts...), append(all.numbers, v.numbers...), append(all.dates, v.dates...)
	}
}

// zoneSource is a zone of one source in a merge: a cursor over its words.
type zoneSource struct {
	zone  zone
	word  int
	text  []byte  // of the word
	moved []int64 // the shift of the positions of each document with a text; dropped for dead documents
}

// dropped marks positions that are omitted.
const dropped = int64(-1) << 40

// mergeZone merges the words of one zone of all sources, and fills texts.
func mergeZone(sources []*mergeSource, z int, texts *zoneTexts, n int) *wordWriter {
	lengths := make([]uint64, n)
	var cursors wordHeap
	zones := make([]*zoneSource, len(sources))
	for i, s := range sources {
		zs := &zoneSource{zone: s.shard.zone(z)}
		zones[i] = zs
		for k := range zs.zone.count {
			if doc := s.renumber[zs.zone.doc(k)]; doc >= 0 {
				lengths[doc] = zs.zone.starts.at(k+1) - zs.zone.starts.at(k)
			}
		}
		if zs.zone.words.n > 0 {
			zs.text = zs.zone.words.at(0)
			cursors = append(cursors, zs)
		}
	}
	begins := make([]uint64, n)
	for doc, length := range lengths {
		begins[doc] = texts.add(doc, length)
	}
	for i, s := range sources {
		zs := zones[i]
		zs.moved = make([]int64, zs.zone.count)
		for k := range zs.moved {
			zs.moved[k] = dropped
			if doc := s.renumber[zs.zone.doc(k)]; doc >= 0 {
				zs.moved[k] = int64(begins[doc]) - int64(zs.zone.starts.at(k))
			}
		}
	}
	return mergeWords(cursors)
}

// mergeWords merges words with their positions.
func mergeWords(cursors wordHeap) *wordWriter {
	w := new(wordWriter)
	heap.Init(&cursors)
	var word []byte
	var positions, scratch []uint32
	for len(cursors) > 0 {
		word = append(word[:0], cursors[0].text...)
		positions = positions[:0]
		lists := 0
		for len(cursors) > 0 && bytes.Equal(cursors[0].text, word) {
			c := cursors[0]
			scratch = c.zone.appendPositions(scratch[:0], c.word)
			positions = c.appendMoved(positions, scratch)
			lists++
			if c.advance() {
				heap.Fix(&cursors, 0)
			} else {
				heap.Pop(&cursors)
			}
		}
		if lists > 1 {
			slices.Sort(positions)
		}
		if len(positions) > 0 {
			w.add(string(word), positions)
		}
	}
	return w
}

// appendMoved appends the new positions of live documents.
func (z *zoneSource) appendMoved(to, positions []uint32) []uint32 {
	at := 0
	for _, p := range positions {
		at = z.zone.locate(p, at)
		if moved := z.moved[at]; moved != dropped {
			to = append(to, uint32(int64(p)+moved))
		}
	}
	return to
}

// advance moves to the next word, and reports whether there is one.
func (z *zoneSource) advance() bool {
	z.word++
	if z.word == z.zone.words.n {
		return false
	}
	z.text = z.zone.words.at(z.word)
	return true
}

// wordHeap has the source with the smallest word on top.
type wordHeap []*zoneSource

func (h wordHeap) Len() int           { return len(h) }
func (h wordHeap) Less(i, j int) bool { return bytes.Compare(h[i].text, h[j].text) < 0 }
func (h wordHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *wordHeap) Push(x any)        { *h = append(*h, x.(*zoneSource)) }
func (h *wordHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

// groups divides the shards of one dataspace so that each group fits into one shard. A shard that
// is half full with few dead documents is its own group.
func groups(sources []*mergeSource) [][]*mergeSource {
	slices.SortStableFunc(sources, func(a, b *mergeSource) int { return cmp.Compare(a.alive(), b.alive()) })
	var all [][]*mergeSource
	docs, positions := 0, 0
	for _, s := range sources {
		n, p := s.alive(), s.positions()
		if all == nil || docs+n > maxDocs || positions+p > maxPositions || s.full() {
			all = append(all, nil)
			docs, positions = 0, 0
		}
		last := len(all) - 1
		all[last] = append(all[last], s)
		docs, positions = docs+n, positions+p
		if s.full() {
			docs = maxDocs
		}
	}
	return all
}

func (s *mergeSource) alive() int { return s.shard.n - s.dead.count() }

// full reports whether the shard stays separate.
func (s *mergeSource) full() bool {
	large := s.shard.n >= maxDocs/2 || s.positions() >= maxPositions/2
	return large && s.dead.count() <= s.shard.n/4
}

// positions returns the number of positions of the words of the shard.
func (s *mergeSource) positions() int {
	n := 0
	for z := range zoneCount {
		zone := s.shard.zone(z)
		if zone.count > 0 {
			n += int(zone.starts.at(zone.count))
		}
	}
	return n
}
