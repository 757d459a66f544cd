package handlers

import "net/http"

// Beside wraps what is served at another address than the interface. Like the interface it answers for no host but the
// configured ones, so that no web page gets at it under a name of its own, and it has nothing that could be changed.
func Beside(config Config, next http.Handler) http.Handler {
	a := &api{config: config, hosts: knownHosts(&config)}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !a.answersFor(r):
			writeProblem(w, r, a.errMisdirected(r))
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			writeProblem(w, r, errMethod)
		default:
			a.secure(w.Header(), r)
			w.Header().Set("Cache-Control", "no-store")
			next.ServeHTTP(w, r)
		}
	})
}
