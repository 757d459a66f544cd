package indexing

import (
	"cmp"
	"errors"
	"iter"

	"labshelf/auth/errs"
	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/search"
	"labshelf/search/index"
)

// batch contains the changes that one read transaction has read for the index.
type batch struct {
	Documents
	from    position // the position at its beginning
	at      position // the position at its end
	changes []index.Change
	more    bool // more can be read together
}

func (x *Indexing) newBatch(tx *metadata.Tx, at position) batch {
	return batch{Documents: NewDocuments(tx, x.schemas), from: at, at: at}
}

// read reads the next part of the log, or of the tables while the index is being rebuilt.
func (b *batch) read() error {
	b.tx.Prefetch(func() {
		_, _ = b.tx.Audit.State()
		_, _ = b.tx.Lineage.Epoch()
	})
	log, err := b.tx.Audit.State()
	if err != nil {
		return err
	}
	epoch, err := b.tx.Lineage.Epoch()
	if err != nil {
		return err
	}
	if b.at.epoch != epoch.ID || b.at.next > log.Size {
		return b.begin(epoch.ID, log.Size)
	}
	switch b.at.phase {
	case dataspaces:
		return b.scanDataspaces()
	case sets:
		return b.scanSets()
	case resources:
		return b.scanResources()
	}
	return b.follow(log.Size)
}

// errForeign reports that the index belongs to another history of the repository and must be
// emptied first.
var errForeign = errors.New("the index belongs to another history of the repository")

// begin begins the first phase. Entries that are logged from now on are followed after the tables
// have been read.
func (b *batch) begin(epoch metadata.EpochID, size uint64) error {
	if b.from != (position{}) {
		return errors.Join(index.ErrDamaged, errForeign)
	}
	b.at = position{epoch: epoch, next: size, checked: size, phase: dataspaces}
	b.more = true
	latest := metadata.ResourceRange{States: paging.Active, Order: paging.Newest}
	for r, err := range b.tx.Resources.Range(latest) {
		if b.at.stamp = r.Modified; err != nil { // it may have no entry: some repositories are older than the log
			return err
		}
		break
	}
	return b.scanDataspaces()
}

// advance begins the next phase.
func (b *batch) advance() {
	b.at.phase++
	b.at.after, b.more = metadata.ID{}, true
}

func (b *batch) scanDataspaces() error {
	return b.scan(each(b.tx.Dataspaces.All(b.at.after), b.dataspace))
}

func (b *batch) scanSets() error {
	return b.scan(each(b.tx.Sets.Range(metadata.SetRange{States: paging.Active, After: b.at.after}), b.set))
}

// scanResources reads the resources modified before the scan began. Later changes have entries,
// which are followed.
func (b *batch) scanResources() error {
	within := metadata.ResourceRange{
		States: paging.Active, Order: paging.Oldest, Until: b.at.stamp + 1,
		After: paging.Position{Stamp: int64(b.at.since), ID: b.at.after},
	}
	return b.scan(each(b.tx.Resources.Range(within), func(r metadata.Resource) object {
		o := b.resource(r)
		put := o.put
		o.put = func() error {
			b.at.since = r.Modified
			return put()
		}
		return o
	}))
}

// scan puts all objects of a phase, or as many as fit into a batch.
func (b *batch) scan(all iter.Seq2[object, error]) error {
	some := make([]object, 0, together)
	for o, err := range all {
		if err != nil {
			return err
		}
		if some = append(some, o); len(some) < together {
			continue
		}
		if full, err := b.putAll(some); full || err != nil {
			return err
		}
		some = some[:0]
	}
	if full, err := b.putAll(some); full || err != nil {
		return err
	}
	b.advance()
	return nil
}

// putAll puts objects of a phase, and reports whether the batch ends after one of them.
func (b *batch) putAll(some []object) (full bool, err error) {
	b.prefetch(some)
	for _, o := range some {
		if err := o.put(); err != nil || b.full(o.ID) {
			return true, err
		}
	}
	return false, nil
}

// full reports whether the batch ends after the object with this id.
func (b *batch) full(id metadata.ID) bool {
	b.at.after = id
	b.more = len(b.changes) >= maxScanned || b.slow()
	return b.more
}

// slow reports whether validation has taken so long that the batch should end.
func (b *batch) slow() bool { return *b.spent > maxChecking }

// together is the number of rows that are requested together, if that is faster than one by one.
const together = 256

// follow reads the next entries of the log, and the present state of their objects.
func (b *batch) follow(size uint64) error {
	seen := map[metadata.ID]bool{}
	for last := min(size, b.at.next+maxEntries); b.at.next < last && !b.slow(); {
		if err := b.followTo(min(last, b.at.next+together), seen); err != nil {
			return err
		}
	}
	b.more = b.at.next < size
	return nil
}

