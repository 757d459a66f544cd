package index

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math/bits"
	"slices"
	"sort"
	"sync/atomic"

	"labshelf/search"
)

// ErrDamaged means that the index is unreliable: a checksum is wrong, or a file cannot be read. The
// caller discards and rebuilds it.
var ErrDamaged = errors.New("the search index is damaged")

// A segment is immutable: shards sorted by dataspace, their directory, a hash table from ids to
// documents, and the footer. The directory has the checksum of each shard, and the footer has the
// checksums of directory, table and itself. They are verified on first use: footer and directory
// when the segment is opened.

const (
	segmentMagic  = "labshelf index 2"
	entryBytes    = 16 + 8 + 8 + 4 + 4
	footerBytes   = 6*8 + 4
	emptySlot     = 0
	slotsPerThree = 4 // the hash table has four slots for three ids
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// entry locates a shard of a dataspace.
type entry struct {
	dataspace     [16]byte
	offset, bytes int
	docs          int
	first         int // the number of its first document in the segment
	sum           uint32
}

// segmentWriter writes a segment as a stream.
type segmentWriter struct {
	to      io.Writer
	offset  int
	entries []entry
	ids     [][16]byte
}

func newSegmentWriter(to io.Writer) (*segmentWriter, error) {
	w := &segmentWriter{to: to}
	return w, w.write([]byte(segmentMagic))
}

func (w *segmentWriter) write(b []byte) error {
	n, err := w.to.Write(b)
	w.offset += n
	return err
}

// add adds a shard. The shards of a dataspace are consecutive, and dataspaces are in order.
func (w *segmentWriter) add(dataspace [16]byte, data []byte) error {
	s := openShard(data)
	w.entries = append(w.entries, entry{
		dataspace: dataspace, offset: w.offset, bytes: len(data), docs: s.n, first: len(w.ids), sum: crc32.Checksum(data, castagnoli),
	})
	for doc := range s.n {
		w.ids = append(w.ids, s.id(doc))
	}
	return w.write(data)
}

// finish writes the parts after the shards.
func (w *segmentWriter) finish() error {
	var directory []byte
	for _, e := range w.entries {
		directory = append(directory, e.dataspace[:]...)
		directory = binary.LittleEndian.AppendUint64(directory, uint64(e.offset))
		directory = binary.LittleEndian.AppendUint64(directory, uint64(e.bytes))
		directory = binary.LittleEndian.AppendUint32(directory, uint32(e.docs))
		directory = binary.LittleEndian.AppendUint32(directory, e.sum)
	}
	table := idTable(w.ids)
	var footer []byte
	for _, n := range []int{w.offset, len(w.entries), len(table), len(w.ids)} {
		footer = binary.LittleEndian.AppendUint64(footer, uint64(n))
	}
	footer = binary.LittleEndian.AppendUint64(footer, uint64(crc32.Checksum(directory, castagnoli)))
	footer = binary.LittleEndian.AppendUint64(footer, uint64(crc32.Checksum(table, castagnoli)))
	footer = binary.LittleEndian.AppendUint32(footer, crc32.Checksum(footer, castagnoli))
	return errors.Join(w.write(directory), w.write(table), w.write(footer))
}

// idTable returns the hash table of ids: open addressing, with the number of a document + 1 in each
// slot.
func idTable(ids [][16]byte) []byte {
	table := make([]byte, 4*(len(ids)*slotsPerThree/3+1))
	for i, id := range ids {
		slot := slotOf(id, len(table))
		for binary.LittleEndian.Uint32(table[slot:]) != emptySlot {
			slot = nextSlot(slot, len(table))
		}
		binary.LittleEndian.PutUint32(table[slot:], uint32(i+1))
	}
	return table
}

// slotOf returns the first slot for an id in a table of a size.
func slotOf(id [16]byte, size int) int {
	h := binary.BigEndian.Uint64(id[:8])*0x9e3779b97f4a7c15 ^ binary.BigEndian.Uint64(id[8:])
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	slot, _ := bits.Mul64(h, uint64(size/4))
	return int(slot) * 4
}

func nextSlot(slot, size int) int {
	if slot += 4; slot < size {
		return slot
	}
	return 0
}

// segment reads a segment in memory, or in a mapped file.
type segment struct {
	data     []byte
	shards   []entry
	docs     int
	table    []byte
	tableSum uint32
	verified []atomic.Bool // of each shard, and the last of the table
}

// openSegment reads footer and directory.
func openSegment(data []byte) (*segment, error) {
	if len(data) < len(segmentMagic)+footerBytes || !bytes.HasPrefix(data, []byte(segmentMagic)) {
		return nil, ErrDamaged
	}
	footer := data[len(data)-footerBytes:]
	if crc32.Checksum(footer[:footerBytes-4], castagnoli) != binary.LittleEndian.Uint32(footer[footerBytes-4:]) {
		return nil, ErrDamaged
	}
	field := func(i int) int { return int(binary.LittleEndian.Uint64(footer[8*i:])) }
	at, count, tableBytes := field(0), field(1), field(2)
	directoryEnd := at + count*entryBytes
	if directoryEnd+tableBytes+footerBytes != len(data) {
		return nil, ErrDamaged
	}
	directory := data[at:directoryEnd]
	if int(crc32.Checksum(directory, castagnoli)) != field(4) {
		return nil, ErrDamaged
	}
	s := &segment{
		data: data, docs: field(3), table: data[directoryEnd : directoryEnd+tableBytes], tableSum: uint32(field(5)),
		verified: make([]atomic.Bool, count+1),
	}
	first := 0
	for ; len(directory) > 0; directory = directory[entryBytes:] {
		e := entry{
			dataspace: [16]byte(directory),
			offset:    int(binary.LittleEndian.Uint64(directory[16:])),
			bytes:     int(binary.LittleEndian.Uint64(directory[24:])),
			docs:      int(binary.LittleEndian.Uint32(directory[32:])),
			first:     first,
			sum:       binary.LittleEndian.Uint32(directory[36:]),
		}
		first += e.docs
		s.shards = append(s.shards, e)
	}
	return s, nil
}

// shard opens a shard, and verifies it on first use.
func (s *segment) shard(i int) (shard, error) {
	data := s.raw(i)
	if err := s.verify(i, data, s.shards[i].sum); err != nil {
		return shard{}, err
	}
	return openShard(data), nil
}

// raw returns the bytes of a shard without verification.
func (s *segment) raw(i int) []byte {
	e := &s.shards[i]
	return s.data[e.offset : e.offset+e.bytes]
}

func (s *segment) verify(i int, data []byte, sum uint32) error {
	if s.verified[i].Load() {
		return nil
	}
	if crc32.Checksum(data, castagnoli) != sum {
		return ErrDamaged
	}
	s.verified[i].Store(true)
	return nil
}

// of returns the range of shard numbers of a dataspace: from begin to end-1.
func (s *segment) of(dataspace [16]byte) (begin, end int) {
	begin = sort.Search(len(s.shards), func(i int) bool { return bytes.Compare(s.shards[i].dataspace[:], dataspace[:]) >= 0 })
	for end = begin; end < len(s.shards) && s.shards[end].dataspace == dataspace; end++ {
	}
	return begin, end
}

// find returns the shard and the number of the document with an id.
func (s *segment) find(id [16]byte) (at, doc int, ok bool, err error) {
	if err := s.verify(len(s.shards), s.table, s.tableSum); err != nil {
		return 0, 0, false, err
	}
	for slot := slotOf(id, len(s.table)); ; slot = nextSlot(slot, len(s.table)) {
		number := int(binary.LittleEndian.Uint32(s.table[slot:])) - 1
		if number < 0 {
			return 0, 0, false, nil
		}
		at = sort.Search(len(s.shards), func(i int) bool { return s.shards[i].first > number }) - 1
		sh, err := s.shard(at)
		if err != nil {
			return 0, 0, false, err
		}
		if doc = number - s.shards[at].first; sh.id(doc) == id {
			return at, doc, true, nil
		}
	}
}

// buildSegment returns a segment of documents with distinct ids.
func buildSegment(docs []*search.Document) ([]byte, error) {
	docs = slices.Clone(docs)
	slices.SortStableFunc(docs, func(a, b *search.Document) int { return bytes.Compare(a.Dataspace[:], b.Dataspace[:]) })
	var b bytes.Buffer
	w, err := newSegmentWriter(&b)
	for err == nil && len(docs) > 0 {
		n := 1
		for n < min(len(docs), maxDocs) && docs[n].Dataspace == docs[0].Dataspace {
			n++
		}
		err = w.add(docs[0].Dataspace, buildShard(docs[:n]))
		docs = docs[n:]
	}
	if err != nil {
		return nil, err
	}
	err = w.finish()
	return b.Bytes(), err
}
