package handlers

import (
	"cmp"
	"errors"
	"net/http"

	"labshelf/auth"
	"labshelf/handlers/internal/exchange"
	"labshelf/repository/core"
)

// serveCaller serves a route that identifies the caller. A listing first relies on what this node
// has cached about the caller. If that is outdated (core.ErrPresumed), the listing runs again
// without the cache. This is safe because a listing sends nothing before it has read everything.
func (a *api) serveCaller(w http.ResponseWriter, req *exchange.Request, rt route, malformed error) error {
	as := req.Request
	if rt.kind == listing && malformed == nil {
		if presuming := a.repo.Credentials.Presume(as.Context()); presuming != as.Context() {
			req.Request = as.WithContext(presuming)
		}
	}
	err := a.serveIdentified(w, req, rt, malformed)
	if errors.Is(err, core.ErrPresumed) {
		req.Request = as
		exchange.NoteCaller(w, auth.Principal{})
		err = a.serveIdentified(w, req, rt, malformed)
	}
	return err
}

func (a *api) serveIdentified(w http.ResponseWriter, req *exchange.Request, rt route, malformed error) error {
	caller, err := a.auth.Identify(w, req.Request, rt.audience == anonymous)
	if err != nil {
		return err
	}
	req.Caller = caller
	exchange.NoteCaller(w, caller)
	if err := cmp.Or(malformedQuery(malformed), checkParameters(rt.kind, req.Query)); err != nil {
		return err
	}
	leave, err := a.gate.admit(w, req, rt.cost, a.callerOf(req))
	if err != nil {
		return err
	}
	defer leave()
	return rt.serve(w, req)
}
