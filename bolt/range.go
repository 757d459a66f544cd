//go:build !mutant_offset && !mutant_filter

package bolt

import (
	"iter"

	"labshelf/repository"
)

// Range costs what it yields, wherever it starts and however much there is beside it.
func (r resources) Range(q repository.ResourceRange) iter.Seq2[repository.Resource, error] {
	l, ok := resourceListing(q)
	if !ok {
		return failing[repository.Resource]("resources have no such order there")
	}
	return rows(r.tx, &resourceTable, l)
}
