package handlers

import (
	"net/http"
	"time"
)

// Observation is what there is to measure of one request. No text in it comes from the client.
type Observation struct {
	Method, Route  string        // as the table of routes has them; both are noRoute where a request came to none
	Status         int           // 0: the connection was cut before there was one
	Took           time.Duration // from the request's first line to its answer
	Own            time.Duration // of that, what the service took: without waiting for the client to send or to take bytes
	Received, Sent int64         // bytes of the bodies
}

// noRoute stands for a method and a path that the interface does not have: there are as many as clients think of.
const noRoute = "other"

// noteRoute tells which route a request came to.
func noteRoute(w http.ResponseWriter, method, path string) {
	if observed, ok := w.(*response); ok {
		observed.method, observed.route = method, path
	}
}

// observe tells of a request that has been answered, and logs it once more if the service itself took long for it. A large file
// over a slow line takes hours, and nothing is wrong: so the time of the client is left out.
func (a *api) observe(w *response, id string, took time.Duration) {
	o := Observation{
		Method: w.method, Route: w.route, Status: w.status, Took: took, Own: max(0, took-w.pace.waited-w.body.pace.waited),
		Received: w.body.bytes, Sent: w.bytes,
	}
	if o.Route == "" {
		o.Method, o.Route = noRoute, noRoute
	}
	if o.Method == http.MethodHead {
		o.Sent = 0 // what was written went nowhere
	}
	if a.config.Observe != nil {
		a.config.Observe(o)
	}
	if a.config.Slow > 0 && o.Own >= a.config.Slow {
		a.config.Log.Warn().Str("request", id).Str("method", o.Method).Str("route", o.Route).Int("status", o.Status).
			Int64("received", o.Received).Int64("bytes", o.Sent).Dur("ms", o.Took).Dur("own_ms", o.Own).Msg("slow request")
	}
}

// getMetrics hands over to what measures the service.
func (a *api) getMetrics(w http.ResponseWriter, r *request) error {
	if _, err := a.repo.Upkeep(r.Context(), r.caller); err != nil { // who may look after the service may look at it
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	a.config.Metrics.ServeHTTP(w, r.Request)
	return nil
}
