package tables

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"

	"labshelf/metadata"
	"labshelf/paging"
)

// listing is a merge of several spans of one index into one order, with a heap. The bounds of the
// spans determine its content exactly: no entry is read and discarded. It costs one cursor step for
// each span, two if backwards, and one for each item except the last.
type listing struct {
	index     Bucket
	spans     []span
	backwards bool
}

// owners yields the ids at the end of the keys, as stored, in the order of the part after the
// scopes. A cursor advances when the next item is requested.
func (l listing) owners(t *Tx) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		heap := l.start(t)
		for len(heap.list) > 0 {
			first := heap.list[0].spanCursor
			owner := ownerInKey(first.key, nil)
			if len(owner) != idSize {
				yield(nil, damagedIndex(l.index, first.key))
				return
			}
			if !yield(owner, nil) {
				return
			}
			first.advance(t, l)
			heap.fix()
		}
	}
}

// ids yields the owners as ids.
func (l listing) ids(t *Tx) iter.Seq2[metadata.ID, error] {
	return func(yield func(metadata.ID, error) bool) {
		for owner, err := range l.owners(t) {
			if err != nil {
				yield(metadata.ID{}, err)
				return
			}
			if !yield(metadata.ID(owner), nil) {
				return
			}
		}
	}
}

// entries calls fn with the content of the keys until fn returns false. The row is borrowed, as by
// the function each.
func (l listing) entries(t *Tx, c *codec, fn func(*metadata.Resource) (more bool)) error {
	l.ahead(t, BucketCount)
	heap, row := l.start(t), new(metadata.Resource)
	for len(heap.list) > 0 {
		first := heap.list[0].spanCursor
		if err := readEntry(l, first, c, row); err != nil || !fn(row) {
			return err
		}
		first.advance(t, l)
		heap.fix()
	}
	return nil
}

// read iterates over a listing. With q.Keys set it decodes only the index entries.
func (r resources) read(q metadata.ResourceRange, c *codec, fn func(*metadata.Resource) (more bool)) error {
	if l, ok := resourceListing(q, nameSpan); ok && q.Keys {
		return l.entries(r.Tx, c, fn)
	}
	return r.scan(q, c, fn)
}

// readEntry sets the fields that the key at the cursor contains.
func readEntry(l listing, h *spanCursor, c *codec, row *metadata.Resource) (err error) {
	ordered, ok := h.key[h.span.scope:], true
	if l.index == resourcesByName {
		var name []byte
		name, row.ID, ok = splitNameEntry(ordered)
		row.Name = c.string(name)
	} else {
		row.Modified, row.ID, ok = splitTimeEntry(ordered)
	}
	if !ok {
		err = damagedIndex(l.index, h.key)
	}
	return err
}

// ahead announces the next reads to the engine.
func (l listing) ahead(t *Tx, records Bucket) { t.announce(l.index, l.spans, l.backwards, records) }

func (t *Tx) announce(index Bucket, spans []span, backwards bool, records Bucket) {
	engine, ok := t.kv.(Ahead)
	if !ok {
		return
	}
	ranges := make([][2][]byte, 0, len(spans))
	for _, s := range spans {
		if !s.empty() {
			ranges = append(ranges, [2][]byte{s.lo, s.hi})
		}
	}
	engine.Ahead(index, ranges, backwards, records)
}

func (l listing) start(t *Tx) *mergeHeap {
	heap := &mergeHeap{backwards: l.backwards, list: make([]heapItem, 0, len(l.spans))}
	cursors := make([]spanCursor, len(l.spans)) // one allocation: starting the cursors is most of the cost of merging 50 spans
	var cursor Cursor
	for i, s := range l.spans {
		if s.empty() {
			continue
		}
		if cursor == nil {
			if cursor = t.kv.Cursor(l.index, l.backwards); cursor == nil { // an older schema, which is only read
				return heap
			}
		}
		h := &cursors[i]
		h.cursor, h.span = cursor, s
		if h.seek(t, l); h.key != nil {
			heap.list = append(heap.list, heapItemOf(h))
			cursor = nil // otherwise the next span uses it
		}
	}
	for i := len(heap.list)/2 - 1; i >= 0; i-- {
		heap.siftDown(i)
	}
	return heap
}

// spanCursor is the position of a listing in one of its spans.
type spanCursor struct {
	cursor Cursor
	span   span
	key    []byte // nil at the end
}

func (h *spanCursor) seek(t *Tx, l listing) {
	t.cost.Index++
	key, _ := h.cursor.Seek(h.span.lo, h.span.hi)
	h.at(key)
}

func (h *spanCursor) advance(t *Tx, l listing) {
	t.cost.Index++
	key, _ := h.cursor.Next()
	if t.disordered(l.index, h.key, key, l.backwards) {
		key = nil
	}
	h.at(key)
}

func (h *spanCursor) at(key []byte) {
	if h.key = nil; h.span.contains(key) {
		h.key = key
	}
}

// children is a listing of an index by name with folders, which skips the content of folders. It
// costs two cursor steps per folder and span, whatever the folder contains.
type children struct {
	*Tx
	listing
	base    int // bytes of the common prefix of the names
	file    func(*metadata.Resource) (more bool)
	folder  func(path string) (more bool)
	heap    *mergeHeap
	keys    bool // read no records
	records func(key []byte) []byte
	codec   codec
	row     metadata.Resource
}

