package bolt

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"slices"
)

// pageWalk goes over the pages of a file as one transaction sees them, and finds what is not as bbolt writes it: pages that are
// used twice, or both used and free, or neither; numbers, counts and places beyond their bounds; keys that are out of order.
// It reads with ReadAt and never through the map, so it can neither panic nor fault, and it remembers a bit or two for each page.
type pageWalk struct {
	file  io.ReaderAt
	meta  fileMeta
	ended func() error
	found func(id uint64, in, wrong string)

	// A walk that is not full reads no page of which only leaves are below, and no more than so many branch pages: enough to
	// know that no way leads in circles, in a time that a start can take.
	full   bool
	budget int

	used, free bitmap // free is nil where there is no list of free pages that makes sense
	levels     [][]byte
}

// place is where a page was found.
type place struct {
	id         uint64
	in         string // the bucket; "": that of the buckets
	level      int
	first, end []byte // the bounds of its keys, as the page above has them; nil: none
}

// run returns an error only if ended does.
func (w *pageWalk) run() error {
	w.used = newBitmap(w.meta.past)
	w.used.add(0)
	w.used.add(1)
	if wrong := w.freelist(); wrong != "" {
		w.found(w.meta.freelist, "", wrong)
		w.free = nil
	}
	if err := w.visit(place{id: w.meta.root}); err != nil {
		return err
	}
	if w.free == nil {
		return nil
	}
	both, lost := w.used.compare(w.free, w.meta.past)
	if both.pages > 0 {
		w.found(both.first, "", fmt.Sprintf("%d pages, of which this is the first, are both in use and free", both.pages))
	}
	if lost.pages > 0 && w.full {
		w.found(lost.first, "", fmt.Sprintf("%d pages, of which this is the first, are neither in use, as far as could be seen, nor free", lost.pages))
	}
	return nil
}

// visit goes over a page and those below it.
func (w *pageWalk) visit(at place) error {
	if err := w.ended(); err != nil {
		return err
	}
	n, wrong := w.read(at)
	if wrong != "" {
		w.found(at.id, at.in, wrong)
		return nil
	}
	if wrong := n.disorder(at.first, at.end); wrong != "" {
		w.found(at.id, at.in, wrong)
	}
	if headerOf(n).flags == leafPage {
		return w.leaf(at, n)
	}
	return w.branch(at, n)
}

func (w *pageWalk) branch(at place, n node) error {
	count := int(headerOf(n).count)
	goesOn := w.full || at.in == "" || w.goesOn(n)
	for i := range count {
		next := place{in: at.in, level: at.level + 1, first: n.key(i), end: at.end}
		if i+1 < count {
			next.end = n.key(i + 1)
		}
		_, _, _, next.id = n.at(i)
		if goesOn {
			if err := w.visit(next); err != nil {
				return err
			}
		} else if wrong := w.take(next.id, 1); wrong != "" {
			w.found(next.id, at.in, wrong)
		}
	}
	return nil
}

// goesOn tells whether a walk that is not full reads what is below a branch page: branch pages again, and not too many.
func (w *pageWalk) goesOn(n node) bool {
	if w.budget--; w.budget <= 0 {
		return false
	}
	_, _, _, first := n.at(0)
	var page [pageHeader]byte
	_, err := w.file.ReadAt(page[:], w.offset(first))
	return err != nil || headerOf(page[:]).flags != leafPage
}

func (w *pageWalk) leaf(at place, n node) error {
	for i := range int(headerOf(n).count) {
		flags, _, _, _ := n.at(i)
		if isBucket := flags == bucketEntry; isBucket != (at.in == "") {
			w.found(at.id, at.in, fmt.Sprintf("entry %d is a bucket where none can be, or none where only buckets are", i))
			continue
		}
		if flags != bucketEntry {
			continue
		}
		if err := w.bucket(at, string(n.key(i)), n.value(i)); err != nil {
			return err
		}
	}
	return nil
}

// bucket goes over the pages of a bucket.
func (w *pageWalk) bucket(at place, name string, value []byte) error {
	order := binary.NativeEndian
	if len(value) < bucketHeader || order.Uint64(value[8:]) != 0 {
		w.found(at.id, name, "the bucket has no whole header")
		return nil
	}
	root := order.Uint64(value)
	if root != 0 {
		return w.visit(place{id: root, in: name, level: at.level + 1})
	}
	inline := node(value[bucketHeader:])
	if len(inline) < pageHeader {
		w.found(at.id, name, "the bucket within the page is cut off")
		return nil
	}
	h := headerOf(inline)
	if h.id != 0 || h.overflow != 0 || h.flags != leafPage || h.entries() > uint64(len(inline)) {
		w.found(at.id, name, "the bucket within the page has no right header")
		return nil
	}
	size, wrong := inline.size()
	if wrong == "" && size != uint64(len(inline)) {
		wrong = fmt.Sprintf("the bucket within the page takes %d bytes of %d", size, len(inline))
	}
	if wrong == "" {
		wrong = inline.disorder(nil, nil)
	}
	if wrong != "" {
		w.found(at.id, name, wrong)
		return nil
	}
	return w.leaf(place{id: at.id, in: name}, inline)
}

