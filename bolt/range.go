package bolt

import "labshelf/repository"

// scan costs what it calls fn for, wherever it starts and however much there is beside it.
func (r resources) scan(q repository.ResourceRange, c *codec, fn func(*repository.Resource) (more bool)) error {
	l, ok := resourceListing(q)
	if !ok {
		return errNoListing
	}
	return each(r.tx, &resourceTable, l, c, fn)
}
