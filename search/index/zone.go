package index

import (
	"encoding/binary"
	"slices"
	"sort"
)

// Zones are the texts of a document with equal weight in the order by relevance. Each has its own
// words.
const (
	nameZone  = iota // the name
	labelZone        // tags, title, creators, keywords
	textZone         // description, paths and texts of properties
	bodyZone         // the full text
	ownZones         // the number of zones of a document itself

	// containerZone contains name and title again, for dataspaces and sets only: their content is
	// found by these.
	containerZone = ownZones
	zoneCount     = ownZones + 1
)

// zone is the inverted index of one zone of a shard. The words of all its documents are numbered by
// consecutive positions. One number is skipped after each text, so that no phrase crosses its end.
// A posting list contains the positions of one word, which determine both its place and its
// documents.
type zone struct {
	words  wordList
	count  int    // number of documents with a text in this zone
	docs   column // their numbers; unused if every document has a text
	sparse bool
	starts column // of their positions: count+1 entries
}

// zoneTexts describes the positions of a zone: the documents with texts, and the number of
// positions of each.
type zoneTexts struct {
	docs   []uint64
	starts []uint64
	next   uint64
}

// add reserves positions for a document, and returns the first one. Documents come in order; those
// without positions are omitted.
func (t *zoneTexts) add(doc int, positions uint64) uint64 {
	begin := t.next
	if positions > 0 {
		t.docs = append(t.docs, uint64(doc))
		t.starts = append(t.starts, begin)
		t.next += positions
	}
	return begin
}

// zoneBytes returns a zone of a shard with n documents. A zone without words has no bytes.
func zoneBytes(w *wordWriter, t *zoneTexts, n int) []byte {
	if w.n == 0 {
		return nil
	}
	var docs []byte
	if len(t.docs) < n {
		docs = columnOf(t.docs)
	}
	count := binary.LittleEndian.AppendUint32(nil, uint32(len(t.docs)))
	return appendBundle(nil, w.bytes(), count, docs, columnOf(append(t.starts, t.next)))
}

func openZone(b []byte) zone {
	if len(b) == 0 {
		return zone{}
	}
	p := openBundle(b, 4)
	docs := p.part(2)
	return zone{
		words:  openWords(p.part(0)),
		count:  int(binary.LittleEndian.Uint32(p.part(1))),
		docs:   openColumn(docs),
		sparse: len(docs) > 0,
		starts: openColumn(p.part(3)),
	}
}

// appendPositions appends the positions of a word.
func (z *zone) appendPositions(to []uint32, word int) []uint32 {
	position := beforeFirst
	for list := z.words.list(word); len(list) > 0; {
		var gap uint32
		gap, list = takeGap(list)
		position += gap
		to = append(to, position)
	}
	return to
}

// takeGap reads the first number of a posting list.
func takeGap(list []byte) (gap uint32, rest []byte) {
	if list[0] < 0x80 {
		return uint32(list[0]), list[1:]
	}
	long, n := binary.Uvarint(list)
	return uint32(long), list[max(n, 1):] // longer ones occur only if the file changes while it is read
}

// doc returns the number of the i-th document with a text in this zone.
func (z *zone) doc(i int) int {
	if z.sparse {
		return int(z.docs.at(i))
	}
	return i
}

// locate returns the index of the document that contains a position, among the documents with a
// text. The search begins at the index from.
func (z *zone) locate(position uint32, from int) int {
	p := uint64(position)
	step := 1
	for from+step < z.count && z.starts.at(from+step) <= p {
		from += step
		step *= 2
	}
	step = min(step, z.count-from)
	if step <= 1 {
		return from
	}
	return from + sort.Search(step-1, func(i int) bool { return z.starts.at(from+i+1) > p })
}

// invert collects the words of documents that are added in order.
type invert map[string][]uint32

// writer returns all words with their positions.
func (v invert) writer() *wordWriter {
	words := make([]string, 0, len(v))
	for w := range v {
		words = append(words, w)
	}
	slices.Sort(words)
	w := new(wordWriter)
	for _, word := range words {
		w.add(word, v[word])
	}
	return w
}
