//go:build mutant_offset

package bolt

import (
	"fmt"
	"strings"
	"sync"

	"labshelf/paging"
	"labshelf/repository"
)

// offsets is how many items had been passed when a listing came to a position.
var offsets sync.Map

// scan is wrong on purpose, to show that the tests of the guarantees notice: it goes on by skipping as many items as had
// been passed, as if nothing could have moved meanwhile.
func (r resources) scan(q repository.ResourceRange, c *codec, fn func(*repository.Resource) (more bool)) error {
	after := q.After
	q.After = paging.Position{}
	l, ok := resourceListing(q)
	if !ok {
		return errNoListing
	}
	place := func(p paging.Position) string { return fmt.Sprint(q, p) }
	skip := 0
	if passed, ok := offsets.Load(place(after)); ok {
		skip = passed.(int)
	}
	passed := 0
	return each(r.tx, &resourceTable, l, c, func(row *repository.Resource) bool {
		if passed++; passed <= skip {
			return true
		}
		at := paging.Position{Stamp: int64(row.Modified), ID: row.ID}
		if q.Order == paging.ByName {
			at = paging.Position{Name: strings.Clone(row.Name), ID: row.ID}
		}
		offsets.Store(place(at), passed)
		return fn(row)
	})
}
