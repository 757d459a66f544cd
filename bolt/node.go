package bolt

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// The format of a bbolt file beyond its meta pages, in the byte order of the machine. A page is a header (its own number, 8
// bytes; flags, 2; number of entries, 2; how many pages follow that belong to it, 4), then its entries, 16 bytes each, then
// the keys and values of the entries, one after the other without a gap. An entry of a leaf is flags, the distance from the
// entry to its key, the lengths of key and value, 4 bytes each; one of a branch the distance, the length of the key, and the
// page below, in 8. The value of a bucket is the number of its root page and a sequence that is not used, 8 bytes each; for a
// page number of 0 the root page itself follows, its number and the pages that follow 0.
const (
	branchPage   = 0x01
	leafPage     = 0x02
	metaPage     = 0x04
	freelistPage = 0x10

	entrySize    = 16
	bucketHeader = 16
	bucketEntry  = 1      // the flag of a leaf entry that is a bucket
	manyFree     = 0xffff // this number of entries of a free list: the first one says how many there are
)

// header is what a page begins with.
type header struct {
	id           uint64
	flags, count uint16
	overflow     uint32
}

func headerOf(page []byte) header {
	order := binary.NativeEndian
	return header{order.Uint64(page), order.Uint16(page[8:]), order.Uint16(page[10:]), order.Uint32(page[12:])}
}

// entries is how many bytes the header and the entries take.
func (h header) entries() uint64 { return pageHeader + entrySize*uint64(h.count) }

// pages is how many pages belong together.
func (h header) pages() uint64 { return uint64(h.overflow) + 1 }

// node is a branch or leaf page, or that of a bucket which lies within another one's page.
type node []byte

// at returns what an entry of the page says.
func (n node) at(i int) (flags uint32, key, value uint64, below uint64) {
	order, entry := binary.NativeEndian, n[pageHeader+entrySize*i:]
	if headerOf(n).flags == branchPage {
		return 0, uint64(order.Uint32(entry[4:])), 0, order.Uint64(entry[8:])
	}
	return order.Uint32(entry), uint64(order.Uint32(entry[8:])), uint64(order.Uint32(entry[12:])), 0
}

// size adds up header, entries, keys and values. It needs header and entries alone, and says what is wrong with them.
func (n node) size() (size uint64, wrong string) {
	h := headerOf(n)
	distanceAt := 0
	if h.flags == leafPage {
		distanceAt = 4
	}
	size = h.entries()
	for i := range int(h.count) {
		flags, key, value, _ := n.at(i)
		begin := pageHeader + entrySize*uint64(i)
		distance := uint64(binary.NativeEndian.Uint32(n[begin+uint64(distanceAt):]))
		switch {
		case begin+distance != size:
			return 0, fmt.Sprintf("entry %d begins at %d, its key at %d, the one before ends at %d", i, begin, begin+distance, size)
		case key == 0:
			return 0, fmt.Sprintf("entry %d has no key", i)
		case flags > bucketEntry:
			return 0, fmt.Sprintf("entry %d has the flags %#x", i, flags)
		}
		size += key + value
	}
	if h.flags == branchPage && h.count == 0 {
		return 0, "nothing is below it"
	}
	return size, ""
}

// key returns the key of an entry of a page whose size is right.
func (n node) key(i int) []byte {
	_, size, _, _ := n.at(i)
	begin := n.begin(i)
	return n[begin : begin+size]
}

// value returns the value of an entry of a leaf whose size is right.
func (n node) value(i int) []byte {
	_, key, size, _ := n.at(i)
	begin := n.begin(i) + key
	return n[begin : begin+size]
}

// begin is where the key of an entry begins.
func (n node) begin(i int) uint64 {
	entry := pageHeader + entrySize*uint64(i)
	at := entry
	if headerOf(n).flags == leafPage {
		at += 4
	}
	return entry + uint64(binary.NativeEndian.Uint32(n[at:]))
}

// disorder says where the keys do not rise from first, which the page above has for its first key if it is not nil, to end,
// which is beyond its last one if it is not nil.
func (n node) disorder(first, end []byte) string {
	count := int(headerOf(n).count)
	if first != nil && (count == 0 || !bytes.Equal(n.key(0), first)) {
		return fmt.Sprintf("its first key is not %x, as the page above says", first)
	}
	for i := 1; i < count; i++ {
		if bytes.Compare(n.key(i-1), n.key(i)) >= 0 {
			return fmt.Sprintf("its key %d is not greater than the one before", i)
		}
	}
	if end != nil && count > 0 && bytes.Compare(n.key(count-1), end) >= 0 {
		return fmt.Sprintf("its last key is not less than %x, where the next page begins", end)
	}
	return ""
}
