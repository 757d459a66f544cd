package paging_test

import (
	"maps"
	"slices"
	"strings"

	"github.com/oklog/ulid/v2"
	"pgregory.net/rapid"

	"labshelf/paging"
)

func keys[V any](m map[string]V) []string { return slices.Collect(maps.Keys(m)) }

// anyQuery draws a valid query.
func anyQuery(t *rapid.T) paging.Query {
	l := rapid.SampledFrom(slices.Sorted(maps.Keys(accepted))).Draw(t, "listing")
	takes := func(name string) bool {
		return slices.Contains(strings.Fields(accepted[l]), name) && rapid.Bool().Draw(t, name)
	}
	q := paging.Query{Listing: l, Selection: paging.Selection{States: paging.Active, Limit: rapid.IntRange(1, 1000).Draw(t, "limit")}}
	switch l {
	case paging.UserKeys:
		q.States = paging.All
	case paging.ResourceVersions, paging.AuditEntries, paging.ResourceHistory, paging.SetHistory, paging.DataspaceHistory:
		q.States, q.Order = paging.All, paging.Newest
	}
	if start(l).Parent != (ulid.ULID{}) {
		q.Parent = anyID(t)
	}
	for name, id := range map[string]*ulid.ULID{"dataspaceId": &q.Dataspace, "setId": &q.Set, "userId": &q.User} {
		if slices.Contains(strings.Fields(accepted[l]), name) {
			*id = rapid.SampledFrom([]ulid.ULID{{}, id1, id2, id3}).Draw(t, name)
		}
	}
	if takes("state") {
		q.States = rapid.SampledFrom([]paging.States{paging.Active, paging.Deleted, paging.All}).Draw(t, "states")
	}
	q.Descriptive = takes("fields")
	if takes("objectId") {
		q.Object = anyID(t)
	}
	if takes("action") {
		q.Action = rapid.SampledFrom([]string{"resource.create", "set.*", "x"}).Draw(t, "word")
	}
	if takes("visibility") {
		q.Visibility = rapid.SampledFrom([]string{"private", "public", "open"}).Draw(t, "visible")
	}
	if takes("origin") {
		q.Origin = new(rapid.StringN(0, 500, -1).Draw(t, "from"))
	}
	if strings.Contains(accepted[l], "since") {
		q.Order = rapid.SampledFrom([]paging.Order{paging.Oldest, paging.Newest}).Draw(t, "by stamp")
	}
	if l == paging.Search {
		placeOfSearch(t, &q)
		return q
	}
	if l == paging.SetResources && rapid.Bool().Draw(t, "by name") {
		q.Order = rapid.SampledFrom([]paging.Order{paging.ByName, paging.ByNameDown}).Draw(t, "direction")
	}
	if q.Order.ByNames() {
		placeByName(t, &q)
		return q
	}
	if takes("since") {
		q.Since = anyBound(t)
	}
	if takes("until") {
		q.Until = anyBound(t)
	}
	if q.Order == paging.ByID && takes("name") {
		q.Name = new(rapid.StringN(1, -1, paging.MaxContainerName).Draw(t, "a name"))
	}
	if rapid.Bool().Draw(t, "after") {
		q.After.ID = anyID(t)
		if q.Order != paging.ByID {
			q.After.Stamp = anyBound(t).At
		}
	}
	return q
}

// placeOfSearch sets the search string, the order and the position of a search.
func placeOfSearch(t *rapid.T, q *paging.Query) {
	q.Text, q.Counts = rapid.StringN(0, -1, paging.MaxText).Draw(t, "text"), rapid.Bool().Draw(t, "counted")
	q.Order = rapid.SampledFrom([]paging.Order{paging.ByRelevance, paging.Newest, paging.Oldest, paging.ByName}).Draw(t, "order")
	if rapid.Bool().Draw(t, "from the beginning") {
		return
	}
	q.After.ID = anyID(t)
	if q.Order == paging.ByName {
		q.After.Name = rapid.StringN(0, -1, paging.MaxName).Draw(t, "a name")
		return
	}
	q.After.Stamp = anyBound(t).At
	if q.Order == paging.ByRelevance {
		q.After.Score = rapid.Uint32().Draw(t, "score")
	}
}

// placeByName sets the filter and the position of a query by name.
func placeByName(t *rapid.T, q *paging.Query) {
	name := rapid.StringN(1, -1, 4096).Draw(t, "a name")
	after := rapid.Bool().Draw(t, "after")
	if after {
		q.After = paging.Position{Name: name, ID: anyID(t)}
	}
	filter := rapid.IntRange(0, 2).Draw(t, "filter")
	if q.Folders = filter != 1 && rapid.Bool().Draw(t, "folders"); q.Folders && rapid.Bool().Draw(t, "behind a folder") {
		q.After.ID = ulid.ULID{}
	}
	switch filter {
	case 1:
		q.Name = &name
	case 2:
		q.NamePrefix = name[:rapid.IntRange(1, len(name)).Draw(t, "cut")]
	}
}

func anyBound(t *rapid.T) paging.Bound {
	return paging.Bound{At: rapid.Int64Min(0).Draw(t, "at"), Set: true}
}

func anyID(t *rapid.T) (id ulid.ULID) {
	id = ulid.ULID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
	id[15] |= 1 // never zero
	return id
}
