package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"labshelf/handlers/wire"
)

// SearchQuery is the query of a search. The zero value finds all active objects that the caller may
// read.
type SearchQuery struct {
	Text   string // in the language of the search, up to 500 bytes
	Order  string // "relevance", "newest" or "oldest" modification first, or "name"; "": relevance
	Limit  int    // of a page, 1 to 1000; 0: default of the service
	Counts bool   // the first page has the number of hits

	Metadata bool // records have their Metadata
}

// At returns the URL of the first page of a search, whose URL is Client.Base()+"/search".
func (q SearchQuery) At(search string) string {
	v := url.Values{}
	for name, value := range map[string]string{"q": q.Text, "order": q.Order} {
		if value != "" {
			v.Set(name, value)
		}
	}
	if q.Limit != 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	if q.Counts {
		v.Set("counts", "true")
	}
	if q.Metadata {
		v.Set("fields", "metadata")
	}
	if len(v) == 0 {
		return search
	}
	return search + "?" + v.Encode()
}

// Hit is an object that a search has found, in its current state. One of its records is not nil;
// records have no ETag.
type Hit struct {
	Kind      string   // KindDataspace, KindSet or KindResource
	Matched   []string // parts that contain words of the query, such as name or text; empty for a query without words
	Dataspace *Dataspace
	Set       *Set
	Resource  *Resource
}

// MarshalJSON writes the hit as the API does.
func (h Hit) MarshalJSON() ([]byte, error) {
	records := map[string]any{KindDataspace: h.Dataspace, KindSet: h.Set, KindResource: h.Resource}
	return json.Marshal(wire.Hit[any]{Kind: h.Kind, Matched: h.Matched, Record: records[h.Kind]})
}

// UnmarshalJSON reads a hit of the API.
func (h *Hit) UnmarshalJSON(text []byte) error {
	var w wire.Hit[json.RawMessage]
	if err := json.Unmarshal(text, &w); err != nil {
		return err
	}
	*h = Hit{Kind: w.Kind, Matched: w.Matched}
	into := map[string]any{KindDataspace: &h.Dataspace, KindSet: &h.Set, KindResource: &h.Resource}[w.Kind]
	if into == nil || len(w.Record) == 0 || string(w.Record) == "null" {
		return fmt.Errorf("a hit of the kind %q is unknown or has no record", w.Kind)
	}
	return json.Unmarshal(w.Record, into)
}

// SearchPage is a page of a search.
type SearchPage struct {
	Page[Hit]
	Total  int           // hits on all pages together if the query has Counts set; on the first page only
	Counts *SearchCounts // nil: not requested, no hits, or not the first page
	Behind uint64        // changes that a search does not find yet
}

// Search yields the active objects that match and that the caller may read. SearchPages also yields
// counts, and how far the search index is behind.
func (c *Client) Search(ctx context.Context, q SearchQuery) iter.Seq2[Hit, error] {
	return func(yield func(Hit, error) bool) {
		for page, err := range c.SearchPages(ctx, q.At(c.base+at("search"))) {
			if err != nil {
				yield(Hit{}, err)
				return
			}
			for _, hit := range page.Data {
				if !yield(hit, nil) {
					return
				}
			}
		}
	}
}

// SearchPages fetches the pages of a search one after the other, beginning with pageURL (see
// FetchPage and SearchQuery.At). The last page has End set. Sorted by relevance, it can miss
// objects that are created while the pages are read: to follow changes, list resources. It yields
// an error with the URL of the page that failed, and ends. The caller may begin again with that
// URL.
func (c *Client) SearchPages(ctx context.Context, pageURL string) iter.Seq2[SearchPage, error] {
	return func(yield func(SearchPage, error) bool) {
		for next := pageURL; ; {
			answer, err := fetch[Hit](ctx, c.caller, next)
			total := 0
			if answer.Total != nil {
				total = *answer.Total
			}
			page := SearchPage{Page: answer.page(next), Total: total, Counts: answer.Counts, Behind: answer.Behind}
			if !yield(page, err) || err != nil || page.End {
				return
			}
			next = page.Next
		}
	}
}

// Maintenance are the calls about backups, checks, purges and the search index.
type Maintenance struct{ c *caller }

// Index returns the state of the search index. It is for sysadmins.
func (s Maintenance) Index(ctx context.Context) (Index, error) {
	return s.index(ctx, request{method: http.MethodGet, path: at("admin", "index")})
}

// RebuildIndex deletes the search index. The service rebuilds it in the background; meanwhile
// searches find less. It is for sysadmins.
func (s Maintenance) RebuildIndex(ctx context.Context) (Index, error) {
	return s.index(ctx, request{method: http.MethodPost, path: at("admin", "index", "rebuild")})
}

func (s Maintenance) index(ctx context.Context, r request) (x Index, err error) {
	err = s.c.run(ctx, r, func(response *http.Response) error {
		err := read(response, &x)
		if err == nil && x.State == "" {
			err = &Problem{Status: response.StatusCode}
		}
		return err
	})
	return x, err
}
