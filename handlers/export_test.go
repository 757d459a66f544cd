package handlers

import (
	"net/http"
	"time"
)

// Operations lists the routes as "METHOD /path/{param}", and for each listing the operation of its pages.
func Operations() (plain, listings []string) {
	a := &api{}
	for _, rt := range a.routes() {
		plain = append(plain, rt.method+" "+rt.path)
		if rt.kind == listing {
			listings = append(listings, rt.method+" "+rt.path)
		}
	}
	return plain, listings
}

// Access wraps a handler as New wraps the routes.
func Access(config Config, next http.Handler) http.Handler {
	return (&api{config: config}).access(next)
}

// Wrap makes the ResponseWriter that handlers get.
func Wrap(w http.ResponseWriter, stall time.Duration) http.ResponseWriter {
	return &response{ResponseWriter: w, control: http.NewResponseController(w), stall: stall}
}
