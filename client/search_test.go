package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"labshelf/client"
)

// indexed waits until the search finds everything that was committed before.
func (s *service) indexed(t *testing.T) {
	t.Helper()
	check(t, s.repo.Search.Indexed(t.Context()))
}

// TestSearch: hits of all kinds have their records and matched parts, in pages of any length and in
// each order.
func TestSearch(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	for i, content := range []string{"salt", "water", "salt water"} {
		s.upload(t, fmt.Sprint("ice/run ", i, ".txt"), []byte(content))
	}
	s.indexed(t)
	names := func(q client.SearchQuery) (names []string) {
		for _, h := range collect(t, s.c.Search(t.Context(), q)) {
			names = append(names, h.Resource.Name+" "+strings.Join(h.Matched, "+"))
		}
		return names
	}
	byName := []string{"ice/run 0.txt name", "ice/run 1.txt name", "ice/run 2.txt name"}
	for _, limit := range []int{0, 1, 2, 1000} {
		same(t, names(client.SearchQuery{Text: "ice", Order: "name", Limit: limit}), byName)
	}
	newest := slices.Clone(byName)
	slices.Reverse(newest)
	same(t, names(client.SearchQuery{Text: "ice", Order: "newest"}), newest)
	same(t, names(client.SearchQuery{Text: "run salt"}), []string{"ice/run 2.txt name+text", "ice/run 0.txt name+text"})
	same(t, names(client.SearchQuery{Text: "salt & pepper=?+%"}), nil)

	kinds := map[string]int{}
	for _, h := range collect(t, s.c.Search(t.Context(), client.SearchQuery{Limit: 2})) {
		kinds[h.Kind]++
		switch {
		case h.Kind == client.KindDataspace && h.Set == nil && h.Resource == nil:
			same(t, h.Dataspace.Name, "lab")
		case h.Kind == client.KindSet && h.Dataspace == nil && h.Resource == nil:
			same(t, *h.Set, collect(t, s.c.Sets.List(t.Context(), client.ListOptions{}))[0])
		case h.Kind == client.KindResource && h.Dataspace == nil && h.Set == nil:
			same(t, h.Resource.SetID, s.set.ID)
		default:
			t.Errorf("%+v", h)
		}
	}
	same(t, kinds, map[string]int{client.KindDataspace: 1, client.KindSet: 1, client.KindResource: 3})
}

// TestSearchCounts: only the first page has the number of hits on all pages.
func TestSearchCounts(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.upload(t, "a", nil)
	s.upload(t, "b", nil)
	s.indexed(t)
	at := s.c.Base() + "/search"
	var pages []client.SearchPage
	for page, err := range s.c.SearchPages(t.Context(), client.SearchQuery{Counts: true, Limit: 3}.At(at)) {
		check(t, err)
		pages = append(pages, page)
	}
	if len(pages) != 3 || pages[0].Total != 4 || pages[0].Counts == nil || pages[1].Counts != nil || pages[1].Total != 0 || !pages[2].End || pages[0].Behind != 0 {
		t.Fatalf("%+v", pages)
	}
	counts := *pages[0].Counts
	same(t, counts.Kinds, []client.SearchCount{{Value: "resource", Count: 2}, {Value: "dataspace", Count: 1}, {Value: "set", Count: 1}})
	same(t, counts.Dataspaces, []client.SearchCount{{Value: s.set.DataspaceID, Name: "lab", Count: 4}})
	same(t, counts.Years, []client.YearCount{{Value: s.set.Created.Year(), Count: 4}})
	again := must[client.Page[client.Hit]](t)(client.FetchPage[client.Hit](t.Context(), s.c, pages[0].Next))
	same(t, again, pages[1].Page)
	for page, err := range s.c.SearchPages(t.Context(), client.SearchQuery{Text: "nothing", Counts: true}.At(at)) {
		if check(t, err); !page.End || page.Counts != nil || page.Total != 0 {
			t.Errorf("%+v", page)
		}
	}
}

