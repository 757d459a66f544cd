package handlers

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"github.com/julienschmidt/httprouter"

	"labshelf/auth"
	"labshelf/paging"
	"labshelf/repository"
)

// version is the path segment that every address of the interface begins with.
const version = "/v1"

// results comes between the path of a listing and a page token.
const results = "/query/results/"

// route is one operation of the interface. HEAD and OPTIONS follow by themselves.
type route struct {
	method, path string
	serve        func(w http.ResponseWriter, r *request) error
	kind         routeKind
}

type routeKind uint8

const (
	keyed    routeKind = iota // needs a key, and takes no query
	listing                   // needs a key, and has pages; its use case reads the query
	download                  // needs a key, and takes a disposition
	open                      // needs no key
)

// routes is the whole interface.
func (a *api) routes() []route {
	return []route{
		{"GET", "/status", a.getStatus, open},
		{"GET", "/openapi.json", serveDocument("application/json", openapiJSON), open},
		{"GET", "/openapi.yaml", serveDocument("application/yaml", openapiYAML), open},

		{"GET", "/dataspaces", a.listDataspaces, listing},
		{"POST", "/dataspaces", a.createDataspace, keyed},
		{"GET", "/dataspaces/:id", a.getDataspace, keyed},
		{"PUT", "/dataspaces/:id", a.updateDataspace, keyed},
		{"DELETE", "/dataspaces/:id", a.deleteDataspace, keyed},
		{"POST", "/dataspaces/:id/restore", a.restoreDataspace, keyed},
		{"GET", "/dataspaces/:id/resources", a.listResources(paging.DataspaceResources), listing},
		{"GET", "/dataspaces/:id/sets", a.listSets(paging.DataspaceSets), listing},
		{"GET", "/dataspaces/:id/usage", a.getDataspaceUsage, keyed},

		{"GET", "/sets", a.listSets(paging.Sets), listing},
		{"POST", "/sets", a.createSet, keyed},
		{"GET", "/sets/:id", a.getSet, keyed},
		{"PUT", "/sets/:id", a.updateSet, keyed},
		{"DELETE", "/sets/:id", a.deleteSet, keyed},
		{"POST", "/sets/:id/restore", a.restoreSet, keyed},
		{"GET", "/sets/:id/resources", a.listResources(paging.SetResources), listing},

		{"GET", "/resources", a.listResources(paging.Resources), listing},
		{"POST", "/resources", a.createResource, keyed},
		{"GET", "/resources/:id", a.getResource, keyed},
		{"PUT", "/resources/:id", a.replaceResource, keyed},
		{"PATCH", "/resources/:id", a.editResource, keyed},
		{"DELETE", "/resources/:id", a.deleteResource, keyed},
		{"POST", "/resources/:id/restore", a.restoreResource, keyed},
		{"GET", "/resources/:id/data", a.downloadResource, download},

		{"GET", "/users", a.listUsers, listing},
		{"POST", "/users", a.createUser, keyed},
		{"GET", "/users/:id", a.getUser, keyed},
		{"PUT", "/users/:id", a.updateUser, keyed},
		{"DELETE", "/users/:id", a.deleteUser, keyed},
		{"POST", "/users/:id/restore", a.restoreUser, keyed},
		{"GET", "/users/:id/keys", a.listKeys, listing},
		{"POST", "/users/:id/keys", a.createKey, keyed},
		{"DELETE", "/users/:id/keys/:keyId", a.revokeKey, keyed},

		{"GET", "/privileges", a.listPrivileges, listing},
		{"POST", "/privileges", a.grant, keyed},
		{"GET", "/privileges/:id", a.getPrivilege, keyed},
		{"DELETE", "/privileges/:id", a.revoke, keyed},

		{"GET", "/usage", a.getUsage, keyed},
	}
}

