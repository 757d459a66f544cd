// Package links serves people who received a link: the pages and downloads of shares, the uploads
// of file requests, and invitations. These visitors need no account. Their pages work without a
// script; the page of a file request can use one to send many files.
package links

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/handlers/internal/authentication"
	"labshelf/handlers/internal/body"
	"labshelf/handlers/internal/download"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/hosts"
	"labshelf/handlers/internal/html"
	"labshelf/metadata"
	"labshelf/repository"
	"labshelf/repository/links"
)

const (
	passwordCookie = "labshelf_link" // proves that the password was entered; limited to the path of its link
	filesOfPage    = 200
	formType       = "application/x-www-form-urlencoded"
	maxPicture     = 4 << 20 // bytes of a picture that the page shows
)

// pageSecurity is the content security policy of the pages of links. Only the page of a file
// request has a script.
const pageSecurity = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// Config configures the handlers of links.
type Config struct {
	Repository     *repository.Service
	Hosts          *hosts.Hosts
	Authentication *authentication.Authenticator
	Downloads      *download.Sender
	Assets         html.Assets // linked by the pages
	// WithoutSlot calls fn, which waits in a separate queue. Other requests may use the slot of
	// this one in the meantime.
	WithoutSlot func(w http.ResponseWriter, fn func() error) error
}

// Links serves requests below the addresses of links. It is safe for concurrent use.
type Links struct {
	repo        *repository.Service
	hosts       *hosts.Hosts
	auth        *authentication.Authenticator
	downloads   *download.Sender
	assets      html.Assets
	withoutSlot func(http.ResponseWriter, func() error) error
}

// New returns the handlers of links.
func New(c Config) *Links {
	return &Links{repo: c.Repository, hosts: c.Hosts, auth: c.Authentication, downloads: c.Downloads, assets: c.Assets, withoutSlot: c.WithoutSlot}
}

// visitor is the sender of a request below the address of a link.
type visitor struct {
	links.Visitor
	guest *auth.Principal // the user of the request's key or session; nil: unknown
}

// visitorOf returns the sender of a request below the address of a link. The password may be in
// HTTP Basic, with any username.
func (l *Links) visitorOf(w http.ResponseWriter, r *exchange.Request) (visitor, error) {
	v := visitor{Visitor: links.Visitor{Token: r.Params.ByName("token")}}
	r.ByLink = true
	v.Origin = l.auth.Origin(w, r.Request)
	exchange.SetAll(w.Header(), "Cache-Control", exchange.CachedByNobody, "X-Robots-Tag", "noindex", "Vary", "Accept, Authorization, Cookie")
	if cookie, err := r.Cookie(passwordCookie); err == nil {
		v.Proof = cookie.Value
	}
	_, password, sent := r.BasicAuth()
	var err error
	v.guest, err = l.admitGuest(w, r, sent)
	if err == nil && sent {
		err = l.withoutSlot(w, func() (err error) {
			v.Proof, err = l.repo.Visitors.Admit(r.Context(), v.Visitor, password)
			return err
		})
	}
	return v, err
}

// visited serves a request of a visitor. On an error, a browser gets a page with the reason and, if
// needed, a password form. Other clients get a problem.
func (l *Links) visited(w http.ResponseWriter, r *exchange.Request, serve func(visitor) error) error {
	v, err := l.visitorOf(w, r)
	if err == nil {
		err = serve(v)
	}
	var known *errs.Error
	if !errors.As(err, &known) || !wantsPage(r.Request) {
		return err
	}
	exchange.RetryLater(w, err)
	page := problemPage{frame: l.frame("This link does not work")}
	page.Message = known.Message
	if known.Code == errs.CodeLinkPassword {
		page.Title, page.Address = "A password, please", l.hosts.Link(r.Request, v.Token)
		if known.Field == "" {
			page.Message = ""
		}
	}
	return l.write(w, exchange.Status(known.Kind), func(to io.Writer) error { return writeProblem(to, page) })
}

// wantsPage reports whether a client accepts HTML explicitly, as browsers do.
func wantsPage(r *http.Request) bool {
	return strings.Contains(strings.ToLower(strings.Join(r.Header.Values("Accept"), ",")), "text/html")
}

func (l *Links) frame(title string) frame {
	return frame{Base: l.hosts.Prefix(), Style: l.assets.Style, Icon: l.assets.Icon, Title: title}
}

func (l *Links) write(w http.ResponseWriter, status int, write func(io.Writer) error) error {
	return writeUnder(w, status, pageSecurity, write)
}

// writeUnder writes a page with the given content security policy.
func writeUnder(w http.ResponseWriter, status int, policy string, write func(io.Writer) error) error {
	var page bytes.Buffer
	if err := write(&page); err != nil {
		return err
	}
	w.Header().Set("Content-Security-Policy", policy)
	exchange.Write(w, status, "text/html; charset=utf-8", page.Bytes())
	return nil
}

// View shows a link.
func (l *Links) View(w http.ResponseWriter, r *exchange.Request) error {
	return l.visited(w, r, func(v visitor) error {
		visit, err := l.repo.Visitors.View(r.Context(), v.Visitor)
		if err != nil {
			return err
		}
		if visit.Kind == metadata.Invitation {
			return l.showInvitation(w, r, v, visit, nil)
		}
		if visit.Kind == metadata.RequestLink {
			return l.showRequest(w, r, v, visit, nil, nil)
		}
		from := ""
		if sent := r.URL.Query()["from"]; len(sent) > 0 {
			from = sent[0]
		}
		files, next, err := l.repo.Visitors.SharedFiles(r.Context(), v.Visitor, from, filesOfPage)
		if err != nil {
			return err
		}
		return l.showShare(w, r, v, visit, files, next)
	})
}

// enterPassword checks a password and sets a cookie that proves it, for this browser and this link.
func (l *Links) enterPassword(w http.ResponseWriter, r *exchange.Request, v visitor) error {
	if err := readForm(w, r); err != nil {
		return err
	}
	if v.guest != nil { // a key does not open a link, so a guess counts for any sender
		if err := l.auth.CountAnonymous(w.Header(), r.Request); err != nil {
			return err
		}
	}
	proof, err := l.repo.Visitors.Admit(r.Context(), v.Visitor, r.PostForm.Get("password"))
	if err != nil {
		return err
	}
	http.SetCookie(w, &http.Cookie{
		Name: passwordCookie, Value: proof, Path: l.hosts.Prefix() + hosts.LinkPath + v.Token, HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: l.hosts.OverTLS(r.Request),
	})
	w.Header().Set("Location", l.hosts.Link(r.Request, v.Token))
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// readForm reads the fields of a form without files.
func readForm(w http.ResponseWriter, r *exchange.Request) error {
	const most = 16 << 10
	r.Body = http.MaxBytesReader(w, r.Body, most)
	if err := r.ParseForm(); err != nil {
		return body.Error(err)
	}
	return nil
}
