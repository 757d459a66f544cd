// Package pages is the room of the gateway for browsers and search engines: the shell of the pages
// and its assets, pages without a script of what is open, the manual, and the sitemap.
//
// The pages are one HTML document, the shell, under every address that is not of the interface and
// not named like a file; the script makes the page by the address. The shell has the base path in
// data-base and links /assets, whose names hold the hash of their content and may be cached for
// ever. It asks for no key; the script uses the interface like any other client. Its policy allows
// scripts of the service and no others. Browsers send cookies whichever page made a request, so
// what is not only read is refused unless it comes from the service's origin
// (http.CrossOriginProtection).
package pages

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"strings"

	"labshelf/handlers/internal/authentication"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/hosts"
	"labshelf/handlers/internal/html"
	"labshelf/repository"
)

// Config is what pages need of the gateway.
type Config struct {
	Repository     *repository.Service
	Hosts          *hosts.Hosts
	Authentication *authentication.Authenticator
	Files          fs.FS // manifest.json and assets
	Assets         html.Assets
}

// Pages serves pages. It is safe for concurrent use.
type Pages struct {
	repo   *repository.Service
	hosts  *hosts.Hosts
	auth   *authentication.Authenticator
	files  fs.FS
	assets html.Assets
}

// New returns the room.
func New(c Config) *Pages {
	return &Pages{repo: c.Repository, hosts: c.Hosts, auth: c.Authentication, files: c.Files, assets: c.Assets}
}

// AssetsPath is the path of everything that the shell of the pages links.
const AssetsPath = "/assets/"

// pagesSecurity restricts the pages to what the service itself sends: a script injected into a
// name, a description or a file does not run, and has no network. Frames and images may show what
// the pages have fetched.
const pagesSecurity = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob:; " +
	"media-src 'self'; frame-src 'self' blob:; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// ReadAssets returns what the shell is to link. The files are part of the program, so that a
// fault in them is one in it.
func ReadAssets(files fs.FS) (l html.Assets) {
	text, err := fs.ReadFile(files, "manifest.json")
	if err == nil {
		err = json.Unmarshal(text, &l)
	}
	if err != nil {
		panic(fmt.Sprintf("pages: the manifest of the pages: %v", err))
	}
	return l
}

// Show answers with the shell, and in it the page of what is open at a path.
func (p *Pages) Show(w http.ResponseWriter, r *exchange.Request, at string) error {
	about := html.Document{
		Assets: p.assets, Base: p.hosts.Prefix(), Anonymous: p.repo.Credentials.Anonymous(), AdminsInvite: p.repo.Links.AdminsInvite(), LinkDays: int(p.repo.Links.LinkAge().Hours() / 24),
	}
	status := http.StatusOK
	header := w.Header()
	header.Set("Cache-Control", "no-cache")
	if about.Page = p.manualPage(at); about.Page == nil && about.Anonymous {
		var err error
		if about.Page, status, err = p.openPage(w, r, at); err != nil {
			return err
		}
	}
	if id, ok := strings.CutPrefix(at, "/resources/"); ok && !strings.Contains(id, "/") && about.Page == nil {
		about.ID, about.URL = id, p.hosts.Base(r.Request)+"/resources/"+id
	}
	page, err := about.Write()
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(page))
	header.Set("Content-Security-Policy", pagesSecurity)
	header.Set("Referrer-Policy", "same-origin")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	if status != http.StatusOK || !exchange.NotModified(w, r, hex.EncodeToString(sum[:16])) {
		exchange.Write(w, status, "text/html; charset=utf-8", []byte(page))
	}
	return nil
}
