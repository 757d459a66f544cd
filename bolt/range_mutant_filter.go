//go:build mutant_filter

package bolt

import (
	"iter"

	"labshelf/paging"
	"labshelf/repository"
)

// Range is wrong on purpose, to show that the tests of the guarantees notice: it reads resources in every state and throws
// away those in another one.
func (r resources) Range(q repository.ResourceRange) iter.Seq2[repository.Resource, error] {
	wanted := q.States
	q.States = paging.All
	l, ok := resourceListing(q)
	if !ok {
		return failing[repository.Resource]("resources have no such order there")
	}
	return func(yield func(repository.Resource, error) bool) {
		for row, err := range rows(r.tx, &resourceTable, l) {
			if err == nil && wanted&paging.States(row.State) == 0 {
				continue
			}
			if !yield(row, err) {
				return
			}
		}
	}
}
