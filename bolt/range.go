package bolt

import "labshelf/metadata"

// scan costs what it calls fn for, wherever it starts and however much there is beside it.
func (r resources) scan(q metadata.ResourceRange, c *codec, fn func(*metadata.Resource) (more bool)) error {
	l, ok := resourceListing(q)
	if !ok {
		return errNoListing
	}
	return each(r.tx, &resourceTable, l, c, fn)
}
