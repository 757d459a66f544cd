// Package repositorytest reads pages as tests want them.
package repositorytest

import (
	"context"

	"labshelf/auth"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/paging"
	"labshelf/repository"
)

// ListResources returns a page of copies.
func ListResources(ctx context.Context, svc *repository.Service, p auth.Principal, listing paging.Listing, req repository.ListRequest) (repository.Page[metadata.Resource], error) {
	var page repository.Page[metadata.Resource]
	ends, err := svc.ListResources(ctx, p, listing, req, func(borrowed *metadata.Resource) {
		page.Items = append(page.Items, metadatatest.CloneResource(borrowed))
	}, func(string) {})
	page.PageEnds = ends
	return page, err
}
