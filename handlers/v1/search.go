package v1

import (
	"encoding/json"
	"net/http"

	"labshelf/handlers/internal/encode"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/wire"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/watch"
	"labshelf/search"
	"labshelf/search/index"
)

// Search serves search and the search index.
type Search struct{ *api }

// kindWords are the names of the kinds of hits in the API.
var kindWords = map[search.Kind]string{search.Dataspace: "dataspace", search.Set: "set", search.Resource: "resource"}

// Find answers with a page of search results.
func (a Search) Find(w http.ResponseWriter, r *exchange.Request) error {
	found, err := a.repo.Search.Search(r.Context(), r.Caller, r.List(paging.Search))
	if err != nil {
		return err
	}
	if len(found.Items) == 0 {
		return a.sendFound(w, r, wire.SearchEnd{End: wire.End{End: true}, SearchSums: wire.SearchSums{Behind: found.Behind}})
	}
	shown := wire.SearchPage[any]{SearchSums: wire.SearchSums{Behind: found.Behind}}
	shown.Page = pageOf(a.hosts.Base(r.Request), r, found.Page, a.hit(r)).(wire.Page[wire.Hit[any]])
	if found.Counted {
		counts := countsOf(found)
		shown.Total, shown.Counts = &found.Total, &counts
	}
	return a.sendFound(w, r, shown)
}

func (a Search) sendFound(w http.ResponseWriter, r *exchange.Request, page any) error {
	_ = a.sendPage(w, r, encode.JSON(page)) // a client that went away gets no error
	return nil
}

// hit returns a function that converts a hit for one caller.
func (a Search) hit(r *exchange.Request) func(watch.Hit) wire.Hit[any] {
	presenter, layout := a.presenter(r), a.layouts(r).single
	return func(h watch.Hit) wire.Hit[any] {
		shown := wire.Hit[any]{Kind: kindWords[h.Kind], Matched: h.Matched}
		switch h.Kind {
		case search.Dataspace:
			shown.Record = presenter.dataspace(h.Dataspace)
		case search.Set:
			shown.Record = presenter.set(h.Set)
		default:
			shown.Record = json.RawMessage(layout.Append(nil, &h.Resource))
		}
		return shown
	}
}

func countsOf(found watch.Found) wire.SearchCounts {
	c := found.Counts
	shown := wire.SearchCounts{Tags: counted(c.Tags), Creators: counted(c.Creators), Years: counted(c.Years)}
	shown.Kinds, shown.Dataspaces = []wire.Count[string]{}, []wire.Count[string]{}
	for _, kind := range c.Kinds {
		shown.Kinds = append(shown.Kinds, wire.Count[string]{Value: kindWords[kind.Value], Count: kind.N})
	}
	for _, d := range c.Dataspaces {
		id := metadata.ID(d.Value)
		shown.Dataspaces = append(shown.Dataspaces, wire.Count[string]{Value: id.String(), Name: found.Names[id], Count: d.N})
	}
	return shown
}

func counted[T any](counts []index.Count[T]) []wire.Count[T] {
	shown := make([]wire.Count[T], len(counts))
	for i, c := range counts {
		shown[i] = wire.Count[T]{Value: c.Value, Count: c.N}
	}
	return shown
}

// Index answers with the state of the index.
func (a Search) Index(w http.ResponseWriter, r *exchange.Request) error {
	s, err := a.repo.Search.Status(r.Context(), r.Caller)
	if err != nil {
		return err
	}
	shown := wire.Index{State: "current", Entries: s.Entries, Behind: s.Behind, Texts: "current", Schemas: "current", Documents: int64(s.Documents), Bytes: int64(s.Bytes)}
	if s.Texts {
		shown.Texts = "behind"
	}
	if s.Schemas {
		shown.Schemas = "behind"
	}
	switch {
	case s.Failure != nil:
		shown.State, shown.Failure = "failing", s.Failure.Error()
	case s.Scanning:
		shown.State = "building"
	case s.Behind > 0:
		shown.State = "behind"
	}
	exchange.WriteJSON(w, http.StatusOK, shown)
	return nil
}

// RebuildIndex starts to rebuild the index, and answers with its state.
func (a Search) RebuildIndex(w http.ResponseWriter, r *exchange.Request) error {
	if err := a.repo.Search.Rebuild(r.Context(), r.Caller); err != nil {
		return err
	}
	return a.Index(w, r)
}
