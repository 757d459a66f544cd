// Package index implements an inverted index, separate for each dataspace, so that a search touches
// no data that its caller cannot read. The package has neither records nor permissions: it receives
// documents, and for each search the dataspaces to search.
//
// The index is a cache. Changes come in batches ([Index.Apply]), each with the caller's position in
// its source. Searches find a batch immediately. Later it is stored durably with its position, from
// which the caller resumes after a crash. Damaged files make the index empty when it is opened, and
// later cause [ErrDamaged]; the caller then rebuilds the index.
//
// A batch becomes an immutable segment, in which the documents of each dataspace form separate
// shards. Small segments are merged in memory, then to mapped files. A replaced or removed document
// is marked as dead in its old segment.
package index

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"

	"labshelf/search"
)

// maxMemory is the size of segments in memory, in bytes, at which they are merged to a file. At
// twice this size Apply waits.
const maxMemory = 2 << 20

// maxUnsaved is the number of changes after which the manifest is written again, regardless of
// their size.
const maxUnsaved = 50_000

var errClosed = errors.New("the search index is closed")

// Change is a document that replaces any document with its id, or an id to remove.
type Change struct {
	Document *search.Document // nil removes ID
	ID       [16]byte         // of the document to remove
}

func (c *Change) id() [16]byte {
	if c.Document != nil {
		return c.Document.ID
	}
	return c.ID
}

// Index is open until Close. Its methods are safe for concurrent use.
type Index struct {
	dir  string
	step func(string) // called in tests after each change of a file

	merging sync.Mutex // held while a file is written; locked before write

	// write is held while parts change. It is locked before mu.
	write    sync.Mutex
	idle     *sync.Cond // on write: signals the end of a merge
	busy     map[*segment]bool
	next     uint64 // number of the next segment file
	position []byte
	saved    []byte         // the position after the changes in files
	unsaved  int            // changes since then
	failed   error          // the error of the last flush
	replaced []*segmentFile // by a merge, possibly still in the manifest
	closed   bool

	mu      sync.Mutex
	current *snapshot

	wake chan struct{} // closed by Close
	done sync.WaitGroup
}

// part is a segment with its dead documents. It is immutable: changes make a copy.
type part struct {
	*segment
	dead []bitmap     // of each shard
	file *segmentFile // nil in memory
}

// snapshot is the state that one search sees.
type snapshot struct {
	parts []part
	refs  int // searches, plus one for the index while the snapshot is current; under Index.mu
}

// Open opens the index in a directory, which it creates if necessary, and returns the position of
// the last stored change. An index that is missing, damaged or of another version is opened empty,
// without a position. The caller closes it.
func Open(dir string) (*Index, []byte, error) {
	return open(dir, func(string) {})
}

func open(dir string, step func(string)) (*Index, []byte, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, err
	}
	x := &Index{dir: dir, step: step, busy: map[*segment]bool{}, wake: make(chan struct{}, 1), current: &snapshot{refs: 1}}
	x.idle = sync.NewCond(&x.write)
	m, parts, err := load(dir) // every error counts as damage
	if err != nil {
		if err := os.Remove(x.path(manifestName)); err != nil {
			return nil, nil, err
		}
	}
	x.next, x.position, x.saved = m.next, m.position, m.position
	x.publish(parts)
	if err := removeOthers(dir, parts); err != nil {
		return nil, nil, err
	}
	x.done.Go(x.background)
	return x, bytes.Clone(m.position), nil
}

