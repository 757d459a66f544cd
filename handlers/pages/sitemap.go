package pages

import (
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"labshelf/auth/errs"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/hosts"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/core"
)

// mostInSitemap is the limit of the format for addresses in a file, and for files in an index.
const mostInSitemap = 50_000

// SitemapPath is the path of the parts of the sitemap.
const SitemapPath = "/sitemap/"

// sitemap is a file of addresses, or an index of such files.
type sitemap struct {
	XMLName   xml.Name
	Namespace string    `xml:"xmlns,attr"`
	Addresses []address `xml:"url"`
	Files     []address `xml:"sitemap"`
}

type address struct {
	Loc     string `xml:"loc"`
	Lastmod string `xml:"lastmod,omitempty"`
}

// Sitemap answers with the index: a part for each open dataspace.
func (p *Pages) Sitemap(w http.ResponseWriter, r *exchange.Request) error {
	if err := p.auth.CountAnonymous(w.Header(), r.Request); err != nil {
		return err
	}
	site := p.hosts.Site(r.Request)
	index := sitemap{XMLName: xml.Name{Local: "sitemapindex"}}
	err := p.repo.Dataspaces.OpenDataspaces(r.Context(), func(d metadata.Dataspace) bool {
		index.Files = append(index.Files, address{Loc: site + SitemapPath + d.ID.String() + ".xml"})
		return len(index.Files) < mostInSitemap
	})
	return p.sendSitemap(w, index, err)
}

// SitemapPart answers with the addresses of a dataspace and its sets. Their pages link the files. A
// full part omits further sets, which the page of the dataspace links.
func (p *Pages) SitemapPart(w http.ResponseWriter, r *exchange.Request) error {
	id, isPart := strings.CutSuffix(r.Params.ByName("name"), ".xml")
	if !isPart {
		return exchange.ErrNoSuchPath
	}
	if err := p.auth.CountAnonymous(w.Header(), r.Request); err != nil {
		return err
	}
	reader, err := p.repo.Credentials.AnonymousReader()
	if err != nil {
		return p.sendSitemap(w, sitemap{}, err)
	}
	d, err := p.repo.Dataspaces.Get(r.Context(), reader, id)
	if err == nil && d.State == metadata.Deleted {
		err = exchange.ErrNoSuchPath
	}
	if err != nil {
		return p.sendSitemap(w, sitemap{}, err)
	}
	at, part := p.addresses(r.Request), sitemap{XMLName: xml.Name{Local: "urlset"}}
	part.Addresses = []address{{at.Page("dataspaces", id), d.Modified.Time().UTC().Format(time.RFC3339)}}
	list := core.ListRequest{Container: id, Selection: paging.Selection{Limit: paging.MaxLimit}}
	for len(part.Addresses) < mostInSitemap {
		page, err := p.repo.Sets.List(r.Context(), reader, paging.DataspaceSets, list)
		if err != nil {
			return p.sendSitemap(w, sitemap{}, err)
		}
		for _, set := range page.Items {
			part.Addresses = append(part.Addresses, address{at.Page("sets", set.ID.String()), set.Modified.Time().UTC().Format(time.RFC3339)})
		}
		if len(page.Items) < paging.MaxLimit {
			break
		}
		list = core.ListRequest{Container: id, Token: page.Next}
	}
	part.Addresses = part.Addresses[:min(len(part.Addresses), mostInSitemap)]
	return p.sendSitemap(w, part, nil)
}

// sendSitemap sends a file of a sitemap. Dataspaces that are not open get 404.
func (p *Pages) sendSitemap(w http.ResponseWriter, file sitemap, err error) error {
	var refusal *errs.Error
	if errors.As(err, &refusal) && refusal.Kind == errs.Unauthenticated {
		return exchange.ErrNoSuchPath
	}
	if err != nil {
		return err
	}
	file.Namespace = "http://www.sitemaps.org/schemas/sitemap/0.9"
	text, err := xml.Marshal(file)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", exchange.CachedForAll)
	exchange.Write(w, http.StatusOK, "application/xml; charset=utf-8", append([]byte(xml.Header), text...))
	return nil
}

// Robots answers with robots.txt. Without anonymous reading it disallows everything. With it, it
// disallows only archives, which are generated on each request.
func (p *Pages) Robots(w http.ResponseWriter, r *exchange.Request) error {
	text := "User-agent: *\nDisallow: /\n"
	if p.repo.Credentials.Anonymous() {
		site := p.hosts.Site(r.Request)
		text = fmt.Sprintf("User-agent: *\nDisallow: %s%s/sets/*/archive\nSitemap: %s/sitemap.xml\n", p.hosts.Prefix(), hosts.Version, site)
	}
	exchange.Write(w, http.StatusOK, "text/plain; charset=utf-8", []byte(text))
	return nil
}
