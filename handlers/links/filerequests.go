package links

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"labshelf/auth/errs"
	"labshelf/handlers/internal/body"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/hosts"
	"labshelf/handlers/internal/html"
	"labshelf/handlers/internal/tus"
	"labshelf/handlers/wire"
	"labshelf/metadata"
	"labshelf/repository/links"
)

// uploadsPath is the path of chunked uploads, below the address of a request link.
const uploadsPath = "/uploads"

// requestSecurity is the content security policy of the page of a file request, whose script sends
// many files.
const requestSecurity = pageSecurity + "; script-src 'self'; connect-src 'self'"

// IsUpload reports whether a path is a chunked upload below the address of a link.
func IsUpload(path string) bool {
	below, is := strings.CutPrefix(path, hosts.LinkPath)
	_, below, _ = strings.Cut(below, "/")
	return is && strings.HasPrefix(below+"/", uploadsPath[1:]+"/")
}

// uploadOf returns the upload of a visitor. Its name is its id followed by a secret that only this
// visitor has.
func (l *Links) uploadOf(r *exchange.Request, v visitor, name string) tus.Upload {
	id, secret, _ := strings.Cut(name, "-")
	return tus.Upload{
		Chunks: l.repo.Visitors.Uploads(v.Visitor, secret), ID: id, Name: name, URL: l.hosts.Link(r.Request, v.Token) + uploadsPath + "/" + name,
	}
}

// On returns a handler that calls serve for the upload in the path.
func (l *Links) On(serve func(tus.Upload, http.ResponseWriter, *exchange.Request) error) exchange.Handler {
	return func(w http.ResponseWriter, r *exchange.Request) error {
		return l.visited(w, r, func(v visitor) error {
			return tus.Serve(w, r, func() error { return serve(l.uploadOf(r, v, r.ID()), w, r) })
		})
	}
}

// CreateUpload starts a chunked upload.
func (l *Links) CreateUpload(w http.ResponseWriter, r *exchange.Request) error {
	return l.visited(w, r, func(v visitor) error {
		return tus.Serve(w, r, func() error {
			start, first, err := tus.ReadNew(w, r)
			if err != nil {
				return err
			}
			t, secret, err := l.repo.Visitors.StartFile(r.Context(), v.Visitor, start)
			return l.uploadOf(r, v, t.ID.String()+"-"+secret).AnswerNew(w, r, t, first, err)
		})
	})
}

// Receive receives a file as curl -T sends it.
func (l *Links) Receive(w http.ResponseWriter, r *exchange.Request) error {
	return l.visited(w, r, func(v visitor) error {
		digests, err := body.Announced(r.Request)
		if err != nil {
			return err
		}
		stored, err := l.repo.Visitors.ReceiveFile(r.Context(), v.Visitor, links.SentFile{
			Name: r.Params.ByName("name"), ContentType: r.Header.Get("Content-Type"), Length: r.ContentLength, Expected: digests, Field: "name",
		}, body.Reader{Body: r.Body})
		if err != nil {
			return err
		}
		exchange.WriteJSON(w, http.StatusCreated, wire.ReceivedFile{Name: lastElement(stored.Name), Bytes: stored.Bytes, SHA256: stored.Digest})
		return nil
	})
}

// limitsOf describes the limits of a file request for people.
func limitsOf(visit links.LinkView) string {
	var limits []string
	if visit.MaxFile > 0 {
		limits = append(limits, "files of up to "+html.Size(visit.MaxFile))
	}
	if visit.MaxBytes > 0 {
		limits = append(limits, html.Size(max(0, visit.MaxBytes-visit.Use.Bytes))+" in all")
	}
	if types := links.TypesOf(visit.Link); len(types) > 0 {
		limits = append(limits, strings.Join(types, ", ")+" only")
	}
	return strings.Join(limits, "; ")
}

// Submit handles a form of a page: a password, files, or the acceptance of an invitation.
func (l *Links) Submit(w http.ResponseWriter, r *exchange.Request) error {
	return l.visited(w, r, func(v visitor) error {
		visit, err := l.repo.Visitors.View(r.Context(), v.Visitor)
		switch {
		case err == nil && visit.Kind == metadata.Invitation:
			return l.acceptInvitation(w, r, v, visit)
		case strings.HasPrefix(r.Header.Get("Content-Type"), formType):
			return l.enterPassword(w, r, v)
		case err != nil:
			return err
		}
		var received []string
		err = body.Files(r.Request, func(name, contentType string, file io.Reader) error {
			stored, err := l.repo.Visitors.ReceiveFile(r.Context(), v.Visitor, links.SentFile{Name: name, ContentType: contentType, Length: -1, Field: "file"}, file)
			if err == nil {
				received = append(received, lastElement(stored.Name))
				visit.Use.Bytes += stored.Bytes
			}
			return err
		})
		var known *errs.Error
		if err != nil && (received == nil || !errors.As(err, &known)) {
			return err
		}
		return l.showRequest(w, r, v, visit, received, known)
	})
}

func lastElement(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// showRequest answers with the form of a file request, the files just received, and the reason for
// a refusal. A nil refusal means that all files were received.
func (l *Links) showRequest(w http.ResponseWriter, r *exchange.Request, v visitor, visit links.LinkView, received []string, refusal *errs.Error) error {
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
	page := requestPage{
		frame: l.frame(title), From: visit.Owner, Expires: expiresText(visit.Expires, time.DateOnly), Limits: limits, Received: received, Address: l.hosts.Link(r.Request, v.Token),
	}
	status := http.StatusOK
	if refusal != nil {
		page.Message, status = refusal.Message, exchange.Status(refusal.Kind)
	}
	page.Script, page.Preload = l.assets.Drop, l.assets.DropPreload
	return writeUnder(w, status, requestSecurity, func(to io.Writer) error { return writeRequest(to, page) })
}
