// Package pages serves browsers and search engines: the shell of the pages and its assets, pages of
// open objects without a script, the manual and the sitemap.
//
// The pages are one HTML document, the shell. Every address that is neither part of the API nor a
// file name gets the shell, and the script renders the page of that address. The shell has the base
// path in data-base. It links assets whose names contain the hash of their content, so that clients
// may cache them forever. The shell requires no key; the script uses the API like any other client.
// The content security policy allows only scripts of the service. Browsers send cookies with
// requests from any page, so requests that are not read-only must come from the service's origin
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

// Config configures the handlers of pages.
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

// New returns the handlers of pages.
func New(c Config) *Pages {
	return &Pages{repo: c.Repository, hosts: c.Hosts, auth: c.Authentication, files: c.Files, assets: c.Assets}
}

// AssetsPath is the path of all assets of the shell.
const AssetsPath = "/assets/"

// pagesSecurity is the content security policy of the pages. It allows only content of the service.
// A script injected into a name, a description or a file does not run and has no network access.
// Frames and images may show data that the pages have fetched.
const pagesSecurity = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob:; " +
	"media-src 'self'; frame-src 'self' blob:; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// ReadAssets returns the assets that the shell links. The files are part of the program, so
// ReadAssets panics if they are invalid.
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

// Show answers with the shell. If the path is an open object, the shell contains its page.
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
