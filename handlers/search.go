package handlers

import (
	"encoding/json"
	"net/http"

	"labshelf/handlers/internal/encode"
	"labshelf/metadata"
	"labshelf/repository"
	"labshelf/search"
	"labshelf/search/index"
)

// kindWords are the kinds of what is found, as the interface writes them.
var kindWords = map[search.Kind]string{search.Dataspace: "dataspace", search.Set: "set", search.Resource: "resource"}

// hitJSON is an object that was found.
type hitJSON struct {
	Kind    string   `json:"kind"`
	Matched []string `json:"matched"`
	Record  any      `json:"record"`
}

// foundJSON is a page of a search. A page without hits is encode.End, with how far the index is
// behind.
type foundJSON struct {
	encode.Listing[hitJSON]
	Total  *int        `json:"total,omitempty"`
	Counts *countsJSON `json:"counts,omitempty"`
	Behind uint64      `json:"behind,omitempty"`
}

type countsJSON struct {
	Kinds      []countJSON[string] `json:"kinds"`
	Dataspaces []countJSON[string] `json:"dataspaces"`
	Tags       []countJSON[string] `json:"tags"`
	Creators   []countJSON[string] `json:"creators"`
	Years      []countJSON[int]    `json:"years"`
}

type countJSON[T any] struct {
	Value T      `json:"value"`
	Name  string `json:"name,omitempty"` // of a dataspace
	Count int    `json:"count"`
}

func (a *api) search(w http.ResponseWriter, r *request) error {
	found, err := a.repo.Search(r.Context(), r.caller, r.list())
	if err != nil {
		return err
	}
	if len(found.Items) == 0 {
		return a.sendFound(w, r, struct {
			encode.End
			Behind uint64 `json:"behind,omitempty"`
		}{encode.End{End: true}, found.Behind})
	}
	shown := foundJSON{Behind: found.Behind}
	shown.Listing = pageOf(a.base(r.Request), r, found.Page, a.hit(r)).(encode.Listing[hitJSON])
	if found.Counted {
		counts := countsOf(found)
		shown.Total, shown.Counts = &found.Total, &counts
	}
	return a.sendFound(w, r, shown)
}

func (a *api) sendFound(w http.ResponseWriter, r *request, page any) error {
	_ = a.sendPage(w, r, encode.JSON(page)) // a client that went away gets no error
	return nil
}

// hit shows hits to one caller.
func (a *api) hit(r *request) func(repository.Hit) hitJSON {
	presenter, layout := a.presenter(r), a.layouts(r).single
	return func(h repository.Hit) hitJSON {
		shown := hitJSON{Kind: kindWords[h.Kind], Matched: h.Matched}
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

func countsOf(found repository.Found) countsJSON {
	c := found.Counts
	shown := countsJSON{Tags: counted(c.Tags), Creators: counted(c.Creators), Years: counted(c.Years)}
	shown.Kinds, shown.Dataspaces = []countJSON[string]{}, []countJSON[string]{}
	for _, kind := range c.Kinds {
		shown.Kinds = append(shown.Kinds, countJSON[string]{Value: kindWords[kind.Value], Count: kind.N})
	}
	for _, d := range c.Dataspaces {
		id := metadata.ID(d.Value)
		shown.Dataspaces = append(shown.Dataspaces, countJSON[string]{Value: id.String(), Name: found.Names[id], Count: d.N})
	}
	return shown
}

func counted[T any](counts []index.Count[T]) []countJSON[T] {
	shown := make([]countJSON[T], len(counts))
	for i, c := range counts {
		shown[i] = countJSON[T]{Value: c.Value, Count: c.N}
	}
	return shown
}

// indexJSON is how far the index of the search is.
type indexJSON struct {
	State     string `json:"state"`   // current, behind, building or failing
	Entries   uint64 `json:"entries"` // of the audit log that it has followed
	Behind    uint64 `json:"behind"`  // entries that it has not
	Texts     string `json:"texts"`   // current or behind
	Schemas   string `json:"schemas"` // current or behind
	Documents int    `json:"documents"`
	Bytes     int    `json:"bytes"`
	Failure   string `json:"failure,omitempty"`
}

func (a *api) getIndex(w http.ResponseWriter, r *request) error {
	s, err := a.repo.IndexStatus(r.Context(), r.caller)
	if err != nil {
		return err
	}
	shown := indexJSON{State: "current", Entries: s.Entries, Behind: s.Behind, Texts: "current", Schemas: "current", Documents: s.Documents, Bytes: s.Bytes}
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
	writeJSON(w, http.StatusOK, shown)
	return nil
}

func (a *api) rebuildIndex(w http.ResponseWriter, r *request) error {
	if err := a.repo.RebuildIndex(r.Context(), r.caller); err != nil {
		return err
	}
	return a.getIndex(w, r)
}
