package fsck

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// The format of a bbolt file after its meta pages, in the byte order of the machine. A page is a
// header, its entries with 16 bytes each, and the keys and values of the entries without gaps. The
// header is the page's own number (8 bytes), flags (2), the number of entries (2), and the number
// of overflow pages that follow (4). An entry of a leaf is flags, the distance from the entry to
// its key, and the lengths of key and value, with 4 bytes each. An entry of a branch is the
// distance, the length of the key, and the number of the page below (8 bytes). The value of a
// bucket is the number of its root page and an unused sequence, with 8 bytes each. If the number is
// 0, the root page follows, with 0 for its number and its overflow pages.
const (
	PageHeader = 16 // bytes of the header of a page
	EntrySize  = 16 // bytes of an entry

	bucketHeader = 16
	bucketEntry  = 1      // flag of a leaf entry that is a bucket
	manyFree     = 0xffff // if a free list has this number of entries, the first entry is the real number
)

// The flags of a page.
const (
	BranchPage   = 0x01
	LeafPage     = 0x02
	MetaPage     = 0x04
	FreelistPage = 0x10
)

// Header is the header of a page.
type Header struct {
	ID           uint64
	Flags, Count uint16
	Overflow     uint32 // number of following pages that belong to this page
}

// entries returns the number of bytes of the header and the entries.
func (h Header) entries() uint64 { return PageHeader + EntrySize*uint64(h.Count) }

// pages returns the number of pages including the overflow pages.
func (h Header) pages() uint64 { return uint64(h.Overflow) + 1 }

// Page is a branch or leaf page with its overflow pages, or the root page of an inline bucket.
type Page []byte

// Header returns the header of a page of any kind. It needs only the first PageHeader bytes.
func (p Page) Header() Header {
	order := binary.NativeEndian
	return Header{order.Uint64(p), order.Uint16(p[8:]), order.Uint16(p[10:]), order.Uint32(p[12:])}
}

// entry returns the content of an entry. For a leaf these are the flags and the lengths of key and
// value. For a branch these are the length of the key and the number of the page below.
func (p Page) entry(i int) (flags uint32, key, value uint64, below uint64) {
	order, entry := binary.NativeEndian, p[PageHeader+EntrySize*i:]
	if p.Header().Flags == BranchPage {
		return 0, uint64(order.Uint32(entry[4:])), 0, order.Uint64(entry[8:])
	}
	return order.Uint32(entry), uint64(order.Uint32(entry[8:])), uint64(order.Uint32(entry[12:])), 0
}

// Size returns the sum of header, entries, keys and values. It needs only the header and the
// entries. wrong describes an error in them, or is "".
func (p Page) Size() (size uint64, wrong string) {
	h := p.Header()
	distanceAt := 0
	if h.Flags == LeafPage {
		distanceAt = 4
	}
	size = h.entries()
	for i := range int(h.Count) {
		flags, key, value, _ := p.entry(i)
		begin := PageHeader + EntrySize*uint64(i)
		distance := uint64(binary.NativeEndian.Uint32(p[begin+uint64(distanceAt):]))
		switch {
		case begin+distance != size:
			return 0, fmt.Sprintf("entry %d begins at %d, its key at %d, but the previous entry ends at %d", i, begin, begin+distance, size)
		case key == 0:
			return 0, fmt.Sprintf("entry %d has no key", i)
		case flags > bucketEntry:
			return 0, fmt.Sprintf("entry %d has the flags %#x", i, flags)
		}
		size += key + value
	}
	if h.Flags == BranchPage && h.Count == 0 {
		return 0, "it is a branch without entries"
	}
	return size, ""
}

// Key returns the key of an entry. The Size of the page must be valid.
func (p Page) Key(i int) []byte {
	_, size, _, _ := p.entry(i)
	begin := p.begin(i)
	return p[begin : begin+size]
}

// value returns the value of an entry of a leaf. The Size of the page must be valid.
func (p Page) value(i int) []byte {
	_, key, size, _ := p.entry(i)
	begin := p.begin(i) + key
	return p[begin : begin+size]
}

// begin returns the offset of the key of an entry.
func (p Page) begin(i int) uint64 {
	entry := PageHeader + EntrySize*uint64(i)
	at := entry
	if p.Header().Flags == LeafPage {
		at += 4
	}
	return entry + uint64(binary.NativeEndian.Uint32(p[at:]))
}

// disorder describes where the keys do not ascend from first to end, or returns "". If first is not
// nil, it is the first key according to the page above. If end is not nil, all keys must be
// smaller.
func (p Page) disorder(first, end []byte) string {
	count := int(p.Header().Count)
	if first != nil && (count == 0 || !bytes.Equal(p.Key(0), first)) {
		return fmt.Sprintf("its first key is not %x, the key in the page above", first)
	}
	for i := 1; i < count; i++ {
		if bytes.Compare(p.Key(i-1), p.Key(i)) >= 0 {
			return fmt.Sprintf("its key %d is not greater than the previous key", i)
		}
	}
	if end != nil && count > 0 && bytes.Compare(p.Key(count-1), end) >= 0 {
		return fmt.Sprintf("its last key is not less than %x, where the next page begins", end)
	}
	return ""
}
