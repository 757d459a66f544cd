package handlers

import (
	"net/http"
	"net/netip"
	"regexp"
	"time"
)

// Route is one operation of the interface. Its parameters are written as in the document.
type Route struct {
	Method, Path string
	Who          Who
}

// Who may use a route: the words of [Route] in the code, and the callers that they stand for. Oneself also allows every user
// with a key to use it for himself, Senders every user with a key for an upload that he began, and nobody else, and Creators also
// allows whom the configuration does.
type Who struct{ Word, Callers string }

// The columns of the permission table: nobody has no key, none and public have no role in a private and a public dataspace.
const (
	Everybody = "nobody " + Keyed
	Keyed     = "none public member editor admin sysadmin"
)

// Routes lists the operations in the order of the code. The pages of a listing are an operation of their own.
func Routes() (routes []Route) {
	words := map[who]Who{
		everybody: {"everybody", Everybody}, keyed: {"keyed", Keyed}, readers: {"readers", "public member editor admin sysadmin"},
		holders: {"holders", "member editor admin sysadmin"}, writers: {"writers", "editor admin sysadmin"}, managers: {"managers", "admin sysadmin"},
		senders: {"senders", ""}, creators: {"creators", "sysadmin"}, oneself: {"oneself", "sysadmin"}, sysadmins: {"sysadmins", "sysadmin"},
	}
	for _, rt := range (&api{}).routes() {
		path := parameter.ReplaceAllString(rt.path, "{$1}")
		routes = append(routes, Route{rt.method, path, words[rt.who]})
		if rt.kind == listing {
			routes = append(routes, Route{rt.method, path + results + "{token}", words[rt.who]})
		}
	}
	return routes
}

var parameter = regexp.MustCompile(`:(\w+)`)

// Access wraps a handler as New wraps the routes.
func Access(config Config, next http.Handler) http.Handler {
	return (&api{config: config, buffers: newBuffers()}).access(next)
}

// Wrap makes the ResponseWriter that handlers get.
func Wrap(w http.ResponseWriter, stall time.Duration) http.ResponseWriter {
	control := http.NewResponseController(w)
	return &response{ResponseWriter: w, control: control, buffers: newBuffers(), pace: pace{patience: stall, left: stall, set: control.SetWriteDeadline}}
}

// Throttle returns what counts failures, and how many addresses it remembers.
func Throttle(perMinute, addresses int) (count func(netip.Addr, time.Time) time.Duration, remembered func() int) {
	t := newThrottle(perMinute, addresses)
	return t.count, func() int { return max(len(t.places), t.recent.Len()) }
}
