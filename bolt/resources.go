package bolt

import (
	"errors"
	"iter"

	"labshelf/metadata"
	"labshelf/paging"
)

type resources struct{ *tx }

func (r resources) Get(id metadata.ID) (metadata.Resource, error) {
	return resourceTable.get(r.tx, idKey(id))
}

func (r resources) Put(row metadata.Resource) error { return resourceTable.put(r.tx, row) }

// Range yields copies.
func (r resources) Range(q metadata.ResourceRange) iter.Seq2[metadata.Resource, error] {
	return sequence(func(fn func(*metadata.Resource) bool) error { return r.scan(q, &codec{}, fn) })
}

// Page lends views of the file.
func (r resources) Page(q metadata.ResourceRange, fn func(*metadata.Resource) (more bool)) error {
	return r.scan(q, &codec{views: true}, fn)
}

var errNoListing = errors.New("bolt: resources have no such order there")

// resourceListing says which spans of which index hold what a range asks for. Not ok: there is no such listing.
func resourceListing(q metadata.ResourceRange) (l listing, ok bool) {
	containers, bounds := q.Dataspaces, timeSpan
	byName := q.Order == paging.ByName
	switch none := (metadata.ID{}); {
	case byName && q.Set == none, !byName && q.Order != paging.Oldest && q.Order != paging.Newest:
		return l, false
	case byName:
		l.index, containers, bounds = resourcesByName, []metadata.ID{q.Set}, nameSpan
	case q.Set != none:
		l.index, containers = resourcesBySet, []metadata.ID{q.Set}
	case q.Dataspaces == nil:
		l.index = resourcesByTime
	default:
		l.index = resourcesByDataspace
	}
	l.backwards = q.Order == paging.Newest
	l.spans = bounds(q).inScopes(containers, q.States)
	return l, true
}
