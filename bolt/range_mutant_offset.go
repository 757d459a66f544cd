//go:build mutant_offset

package bolt

import (
	"fmt"
	"iter"
	"sync"

	"labshelf/paging"
	"labshelf/repository"
)

// offsets is how many items had been passed when a listing came to a position.
var offsets sync.Map

// Range is wrong on purpose, to show that the tests of the guarantees notice: it goes on by skipping as many items as had
// been passed, as if nothing could have moved meanwhile.
func (r resources) Range(q repository.ResourceRange) iter.Seq2[repository.Resource, error] {
	after := q.After
	q.After = paging.Position{}
	l, ok := resourceListing(q)
	if !ok {
		return failing[repository.Resource]("resources have no such order there")
	}
	place := func(p paging.Position) string { return fmt.Sprint(q, p) }
	skip := 0
	if passed, ok := offsets.Load(place(after)); ok {
		skip = passed.(int)
	}
	return func(yield func(repository.Resource, error) bool) {
		passed := 0
		for row, err := range rows(r.tx, &resourceTable, l) {
			if passed++; passed <= skip {
				continue
			}
			at := paging.Position{Stamp: int64(row.Modified), ID: row.ID}
			if q.Order == paging.ByName {
				at = paging.Position{Name: row.Name, ID: row.ID}
			}
			offsets.Store(place(at), passed)
			if !yield(row, err) {
				return
			}
		}
	}
}
