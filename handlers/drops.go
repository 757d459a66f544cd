package handlers

import (
	"net/http"
	"strings"

	"labshelf/handlers/internal/body"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/html"
	"labshelf/handlers/internal/tus"
	"labshelf/handlers/wire"
	"labshelf/repository/links"
)

// dropsPath is where files in chunks begin, below the address of a request link.
const dropsPath = "/uploads"

// dropsSecurity is the policy of the page of a request, whose script sends many files.
const dropsSecurity = visitsSecurity + "; script-src 'self'; connect-src 'self'"

// routesOfDrops are those of files that come through a request link in chunks, by the same protocol
// and code as those of users.
func (a visitRoutes) routesOfDrops() []route {
	return []route{
		{"POST", ":token" + dropsPath, everybody, a.createDrop, chunked, blob},
		{"GET", ":token" + dropsPath + "/:id", everybody, a.ofVisitor(uploadRoutes{a.api}.getUpload), chunked, light},
		{"PATCH", ":token" + dropsPath + "/:id", everybody, a.ofVisitor(uploadRoutes{a.api}.continueUpload), chunked, blob},
		{"POST", ":token" + dropsPath + "/:id", everybody, a.ofVisitor(uploadRoutes{a.api}.overrideUpload), chunked, blob},
		{"DELETE", ":token" + dropsPath + "/:id", everybody, a.ofVisitor(uploadRoutes{a.api}.endUpload), chunked, light},
	}
}

// isDropPath tells whether a path is one of routesOfDrops.
func isDropPath(path string) bool {
	below, visits := strings.CutPrefix(path, visitPath)
	_, below, _ = strings.Cut(below, "/")
	return visits && strings.HasPrefix(below+"/", dropsPath[1:]+"/")
}

// inTusVisited is visited for requests in the version of tus that the service speaks.
func (a visitRoutes) inTusVisited(w http.ResponseWriter, r *exchange.Request, serve func(visitor) error) error {
	return a.visited(w, r, func(v visitor) error {
		if err := tus.CheckVersion(w.Header(), r.Request); err != nil {
			return err
		}
		return serve(v)
	})
}

// sentUpload is the upload of a visitor. Its address ends in its id, and in a secret that nobody
// else has.
func (a visitRoutes) sentUpload(r *exchange.Request, v visitor, name string) sending {
	id, secret, _ := strings.Cut(name, "-")
	return sending{
		Uploads: a.repo.Visitors.LinkUploads(v.Visitor, secret), id: id, name: name, url: a.visitAddress(r, v.Token) + dropsPath + "/" + name, visitor: true,
	}
}

// ofVisitor serves a request of a visitor for the upload in its path.
func (a visitRoutes) ofVisitor(serve func(http.ResponseWriter, *exchange.Request, sending) error) exchange.Handler {
	return func(w http.ResponseWriter, r *exchange.Request) error {
		return a.inTusVisited(w, r, func(v visitor) error { return serve(w, r, a.sentUpload(r, v, r.ID())) })
	}
}

func (a visitRoutes) createDrop(w http.ResponseWriter, r *exchange.Request) error {
	return a.inTusVisited(w, r, func(v visitor) error {
		start, first, err := readNew(w, r)
		if err != nil {
			return err
		}
		t, secret, err := a.repo.Visitors.StartFile(r.Context(), v.Visitor, start)
		return uploadRoutes{a.api}.answerNew(w, r, a.sentUpload(r, v, t.ID.String()+"-"+secret), t, first, err)
	})
}

// putDrop takes a file as curl -T sends it.
func (a visitRoutes) putDrop(w http.ResponseWriter, r *exchange.Request) error {
	return a.visited(w, r, func(v visitor) error {
		digests, err := body.Announced(r.Request)
		if err != nil {
			return err
		}
		dropped, err := a.repo.Visitors.ReceiveFile(r.Context(), v.Visitor, links.SentFile{
			Name: r.Params.ByName("name"), ContentType: r.Header.Get("Content-Type"), Length: r.ContentLength, Expected: digests, Field: "name",
		}, body.Reader{Body: r.Body})
		if err != nil {
			return err
		}
		exchange.WriteJSON(w, http.StatusCreated, wire.ReceivedFile{Name: lastElement(dropped.Name), Bytes: dropped.Bytes, SHA256: dropped.Digest})
		return nil
	})
}

// limitsOf says in words what a request takes.
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
