package handlers

import (
	"cmp"
	"errors"
	"net/http"

	"labshelf/auth"
	"labshelf/handlers/internal/exchange"
	"labshelf/repository/core"
)

// serveCaller serves a route that wants to know who calls. A listing takes that for what this node
// knows: it answers when all is read, so it can begin again where that is over.
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
	req.Caller.Origin = a.auth.Origin(w, req.Request)
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
