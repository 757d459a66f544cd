package fsck

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

// walk visits the pages of a file as one transaction sees them, and finds deviations from bbolt's
// format: pages that are used twice, both used and free, or neither; numbers, counts and offsets
// out of bounds; keys out of order. It uses one or two bits of memory for each page.
type walk struct {
	file   io.ReaderAt
	meta   Meta
	ended  func() error
	report func(Finding)

	// A walk that is not full skips the leaves below a branch page, and the branch pages beyond its
	// budget. That is enough to exclude cycles of page numbers, and fast enough for a start.
	full   bool
	budget int

	used, free bitmap // free is nil without a valid list of free pages
	levels     [][]byte
}

// position is the place of a page in the trees.
type position struct {
	id         uint64
	in         string // the bucket; "": the root bucket
	level      int
	first, end []byte // bounds of its keys according to the page above; nil: none
}

// The only errors of run are the errors of ended.
func (w *walk) run() error {
	w.used = newBitmap(w.meta.Past)
	w.used.add(0)
	w.used.add(1)
	if wrong := w.freelist(); wrong != "" {
		w.report(Finding{w.meta.Freelist, "", wrong})
		w.free = nil
	}
	if err := w.visit(position{id: w.meta.Root}); err != nil {
		return err
	}
	if w.free == nil {
		return nil
	}
	both, lost := w.used.compare(w.free, w.meta.Past)
	if both.pages > 0 {
		w.report(Finding{both.first, "", fmt.Sprintf("%d pages, of which this is the first, are both in use and free", both.pages)})
	}
	if lost.pages > 0 && w.full {
		w.report(Finding{lost.first, "", fmt.Sprintf("%d pages, of which this is the first, are neither free nor in use by any readable page", lost.pages)})
	}
	return nil
}

// visit visits a page and the pages below it.
func (w *walk) visit(at position) error {
	if err := w.ended(); err != nil {
		return err
	}
	n, wrong := w.read(at)
	if wrong != "" {
		w.report(Finding{at.id, at.in, wrong})
		return nil
	}
	if wrong := n.disorder(at.first, at.end); wrong != "" {
		w.report(Finding{at.id, at.in, wrong})
	}
	if n.Header().Flags == LeafPage {
		return w.leaf(at, n)
	}
	return w.branch(at, n)
}

func (w *walk) branch(at position, n Page) error {
	count := int(n.Header().Count)
	descend := w.full || at.in == "" || w.descends(n)
	for i := range count {
		next := position{in: at.in, level: at.level + 1, first: n.Key(i), end: at.end}
		if i+1 < count {
			next.end = n.Key(i + 1)
		}
		_, _, _, next.id = n.entry(i)
		if descend {
			if err := w.visit(next); err != nil {
				return err
			}
		} else if wrong := w.take(next.id, 1); wrong != "" {
			w.report(Finding{next.id, at.in, wrong})
		}
	}
	return nil
}

// descends reports whether a walk that is not full reads the pages below a branch page: only branch
// pages, and within the budget.
func (w *walk) descends(n Page) bool {
	if w.budget--; w.budget <= 0 {
		return false
	}
	_, _, _, first := n.entry(0)
	var page [PageHeader]byte
	_, err := w.file.ReadAt(page[:], w.offset(first))
	return err != nil || Page(page[:]).Header().Flags != LeafPage
}

func (w *walk) leaf(at position, n Page) error {
	for i := range int(n.Header().Count) {
		flags, _, _, _ := n.entry(i)
		if isBucket := flags == bucketEntry; isBucket != (at.in == "") {
			w.report(Finding{at.id, at.in, fmt.Sprintf("entry %d is a bucket where no bucket is allowed, or a row where only buckets are allowed", i)})
			continue
		}
		if flags != bucketEntry {
			continue
		}
		if err := w.bucket(at, string(n.Key(i)), n.value(i)); err != nil {
			return err
		}
	}
	return nil
}

// bucket visits the pages of a bucket.
func (w *walk) bucket(at position, name string, value []byte) error {
	order := binary.NativeEndian
	if len(value) < bucketHeader || order.Uint64(value[8:]) != 0 {
		w.report(Finding{at.id, name, "the bucket has no complete header"})
		return nil
	}
	root := order.Uint64(value)
	if root != 0 {
		return w.visit(position{id: root, in: name, level: at.level + 1})
	}
	inline := Page(value[bucketHeader:])
	if len(inline) < PageHeader {
		w.report(Finding{at.id, name, "the bucket within the page is cut off"})
		return nil
	}
	h := inline.Header()
	if h.ID != 0 || h.Overflow != 0 || h.Flags != LeafPage || h.entries() > uint64(len(inline)) {
		w.report(Finding{at.id, name, "the bucket within the page has an invalid header"})
		return nil
	}
	size, wrong := inline.Size()
	if wrong == "" && size != uint64(len(inline)) {
		wrong = fmt.Sprintf("the bucket within the page takes %d bytes of %d", size, len(inline))
	}
	if wrong == "" {
		wrong = inline.disorder(nil, nil)
	}
	if wrong != "" {
		w.report(Finding{at.id, name, wrong})
		return nil
	}
	return w.leaf(position{id: at.id, in: name}, inline)
}

