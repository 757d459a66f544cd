package handlers

import (
	"net/http"

	"labshelf/repository"
)

// pageJSON is a page with results; the end of a listing is endJSON.
type pageJSON[J any] struct {
	NextPage    string `json:"nextPage"`
	CurrentPage string `json:"currentPage"`
	Data        []J    `json:"data"`
	End         bool   `json:"end"`
}

type endJSON struct {
	End bool `json:"end"`
}

// writePage answers with one page of the listing at the request's path.
func writePage[T, J any](w http.ResponseWriter, r *request, base string, page repository.Page[T], show func(T) J) {
	if len(page.Items) == 0 {
		writeJSON(w, http.StatusOK, endJSON{End: true})
		return
	}
	address := base + r.path + results
	shown := pageJSON[J]{NextPage: address + page.Next, CurrentPage: address + page.Current, Data: make([]J, len(page.Items))}
	for i, item := range page.Items {
		shown.Data[i] = show(item)
	}
	writeJSON(w, http.StatusOK, shown)
}
