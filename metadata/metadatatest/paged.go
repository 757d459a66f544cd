package metadatatest

import (
	"iter"
	"strings"

	"labshelf/metadata"
)

// Paged yields copies of what Resources.Page lends.
func Paged(tx *metadata.Tx, q metadata.ResourceRange) iter.Seq2[metadata.Resource, error] {
	return func(yield func(metadata.Resource, error) bool) {
		more := true
		err := tx.Resources.Page(q, func(lent *metadata.Resource) bool {
			more = yield(Kept(lent), nil)
			return more
		})
		if err != nil && more {
			yield(metadata.Resource{}, err)
		}
	}
}

// Kept returns a copy of a borrowed row that stays valid.
func Kept(lent *metadata.Resource) metadata.Resource {
	r := *lent
	for _, text := range []*string{&r.Name, &r.Description, &r.Format, &r.MimeType, &r.Filename} {
		*text = strings.Clone(*text)
	}
	return r
}
