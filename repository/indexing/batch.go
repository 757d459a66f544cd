package indexing

import (
	"cmp"
	"errors"

	"labshelf/audit"
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

// errForeign says that the index is of another history of the repository, and must be emptied first.
var errForeign = errors.New("the index is that of another history of the repository")

// begin begins the first phase: what the log says from now on is followed when the tables have been read.
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
	for d, err := range b.tx.Dataspaces.All(b.at.after) {
		if err != nil {
			return err
		}
		if err := b.putDataspace(d); err != nil || b.full(d.ID) {
			return err
		}
	}
	b.advance()
	return nil
}

func (b *batch) scanSets() error {
	for s, err := range b.tx.Sets.Range(metadata.SetRange{States: paging.Active, After: b.at.after}) {
		if err != nil {
			return err
		}
		if err := b.putSet(s); err != nil || b.full(s.ID) {
			return err
		}
	}
	b.advance()
	return nil
}

// scanResources reads those that were modified before the scan began. A later change of one has an entry that is followed.
func (b *batch) scanResources() error {
	within := metadata.ResourceRange{
		States: paging.Active, Order: paging.Oldest, Until: b.at.stamp + 1,
		After: paging.Position{Stamp: int64(b.at.since), ID: b.at.after},
	}
	for r, err := range b.tx.Resources.Range(within) {
		if err != nil {
			return err
		}
		if err := b.putResource(r); err != nil {
			return err
		}
		if b.at.since = r.Modified; b.full(r.ID) {
			return nil
		}
	}
	b.advance()
	return nil
}

// full tells whether the batch ends behind the object with an id.
func (b *batch) full(id metadata.ID) bool {
	b.at.after = id
	b.more = len(b.changes) >= maxScanned || b.slow()
	return b.more
}

// slow tells whether what schemas say has taken so long that the batch is to end.
func (b *batch) slow() bool { return *b.spent > maxChecking }

// follow reads the next entries of the log, and what they are about as it is now.
func (b *batch) follow(size uint64) error {
	seen := map[metadata.ID]bool{}
	for last := min(size, b.at.next+maxEntries); b.at.next < last && !b.slow(); b.at.next++ {
		row, err := b.tx.Audit.Get(b.at.next)
		if err != nil {
			return err
		}
		e, err := row.Entry()
		if err != nil {
			return err
		}
		b.at.stamp = max(b.at.stamp, metadata.Stamp(e.Stamp))
		b.at.erase = b.at.erase || erases[e.Action]
		b.at.check(b.at.next, e)
		if seen[e.Object.ID] {
			continue
		}
		seen[e.Object.ID] = true
		if err := b.renew(e.Object); err != nil {
			return err
		}
	}
	b.more = b.at.next < size
	return nil
}

// erases are the actions after which the words of something are to be in no file any more.
var erases = map[audit.Action]bool{audit.ResourcePurge: true, audit.VersionErase: true, audit.VersionPurge: true}

// renew puts an object as it is now.
func (b *batch) renew(o audit.Object) (err error) {
	switch o.Kind {
	case audit.Dataspace:
		var d metadata.Dataspace
		if d, err = b.tx.Dataspaces.Get(o.ID); err == nil {
			err = b.putDataspace(d)
		}
	case audit.Set:
		var s metadata.Set
		if s, err = b.tx.Sets.Get(o.ID); err == nil {
			err = b.putSet(s)
		}
	case audit.Resource:
		var r metadata.Resource
		if r, err = b.tx.Resources.Get(o.ID); err == nil && !b.hasRead(r) {
			err = b.putResource(r)
		}
	}
	if errors.Is(err, metadata.ErrNotFound) {
		err = nil
	}
	return err
}

// hasRead tells whether the index has a resource as it is, with its text: its entry is about a version alone. Put again it would lose the text,
// which is read once after each modification.
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
