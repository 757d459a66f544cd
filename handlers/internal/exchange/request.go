// Package exchange is one request and its answer, as the rooms of the gateway see them: the request
// with its caller and its query; JSON, records with their entity tags, and errors as problem+json;
// and the notes that the answer leaves for the access log.
package exchange

import (
	"net/http"
	"net/url"

	"github.com/julienschmidt/httprouter"

	"labshelf/auth"
	"labshelf/repository/core"
)

// Request is one HTTP request, with what the gateway knows of it before its handler runs.
type Request struct {
	*http.Request
	Params httprouter.Params
	Caller auth.Principal
	Query  url.Values
	Path   string // below the base URL, without page token and trailing slash
	Token  string // of a page
	ByLink bool   // its address is below the address of a link
}

// Handler answers a request. The gateway writes an error that it returns.
type Handler = func(w http.ResponseWriter, r *Request) error

// ID returns the id in the path.
func (r *Request) ID() string { return r.Params.ByName("id") }

// Number returns the number of a version in the path.
func (r *Request) Number() string { return r.Params.ByName("number") }

// List returns which page of a listing the request asks for.
func (r *Request) List() core.ListRequest {
	return core.ListRequest{Container: r.ID(), Params: r.Query, Token: r.Token}
}

// Results comes between the path of a listing and a page token.
const Results = "/query/results/"

// VaryByCaller is in the Vary of every answer of a route that anonymous readers may use.
const VaryByCaller = "Authorization, Cookie"

// What caches may do with an answer. One to an anonymous reader is the same for all of them: a
// shared cache may keep it, and asks each time whether it is still so, since what is open may be
// closed at any moment.
const (
	CachedForOne = "private, no-cache"
	CachedForAll = "public, no-cache"
	// What a link shows is a secret.
	CachedByNobody = "private, no-store"
)

// Caching returns what caches may do with an answer to this caller.
func (r *Request) Caching() string {
	switch {
	case r.ByLink:
		return CachedByNobody
	case r.Caller.Anonymous:
		return CachedForAll
	}
	return CachedForOne
}