// TestSearchRefused: the error for an invalid query names the rule once.
func TestSearchRefused(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	n := 0
	for h, err := range s.c.Search(t.Context(), client.SearchQuery{Text: "size:big"}) {
		if n++; err == nil || h.Kind != "" || !strings.Contains(err.Error(), "400 invalid_parameter") {
			t.Errorf("%+v, %v", h, err)
		}
	}
	same(t, n, 1)
}

// TestHitJSON: a hit has the same JSON as in the HTTP API. A hit of an unknown kind is rejected.
func TestHitJSON(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	r := s.upload(t, "a", nil)
	must[client.Resource](t)(s.c.Resources.Edit(t.Context(), r.ID, client.ResourceEdit{Metadata: `{"tags":["raw"]}`}))
	s.indexed(t)
	for _, h := range collect(t, s.c.Search(t.Context(), client.SearchQuery{Metadata: true})) {
		if h.Resource != nil && h.Resource.Metadata != `{"tags":["raw"]}` {
			t.Errorf("%+v", h.Resource)
		}
		var again client.Hit
		check(t, json.Unmarshal(must[[]byte](t)(json.Marshal(h)), &again))
		same(t, again, h)
	}
	for _, text := range []string{`{"kind": "user", "matched": [], "record": {}}`, `{"kind": "set", "matched": []}`, `{"kind": "set", "record": null}`, `{}`, `[]`} {
		if err := json.Unmarshal([]byte(text), &client.Hit{}); err == nil {
			t.Errorf("%s is a hit", text)
		}
	}
}

// TestIndexIsRebuilt: a deleted index is rebuilt with its whole content.
func TestIndexIsRebuilt(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.upload(t, "a", nil)
	s.indexed(t)
	index := must[client.Index](t)
	before := index(s.c.Maintenance.Index(t.Context()))
	if before.State != client.IndexCurrent || before.Texts != client.IndexCurrent || before.Documents != 3 || before.Entries == 0 || before.Behind != 0 || before.Bytes == 0 {
		t.Errorf("before: %+v", before)
	}
	if rebuilt := index(s.c.Maintenance.RebuildIndex(t.Context())); rebuilt.Entries > before.Entries || rebuilt.Documents > before.Documents || rebuilt.Failure != "" {
		t.Errorf("rebuilt: %+v", rebuilt)
	}
	s.indexed(t)
	if after := index(s.c.Maintenance.Index(t.Context())); after.State != client.IndexCurrent || after.Documents != 3 || after.Entries != before.Entries {
		t.Errorf("after: %+v", after)
	}
	mary := must[client.User](t)(s.c.Users.Create(t.Context(), client.NewUser{Username: "mary"}))
	key := must[client.CreatedKey](t)(s.c.Keys.Create(t.Context(), mary.ID, client.NewKey{}))
	other := client.New(s.base, key.Secret)
	defer other.Close()
	for _, call := range []func() (client.Index, error){
		func() (client.Index, error) { return other.Maintenance.Index(t.Context()) },
		func() (client.Index, error) { return other.Maintenance.RebuildIndex(t.Context()) },
	} {
		if _, err := call(); err == nil || !strings.Contains(err.Error(), "403 forbidden") {
			t.Errorf("%v", err)
		}
	}
}

// searching makes the calls for the search and its index.
func searching(ctx context.Context, t *testing.T, c *client.Client) {
	for must[client.Index](t)(c.Maintenance.Index(ctx)).State != client.IndexCurrent {
		time.Sleep(time.Millisecond)
	}
	if hits := collect(t, c.Search(ctx, client.SearchQuery{Text: "lab", Order: "name", Limit: 1, Counts: true})); len(hits) == 0 {
		t.Error("the search finds nothing")
	}
	must[client.Index](t)(c.Maintenance.RebuildIndex(ctx))
}
