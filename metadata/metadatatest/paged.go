package metadatatest

import (
	"iter"
	"strings"

	"labshelf/metadata"
	"labshelf/paging"
)

// Paged yields copies of the borrowed rows of Resources.Page.
func Paged(tx *metadata.Tx, q metadata.ResourceRange) iter.Seq2[metadata.Resource, error] {
	return func(yield func(metadata.Resource, error) bool) {
		more := true
		err := tx.Resources.Page(q, func(borrowed *metadata.Resource) bool {
			more = yield(CloneResource(borrowed), nil)
			return more
		})
		if err != nil && more {
			yield(metadata.Resource{}, err)
		}
	}
}

// CloneResource returns a copy of a borrowed row that remains valid.
func CloneResource(borrowed *metadata.Resource) metadata.Resource {
	r := *borrowed
	for _, text := range []*string{&r.Name, &r.Description, &r.Format, &r.MimeType, &r.Filename, &r.Descriptive} {
		*text = strings.Clone(*text)
	}
	return r
}

// keysOf yields the fields of the resources that an index with this order contains.
func keysOf(all iter.Seq2[metadata.Resource, error], order paging.Order) iter.Seq2[metadata.Resource, error] {
	return func(yield func(metadata.Resource, error) bool) {
		for r, err := range all {
			var key metadata.Resource
			if key.ID = r.ID; order.ByNames() {
				key.Name = r.Name
			} else {
				key.Modified = r.Modified
			}
			if !yield(key, err) {
				return
			}
		}
	}
}