// Close writes the segments in memory to files, and ends the background work. Running searches end
// first.
func (x *Index) Close() error {
	x.write.Lock()
	if x.closed {
		x.write.Unlock()
		return errClosed
	}
	x.closed = true
	close(x.wake)
	x.write.Unlock()
	x.done.Wait()
	var err error
	if x.unsaved > 0 {
		err = x.flush()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	last := x.current
	x.current = nil
	x.drop(last)
	return err
}

// Apply applies a batch of changes in order, and stores the caller's position after it. Searches
// that begin after its return find the documents. It waits if flushing to disk is slower than the
// changes. If flushing has failed for some time, it returns the error and applies nothing.
func (x *Index) Apply(batch []Change, position []byte) error {
	last := map[[16]byte]int{}
	for i := range batch {
		last[batch[i].id()] = i
	}
	var docs []*search.Document
	for i := range batch {
		if batch[i].Document != nil && last[batch[i].id()] == i {
			docs = append(docs, batch[i].Document)
		}
	}
	var added []part
	if len(docs) > 0 {
		data, err := buildSegment(docs)
		if err != nil {
			return err
		}
		p, err := memoryPart(data)
		if err != nil {
			return err
		}
		added = append(added, p)
	}
	x.write.Lock()
	defer x.write.Unlock()
	if err := x.waitForMemory(); err != nil {
		return err
	}
	parts := slices.Clone(x.current.parts)
	if err := guard(func() error { return markDead(parts, last) }); err != nil {
		return err
	}
	parts, err := x.mergeInMemory(append(parts, added...))
	if err != nil {
		return err
	}
	x.publish(parts)
	x.position = bytes.Clone(position)
	x.unsaved += 1 + len(batch)
	if memoryBytes(parts) > maxMemory || x.unsaved > maxUnsaved {
		x.wakeUp()
	}
	return nil
}

// waitForMemory waits until memory is available for a batch.
func (x *Index) waitForMemory() error {
	for !x.closed && memoryBytes(x.current.parts) > 2*maxMemory {
		if x.failed != nil {
			x.wakeUp()
			return x.failed
		}
		x.wakeUp()
		x.idle.Wait()
	}
	if x.closed {
		return errClosed
	}
	return nil
}

func (x *Index) wakeUp() {
	select {
	case x.wake <- struct{}{}:
	default:
	}
}

// memoryPart returns a part of a segment in memory.
func memoryPart(data []byte) (part, error) {
	s, err := openSegment(data)
	if err != nil {
		return part{}, err
	}
	for i := range s.verified {
		s.verified[i].Store(true)
	}
	return part{segment: s, dead: make([]bitmap, len(s.shards))}, nil
}

// markDead marks documents in copies of the bitmaps of parts.
func markDead[V any](parts []part, ids map[[16]byte]V) error {
	for i := range parts {
		p := &parts[i]
		copied := map[int]bool{}
		for id := range ids {
			at, doc, ok, err := p.find(id)
			if err != nil {
				return err
			}
			if !ok || p.dead[at].has(doc) {
				continue
			}
			if len(copied) == 0 {
				p.dead = slices.Clone(p.dead)
			}
			if !copied[at] {
				dead := newBitmap(p.shards[at].docs)
				copy(dead, p.dead[at])
				p.dead[at] = dead
				copied[at] = true
			}
			p.dead[at].set(doc)
		}
	}
	return nil
}

func memoryBytes(parts []part) int {
	n := 0
	for _, p := range parts {
		if p.file == nil {
			n += len(p.data)
		}
	}
	return n
}

// publish makes parts current.
func (x *Index) publish(parts []part) {
	s := &snapshot{parts: parts, refs: 1}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, p := range parts {
		if p.file != nil {
			p.file.refs++
		}
	}
	old := x.current
	x.current = s
	x.drop(old)
}

// acquire returns the current snapshot; release ends its use.
func (x *Index) acquire() (*snapshot, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.current == nil {
		return nil, errClosed
	}
	x.current.refs++
	return x.current, nil
}

func (x *Index) release(s *snapshot) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.drop(s)
}

// drop ends one use of a snapshot, under mu. Files that no snapshot uses are unmapped, and removed
// if they are obsolete.
func (x *Index) drop(s *snapshot) {
	s.refs--
	if s.refs > 0 {
		return
	}
	for _, p := range s.parts {
		if p.file != nil {
			p.file.refs--
			p.file.tidy()
		}
	}
}

// Incomplete reports whether the document with an id is Incomplete. found is false without such a
// document.
func (x *Index) Incomplete(id [16]byte) (incomplete, found bool, err error) {
	s, err := x.acquire()
	if err != nil {
		return false, false, err
	}
	defer x.release(s)
	err = guard(func() error {
		for i := range s.parts {
			p := &s.parts[i]
			at, doc, ok, err := p.find(id)
			if err != nil {
				return err
			}
			if !ok || p.dead[at].has(doc) {
				continue
			}
			sh, err := p.shard(at)
			if err != nil {
				return err
			}
			incomplete, found = sh.column(secFlags).at(doc)&incompleteFlag != 0, true
			return nil
		}
		return nil
	})
	return incomplete, found, err
}

// Status describes the content of an index.
type Status struct {
	Documents int
	Segments  int
	Bytes     int // in files and in memory
	Memory    int // in memory
	Position  []byte
}

// Status returns the current status.
func (x *Index) Status() Status {
	x.write.Lock()
	defer x.write.Unlock()
	st := Status{Position: bytes.Clone(x.position)}
	if x.closed {
		return st
	}
	parts := x.current.parts
	st.Segments, st.Memory = len(parts), memoryBytes(parts)
	for _, p := range parts {
		st.Documents += p.alive()
		st.Bytes += len(p.data)
	}
	return st
}

// alive returns the number of documents that are not dead.
func (p *part) alive() int {
	n := p.docs
	for _, d := range p.dead {
		n -= d.count()
	}
	return n
}

// guard calls fn, which reads mapped files. It returns ErrDamaged if a file cannot be read, or has
// changed since its verification, so that its numbers can point anywhere.
func guard(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case runtime.Error:
			err = fmt.Errorf("%w: %w", ErrDamaged, fault)
		default:
			panic(fault)
		}
	}()
	return fn()
}

func (x *Index) path(name string) string { return filepath.Join(x.dir, name) }
