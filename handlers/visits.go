package handlers

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/handlers/internal/body"
	"labshelf/handlers/internal/download"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/visits"
	"labshelf/handlers/wire"
	"labshelf/metadata"
	"labshelf/repository/links"
)

// visitPath is what the address of every link begins with. What follows is a secret: logs do not
// have it.
const visitPath = "/s/"

const (
	visitCookie = "labshelf_link" // the proof of a password, below the address of its link alone
	visitPage   = 200             // files of a page
	formType    = "application/x-www-form-urlencoded"
	pictureMost = 4 << 20 // bytes of a picture that is shown in the page
)

// visitsSecurity is the policy of the pages of links: they have no script, but for that of a
// request.
const visitsSecurity = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// visitRoutes serves people who have been sent a link.
type visitRoutes struct{ *api }

// routesOfVisits are those of people who have been sent a link.
func (a visitRoutes) routesOfVisits() []route {
	return []route{
		{"GET", ":token", everybody, a.getVisit, plain, page},
		{"POST", ":token", everybody, a.postVisit, plain, blob},
		{"PUT", ":token/*name", everybody, a.putDrop, plain, blob},
		{"GET", ":token/archive", everybody, a.getSharedArchive, plain, stream},
		{"GET", ":token/files/:id", everybody, a.getShared, plain, blob},
	}
}

// visitor is the sender of a request below the address of a link.
type visitor struct {
	links.Visitor
	guest *auth.Principal // the user with whose key or session it comes; nil: an unknown sender
}

// visitAddress is where visitors find a link.
func (a visitRoutes) visitAddress(r *exchange.Request, token string) string {
	return a.hosts.Site(r.Request) + visitPath + token
}

// visitorOf returns the sender of a request below the address of a link. A password may come as
// that of HTTP Basic, with any username.
func (a visitRoutes) visitorOf(w http.ResponseWriter, r *exchange.Request) (visitor, error) {
	v := visitor{Visitor: links.Visitor{Token: r.Params.ByName("token")}}
	r.ByLink = true
	if client := a.hosts.Client(r.Request); client.IsValid() {
		v.Address = client.String()
	}
	v.Origin.Request = a.auth.Origin(w, r.Request).Request
	exchange.SetAll(w.Header(), "Cache-Control", exchange.CachedByNobody, "X-Robots-Tag", "noindex", "Vary", "Accept, Authorization, Cookie")
	if cookie, err := r.Cookie(visitCookie); err == nil {
		v.Proof = cookie.Value
	}
	_, password, sent := r.BasicAuth()
	var err error
	v.guest, err = a.admitGuest(w, r, sent)
	if err == nil && sent {
		err = withoutSlot(w, func() (err error) {
			v.Proof, err = a.repo.Visitors.AdmitVisitor(r.Context(), v.Visitor, password)
			return err
		})
	}
	return v, err
}

// visited serves a request of a visitor. People get a page that says what went wrong, and is where
// a password is entered; programs a problem.
func (a visitRoutes) visited(w http.ResponseWriter, r *exchange.Request, serve func(visitor) error) error {
	v, err := a.visitorOf(w, r)
	if err == nil {
		err = serve(v)
	}
	var known *errs.Error
	if !errors.As(err, &known) || !wantsPage(r.Request) {
		return err
	}
	exchange.RetryLater(w, err)
	page := visits.Problem{Frame: a.visitFrame("This link does not open")}
	page.Message = known.Message
	if known.Code == errs.CodeLinkPassword {
		page.Title, page.Address = "A password, please", a.visitAddress(r, v.Token)
		if known.Field == "" {
			page.Message = ""
		}
	}
	return a.writeVisit(w, exchange.Status(known.Kind), func(to io.Writer) error { return visits.WriteProblem(to, page) })
}

// wantsPage tells whether a client names HTML among what it accepts, as browsers do.
func wantsPage(r *http.Request) bool {
	return strings.Contains(strings.ToLower(strings.Join(r.Header.Values("Accept"), ",")), "text/html")
}

func (a visitRoutes) visitFrame(title string) visits.Frame {
	return visits.Frame{Base: a.hosts.Prefix(), Style: a.linked.Style, Icon: a.linked.Icon, Title: title}
}

func (a visitRoutes) writeVisit(w http.ResponseWriter, status int, write func(io.Writer) error) error {
	return writeVisitUnder(w, status, visitsSecurity, write)
}

// writeVisitUnder is writeVisit under another policy.
func writeVisitUnder(w http.ResponseWriter, status int, policy string, write func(io.Writer) error) error {
	var page bytes.Buffer
	if err := write(&page); err != nil {
		return err
	}
	w.Header().Set("Content-Security-Policy", policy)
	exchange.Write(w, status, "text/html; charset=utf-8", page.Bytes())
	return nil
}

