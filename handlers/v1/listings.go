package v1

import (
	"net/http"

	"labshelf/handlers/internal/encode"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/wire"
	"labshelf/repository/core"
)

// writePage answers with one page of the listing at the request's path.
func writePage[T, J any](a *api, w http.ResponseWriter, r *exchange.Request, page core.Page[T], show func(T) J) {
	_ = a.sendPage(w, r, encode.JSON(pageOf(a.hosts.Base(r.Request), r, page, show))) // a client that went away gets no error
}

// pageOf returns one page of the listing at the request's path.
func pageOf[T, J any](base string, r *exchange.Request, page core.Page[T], show func(T) J) any {
	if len(page.Items) == 0 {
		return wire.End{End: true}
	}
	address := base + r.Path + exchange.Results
	shown := wire.Page[J]{NextPage: address + page.Next, CurrentPage: address + page.Current, Data: make([]J, len(page.Items))}
	for i, item := range page.Items {
		shown.Data[i] = show(item)
	}
	return shown
}
