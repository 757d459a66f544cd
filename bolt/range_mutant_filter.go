//go:build mutant_filter

package bolt

import (
	"labshelf/paging"
	"labshelf/repository"
)

// scan is wrong on purpose, to show that the tests of the guarantees notice: it reads resources in every state and throws
// away those in another one.
func (r resources) scan(q repository.ResourceRange, c *codec, fn func(*repository.Resource) (more bool)) error {
	wanted := q.States
	q.States = paging.All
	l, ok := resourceListing(q)
	if !ok {
		return errNoListing
	}
	return each(r.tx, &resourceTable, l, c, func(row *repository.Resource) bool {
		return wanted&paging.States(row.State) == 0 || fn(row)
	})
}
