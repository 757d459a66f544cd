package client

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"labshelf/handlers/wire"
)

// All selects active and deleted records, in ListOptions.
const All = "all"

// ListOptions selects the records of a listing. The zero value selects all active records. No
// listing takes every option: the service rejects the others with "invalid_parameter".
type ListOptions struct {
	State string // Active, Deleted or All; "": Active
	Limit int    // of a page, 1 to 1000; 0: default of the service

	Metadata bool // dataspaces, sets and resources have their Metadata

	// For resources. Order is "oldest" modification first, "newest" or, within one set, "name" or
	// "name-descending"; "" means oldest, or name if Name or NamePrefix is set. The orders by name
	// are for one set, and exclude Since and Until. Safe times are the Modified of received
	// records; to follow changes, keep the URL of the last page (see Pages).
	Since, Until     time.Time // both exclusive; zero: not bounded
	Order            string
	Folders          bool   // pages have Folders in addition to the resources directly below NamePrefix; see Sets.Children
	Name, NamePrefix string // Name also for sets and dataspaces, where it is unique

	// Filters of a listing: resources and sets of a dataspace, resources of a set, privileges of a
	// user or dataspace.
	DataspaceID, SetID, UserID string

	// For entries of the audit log, with UserID for the acting user: Action is one action, or all
	// actions of a noun, such as resource.*
	ObjectID, Action string

	// For dataspaces.
	Visibility string  // Private, Public or Open; "": all
	Origin     *string // exactly this origin; to "": without an origin; nil: any
}

// At returns the URL of the first page of a listing with these options. listing is its URL without
// options, such as the Resources of a Set, or Client.Base()+"/resources".
func (o ListOptions) At(listing string) string {
	q := url.Values{}
	for name, value := range map[string]string{
		"state": o.State, "order": o.Order, "name": o.Name, "namePrefix": o.NamePrefix, "visibility": o.Visibility,
		"dataspaceId": o.DataspaceID, "setId": o.SetID, "userId": o.UserID, "objectId": o.ObjectID, "action": o.Action, "since": instant(o.Since), "until": instant(o.Until),
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if o.Folders {
		q.Set("delimiter", "/")
	}
	if o.Limit != 0 {
		q.Set("limit", strconv.Itoa(o.Limit))
	}
	if o.Metadata {
		q.Set("fields", "metadata")
	}
	if o.Origin != nil {
		q.Set("origin", *o.Origin)
	}
	if len(q) == 0 {
		return listing
	}
	return listing + "?" + q.Encode()
}

func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// Listed are the types of listings.
type Listed interface {
	Dataspace | Set | Resource | Version | User | Key | Privilege | Link | AuditEntry | Hit
}

// Page is a page of a listing. Next is the URL of the following page; the last page has End set
// instead.
type Page[T Listed] struct {
	URL  string // of this page, as requested
	Next string // "" at the end
	Data []T    // without ETag; empty at the end
	End  bool

	Folders []Folder // with ListOptions.Folders
}

// FetchPage fetches one page of a listing of T. Its URL is a Next, a kept URL of a page, or the
// beginning of a listing (see ListOptions.At). Only the path below …/v1 counts: the page is always
// requested from the client's own service, which may have moved, so that the key is not sent
// elsewhere.
func FetchPage[T Listed](ctx context.Context, c *Client, pageURL string) (Page[T], error) {
	answer, err := fetch[T](ctx, c.caller, pageURL)
	return answer.page(pageURL), err
}

// pageAnswer is the response to the request for a page.
type pageAnswer[T Listed] struct {
	wire.Page[T]
	wire.SearchSums
}

// page returns the page at a URL; for an error response it contains only the URL.
func (a *pageAnswer[T]) page(url string) Page[T] {
	return Page[T]{URL: url, Next: a.NextPage, Data: a.Data, End: a.End, Folders: a.Folders}
}

// fetch requests a page. With an error the response is empty.
func fetch[T Listed](ctx context.Context, c *caller, pageURL string) (answer pageAnswer[T], err error) {
	path, err := c.below(pageURL)
	if err != nil {
		return answer, err
	}
	err = c.run(ctx, request{method: http.MethodGet, path: path}.with("Accept-Encoding", "gzip"), func(response *http.Response) error {
		if err := read(response, &answer); err != nil {
			return err
		}
		if answer.End == (answer.NextPage != "") || answer.NextPage == pageURL {
			return &Problem{Status: response.StatusCode}
		}
		return nil
	})
	if err != nil {
		return pageAnswer[T]{}, err
	}
	return answer, nil
}

// below returns the part of a page's URL after its base URL.
func (c *caller) below(pageURL string) (string, error) {
	path, ours := strings.CutPrefix(pageURL, c.base+"/")
	if !ours {
		const version = "/v1/" // end of every base URL
		whole, query, _ := strings.Cut(pageURL, "?")
		i := strings.LastIndex(whole, version)
		if i < 0 {
			return "", fmt.Errorf("%q is not the URL of a page: use the URLs from the service unchanged", pageURL)
		}
		path = whole[i+len(version):]
		if query != "" {
			path += "?" + query
		}
	}
	return "/" + path, nil
}

// Pages fetches the pages of a listing of T one after the other, beginning with pageURL (see
// FetchPage). The last page has End set. A harvester stores the URL of that page and continues from
// it later. In a listing of resources by modification it then gets exactly the resources that were
// created, changed, deleted or restored since; in other listings the created objects. Use State All
// to see deletions. Pages yields an error with the URL of the page that failed, and ends. The
// caller may begin again with that URL.
func Pages[T Listed](ctx context.Context, c *Client, pageURL string) iter.Seq2[Page[T], error] {
	return pages[T](ctx, c.caller, pageURL)
}

func pages[T Listed](ctx context.Context, c *caller, pageURL string) iter.Seq2[Page[T], error] {
	return func(yield func(Page[T], error) bool) {
		for next := pageURL; ; {
			answer, err := fetch[T](ctx, c, next)
			page := answer.page(next)
			if !yield(page, err) || err != nil || page.End {
				return
			}
			next = page.Next
		}
	}
}

// Outline returns the outline of Resources with the same options, or, with Folders, of its pages.
func (s Sets) Outline(ctx context.Context, setID string, o ListOptions) (outline Outline, err error) {
	path := at("sets", setID, "resources", "outline")
	if path == "" {
		return outline, errNoID
	}
	err = s.c.run(ctx, request{method: http.MethodGet, path: o.At(path)}, func(response *http.Response) error { return read(response, &outline) })
	return outline, err
}

// list yields the items of all pages of a listing. It yields an error with a zero T, and ends.
func list[T Listed](ctx context.Context, c *caller, o ListOptions, elements ...string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		path := at(elements...)
		if path == "" {
			yield(*new(T), errNoID)
			return
		}
		for page, err := range pages[T](ctx, c, o.At(c.base+path)) {
			if err != nil {
				yield(*new(T), err)
				return
			}
			for _, item := range page.Data {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}