func (c *children) run(q metadata.ResourceRange) error {
	c.ahead(c.Tx, resourceTable.bucket)
	c.heap, c.codec.views = c.listing.start(c.Tx), true
	c.records = c.kv.Records(resourceTable.bucket, c.backwards)
	if folders := c.kv.Cursor(foldersBucket, c.backwards); folders != nil && q.States&paging.Active != 0 {
		made := &spanCursor{cursor: folders, span: childrenSpan(q).folderSpan(q.Set)}
		c.heap.add(c.Tx, c.listing, made)
	}
	for len(c.heap.list) > 0 {
		if more, err := c.next(); err != nil || !more {
			return err
		}
	}
	return nil
}

// next yields one child, or skips the row of a folder that is not a child.
func (c *children) next() (more bool, err error) {
	first := c.heap.list[0].spanCursor
	made := first.span.scope == idSize
	name, ok := first.key[first.span.scope:], true
	if !made {
		name, ok = nameInKey(name)
	}
	if !ok || len(name) < c.base {
		return false, damagedIndex(c.index, first.key)
	}
	if slash := bytes.IndexByte(name[c.base:], '/'); slash >= 0 {
		path := bytes.Clone(name[:c.base+slash+1])
		if more = c.folder(string(path)); more {
			c.skip(path)
		}
		return more, nil
	}
	more = true
	if !made {
		more, err = c.take(first)
	}
	if err == nil && more {
		first.advance(c.Tx, c.listing)
		c.heap.fix()
	}
	return more, err
}

// take calls file for the row of the entry at a cursor.
func (c *children) take(at *spanCursor) (more bool, err error) {
	if c.keys {
		if err := readEntry(c.listing, at, &c.codec, &c.row); err != nil {
			return false, err
		}
		return c.file(&c.row), nil
	}
	key := ownerInKey(at.key, nil)
	record := c.records(key)
	if record == nil {
		return false, fmt.Errorf("tables: %s %x is in an index only: %w", resourceTable.bucket, key, metadata.ErrRecordDamaged)
	}
	c.cost.Records++
	if err := resourceTable.decodeInto(&c.codec, key, record, &c.row); err != nil {
		return false, err
	}
	return c.file(&c.row), nil
}

// skip continues after all names that begin with a path.
func (c *children) skip(path []byte) {
	for len(c.heap.list) > 0 {
		first := c.heap.list[0].spanCursor
		if !bytes.HasPrefix(first.key[first.span.scope:], path) {
			return
		}
		scope := first.key[:first.span.scope:first.span.scope]
		if c.backwards {
			first.span = first.span.upTo(append(scope, path...))
		} else {
			first.span = first.span.from(append(scope, pastPrefix(path)...))
		}
		first.seek(c.Tx, c.listing)
		c.heap.fix()
	}
}

// mergeHeap is a binary heap whose first element has the next item. All spans are ordered by bytes.
type mergeHeap struct {
	list      []heapItem
	backwards bool
}

// heapItem is a cursor in the heap, with the first 8 bytes of its sort key. In an index by time
// these bytes are the stamp, so that two items are compared without reading their keys, which are
// spread over the file.
type heapItem struct {
	*spanCursor
	begin uint64
}

func heapItemOf(h *spanCursor) heapItem {
	var begin [8]byte
	copy(begin[:], h.key[h.span.scope:])
	return heapItem{h, binary.BigEndian.Uint64(begin[:])}
}

// add adds a span to an ordered heap.
func (h *mergeHeap) add(t *Tx, l listing, s *spanCursor) {
	if s.seek(t, l); s.key == nil {
		return
	}
	h.list = append(h.list, heapItemOf(s))
	for i := len(h.list)/2 - 1; i >= 0; i-- {
		h.siftDown(i)
	}
}

// fix restores the order of the heap after its first element has advanced.
func (h *mergeHeap) fix() {
	if h.list[0].key != nil {
		h.list[0] = heapItemOf(h.list[0].spanCursor)
	} else {
		last := len(h.list) - 1
		h.list[0], h.list = h.list[last], h.list[:last]
	}
	h.siftDown(0)
}

// siftDown moves an element down until no element below it comes first.
func (h *mergeHeap) siftDown(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h.list); child++ {
			if h.before(&h.list[child], &h.list[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		h.list[i], h.list[least] = h.list[least], h.list[i]
		i = least
	}
}

func (h *mergeHeap) before(a, b *heapItem) bool {
	if a.begin != b.begin {
		return a.begin < b.begin != h.backwards
	}
	order := bytes.Compare(a.key[a.span.scope:], b.key[b.span.scope:])
	return order < 0 != h.backwards
}

// sequence converts a scan with a callback to a sequence that ends with the error of the scan, if
// any.
func sequence[T any](scan func(fn func(*T) (more bool)) error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		more := true
		err := scan(func(row *T) bool {
			more = yield(*row, nil)
			return more
		})
		if err != nil && more {
			var none T
			yield(none, err)
		}
	}
}

// each calls fn for the rows of a listing until fn returns false. The row is borrowed: each call
// reuses it without an allocation.
func each[K comparable, T any](t *Tx, tb *table[K, T], l listing, c *codec, fn func(*T) (more bool)) error {
	l.ahead(t, tb.bucket)
	records := t.kv.Records(tb.bucket, l.backwards)
	if records == nil { // an older schema, which is only read
		return nil
	}
	row := new(T)
	for key, err := range l.owners(t) {
		if err != nil {
			return err
		}
		record := records(key)
		if record == nil {
			return fmt.Errorf("tables: %s %x is in an index only: %w", tb.bucket, key, metadata.ErrRecordDamaged)
		}
		t.cost.Records++
		if err := tb.decodeInto(c, key, record, row); err != nil {
			return err
		}
		if !fn(row) {
			return nil
		}
	}
	return nil
}
