package handlers

import (
	"net/http"
	"regexp"

	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/slowclient"
)

// Route is one operation of the HTTP API. Its parameters are written as in the document.
type Route struct {
	Method, Path string
	Audience     Audience
}

// Audience names the callers that may use a route. Word is its name in the code. oneself also
// allows every user with a key, but only for their own account. senders allows every user with a
// key, but only for their own uploads. creators allows the callers that the configuration allows.
type Audience struct{ Word, Callers string }

// The columns of the permission table. nobody has no key. anonymous has no key, in an open
// dataspace with anonymous reading. none and public have no role, in a private and a public
// dataspace.
const (
	Everybody = "nobody anonymous " + Keyed
	Keyed     = "none public member editor admin sysadmin"
)

// Routes lists the operations in the order of the code. The pages of a listing are a separate
// operation.
func Routes() (routes []Route) {
	words := map[audience]Audience{
		everybody: {"everybody", Everybody}, keyed: {"keyed", Keyed}, readers: {"readers", "public member editor admin sysadmin"},
		anonymous: {"anonymous", "anonymous public member editor admin sysadmin"},
		holders:   {"holders", "member editor admin sysadmin"}, writers: {"writers", "editor admin sysadmin"}, managers: {"managers", "admin sysadmin"},
		senders: {"senders", ""}, creators: {"creators", "sysadmin"}, oneself: {"oneself", "sysadmin"}, sysadmins: {"sysadmins", "sysadmin"},
	}
	for _, rt := range (&api{}).routes() {
		path := parameter.ReplaceAllString(rt.path, "{$1}")
		routes = append(routes, Route{rt.method, path, words[rt.audience]})
		if rt.kind == listing {
			routes = append(routes, Route{rt.method, path + exchange.Results + "{token}", words[rt.audience]})
		}
	}
	return routes
}

var parameter = regexp.MustCompile(`:(\w+)`)

// Middleware wraps a handler in the same way as New wraps the routes.
func Middleware(config Config, next http.Handler) http.Handler {
	return (&api{config: config, hosts: config.hosts(), buffers: &slowclient.Buffers{}}).wrap(next)
}

// WithBudgets returns the configuration with one slot in each class, a limit of requests per
// caller, and a limit of memory.
func WithBudgets(config Config, perCaller int, memory int64) Config {
	all := budgets()
	for i := range all {
		if all[i].slots > 0 {
			all[i].slots, all[i].perCaller = 1, perCaller
		}
	}
	config.gate = newGate(all, memory)
	return config
}
