// Package repositorytest provides helpers for tests of repositories.
package repositorytest

import (
	"context"

	"labshelf/auth"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/paging"
	"labshelf/repository"
	"labshelf/repository/core"
)

// Listed returns the request for the first page of a listing with these query parameters.
func Listed(listing paging.Listing, container string, params map[string][]string) core.ListRequest {
	request := core.ListRequest{Container: container}
	request.IDs, request.Selection, request.Malformed = paging.Parse(listing, params)
	return request
}

// ListResources returns a page with copies of the resources.
func ListResources(ctx context.Context, svc *repository.Service, p auth.Principal, listing paging.Listing, req core.ListRequest) (core.Page[metadata.Resource], error) {
	var page core.Page[metadata.Resource]
	ends, err := svc.Files.List(ctx, p, listing, req, func(borrowed *metadata.Resource) {
		page.Items = append(page.Items, metadatatest.CloneResource(borrowed))
	}, func(string) {})
	page.PageEnds = ends
	return page, err
}
