package repositorytest

import (
	"context"
	"iter"
	"strings"

	"labshelf/auth"
	"labshelf/paging"
	"labshelf/repository"
)

// Paged yields copies of what Resources.Page lends.
func Paged(tx *repository.Tx, q repository.ResourceRange) iter.Seq2[repository.Resource, error] {
	return func(yield func(repository.Resource, error) bool) {
		more := true
		err := tx.Resources.Page(q, func(lent *repository.Resource) bool {
			more = yield(kept(lent), nil)
			return more
		})
		if err != nil && more {
			yield(repository.Resource{}, err)
		}
	}
}

// ListResources returns a page of copies.
func ListResources(ctx context.Context, svc *repository.Service, p auth.Principal, listing paging.Listing, req repository.ListRequest) (repository.Page[repository.Resource], error) {
	var page repository.Page[repository.Resource]
	ends, err := svc.ListResources(ctx, p, listing, req, func(lent *repository.Resource) { page.Items = append(page.Items, kept(lent)) })
	page.PageEnds = ends
	return page, err
}

func kept(lent *repository.Resource) repository.Resource {
	r := *lent
	for _, text := range []*string{&r.Name, &r.Description, &r.Format, &r.MimeType, &r.Filename} {
		*text = strings.Clone(*text)
	}
	return r
}