// followTo follows the entries before last, except those about objects in seen. It ends early if
// validation is slow.
func (b *batch) followTo(last uint64, seen map[metadata.ID]bool) error {
	entries, err := b.entries(last)
	if err != nil {
		return err
	}
	objects, err := b.objects(entries, seen)
	if err != nil {
		return err
	}
	for i, e := range entries {
		if i > 0 && b.slow() {
			return nil
		}
		b.at.stamp = max(b.at.stamp, metadata.Stamp(e.Stamp))
		b.at.erase = b.at.erase || erases[e.Action]
		b.at.check(b.at.next, e)
		if put := objects[i].put; put != nil {
			if err := put(); err != nil {
				return err
			}
		}
		b.at.next++
	}
	return nil
}

// entries returns the entries of the log from the next one to the one before last.
func (b *batch) entries(last uint64) (all []audit.Entry, err error) {
	b.tx.Prefetch(func() {
		for n := b.at.next; n < last; n++ {
			_, _ = b.tx.Audit.Entry(n)
		}
	})
	for n := b.at.next; n < last; n++ {
		e, err := b.tx.Audit.Entry(n)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// object is an object with a document. put puts its present document; it is nil if there is nothing
// to put.
type object struct {
	metadata.Record
	dataspace metadata.ID // its schemas may apply to the object
	put       func() error
}

// objects returns the object of each entry, each object only once.
func (b *batch) objects(entries []audit.Entry, seen map[metadata.ID]bool) ([]object, error) {
	b.tx.Prefetch(func() {
		for _, e := range entries {
			_, _ = b.object(e.Object)
		}
	})
	all := make([]object, len(entries))
	for i, e := range entries {
		if seen[e.Object.ID] {
			continue
		}
		seen[e.Object.ID] = true
		var err error
		if all[i], err = b.object(e.Object); err != nil {
			return nil, err
		}
	}
	b.prefetch(all)
	return all, nil
}

// erases lists the actions after which the words of an object must be removed from all files of the
// index.
var erases = map[audit.Action]bool{audit.ResourcePurge: true, audit.VersionErase: true, audit.VersionPurge: true}

// object reads an object. A missing object has nothing to put.
func (b *batch) object(o audit.Object) (found object, err error) {
	switch o.Kind {
	case audit.Dataspace:
		var d metadata.Dataspace
		if d, err = b.tx.Dataspaces.Get(o.ID); err == nil {
			found = b.dataspace(d)
		}
	case audit.Set:
		var s metadata.Set
		if s, err = b.tx.Sets.Get(o.ID); err == nil {
			found = b.set(s)
		}
	case audit.Resource:
		var r metadata.Resource
		if r, err = b.tx.Resources.Get(o.ID); err == nil && !b.hasRead(r) {
			found = b.resource(r)
		}
	}
	return found, errs.Ignore(err, metadata.ErrNotFound)
}

func (b *batch) dataspace(d metadata.Dataspace) object {
	return object{Record: d.Record, put: func() error { return b.putDataspace(d) }}
}

func (b *batch) set(s metadata.Set) object {
	return object{Record: s.Record, dataspace: s.DataspaceID, put: func() error { return b.putSet(s) }}
}

func (b *batch) resource(r metadata.Resource) object {
	return object{Record: r.Record, dataspace: r.DataspaceID, put: func() error { return b.putResource(r) }}
}

// each maps the rows of a table to objects.
func each[T any](all iter.Seq2[T, error], of func(T) object) iter.Seq2[object, error] {
	return func(yield func(object, error) bool) {
		for row, err := range all {
			if !yield(of(row), err) {
				return
			}
		}
	}
}

// hasRead reports whether the index already has the present resource with its text, because the
// entry is only about a version. Putting it again would lose the text, which is read once after
// each modification.
func (b *batch) hasRead(r metadata.Resource) bool {
	read := cmp.Or(cmp.Compare(r.Modified, b.at.text), r.ID.Compare(b.at.textAfter)) <= 0
	return read && r.State == metadata.Active
}

func (b *batch) putDataspace(d metadata.Dataspace) error {
	document, err := b.Dataspace(d)
	return b.put(document, d.State, err)
}

func (b *batch) putSet(s metadata.Set) error {
	document, err := b.Set(s)
	return b.put(document, s.State, err)
}

func (b *batch) putResource(r metadata.Resource) error {
	document, err := b.Resource(r)
	return b.put(document, r.State, err)
}

// put adds the document of an active object, or the removal of the document of another object.
func (b *batch) put(d search.Document, state metadata.State, err error) error {
	switch {
	case err != nil:
	case state == metadata.Active:
		b.changes = append(b.changes, index.Change{Document: &d})
	default:
		b.changes = append(b.changes, index.Change{ID: d.ID})
	}
	return err
}
