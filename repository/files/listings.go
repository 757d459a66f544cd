package files

import (
	"cmp"
	"context"

	"labshelf/auth"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/core"
	"labshelf/repository/internal/rows"
)

// List lists the resources of the whole service, of a dataspace or of a set. It calls add for each
// resource, in order. The resource is borrowed: add must not keep it or its strings. add runs
// inside the transaction, and the caller must ignore its results if List returns an error. If the
// request requests folders, List also calls folder for the paths of folders, under the same rules.
// It lists folders with files in one of the requested states and, if active files are requested,
// folders that were created explicitly.
func (s *Files) List(ctx context.Context, p auth.Principal, listing paging.Listing, req core.ListRequest, add func(*metadata.Resource), folder func(path string)) (ends core.PageEnds, err error) {
	err = s.core.ReadDurable(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		q, err := s.core.Query(tx, p, listing, req)
		if err != nil || q.Until.Set && q.Until.At == 0 {
			return err
		}
		within, err := resourceRange(tx, p, &q)
		if err != nil {
			return err
		}
		items, bytes, last := 0, 0, position{byName: q.Order.ByNames()}
		s.prefetchPage(tx, within, q)
		damaged := s.core.Stores.Damaged(tx)
		var failed error
		file := func(r *metadata.Resource) (more bool) {
			if r.Damaged = damaged(r); p.Anonymous {
				r.Passage = metadata.Passage{}
			}
			if q.Descriptive {
				failed = rows.Described(tx, r.ID, &r.Descriptive)
			}
			add(r)
			last.at(r)
			items++
			bytes += len(r.Name) + len(r.Description) + len(r.Descriptive)
			return items < q.Limit && bytes < core.MaxPageBytes && failed == nil
		}
		if q.Folders {
			err = tx.Resources.Children(within, file, func(path string) (more bool) {
				folder(path)
				last.behind(path)
				items++
				return items < q.Limit
			})
		} else {
			err = tx.Resources.Page(within, file)
		}
		if err = cmp.Or(err, failed); err != nil || items == 0 {
			return err
		}
		ends, err = s.core.Ends(q, last.position())
		return err
	})
	return ends, err
}

// prefetchPage fetches the rows of a page together, if that is faster than one by one.
func (s *Files) prefetchPage(tx *metadata.Tx, within metadata.ResourceRange, q paging.Query) {
	costly := false // whether reading one by one is costly
	tx.Prefetch(func() {
		costly = true
		s.core.Stores.Damaged(tx)
		if !q.Folders {
			_ = tx.Resources.Page(within, func(*metadata.Resource) bool { return false })
		}
	})
	if !costly || !q.Descriptive || q.Folders {
		return
	}
	ids := make([]metadata.ID, 0, q.Limit)
	_ = tx.Resources.Page(within, func(r *metadata.Resource) bool { // an error occurs again later
		ids = append(ids, r.ID)
		return len(ids) < q.Limit
	})
	tx.Prefetch(func() {
		for _, id := range ids {
			_, _ = tx.Descriptive.Get(id)
		}
		_ = tx.Resources.Page(within, func(*metadata.Resource) bool { return false }) // these rows have just been fetched
	})
}

// position holds the position of a borrowed resource or a folder in the order.
type position struct {
	byName bool
	stamp  metadata.Stamp
	id     metadata.ID
	name   []byte
}

func (p *position) at(r *metadata.Resource) {
	p.stamp, p.id = r.Modified, r.ID
	if p.byName {
		p.name = append(p.name[:0], r.Name...)
	}
}

func (p *position) behind(folder string) {
	p.stamp, p.id, p.name = 0, metadata.ID{}, append(p.name[:0], folder...)
}

func (p *position) position() paging.Position {
	if p.byName {
		return paging.Position{Name: string(p.name), ID: p.id}
	}
	return paging.Position{Stamp: int64(p.stamp), ID: p.id}
}

// resourceRange returns the range of the resources that a query requests. It changes names in the
// query to the stored form, so that the following pages use it, too.
func resourceRange(tx *metadata.Tx, p auth.Principal, q *paging.Query) (within metadata.ResourceRange, err error) {
	within = metadata.ResourceRange{
		Set: q.Set, States: q.States, Order: q.Order, Since: metadata.Stamp(q.Since.At), Until: metadata.Stamp(q.Until.At),
		Name: q.Name, NamePrefix: q.NamePrefix, After: q.After,
	}
	switch {
	case q.Listing == paging.SetResources:
		within.Set = q.Parent
	case q.Listing == paging.DataspaceResources:
		within.Dataspaces = []metadata.ID{q.Parent}
	case q.Dataspace != metadata.ID{}:
		within.Dataspaces = []metadata.ID{q.Dataspace}
	case q.Set == metadata.ID{}:
		within.Dataspaces, err = core.Readable(tx, core.Passing(p), metadata.ID{})
	}
	if only := p.Limits.Set; only != (metadata.ID{}) {
		within.Set, within.Dataspaces = only, nil
	}
	if err == nil {
		err = InStoredForm(tx, &within, q.Folders)
		q.Name, q.NamePrefix = within.Name, within.NamePrefix
	}
	return within, err
}