// getVisit shows a link.
func (a visitRoutes) getVisit(w http.ResponseWriter, r *exchange.Request) error {
	return a.visited(w, r, func(v visitor) error {
		visit, err := a.repo.Visitors.ViewLink(r.Context(), v.Visitor)
		if err != nil {
			return err
		}
		if visit.Kind == metadata.Invitation {
			return a.showInvitation(w, r, v, visit, nil)
		}
		if visit.Kind == metadata.RequestLink {
			return a.showRequest(w, r, v, visit, nil, nil)
		}
		from := ""
		if sent := r.URL.Query()["from"]; len(sent) > 0 {
			from = sent[0]
		}
		files, next, err := a.repo.Visitors.SharedFiles(r.Context(), v.Visitor, from, visitPage)
		if err != nil {
			return err
		}
		return a.showShare(w, r, v, visit, files, next)
	})
}

// showShare answers with the files of a share.
func (a visitRoutes) showShare(w http.ResponseWriter, r *exchange.Request, v visitor, visit links.LinkView, files []metadata.Resource, next string) error {
	address := a.visitAddress(r, v.Token)
	if next != "" {
		next = address + "?from=" + next
	}
	title := cmp.Or(visit.Label, visit.Title)
	if !wantsPage(r.Request) {
		shown := wire.SharedLink{
			Kind: visit.Kind.String(), Label: visit.Label, From: visit.Owner, Title: title, Description: visit.Description,
			Expires: expiresText(visit.Expires, time.RFC3339), Archive: address + "/archive", NextPage: next,
		}
		for _, f := range files {
			shown.Files = append(shown.Files, wire.SharedFile{
				Name: shownName(visit, f), URL: address + "/files/" + f.ID.String(), Bytes: f.Bytes, Mimetype: f.MimeType, SHA256: f.Digest,
				Modified: f.Modified.Time().UTC().Format(time.RFC3339),
			})
		}
		exchange.WriteJSON(w, http.StatusOK, shown)
		return nil
	}
	page := visits.Share{
		Frame: a.visitFrame(title), From: visit.Owner, Description: visit.Description, Expires: expiresText(visit.Expires, time.DateOnly), Next: next, All: address + "/archive",
	}
	for _, f := range files {
		media := download.LikelyType(f)
		shows := download.InlineType(media)
		page.Files = append(page.Files, visits.File{
			Name: shownName(visit, f), URL: address + "/files/" + f.ID.String(), Bytes: f.Bytes, Open: shows,
			Picture: shows && strings.HasPrefix(media, "image/") && f.Bytes <= pictureMost && visit.MaxUses == 0,
		})
	}
	return a.writeVisit(w, http.StatusOK, func(to io.Writer) error { return visits.WriteShare(to, page) })
}

// shownName is what a file is called in its share: the name below the folder.
func shownName(visit links.LinkView, f metadata.Resource) string {
	return strings.TrimPrefix(f.Name, visit.Folder)
}

func expiresText(at metadata.Stamp, layout string) string {
	if at == 0 {
		return ""
	}
	return at.Time().UTC().Format(layout)
}

// getShared sends a file of a share.
func (a visitRoutes) getShared(w http.ResponseWriter, r *exchange.Request) error {
	return a.visited(w, r, func(v visitor) error {
		fetch := fetchOf(r)
		resource, file, err := a.repo.Visitors.OpenShared(r.Context(), v.Visitor, r.ID(), fetch)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }() // only read from
		if err := download.SetType(w.Header(), resource, file, slices.Equal(r.URL.Query()["disposition"], []string{"inline"})); err != nil {
			return err
		}
		sent := download.ContentOf(resource, file)
		sent.Still = func() error { return a.repo.Visitors.MayStillReadShare(r.Context(), v.Visitor) }
		return a.downloads.Send(w, r, sent)
	})
}

// onePart matches a Range of one part that does not count from the end.
var onePart = regexp.MustCompile(`^bytes=0*([0-9]+)-([0-9]*)$`)

