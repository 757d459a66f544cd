package handlers

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/hosts"
	"labshelf/handlers/internal/redact"
	"labshelf/repository/core"
)

// logRequest writes the access log. Queries and paths can contain secrets, and a page token reveals
// what a user reads. So the log omits the query and the token, and cuts path segments that are as
// long as a key. If no route matches, it also cuts segments as long as the token of a link.
func (a *api) logRequest(w *response, r *http.Request, id string, took time.Duration) {
	path := r.URL.Path
	for _, secret := range []string{exchange.Results, hosts.LinkPath} {
		if at := strings.Index(path, secret); at >= 0 && (secret == exchange.Results || at == len(a.hosts.Prefix())) {
			path = path[:at+len(secret)]
		}
	}
	if w.route == "" || w.route == "/" { // the address may be a mistyped link
		path = redact.Tokens(path)
	}
	event := a.config.Log.Info()
	gone := errors.Is(w.Err, context.Canceled) && r.Context().Err() != nil // not an error of the service
	switch {
	case w.OverBudget != "" && w.Err == nil:
		event = a.config.Log.Warn()
	case (w.Status() >= http.StatusInternalServerError || w.Err != nil) && !gone:
		event = a.config.Log.Error()
	}
	event = event.AnErr("error", w.Err)
	if w.Caller.Username != "" {
		event = event.Str("user", w.Caller.Username)
	}
	if w.OverBudget != "" {
		event = event.Str("over_budget", w.OverBudget)
	}
	if w.Status() == http.StatusMisdirectedRequest {
		event = event.Str("host", redact.Keys(core.Shorten(hosts.Name(a.hosts.Host(r)))))
	}
	event.Str("request", id).Str("method", redact.Keys(r.Method)).Str("path", redact.LongSegments(redact.Keys(path))).Int("status", w.Status()).
		Int64("bytes", w.Sent()).Dur("ms", took).Str("from", r.RemoteAddr)
	if len(a.config.TrustedProxies) > 0 {
		if client := a.hosts.Client(r); client != hosts.Peer(r) {
			event.Stringer("client", client)
		}
	}
	event.Msg("request")
}
