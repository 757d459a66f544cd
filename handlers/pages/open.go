package pages

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"labshelf/auth/errs"
	"labshelf/handlers/internal/authentication"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/hosts"
	"labshelf/handlers/internal/html"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/core"
)

// openPage returns the page of the open object at an address, and the status: 410 for a deleted
// object. It returns no page for objects that are not open or do not exist, for other addresses,
// and for clients with credentials, whose pages the script renders.
func (p *Pages) openPage(w http.ResponseWriter, r *exchange.Request, at string) (*html.Page, int, error) {
	kind, id, _ := strings.Cut(strings.TrimPrefix(at, "/"), "/")
	read := map[string]func(*exchange.Request, string, html.Addresses) (html.Object, *html.Page, error){
		"dataspaces": p.openDataspace, "sets": p.openSet, "resources": p.openResource,
	}[kind]
	header := w.Header()
	header.Add("Vary", "Cookie") // Authorization is in Vary already
	if authentication.HasCredentials(r.Request) {
		header.Set("Cache-Control", exchange.CachedForOne)
		return nil, http.StatusOK, nil
	}
	isHome := kind == "" && id == ""
	if !isHome && (read == nil || id == "" || strings.Contains(id, "/")) {
		return nil, http.StatusOK, nil
	}
	header.Set("Cache-Control", exchange.CachedForAll)
	if err := p.auth.CountAnonymous(header, r.Request); err != nil {
		return nil, 0, err
	}
	if isHome {
		page, err := p.openHome(r, p.addresses(r.Request))
		return page, http.StatusOK, err
	}
	reader, err := p.repo.Credentials.AnonymousReader()
	if err != nil {
		return nil, 0, err
	}
	r.Caller = reader
	addresses := p.addresses(r.Request)
	object, page, err := read(r, id, addresses)
	var refusal *errs.Error
	switch {
	case errors.As(err, &refusal) && refusal.Kind == errs.Unauthenticated:
		return nil, http.StatusOK, nil
	case err != nil:
		return nil, 0, err
	case slices.ContainsFunc(append(object.Above, object), func(o html.Object) bool { return o.State == metadata.Deleted }):
		return object.Deleted(addresses), http.StatusGone, nil
	}
	return page, http.StatusOK, nil
}

// addresses returns the addresses of pages and of the API, as the client reached them.
func (p *Pages) addresses(r *http.Request) html.Addresses {
	base := p.hosts.Base(r)
	site := strings.TrimSuffix(base, hosts.Version)
	return html.Addresses{
		Page:    func(kind, id string) string { return site + "/" + kind + "/" + id },
		Record:  func(kind, id string) string { return base + "/" + kind + "/" + id },
		File:    func(id string) string { return base + "/resources/" + id + "/data" },
		Archive: func(id string) string { return base + "/sets/" + id + "/archive" },
	}
}

// rowsOfPage is the number of objects on a page without a script.
const rowsOfPage = 100

// listed returns the request for the page of a listing that the address names, or for the first
// page with these parameters.
func listed(r *exchange.Request, of paging.Listing, id string, params url.Values) core.ListRequest {
	request := core.ListRequest{Container: id, Token: r.Query.Get("page")}
	if request.Token == "" {
		request.IDs, request.Selection, request.Malformed = paging.Parse(of, params)
		request.Limit = rowsOfPage
	}
	return request
}

// otherPages returns links to the first and the next page of a list, as far as they exist.
func otherPages(r *exchange.Request, address string, ends core.PageEnds, items int) (links []html.Link) {
	if r.Query.Get("page") != "" {
		links = append(links, html.Link{Text: "First page", URL: address})
	}
	if items == rowsOfPage {
		join := "?"
		if strings.Contains(address, join) {
			join = "&"
		}
		links = append(links, html.Link{Text: "Next page", URL: address + join + "page=" + ends.Next})
	}
	return links
}

// mostOnHome limits the dataspaces on the home page. The sitemap lists all of them.
const mostOnHome = 1000

// openHome returns a page that lists the open dataspaces by title, or no page if no dataspace is
// open.
func (p *Pages) openHome(r *exchange.Request, at html.Addresses) (*html.Page, error) {
	page := &html.Page{Title: "Open data", Canonical: p.hosts.Site(r.Request) + "/"}
	err := p.repo.Dataspaces.OpenDataspaces(r.Context(), func(d metadata.Dataspace) bool {
		link := html.Link{Text: cmp.Or(d.Title, d.Name), URL: at.Page("dataspaces", d.ID.String())}
		page.Rows = append(page.Rows, html.Row{Link: link, Note: d.Name, Changed: d.Modified.Time()})
		return len(page.Rows) < mostOnHome
	})
	if err != nil || len(page.Rows) == 0 {
		return nil, err
	}
	slices.SortStableFunc(page.Rows, func(x, y html.Row) int { return strings.Compare(x.Text, y.Text) })
	return page, nil
}

func (p *Pages) openDataspace(r *exchange.Request, id string, at html.Addresses) (object html.Object, page *html.Page, err error) {
	d, err := p.repo.Dataspaces.Get(r.Context(), r.Caller, id)
	if err == nil {
		object, err = html.OfDataspace(d)
	}
	if err != nil {
		return object, nil, err
	}
	sets, err := p.repo.Sets.List(r.Context(), r.Caller, paging.DataspaceSets, listed(r, paging.DataspaceSets, id, nil))
	if err != nil {
		return object, nil, err
	}
	page = object.Page(at)
	page.Dataset, page.Heading = object.Dataset(at), "Data sets"
	for _, set := range sets.Items {
		page.Rows = append(page.Rows, html.Row{
			Link: html.Link{Text: cmp.Or(set.Title, set.Name), URL: at.Page("sets", set.ID.String())}, Note: set.Name, Changed: set.Modified.Time(),
		})
	}
	page.More = otherPages(r, at.Page("dataspaces", id), sets.PageEnds, len(sets.Items))
	return object, page, nil
}

// readSet reads a set with its dataspace.
func (p *Pages) readSet(r *exchange.Request, id string) (object html.Object, err error) {
	set, err := p.repo.Sets.Get(r.Context(), r.Caller, id)
	if err != nil {
		return object, err
	}
	d, err := p.repo.Dataspaces.Get(r.Context(), r.Caller, set.DataspaceID.String())
	if err != nil {
		return object, err
	}
	above, err := html.OfDataspace(d)
	if err != nil {
		return object, err
	}
	return html.OfSet(set, above)
}

// kept returns a copy of a borrowed resource that owns its strings.
func kept(borrowed metadata.Resource) metadata.Resource {
	for _, text := range []*string{&borrowed.Name, &borrowed.Description, &borrowed.Format, &borrowed.MimeType, &borrowed.Filename, &borrowed.Label} {
		*text = strings.Clone(*text)
	}
	return borrowed
}

func (p *Pages) openResource(r *exchange.Request, id string, at html.Addresses) (object html.Object, page *html.Page, err error) {
	resource, err := p.repo.Files.Get(r.Context(), r.Caller, id)
	if err != nil {
		return object, nil, err
	}
	set, err := p.readSet(r, resource.SetID.String())
	if err == nil {
		object, err = html.OfResource(resource, set)
	}
	if err != nil {
		return object, nil, err
	}
	page = object.Page(at)
	page.Dataset, page.Downloads = object.Dataset(at), []html.Link{{Text: "Download " + html.Size(resource.Bytes), URL: at.File(id)}}
	return object, page, nil
}
