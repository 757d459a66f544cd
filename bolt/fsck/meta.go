package fsck

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"

	"go.etcd.io/bbolt"
)

// MetaSize is the number of bytes after the header of a meta page.
const MetaSize = 64

// NoFreelist is the Freelist of a file without a list of free pages.
const NoFreelist = ^uint64(0)

const (
	metaMagic   = 0xED0CDAED
	metaVersion = 2
	leastPages  = 4       // two meta pages, the free list and the root
	leastPage   = 1 << 10 // bytes
	mostPage    = 1 << 24
)

// Meta is the content of a meta page.
type Meta struct {
	PageSize             uint32 // bytes
	Root, Freelist, Past uint64 // pages; Past is the first unused one
	TxID                 uint64
	Alone                bool // the other meta page is invalid
}

// ReadFile returns the valid meta page with the greater transaction id of the two in the file at
// path. It returns ErrDamaged if none is valid, or the file is shorter than the meta page says. It
// may be called while another process writes: one of the meta pages is always valid, and files only
// grow.
func ReadFile(path string) (m Meta, err error) {
	file, err := os.Open(path)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	m, ok := ReadMeta(file)
	if !ok {
		return m, fmt.Errorf("%w: no valid meta page", ErrDamaged)
	}
	info, err := file.Stat()
	if err != nil {
		return m, err
	}
	pages := uint64(info.Size()) / uint64(m.PageSize)
	switch {
	case pages < leastPages || m.Past > pages:
		return m, fmt.Errorf("%w: it has %d bytes, but %d pages of %d bytes are in use", ErrDamaged, info.Size(), m.Past, m.PageSize)
	case m.Root >= m.Past || m.Freelist >= m.Past && m.Freelist != NoFreelist:
		return m, fmt.Errorf("%w: a page number is beyond the end", ErrDamaged)
	}
	return m, nil
}

// ReadMeta returns the valid meta page with the greater transaction id. ok is false if none is
// valid. The second page begins after the first one. If the first one is invalid, the second may
// begin at any power of two.
func ReadMeta(file io.ReaderAt) (newest Meta, ok bool) {
	valid := 0
	consider := func(m Meta, isValid bool) {
		if isValid && (!ok || m.TxID > newest.TxID) {
			newest, ok = m, true
		}
		if isValid {
			valid++
		}
	}
	first, firstValid := MetaAt(file, 0)
	consider(first, firstValid)
	for size := int64(leastPage); size <= mostPage; size *= 2 {
		if !firstValid || int64(first.PageSize) == size {
			second, isValid := MetaAt(file, size)
			consider(second, isValid && int64(second.PageSize) == size)
		}
	}
	newest.Alone = valid == 1
	return newest, ok
}

// MetaAt reads the meta page at an offset in bytes. ok is false if the page is unreadable or
// invalid.
func MetaAt(file io.ReaderAt, at int64) (m Meta, ok bool) {
	var page [PageHeader + MetaSize]byte
	if _, err := file.ReadAt(page[:], at); err != nil {
		return m, false
	}
	order, raw := binary.NativeEndian, page[PageHeader:]
	m = Meta{
		PageSize: order.Uint32(raw[8:]),
		Root:     order.Uint64(raw[16:]), // its sequence is unused
		Freelist: order.Uint64(raw[32:]),
		Past:     order.Uint64(raw[40:]),
		TxID:     order.Uint64(raw[48:]),
	}
	ok = order.Uint32(raw) == metaMagic && order.Uint32(raw[4:]) == metaVersion && order.Uint64(raw[56:]) == MetaChecksum(raw) &&
		m.PageSize >= leastPage && m.PageSize <= mostPage
	return m, ok
}

// MetaChecksum returns the checksum of a meta page without its header. The last 8 bytes of the page
// must equal it.
func MetaChecksum(raw []byte) uint64 {
	sum := fnv.New64a()
	_, _ = sum.Write(raw[:56]) // never fails
	return sum.Sum64()
}

// TxMeta returns the meta page that a transaction sees: the first page of a copy. The meta pages in
// the file may be newer.
func TxMeta(tx *bbolt.Tx) (Meta, error) {
	var first firstPage
	if _, err := tx.WriteTo(&first); first == nil {
		return Meta{}, err
	}
	meta, ok := MetaAt(bytes.NewReader(first), 0)
	if !ok {
		return meta, fmt.Errorf("%w: no valid meta data", ErrDamaged)
	}
	return meta, nil
}

// firstPage keeps the first bytes that are written to it, and refuses the rest.
type firstPage []byte

var errEnough = errors.New("enough")

func (p *firstPage) Write(page []byte) (int, error) {
	*p = bytes.Clone(page)
	return 0, errEnough
}