// fetchOf tells how much of a file of so many bytes a visitor asks for: one that has its beginning
// is as good as the whole, and of a part that the file does not have nothing is sent. Conditions
// are left out: a download that is counted is one.
func fetchOf(r *exchange.Request) func(bytes int64) links.Fetch {
	r.Header = r.Header.Clone()
	for _, name := range []string{"If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"} {
		r.Header.Del(name)
	}
	return func(bytes int64) links.Fetch {
		sent := r.Header.Values("Range")
		if r.Method == http.MethodHead {
			return links.FetchHead
		}
		if len(sent) != 1 || bytes == 0 { // of an empty file a Range is passed over
			return links.FetchWhole
		}
		part := onePart.FindStringSubmatch(sent[0])
		if part == nil {
			return links.FetchWhole
		}
		first, err := strconv.ParseInt(part[1], 10, 64)
		last, failed := strconv.ParseInt(cmp.Or(part[2], part[1]), 10, 64)
		none := err != nil || failed != nil || first >= bytes || last < first
		switch {
		case none && r.Header.Get("If-Range") == "": // which may have the whole file sent
			return links.FetchHead
		case first == 0 && !none:
			return links.FetchWhole
		}
		return links.FetchPart
	}
}

func (a visitRoutes) getSharedArchive(w http.ResponseWriter, r *exchange.Request) error {
	return a.visited(w, r, func(v visitor) error {
		if r.Method == http.MethodHead {
			_, _, err := a.repo.Visitors.SharedFiles(r.Context(), v.Visitor, "", 1)
			return exchange.WriteNothing(w, "", err)
		}
		files, err := a.repo.Visitors.OpenSharedArchive(r.Context(), v.Visitor)
		if err != nil {
			return err
		}
		return a.downloads.SendArchive(w, r, files)
	})
}

// postVisit takes what the form of a page sends: a password, files, or that an invitation is
// accepted.
func (a visitRoutes) postVisit(w http.ResponseWriter, r *exchange.Request) error {
	return a.visited(w, r, func(v visitor) error {
		visit, err := a.repo.Visitors.ViewLink(r.Context(), v.Visitor)
		switch {
		case err == nil && visit.Kind == metadata.Invitation:
			return a.acceptInvitation(w, r, v, visit)
		case strings.HasPrefix(r.Header.Get("Content-Type"), formType):
			return a.enterPassword(w, r, v)
		case err != nil:
			return err
		}
		var received []string
		err = body.Files(r.Request, func(name, contentType string, file io.Reader) error {
			dropped, err := a.repo.Visitors.ReceiveFile(r.Context(), v.Visitor, links.SentFile{Name: name, ContentType: contentType, Length: -1, Field: "file"}, file)
			if err == nil {
				received = append(received, lastElement(dropped.Name))
				visit.Use.Bytes += dropped.Bytes
			}
			return err
		})
		var known *errs.Error
		if err != nil && (received == nil || !errors.As(err, &known)) {
			return err
		}
		return a.showRequest(w, r, v, visit, received, known)
	})
}

func lastElement(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// enterPassword answers a password with a cookie that proves it, for this browser and this link.
func (a visitRoutes) enterPassword(w http.ResponseWriter, r *exchange.Request, v visitor) error {
	if err := readForm(w, r); err != nil {
		return err
	}
	if v.guest != nil { // a key opens no link: a guess is one, whoever sends it
		if err := a.auth.CountAnonymous(w.Header(), r.Request); err != nil {
			return err
		}
	}
	proof, err := a.repo.Visitors.AdmitVisitor(r.Context(), v.Visitor, r.PostForm.Get("password"))
	if err != nil {
		return err
	}
	http.SetCookie(w, &http.Cookie{
		Name: visitCookie, Value: proof, Path: a.hosts.Prefix() + visitPath + v.Token, HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: a.hosts.OverTLS(r.Request),
	})
	w.Header().Set("Location", a.visitAddress(r, v.Token))
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

// showRequest answers with the form of a request, what has just come, and why no more of it has;
// nil: all has.
func (a visitRoutes) showRequest(w http.ResponseWriter, r *exchange.Request, v visitor, visit links.LinkView, received []string, refusal *errs.Error) error {
	title, limits := cmp.Or(visit.Label, "Send files"), limitsOf(visit)
	if !wantsPage(r.Request) {
		if refusal != nil {
			return refusal
		}
		exchange.WriteJSON(w, http.StatusOK, wire.SharedLink{
			Kind: visit.Kind.String(), Label: visit.Label, From: visit.Owner, Expires: expiresText(visit.Expires, time.RFC3339), Limits: limits,
		})
		return nil
	}
	page := visits.Request{
		Frame: a.visitFrame(title), From: visit.Owner, Expires: expiresText(visit.Expires, time.DateOnly), Limits: limits, Received: received, Address: a.visitAddress(r, v.Token),
	}
	status := http.StatusOK
	if refusal != nil {
		page.Message, status = refusal.Message, exchange.Status(refusal.Kind)
	}
	page.Script, page.Preload = a.linked.Drop, a.linked.DropPreload
	return writeVisitUnder(w, status, dropsSecurity, func(to io.Writer) error { return visits.WriteRequest(to, page) })
}
