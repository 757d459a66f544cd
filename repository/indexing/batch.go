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

// batch is what one read transaction found for the index.
type batch struct {
	Documents
	from    position // where it begins
	at      position // behind what it holds
	changes []index.Change
	more    bool // there is more to read at once
}

func (x *Indexing) newBatch(tx *metadata.Tx, at position) batch {
	return batch{Documents: NewDocuments(tx, x.schemas), from: at, at: at}
}

// read reads what comes next: of the log, or of the tables where the index is made anew.
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

// errForeign says that the index is of another history of the repository, and must be emptied
// first.
var errForeign = errors.New("the index is that of another history of the repository")

// begin begins the first phase: what the log says from now on is followed when the tables have been
// read.
func (b *batch) begin(epoch metadata.EpochID, size uint64) error {
	if b.from != (position{}) {
		return errors.Join(index.ErrDamaged, errForeign)
	}
	b.at = position{epoch: epoch, next: size, checked: size, phase: dataspaces}
	b.more = true
	latest := metadata.ResourceRange{States: paging.Active, Order: paging.Newest}
	for r, err := range b.tx.Resources.Range(latest) {
		if b.at.stamp = r.Modified; err != nil { // it need not have an entry: the log is younger than some repositories
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

// scanResources reads those that were modified before the scan began. A later change of one has an
// entry that is followed.
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

// scan puts all objects of a phase, or as many as a batch has.
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

// putAll puts objects of a phase, and tells whether the batch ends behind one of them.
func (b *batch) putAll(some []object) (full bool, err error) {
	b.prefetch(some)
	for _, o := range some {
		if err := o.put(); err != nil || b.full(o.ID) {
			return true, err
		}
	}
	return false, nil
}

// full tells whether the batch ends behind the object with an id.
func (b *batch) full(id metadata.ID) bool {
	b.at.after = id
	b.more = len(b.changes) >= maxScanned || b.slow()
	return b.more
}

// slow tells whether what schemas say has taken so long that the batch is to end.
func (b *batch) slow() bool { return *b.spent > maxChecking }

// together is how many rows are asked for at once, where that is faster than one after the other.
const together = 256

// follow reads the next entries of the log, and what they are about as it is now.
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

// followTo follows the entries before last, less what is about objects that were seen. It ends
// earlier where that is slow.
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

// entries returns those of the log from the next one to that before last.
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

// object is something that has a document, which put puts as it is now; nil: there is nothing to
// put.
type object struct {
	metadata.Record
	dataspace metadata.ID // whose schemas may apply to it
	put       func() error
}

// objects returns what each entry is about, once.
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

// erases are the actions after which the words of something are to be in no file any more.
var erases = map[audit.Action]bool{audit.ResourcePurge: true, audit.VersionErase: true, audit.VersionPurge: true}

// object reads an object. One that is not there any more has nothing to put.
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

// each maps what a table yields to objects.
func each[T any](all iter.Seq2[T, error], of func(T) object) iter.Seq2[object, error] {
	return func(yield func(object, error) bool) {
		for row, err := range all {
			if !yield(of(row), err) {
				return
			}
		}
	}
}

// hasRead tells whether the index has a resource as it is, with its text: its entry is about a
// version alone. Put again it would lose the text, which is read once after each modification.
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

// put adds the document of an object that is active; of another one that there is none any more.
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