// read returns a branch or leaf page. The page is valid until another page of its level is read.
func (w *walk) read(at position) (n Page, wrong string) {
	size := uint64(w.meta.PageSize)
	if at.level == len(w.levels) {
		w.levels = append(w.levels, make([]byte, size))
	}
	n = w.levels[at.level][:size]
	h, wrong := w.header(at.id, n)
	switch {
	case wrong != "":
		return nil, wrong
	case h.Flags != BranchPage && h.Flags != LeafPage:
		return nil, fmt.Sprintf("it is not a page of a tree: its flags are %#x", h.Flags)
	case at.level == maxLevels:
		return nil, "it is too deep in the tree"
	case h.entries() > h.pages()*size:
		return nil, fmt.Sprintf("it is too small for its %d entries", h.Count)
	}
	// The entries determine the length of the page. So a wrong length is found before that many
	// bytes are read.
	if n, wrong = w.more(at, n, h.entries()); wrong != "" {
		return nil, wrong
	}
	length, wrong := n.Size()
	if wrong == "" && h.pages() != (length+size-1)/size && h.pages() != length/size+1 { // the latter in files of older versions of bbolt
		wrong = fmt.Sprintf("its entries take %d bytes, but it has only %d pages", length, h.pages())
	}
	if wrong != "" {
		return nil, wrong
	}
	return w.more(at, n, length)
}

// maxLevels is more than the number of levels of any tree that fits into a file.
const maxLevels = 64

// more extends a page to a length.
func (w *walk) more(at position, n Page, length uint64) (Page, string) {
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

// header reads the header of a page, and marks the page and its overflow pages as used.
func (w *walk) header(id uint64, page []byte) (h Header, wrong string) {
	if id < w.meta.Past {
		if _, err := w.file.ReadAt(page, w.offset(id)); err != nil {
			return h, fmt.Sprintf("it cannot be read: %v", err)
		}
		h = Page(page).Header()
	}
	if wrong := w.take(id, h.pages()); wrong != "" {
		return h, wrong
	}
	if h.ID != id {
		return h, fmt.Sprintf("its header has the page number %d", h.ID)
	}
	return h, ""
}

// take marks this many pages as used.
func (w *walk) take(id, pages uint64) string {
	if id >= w.meta.Past || pages > w.meta.Past-id {
		return fmt.Sprintf("its %d pages extend beyond the end of the file, which has %d pages", pages, w.meta.Past)
	}
	wrong := ""
	for page := id; page < id+pages; page++ {
		if !w.used.add(page) && wrong == "" {
			wrong = fmt.Sprintf("page %d is in use twice", page)
		}
	}
	return wrong
}

func (w *walk) offset(id uint64) int64 { return int64(id) * int64(w.meta.PageSize) }

// freelist reads the list of free pages, and returns a description of its errors.
func (w *walk) freelist() string {
	if w.meta.Freelist == NoFreelist {
		return ""
	}
	page := make([]byte, w.meta.PageSize)
	h, wrong := w.header(w.meta.Freelist, page)
	if wrong != "" {
		return wrong
	}
	if h.Flags != FreelistPage {
		return fmt.Sprintf("it is not a list of free pages: its flags are %#x", h.Flags)
	}
	count, begin := uint64(h.Count), uint64(PageHeader)
	if count == manyFree {
		count, begin = binary.NativeEndian.Uint64(page[PageHeader:]), PageHeader+8
	}
	if room := h.pages()*uint64(w.meta.PageSize) - begin; count > room/8 {
		return fmt.Sprintf("it is too small for its %d entries", count)
	}
	w.free = newBitmap(w.meta.Past)
	return w.readFree(io.NewSectionReader(w.file, w.offset(w.meta.Freelist)+int64(begin), int64(count*8)))
}

func (w *walk) readFree(ids *io.SectionReader) string {
	chunk, before := make([]byte, 64<<10), uint64(1) // the meta pages are never free
	for left := ids.Size(); left > 0; left -= int64(len(chunk)) {
		chunk = chunk[:min(left, int64(len(chunk)))]
		if _, err := io.ReadFull(ids, chunk); err != nil {
			return fmt.Sprintf("it cannot be read: %v", err)
		}
		for at := 0; at < len(chunk); at += 8 {
			id := binary.NativeEndian.Uint64(chunk[at:])
			if id <= before || id >= w.meta.Past {
				return fmt.Sprintf("it lists page %d after page %d; the file has %d pages", id, before, w.meta.Past)
			}
			w.free.add(id)
			before = id
		}
	}
	return ""
}
