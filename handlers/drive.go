package handlers

import (
	"io"
	"net/http"
	"net/url"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/handlers/internal/dav"
	"labshelf/handlers/internal/exchange"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/folders"
)

// drivePath is where the drive is, below the prefix.
const drivePath = "/dav"

// driveRoutes serves the network drive.
type driveRoutes struct{ *api }

func (a driveRoutes) newDrive() *dav.Drive {
	return dav.New(a.repo, dav.Config{
		Prefix:     a.hosts.Prefix() + drivePath,
		Origins:    a.hosts.Origins,
		Conditions: func(r *http.Request) core.Match { return exchange.Preconditions(r) },
		Send: func(w http.ResponseWriter, r *http.Request, caller auth.Principal, e folders.DriveEntry) error {
			return fileRoutes{a.api}.sendFile(w, &exchange.Request{Request: r, Caller: caller}, func() (metadata.Resource, io.ReadSeekCloser, error) {
				resource, file, err := a.repo.Files.OpenResource(r.Context(), caller, e.File.ID.String())
				if err == nil {
					if resource.Version == e.File.Version {
						resource.Modified = e.ModifiedAt() // for Last-Modified, which must be the getlastmodified of the drive
					}
					w.Header().Set("Etag", dav.Tag(resource.Digest))
				}
				return resource, file, err
			})
		},
	})
}

// driveCosts are the costs of the methods of the drive, like those of routes.
var driveCosts = map[string]cost{
	"GET": blob, "HEAD": light, "PUT": blob, "DELETE": compute, "MKCOL": light, "COPY": compute, "MOVE": compute,
	"PROPFIND": stream, "PROPPATCH": light, "LOCK": light, "UNLOCK": light,
}

// serveDrive serves a request to the drive; path is what its address has behind drivePath.
func (a driveRoutes) serveDrive(w http.ResponseWriter, r *http.Request, path string) {
	if r.Method == http.MethodOptions {
		noteRoute(w, r.Method, drivePath+"/")
		dav.Describe(w)
		return
	}
	if dav.Takes(r.Method) {
		noteRoute(w, r.Method, drivePath+"/")
	}
	query, _ := url.ParseQuery(r.URL.RawQuery) // what is malformed means nothing here
	err := refuseKey(query)
	var caller auth.Principal
	if err == nil {
		caller, err = a.authenticateDrive(w.Header(), r)
	}
	if err == nil {
		caller.Origin = a.auth.Origin(w, r)
		exchange.NoteCaller(w, caller)
		err = a.serveAdmitted(w, r, caller, path)
	}
	if err != nil {
		a.auth.NoteRefusal(r, false, err)
		exchange.WriteProblem(w, r, err)
	}
}

// serveAbove serves OPTIONS and PROPFIND of a path above the drive. It reports whether it has.
func (a driveRoutes) serveAbove(w http.ResponseWriter, r *http.Request) bool {
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
	caller, err := a.authenticateDrive(w.Header(), r)
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
func (a driveRoutes) serveAdmitted(w http.ResponseWriter, r *http.Request, caller auth.Principal, path string) error {
	req := &exchange.Request{Request: r, Caller: caller}
	leave, err := a.gate.admit(w, req, driveCosts[r.Method], a.callerOf(req))
	if err != nil {
		return err
	}
	defer leave()
	return a.drive.Serve(w, req.Request, caller, path)
}

// errPlainDrive is the error of a request that sends a key where others may read it.
var errPlainDrive = &errs.Error{Kind: errs.Forbidden, Code: errs.CodeForbidden,
	Message: "the drive is served over https, and over http only on the machine of the service itself: " +
		"a key would be sent in the open. Behind a proxy, trusted_proxies says whose X-Forwarded-Proto counts"}

// authenticateDrive returns the principal of the key that the request has as its password, whatever
// its username. Cookies do not count: file managers have none, and pages have the interface. Who
// sends no key is asked for one, and has tried none.
func (a driveRoutes) authenticateDrive(answer http.Header, r *http.Request) (auth.Principal, error) {
	if a.hosts.Scheme(r) != "https" && !a.hosts.Client(r).IsLoopback() {
		return auth.Principal{}, errPlainDrive
	}
	key, sent := "", r.Header.Values("Authorization")
	if len(sent) == 1 {
		key = auth.FromHeader(sent[0])
		if _, password, basic := r.BasicAuth(); basic {
			key = password
		}
	}
	caller, err := a.repo.Credentials.Authenticate(r.Context(), key)
	if err = a.auth.CountUnknownKey(answer, r, err); err != nil && exchange.PublicError(err).Kind == errs.Unauthenticated {
		answer.Set("WWW-Authenticate", `Basic realm="labshelf", charset="UTF-8"`)
	}
	return caller, err
}
