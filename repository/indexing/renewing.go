package indexing

import (
	"context"

	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/paging"
)

// When a schema is created, changed, deleted or restored, every object of its dataspace may become
// incomplete or complete, without an entry in the log. These objects are validated again in steps,
// between which the log is followed. The documents of objects that have changed are put again.

// check marks an entry as followed. An entry about a schema begins a renewal. If another renewal is
// in progress, the entry stays unmarked for later.
func (p *position) check(number uint64, e audit.Entry) {
	if p.checked != number {
		return
	}
	if e.Object.Kind == audit.Schema {
		if p.renewal != (renewal{}) {
			return
		}
		p.renewal = renewal{dataspace: metadata.ID(e.Dataspace), until: metadata.Stamp(e.Stamp)}
	}
	p.checked++
}

// renew takes the next step of a renewal. more reports whether others may follow.
func (x *Indexing) renew(ctx context.Context) (more bool, err error) {
	at := x.position()
	if !at.schemasBehind() {
		return false, nil
	}
	var b batch
	var bodies []body
	err = x.stores.Meta.ViewDurable(ctx, func(tx *metadata.Tx) (err error) {
		b, bodies = x.newBatch(tx, at), nil
		switch r := b.at.renewal; {
		case r == renewal{}:
			return b.nextRenewal()
		case !r.resources:
			return b.renewSets(x.incomplete)
		}
		bodies, err = b.renewResources(x.incomplete)
		return err
	})
	if err != nil {
		return false, err
	}
	return b.at.schemasBehind(), x.applyWithTexts(ctx, b, bodies)
}

// incomplete reports whether the index marks the document with this id as incomplete. found is
// false if it has no such document.
func (x *Indexing) incomplete(id metadata.ID) (incomplete, found bool, err error) {
	x.swap.RLock()
	defer x.swap.RUnlock()
	if x.index == nil {
		return false, false, errAway
	}
	return x.index.Incomplete(id)
}

// nextRenewal searches the followed entries for the next entry about a schema.
func (b *batch) nextRenewal() error {
	for last := min(b.at.next, b.at.checked+maxEntries); b.at.checked < last && b.at.renewal == (renewal{}); {
		e, err := b.tx.Audit.Entry(b.at.checked)
		if err != nil {
			return err
		}
		b.at.check(b.at.checked, e)
	}
	return nil
}

// differs reports whether the last document of the batch and the index disagree about being
// incomplete. If they agree, or if the index lacks the document, differs removes it from the batch.
func (b *batch) differs(indexed func(metadata.ID) (bool, bool, error)) (bool, error) {
	last := len(b.changes) - 1
	incomplete, found, err := indexed(b.changes[last].Document.ID)
	if err == nil && found && incomplete != b.changes[last].Document.Incomplete {
		return true, nil
	}
	b.changes = b.changes[:last]
	return false, err
}

func (b *batch) renewSets(indexed func(metadata.ID) (bool, bool, error)) error {
	r, looked := &b.at.renewal, 0
	for s, err := range b.tx.Sets.Range(metadata.SetRange{Dataspaces: []metadata.ID{r.dataspace}, States: paging.Active, After: r.after}) {
		if err != nil {
			return err
		}
		if err := b.putSet(s); err != nil {
			return err
		}
		if _, err := b.differs(indexed); err != nil {
			return err
		}
		r.after = s.ID
		if looked++; looked == maxScanned || b.slow() {
			return nil
		}
	}
	r.resources, r.after = true, metadata.ID{}
	return nil
}

func (b *batch) renewResources(indexed func(metadata.ID) (bool, bool, error)) (bodies []body, err error) {
	r, looked, length := &b.at.renewal, 0, int64(0)
	within := metadata.ResourceRange{
		Dataspaces: []metadata.ID{r.dataspace}, States: paging.Active, Order: paging.Oldest, Until: r.until + 1,
		After: paging.Position{Stamp: int64(r.since), ID: r.after},
	}
	for resource, err := range b.tx.Resources.Range(within) {
		if err != nil {
			return nil, err
		}
		if err := b.putResource(resource); err != nil {
			return nil, err
		}
		differs, err := b.differs(indexed)
		if err != nil {
			return nil, err
		}
		if differs && mayHaveText(resource) {
			of, err := b.body(resource)
			if err != nil {
				return nil, err
			}
			bodies, length = append(bodies, of), length+min(resource.Bytes, MaxText)
		}
		r.since, r.after = resource.Modified, resource.ID
		if looked++; looked == maxScanned || len(bodies) == maxTexts || length > maxTextBytes || b.slow() {
			return bodies, nil
		}
	}
	*r = renewal{}
	return bodies, nil
}
