package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// bbolt believes its file: it maps it and follows the page numbers in it, and a file that is cut off ends the program with a
// fault. So its two meta pages, of which the valid one with the greater transaction id counts, are read here first.
const (
	pageHeader  = 16
	metaMagic   = 0xED0CDAED
	metaVersion = 2
	metaSize    = 64
	leastPages  = 4       // two meta pages, the free list, the root
	leastPage   = 1 << 10 // bytes
	mostPage    = 1 << 24
	noFreelist  = ^uint64(0)
)

// fileMeta is what a meta page says.
type fileMeta struct {
	pageSize             uint32
	root, freelist, past uint64 // pages; past is the first one that is not in use
	txid                 uint64
	alone                bool // the other one is not valid
}

// errAlone: of the two meta pages, which hold the last state and the one before, one is not valid. That is what a power cut may
// leave of a commit that nobody was told of, and what a damaged disk may leave of the last one.
var errAlone = errors.New("the first pages of the metadata file were not both valid at the start: perhaps only what a power cut " +
	"leaves, perhaps the last change before it is missing")

// checkFile returns an ErrDamaged if the file at path is not whole, and whether only one of its meta pages is valid. It may be
// called while another process writes: one of the meta pages is always valid, and files only grow.
func checkFile(path string) (alone bool, err error) {
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	m, ok := readFileMeta(file)
	if !ok {
		return false, fmt.Errorf("%w: no valid meta page", ErrDamaged)
	}
	info, err := file.Stat()
	if err != nil {
		return false, err
	}
	pages := uint64(info.Size()) / uint64(m.pageSize)
	switch {
	case pages < leastPages || m.past > pages:
		return false, fmt.Errorf("%w: %d bytes long, and %d pages of %d in use", ErrDamaged, info.Size(), m.past, m.pageSize)
	case m.root >= m.past || m.freelist >= m.past && m.freelist != noFreelist:
		return false, fmt.Errorf("%w: a page number is beyond the end", ErrDamaged)
	}
	return m.alone, nil
}

// readFileMeta finds the meta page that counts. The second one is where the first one's page ends; where the first one is not
// valid, that may be at any power of two.
func readFileMeta(file io.ReaderAt) (newest fileMeta, ok bool) {
	found := 0
	consider := func(m fileMeta, valid bool) {
		if valid && (!ok || m.txid > newest.txid) {
			newest, ok = m, true
		}
		if valid {
			found++
		}
	}
	first, valid := fileMetaAt(file, 0)
	consider(first, valid)
	for size := int64(leastPage); size <= mostPage; size *= 2 {
		if !valid || int64(first.pageSize) == size {
			second, valid := fileMetaAt(file, size)
			consider(second, valid && int64(second.pageSize) == size)
		}
	}
	newest.alone = found == 1
	return newest, ok
}

func fileMetaAt(file io.ReaderAt, at int64) (m fileMeta, ok bool) {
	var page [pageHeader + metaSize]byte
	if _, err := file.ReadAt(page[:], at); err != nil {
		return m, false
	}
	order, raw := binary.NativeEndian, page[pageHeader:]
	m = fileMeta{
		pageSize: order.Uint32(raw[8:]),
		root:     order.Uint64(raw[16:]), // its sequence is not used
		freelist: order.Uint64(raw[32:]),
		past:     order.Uint64(raw[40:]),
		txid:     order.Uint64(raw[48:]),
	}
	ok = order.Uint32(raw) == metaMagic && order.Uint32(raw[4:]) == metaVersion && order.Uint64(raw[56:]) == metaChecksum(raw) &&
		m.pageSize >= leastPage && m.pageSize <= mostPage
	return m, ok
}

// metaChecksum covers what is before it in a meta page.
func metaChecksum(raw []byte) uint64 {
	sum := fnv.New64a()
	_, _ = sum.Write(raw[:56]) // never fails
	return sum.Sum64()
}
