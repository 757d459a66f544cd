// Package exchange represents one request and its answer for the packages of the gateway: the
// request with its caller and query; JSON, records with entity tags, and errors as problem+json;
// and the notes for the access log.
package exchange

import (
	"net/http"
	"net/url"

	"github.com/julienschmidt/httprouter"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/paging"
	"labshelf/repository/core"
)

// Request is an HTTP request with the values that the gateway adds before it calls the handler.
type Request struct {
	*http.Request
	Params httprouter.Params
	Caller auth.Principal
	Query  url.Values
	Path   string // below the base URL, without page token and trailing slash
	Token  string // page token
	ByLink bool   // the request is below the address of a link
}

// Handler answers a request. The gateway writes its error as the answer.
type Handler = func(w http.ResponseWriter, r *Request) error

// ID returns the id in the path.
func (r *Request) ID() string { return r.Params.ByName("id") }

// Number returns the version number in the path.
func (r *Request) Number() string { return r.Params.ByName("number") }

// List returns the requested page of a listing.
func (r *Request) List(of paging.Listing) core.ListRequest {
	request := core.ListRequest{Container: r.ID(), Token: r.Token}
	if r.Token == "" {
		request.IDs, request.Selection, request.Malformed = paging.Parse(of, r.Query)
		return request
	}
	for name := range r.Query {
		request.Malformed = &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidParameter, Field: core.Shorten(name),
			Message: "the address of a page accepts no parameters; it contains the parameters of its listing"}
	}
	return request
}

// Results separates the path of a listing from a page token.
const Results = "/query/results/"
