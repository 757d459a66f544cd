package handlers

import (
	"net/http"
	"net/url"

	"labshelf/auth"
	"labshelf/handlers/dav"
	"labshelf/handlers/internal/exchange"
)

// driveCosts are the costs of the drive's methods.
var driveCosts = map[string]cost{
	"GET": blob, "HEAD": light, "PUT": blob, "DELETE": compute, "MKCOL": light, "COPY": compute, "MOVE": compute,
	"PROPFIND": stream, "PROPPATCH": light, "LOCK": light, "UNLOCK": light,
}

// serveDrive serves a request to the drive; path is the part of the address after dav.Path.
func (a *api) serveDrive(w http.ResponseWriter, r *http.Request, path string) {
	if r.Method == http.MethodOptions {
		noteRoute(w, r.Method, dav.Path+"/")
		dav.Describe(w)
		return
	}
	if dav.Takes(r.Method) {
		noteRoute(w, r.Method, dav.Path+"/")
	}
	query, _ := url.ParseQuery(r.URL.RawQuery) // the drive ignores malformed parameters
	err := refuseKey(query)
	var caller auth.Principal
	if err == nil {
		caller, err = a.drive.Authenticate(w, r)
	}
	if err == nil {
		exchange.NoteCaller(w, caller)
		err = a.serveAdmitted(w, r, caller, path)
	}
	if err != nil {
		a.auth.NoteRefusal(r, false, err)
		exchange.WriteProblem(w, r, err)
	}
}

// serveAbove serves OPTIONS and PROPFIND for a path above the drive. It reports whether it answered
// the request.
func (a *api) serveAbove(w http.ResponseWriter, r *http.Request) bool {
	above, is := a.drive.Above(r.URL.Path)
	if !is || r.Method != http.MethodOptions && r.Method != "PROPFIND" {
		return false
	}
	noteRoute(w, r.Method, "/")
	if r.Method == http.MethodOptions {
		dav.DescribeAbove(w)
		return true
	}
	w.Header().Set("Dav", "1, 2")
	caller, err := a.drive.Authenticate(w, r)
	if err == nil {
		exchange.NoteCaller(w, caller)
		err = a.drive.FindAbove(w, r, above)
	}
	if err != nil {
		a.auth.NoteRefusal(r, false, err)
		exchange.WriteProblem(w, r, err)
	}
	return true
}

// serveAdmitted serves a request to the drive within the budget of its method.
func (a *api) serveAdmitted(w http.ResponseWriter, r *http.Request, caller auth.Principal, path string) error {
	req := &exchange.Request{Request: r, Caller: caller}
	leave, err := a.gate.admit(w, req, driveCosts[r.Method], a.callerOf(req))
	if err != nil {
		return err
	}
	defer leave()
	return a.drive.Serve(w, req.Request, caller, path)
}
