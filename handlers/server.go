package handlers

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"github.com/julienschmidt/httprouter"

	"labshelf/handlers/dav"
	"labshelf/handlers/internal/authentication"
	"labshelf/handlers/internal/download"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/hosts"
	"labshelf/handlers/internal/html"
	"labshelf/handlers/internal/slowclient"
	"labshelf/handlers/internal/tus"
	"labshelf/handlers/links"
	"labshelf/handlers/pages"
	v1 "labshelf/handlers/v1"
	"labshelf/repository"
)

// New returns the handler of the whole service.
func New(repo *repository.Service, config Config) http.Handler {
	a := &api{
		repo: repo, config: config,
		hosts: config.hosts(), buffers: &slowclient.Buffers{},
		gate: cmp.Or(config.gate, newGate(budgets(), answerMemory)),
	}
	a.auth = authentication.New(repo.Credentials, a.hosts, authentication.Config{
		BaseURL: config.BaseURL, FailedKeys: config.FailedKeys, AnonymousRequests: config.AnonymousRequests,
	})
	downloads := download.New(repo.Files, a.buffers)
	a.v1 = v1.New(v1.Config{
		Repository: repo, Hosts: a.hosts, Authentication: a.auth, Downloads: downloads, ViewDataURL: config.ViewDataURL,
		RedirectDownloads: config.RedirectDownloads, Hostname: config.Hostname, Version: config.Version, Log: config.Log,
	})
	a.drive = dav.New(dav.Config{Repository: repo, Hosts: a.hosts, Authentication: a.auth, Downloads: downloads})
	var assets html.Assets
	if config.Pages != nil {
		assets = pages.ReadAssets(config.Pages)
		a.pages = pages.New(pages.Config{Repository: repo, Hosts: a.hosts, Authentication: a.auth, Files: config.Pages, Assets: assets})
	}
	a.links = links.New(links.Config{
		Repository: repo, Hosts: a.hosts, Authentication: a.auth, Downloads: downloads, Assets: assets, WithoutSlot: withoutSlot,
	})
	// httprouter cannot hold /resources/:id and /resources/query/results/:token in one tree. So
	// dispatch cuts the token off the path and looks the rest up among the listings only.
	whole, listings := a.router(), a.router()
	a.allRoutes, a.listings = whole, listings
	for _, rt := range a.routes() {
		a.add(whole, hosts.Version+rt.path, rt)
		if rt.kind == listing {
			a.add(listings, hosts.Version+rt.path, rt)
		}
	}
	a.add(whole, hosts.Version, route{"GET", hosts.Version, everybody, serveWelcome, plain, light})
	for _, rt := range a.routesOfVisitors() {
		a.add(whole, hosts.LinkPath+rt.path, rt)
	}
	if config.Pages != nil {
		for _, rt := range a.routesOfPages() {
			a.add(whole, rt.path, rt)
		}
	}
	if config.Metrics != nil {
		a.add(whole, "/metrics", route{"GET", "/metrics", sysadmins, a.getMetrics, plain, compute})
	}
	return a.wrap(a.dispatch(whole, listings))
}

// dispatch sends a request to the drive, to the pages of a listing, or to all routes.
func (a *api) dispatch(whole, listings http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !a.hosts.AnswersFor(r) {
			exchange.WriteProblem(w, r, a.errMisdirected(r))
			return
		}
		a.allowOrigin(w.Header(), r)
		if a.serveAbove(w, r) {
			return
		}
		path, under := strings.CutPrefix(r.URL.Path, a.hosts.Prefix())
		longer := path != "" && path[0] != '/' // for example /shelfish where the base path is /shelf

		if !under || longer {
			exchange.WriteProblem(w, r, a.noPrefix())
			return
		}
		if strings.Contains(strings.ToLower(r.URL.RawPath), "%2f") { // an encoded slash belongs to an id
			exchange.WriteProblem(w, r, exchange.ErrNoSuchPath)
			return
		}
		if err := refusedAddress(r, path); err != nil {
			exchange.WriteProblem(w, r, err)
			return
		}
		if below, on := strings.CutPrefix(path, dav.Path); on && (below == "" || below[0] == '/') {
			a.serveDrive(w, r, below)
			return
		}
		if len(path) > 1 {
			path = strings.TrimSuffix(path, "/")
		}
		router, token := whole, ""
		if at := strings.LastIndex(path, exchange.Results); at >= 0 && !strings.Contains(path[at+len(exchange.Results):], "/") {
			router, path, token = listings, path[:at], path[at+len(exchange.Results):]
		}
		router.ServeHTTP(w, withAddress(r, path, token))
	})
}

// router returns an empty router without redirects that reports errors as problem+json.
func (a *api) router() *httprouter.Router {
	router := httprouter.New()
	router.RedirectTrailingSlash = false
	router.RedirectFixedPath = false
	router.NotFound = http.HandlerFunc(a.otherPath)
	router.GlobalOPTIONS = http.HandlerFunc(a.options)
	router.MethodNotAllowed = refuse(exchange.ErrMethod)
	return router
}

// options answers OPTIONS; the router has set Allow.
func (a *api) options(w http.ResponseWriter, r *http.Request) {
	if path, _ := routed(r); strings.HasPrefix(path+"/", hosts.Version+"/uploads/") || links.IsUpload(path) {
		tus.Describe(w.Header(), a.repo.Uploads.MaxUpload())
	}
	w.WriteHeader(http.StatusNoContent)
}

func refuse(err error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { exchange.WriteProblem(w, r, err) })
}

// add registers a route. A GET route also answers HEAD.
func (a *api) add(router *httprouter.Router, path string, rt route) {
	handle := func(w http.ResponseWriter, r *http.Request, params httprouter.Params) {
		noteRoute(w, r.Method, path)
		if rt.kind == chunked {
			w.Header().Set(tus.Resumable, tus.Version)
		}
		if err := a.serve(w, r, params, rt); err != nil {
			a.auth.NoteRefusal(r, rt.audience == everybody, err)
			exchange.WriteProblem(w, r, err)
		}
	}
	router.Handle(rt.method, path, handle)
	if rt.method == http.MethodGet {
		router.Handle(http.MethodHead, path, handle)
	}
}

// serve authenticates the caller and serves the route.
func (a *api) serve(w http.ResponseWriter, r *http.Request, params httprouter.Params, rt route) error {
	var query url.Values
	var malformed error
	if r.URL.RawQuery != "" {
		query, malformed = url.ParseQuery(r.URL.RawQuery)
	}
	if err := refuseKey(query); err != nil {
		return err
	}
	path, token := routed(r)
	req := &exchange.Request{Request: r, Params: params, Query: query, Path: strings.TrimPrefix(path, hosts.Version), Token: token}
	if rt.audience == everybody {
		leave, err := a.gate.admit(w, req, rt.cost, a.callerOf(req))
		if err != nil {
			return err
		}
		defer leave()
		return rt.serve(w, req)
	}
	return a.serveCaller(w, req, rt, malformed)
}
