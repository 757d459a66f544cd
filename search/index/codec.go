package index

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"sort"
)

// A segment is little-endian and consists of three structures: a bundle of byte strings, a column
// of numbers of one width, and a table of sorted texts. The readers check only bounds, by
// panicking, because the data has passed its checksum.

// padding follows the numbers of a column, so that each can be read with one 8-byte load.
const padding = 8

// appendBundle appends byte strings that part finds by number. Their total length is below 4 GiB.
func appendBundle(b []byte, parts ...[]byte) []byte {
	end := uint32(0)
	for _, p := range parts {
		end += uint32(len(p))
		b = binary.LittleEndian.AppendUint32(b, end)
	}
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

// bundle reads count byte strings.
type bundle struct {
	ends, data []byte
}

func openBundle(b []byte, count int) bundle {
	return bundle{b[:4*count], b[4*count:]}
}

func (p bundle) part(i int) []byte {
	begin := uint32(0)
	if i > 0 {
		begin = binary.LittleEndian.Uint32(p.ends[4*i-4:])
	}
	end := binary.LittleEndian.Uint32(p.ends[4*i:])
	return p.data[begin:end:end]
}

// column is a list of numbers. Each is stored as its difference to the smallest, in the number of
// bytes that the greatest difference needs.
type column struct {
	data  []byte
	width int
	base  uint64
	mask  uint64
}

// appendColumn appends numbers in the format of openColumn. An empty list has no bytes.
func appendColumn(b []byte, values []uint64) []byte {
	if len(values) == 0 {
		return b
	}
	low, high := uint64(math.MaxUint64), uint64(0)
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	width := (bits.Len64(high-low) + 7) / 8
	b = binary.LittleEndian.AppendUint64(append(b, byte(width)), low)
	var number, end [padding]byte
	for _, v := range values {
		binary.LittleEndian.PutUint64(number[:], v-low)
		b = append(b, number[:width]...)
	}
	return append(b, end[:]...)
}

// columnOf returns a separate column.
func columnOf(values []uint64) []byte {
	return appendColumn(nil, values)
}

const columnHeader = 9

func openColumn(b []byte) column {
	if len(b) == 0 {
		return column{}
	}
	width := int(b[0])
	return column{
		data:  b[columnHeader:],
		width: width,
		base:  binary.LittleEndian.Uint64(b[1:]),
		mask:  math.MaxUint64 >> (64 - 8*width),
	}
}

// at returns a number. A column of width 0 accepts any index.
func (c column) at(i int) uint64 {
	if c.width == 0 {
		return c.base
	}
	return c.base + binary.LittleEndian.Uint64(c.data[i*c.width:])&c.mask
}

// separator follows each text of a table, and each word. Folded words do not contain it.
const separator = 0

// table is a list of numbered texts; find requires byte order.
type table struct {
	n       int
	offsets column // n+1 of them
	texts   []byte
}

// tableWriter makes a table.
type tableWriter struct {
	offsets []uint64
	texts   []byte
}

func (w *tableWriter) add(text string) {
	w.offsets = append(w.offsets, uint64(len(w.texts)))
	w.texts = append(append(w.texts, text...), separator)
}

// bytes returns the table. An empty table has no bytes.
func (w *tableWriter) bytes() []byte {
	if len(w.offsets) == 0 {
		return nil
	}
	count := binary.LittleEndian.AppendUint32(nil, uint32(len(w.offsets)))
	return appendBundle(nil, count, columnOf(append(w.offsets, uint64(len(w.texts)))), w.texts)
}

// tableOf returns a table of texts in the given order.
func tableOf(texts []string) []byte {
	var w tableWriter
	for _, t := range texts {
		w.add(t)
	}
	return w.bytes()
}

func openTable(b []byte) table {
	if len(b) == 0 {
		return table{}
	}
	p := openBundle(b, 3)
	return table{int(binary.LittleEndian.Uint32(p.part(0))), openColumn(p.part(1)), p.part(2)}
}

// at returns the text with a number, as a slice of the segment.
func (t *table) at(i int) []byte {
	return t.texts[t.offsets.at(i) : t.offsets.at(i+1)-1]
}

// lower returns the number of the first text that is not less than text.
func (t *table) lower(text []byte) int {
	return sort.Search(t.n, func(i int) bool { return bytes.Compare(t.at(i), text) >= 0 })
}

// find returns the number of a text.
func (t *table) find(text []byte) (int, bool) {
	i := t.lower(text)
	return i, i < t.n && bytes.Equal(t.at(i), text)
}