// read returns a branch or leaf page. It is valid until another page of its level is read.
func (w *pageWalk) read(at place) (n node, wrong string) {
	size := uint64(w.meta.pageSize)
	if at.level == len(w.levels) {
		w.levels = append(w.levels, make([]byte, size))
	}
	n = w.levels[at.level][:size]
	h, wrong := w.header(at.id, n)
	switch {
	case wrong != "":
		return nil, wrong
	case h.flags != branchPage && h.flags != leafPage:
		return nil, fmt.Sprintf("it is no page of a tree: its flags are %#x", h.flags)
	case at.level == maxLevels:
		return nil, "it is too far down"
	case h.entries() > h.pages()*size:
		return nil, fmt.Sprintf("its %d entries do not fit into it", h.count)
	}
	// Its length follows from its entries: one that is wrong is found before anything of that length is read.
	if n, wrong = w.more(at, n, h.entries()); wrong != "" {
		return nil, wrong
	}
	length, wrong := n.size()
	if wrong == "" && h.pages() != (length+size-1)/size && h.pages() != length/size+1 { // the latter in files of older versions of bbolt
		wrong = fmt.Sprintf("its entries take %d bytes, and it has %d pages", length, h.pages())
	}
	if wrong != "" {
		return nil, wrong
	}
	return w.more(at, n, length)
}

// maxLevels is more than a tree of any size that fits into a file has.
const maxLevels = 64

// more reads a page on to a length.
func (w *pageWalk) more(at place, n node, length uint64) (node, string) {
	have := uint64(len(n))
	if length <= have {
		return n, ""
	}
	n = slices.Grow(n, int(length-have))[:length]
	w.levels[at.level] = n
	if _, err := w.file.ReadAt(n[have:], w.offset(at.id)+int64(have)); err != nil {
		return nil, fmt.Sprintf("it cannot be read: %v", err)
	}
	return n, ""
}

// header reads the beginning of a page, and notes that it and those which belong to it are in use.
func (w *pageWalk) header(id uint64, page []byte) (h header, wrong string) {
	if id < w.meta.past {
		if _, err := w.file.ReadAt(page, w.offset(id)); err != nil {
			return h, fmt.Sprintf("it cannot be read: %v", err)
		}
		h = headerOf(page)
	}
	if wrong := w.take(id, h.pages()); wrong != "" {
		return h, wrong
	}
	if h.id != id {
		return h, fmt.Sprintf("it says that it is page %d", h.id)
	}
	return h, ""
}

// take notes that so many pages are in use.
func (w *pageWalk) take(id, pages uint64) string {
	if id >= w.meta.past || pages > w.meta.past-id {
		return fmt.Sprintf("its %d pages are not in the file, which has %d", pages, w.meta.past)
	}
	wrong := ""
	for page := id; page < id+pages; page++ {
		if !w.used.add(page) && wrong == "" {
			wrong = fmt.Sprintf("page %d is in use twice", page)
		}
	}
	return wrong
}

func (w *pageWalk) offset(id uint64) int64 { return int64(id) * int64(w.meta.pageSize) }

// freelist reads the list of free pages, and says what is wrong with it.
func (w *pageWalk) freelist() string {
	if w.meta.freelist == noFreelist {
		return ""
	}
	page := make([]byte, w.meta.pageSize)
	h, wrong := w.header(w.meta.freelist, page)
	if wrong != "" {
		return wrong
	}
	if h.flags != freelistPage {
		return fmt.Sprintf("it is no list of free pages: its flags are %#x", h.flags)
	}
	count, begin := uint64(h.count), uint64(pageHeader)
	if count == manyFree {
		count, begin = binary.NativeEndian.Uint64(page[pageHeader:]), pageHeader+8
	}
	if room := h.pages()*uint64(w.meta.pageSize) - begin; count > room/8 {
		return fmt.Sprintf("its %d entries do not fit into it", count)
	}
	w.free = newBitmap(w.meta.past)
	return w.readFree(io.NewSectionReader(w.file, w.offset(w.meta.freelist)+int64(begin), int64(count*8)))
}

func (w *pageWalk) readFree(ids *io.SectionReader) string {
	chunk, before := make([]byte, 64<<10), uint64(1) // the pages of the meta data are never free
	for left := ids.Size(); left > 0; left -= int64(len(chunk)) {
		chunk = chunk[:min(left, int64(len(chunk)))]
		if _, err := io.ReadFull(ids, chunk); err != nil {
			return fmt.Sprintf("it cannot be read: %v", err)
		}
		for at := 0; at < len(chunk); at += 8 {
			id := binary.NativeEndian.Uint64(chunk[at:])
			if id <= before || id >= w.meta.past {
				return fmt.Sprintf("page %d in it, after page %d, of %d", id, before, w.meta.past)
			}
			w.free.add(id)
			before = id
		}
	}
	return ""
}

// bitmap is a set of pages.
type bitmap []uint64

func newBitmap(pages uint64) bitmap { return make(bitmap, (pages+63)/64) }

// add tells whether the page was not in the set before.
func (b bitmap) add(page uint64) bool {
	word, bit := &b[page/64], uint64(1)<<(page%64)
	added := *word&bit == 0
	*word |= bit
	return added
}

// some is a number of pages, and the first of them.
type some struct{ pages, first uint64 }

func (s *some) count(word, at uint64) {
	if s.pages == 0 && word != 0 {
		s.first = at*64 + uint64(bits.TrailingZeros64(word))
	}
	s.pages += uint64(bits.OnesCount64(word))
}

// compare returns the pages, of those in a file, that are in both sets, and those that are in none.
func (b bitmap) compare(other bitmap, past uint64) (both, none some) {
	for at := range b {
		within := ^uint64(0)
		if left := past - uint64(at)*64; left < 64 {
			within = 1<<left - 1
		}
		both.count(b[at]&other[at], uint64(at))
		none.count(^(b[at]|other[at])&within, uint64(at))
	}
	return both, none
}