// New returns the handler of the whole service.
func New(repo *repository.Service, config Config) http.Handler {
	a := &api{repo: repo, config: config}
	// A token cannot share a tree with ids: /resources/:id beside /resources/query/results/:token. So the token is cut off
	// the path, and what remains is looked up among the listings alone.
	whole, pages := a.router(), a.router()
	for _, rt := range a.routes() {
		a.add(whole, version+rt.path, rt)
		if rt.kind == listing {
			a.add(pages, version+rt.path, rt)
		}
	}
	a.add(whole, "/", route{"GET", "/", serveWelcome, open})
	a.add(whole, version, route{"GET", version, serveWelcome, open})
	a.add(whole, "/resources/:id", route{"GET", "/resources/:id", a.viewResource, open})
	prefix := ""
	if config.BaseURL != nil {
		prefix = strings.TrimSuffix(strings.TrimSuffix(config.BaseURL.Path, "/"), version)
	}
	return a.access(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, under := strings.CutPrefix(r.URL.Path, prefix)
		if !under || strings.Contains(strings.ToLower(r.URL.RawPath), "%2f") { // an encoded slash belongs to an id
			writeProblem(w, r, errNoSuchPath)
			return
		}
		if hasKey(path) {
			writeProblem(w, r, keyInURL(""))
			return
		}
		if len(path) > 1 {
			path = strings.TrimSuffix(path, "/")
		}
		router, token := whole, ""
		if at := strings.LastIndex(path, results); at >= 0 && !strings.Contains(path[at+len(results):], "/") {
			router, path, token = pages, path[:at], path[at+len(results):]
		}
		router.ServeHTTP(w, atPath(r, path, token))
	}))
}

// router returns an empty router that redirects nowhere and answers in problem+json.
func (a *api) router() *httprouter.Router {
	router := httprouter.New()
	router.RedirectTrailingSlash = false
	router.RedirectFixedPath = false
	router.NotFound = refuse(errNoSuchPath)
	router.GlobalOPTIONS = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	router.MethodNotAllowed = refuse(&repository.Error{
		Kind: repository.MethodNotAllowed, Code: repository.CodeMethodNotAllowed, Message: "the Allow header lists the methods that this address takes",
	})
	return router
}

func refuse(err error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { writeProblem(w, r, err) })
}

// errNoSuchPath answers an address that the interface does not have.
var errNoSuchPath = &repository.Error{Kind: repository.NotFound, Code: repository.CodeNotFound, Message: "there is nothing at this address"}

// add registers a route, and HEAD beside GET.
func (a *api) add(router *httprouter.Router, path string, rt route) {
	handle := func(w http.ResponseWriter, r *http.Request, params httprouter.Params) {
		if err := a.serve(w, r, params, rt); err != nil {
			writeProblem(w, r, err)
		}
	}
	router.Handle(rt.method, path, handle)
	if rt.method == http.MethodGet {
		router.Handle(http.MethodHead, path, handle)
	}
}

// serve finds out who calls and hands over to the route.
func (a *api) serve(w http.ResponseWriter, r *http.Request, params httprouter.Params, rt route) error {
	query, malformed := url.ParseQuery(r.URL.RawQuery)
	if err := refuseKey(query); err != nil {
		return err
	}
	path, token := placeOf(r)
	req := &request{Request: r, params: params, path: strings.TrimPrefix(path, version), token: token}
	if rt.kind != open {
		caller, err := a.authenticate(r)
		if err != nil {
			return err
		}
		req.caller = caller
		noteCaller(w, caller)
		if err := cmp.Or(unreadable(malformed), checkParameters(rt.kind, query)); err != nil {
			return err
		}
	}
	return rt.serve(w, req)
}

// authenticate returns whose key the request carries. Of two Authorization headers nobody can tell which one counts.
func (a *api) authenticate(r *http.Request) (auth.Principal, error) {
	key := ""
	if sent := r.Header.Values("Authorization"); len(sent) == 1 {
		key = auth.FromHeader(sent[0])
	}
	return a.repo.Authenticate(r.Context(), key)
}
