// Package index finds documents: an inverted index of its own, kept apart by dataspace, so that a
// search touches nothing of what its caller may not read. The package knows no record and no
// permission; it gets documents, and for each search the dataspaces that count.
//
// The index is a cache. Changes come in batches ([Index.Apply]), each with the position of the
// caller in what it indexes. A batch is found at once, and is on stable storage some time later,
// with its position, from which the caller goes on after a crash. Whatever is wrong with the files
// makes the index empty when it is opened, and later gives [ErrDamaged]; then it is to be made
// anew.
//
// A batch becomes a segment, which is immutable: in each, the documents of a dataspace form shards
// of their own. Segments are merged: small ones in memory, then to files, which are mapped. A
// document that is put again or removed is marked as dead in the segment that holds it.
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

// maxMemory is how many bytes of segments are in memory before they are merged to a file. Twice as
// many, and Apply waits.
const maxMemory = 2 << 20

// maxUnsaved is how many changes are applied before the manifest is written anew, however small
// they are.
const maxUnsaved = 50_000

var errClosed = errors.New("the search index is closed")

// Change is a document that is put in the place of any with its id, or an id that is removed.
type Change struct {
	Document *search.Document // nil removes ID
	ID       [16]byte         // of the document that is removed
}

func (c *Change) id() [16]byte {
	if c.Document != nil {
		return c.Document.ID
	}
	return c.ID
}

// Index is open until Close. Its methods can be called at the same time.
type Index struct {
	dir  string
	step func(string) // called in tests after each change of a file

	merging sync.Mutex // held while a file is made; locked before write

	// write is held while parts change. It is locked before mu.
	write    sync.Mutex
	idle     *sync.Cond // on write: a merge has ended
	busy     map[*segment]bool
	next     uint64 // number of the next segment file
	position []byte
	saved    []byte         // the position behind what is in files
	unsaved  int            // changes since then
	failed   error          // the last flush
	replaced []*segmentFile // by a merge, and perhaps still in the manifest
	closed   bool

	mu      sync.Mutex
	current *snapshot

	wake chan struct{} // closed by Close
	done sync.WaitGroup
}

// part is a segment with the documents of it that are dead. It is immutable: what changes is a
// copy.
type part struct {
	*segment
	dead []bitmap     // of each shard
	file *segmentFile // nil in memory
}

// snapshot is what one search sees.
type snapshot struct {
	parts []part
	refs  int // searches, and the index while the snapshot is the current one; under Index.mu
}

// Open opens the index in a directory, which it makes if it is not there, and returns the position
// of the last change that the index has. An index that is missing, damaged or of another version is
// opened empty, with no position. The caller closes it.
func Open(dir string) (*Index, []byte, error) {
	return open(dir, func(string) {})
}

func open(dir string, step func(string)) (*Index, []byte, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, err
	}
	x := &Index{dir: dir, step: step, busy: map[*segment]bool{}, wake: make(chan struct{}, 1), current: &snapshot{refs: 1}}
	x.idle = sync.NewCond(&x.write)
	m, parts, err := load(dir) // any error is damage
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

// Close writes what is in memory to files, and ends the background work. Searches that run end
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

// Apply makes a batch of changes in order, and notes the caller's position behind it. Searches that
// begin after it has returned find the documents. It waits where a flush to disk is slower than the
// changes. Where that has failed for some time the error is returned, and nothing of the batch is
// applied.
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

// waitForMemory waits until there is memory for a batch.
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

// publish makes parts the current ones.
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

// drop ends one use of a snapshot, under mu. The files that no snapshot uses any more are unmapped,
// and removed if they are obsolete.
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

// Incomplete tells whether the document with an id is one that is Incomplete. found is false where
// there is none.
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

// Status is what an index holds.
type Status struct {
	Documents int
	Segments  int
	Bytes     int // of files, and in memory
	Memory    int // of that in memory
	Position  []byte
}

// Status returns what the index holds now.
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

// alive returns how many documents are not dead.
func (p *part) alive() int {
	n := p.docs
	for _, d := range p.dead {
		n -= d.count()
	}
	return n
}

// guard calls fn, which reads mapped files, and returns ErrDamaged where one of them cannot be
// read, or is not any more what was verified: then the numbers in it lead anywhere.
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
