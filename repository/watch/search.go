package watch

import (
	"context"
	"errors"
	"slices"
	"strings"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/core"
	"labshelf/repository/indexing"
	"labshelf/repository/internal/conformance"
	"labshelf/repository/internal/rows"
	"labshelf/repository/internal/storage"
	"labshelf/search"
	"labshelf/search/index"
	"labshelf/search/query"
)

// Index finds objects with an index. It is safe for concurrent use.
type Index struct {
	core     *core.Core
	indexing *indexing.Indexing
}

// StartIndex returns the search of a repository. Its index is in the folder dir; if dir is "",
// search is disabled. The caller must close the Index before the Core.
func StartIndex(core *core.Core, schemas *conformance.Schemas, dir string) *Index {
	return &Index{core: core, indexing: indexing.Start(core.Stores, schemas, dir)}
}

// Grown must be called when a commit has added to the audit log.
func (s *Index) Grown() { s.indexing.Grown() }

// Close stops the background work.
func (s *Index) Close() { s.indexing.Close() }

// Hit is an object that a search has found, in its present state.
type Hit struct {
	Kind      search.Kind
	Matched   []string // the matching parts, as indexing.Matched names them
	Dataspace metadata.Dataspace
	Set       metadata.Set
	Resource  metadata.Resource
}

// Found is one page of a search.
type Found struct {
	core.Page[Hit]
	Counted bool // the query asked for counts: only then the fields below are set
	Total   int  // hits on all pages
	Counts  index.Counts
	Names   map[metadata.ID]string // of the dataspaces in Counts
	Behind  uint64                 // number of changes that the index has not followed yet
}

// Search finds dataspaces, sets and resources that the caller may read. Hits and counts reveal
// nothing about other objects: the transaction that reads the hits also determines the dataspaces
// that the index may search. Search returns CodeUnavailable if there is no index or it cannot be
// opened.
func (s *Index) Search(ctx context.Context, p auth.Principal, req core.ListRequest) (found Found, err error) {
	err = s.core.ViewDurable(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		found = Found{}
		q, err := s.core.Query(tx, p, paging.Search, req)
		if err != nil {
			return err
		}
		wanted, err := request(tx, p, q)
		if err != nil {
			return err
		}
		log, err := tx.Audit.State()
		if err != nil {
			return err
		}
		status := s.indexing.Status(log.Size)
		if found.Behind = status.Behind; status.Schemas { // the results of validation are still missing for some objects
			found.Behind = max(found.Behind, 1)
		}
		return s.find(ctx, tx, q, wanted, &found)
	})
	return found, err
}

// maxCounts is the maximum number of values counted for each kind, the most frequent first.
const maxCounts = 20

// request converts a query to a request for the index.
func request(tx *metadata.Tx, p auth.Principal, q paging.Query) (r index.Request, err error) {
	parsed, err := query.Parse(q.Text)
	if err != nil {
		return r, invalidQuery(err.Error())
	}
	readableBy, err := core.Readable(tx, core.Passing(p), metadata.ID{}) // a clause excludes other sets
	if err != nil {
		return r, err
	}
	r = index.Request{Limit: q.Limit, Order: orders[q.Order], All: readableBy == nil}
	if q.Counts && q.After == (paging.Position{}) {
		r.Counts = maxCounts
	}
	if q.After != (paging.Position{}) {
		r.After = &index.Position{Score: int(q.After.Score), Stamp: uint64(q.After.Stamp), Name: q.After.Name, ID: q.After.ID}
	}
	for _, id := range readableBy {
		r.Dataspaces = append(r.Dataspaces, id)
	}
	if len(r.Dataspaces) == 0 && !r.All {
		return r, nil // the search reads nothing
	}
	r.Query, err = parsed.Resolve(func(path string) ([][16]byte, error) { return within(tx, path) })
	if err != nil {
		return r, err
	}
	going, err := beingDeleted(tx)
	r.Query.Clauses = append(r.Query.Clauses, going...)
	if set := p.Limits.Set; set != (metadata.ID{}) {
		r.Query.Clauses = append(r.Query.Clauses, query.Clause{Field: query.In, Within: [][16]byte{set}})
	}
	return r, err
}

func invalidQuery(rule string) error {
	return &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidParameter, Field: "q", Message: "q: " + rule}
}

// beingDeleted returns a clause that excludes everything in a container whose deletion is in
// progress. Such objects are no longer shown, and must not be counted.
func beingDeleted(tx *metadata.Tx) (clauses []query.Clause, err error) {
	going := query.Clause{Field: query.In, Not: true}
	for cascade, err := range tx.Cascades.All(metadata.ID{}) {
		if err != nil {
			return nil, err
		}
		if !cascade.Restore {
			going.Within = append(going.Within, cascade.Container)
		}
	}
	if len(going.Within) > 0 {
		clauses = append(clauses, going)
	}
	return clauses, nil
}

// orders maps the orders of a listing to the orders of the index.
var orders = map[paging.Order]index.Order{
	paging.ByRelevance: index.ByRelevance, paging.Newest: index.Newest, paging.Oldest: index.Oldest, paging.ByName: index.ByName,
}

// within returns the container that "in:" names: a dataspace, a set, or a set in a dataspace. It
// does not check permissions, because a search covers only readable dataspaces. An unreadable
// container therefore behaves like a missing one.
func within(tx *metadata.Tx, path string) (ids [][16]byte, err error) {
	dataspace, set, nested := strings.Cut(path, "/")
	of, err := tx.Dataspaces.ByName(dataspace)
	switch {
	case errors.Is(err, metadata.ErrNotFound):
		return nil, nil
	case err != nil || !nested || set == "":
		return [][16]byte{of}, err
	}
	id, err := tx.Sets.ByName(set)
	if err == nil {
		var found metadata.Set
		if found, err = tx.Sets.Get(id); err == nil && found.DataspaceID == of {
			ids = append(ids, id)
		}
	}
	return ids, errs.Ignore(err, metadata.ErrNotFound)
}

// find reads hits until at least one of them still exists, or no more follow.
func (s *Index) find(ctx context.Context, tx *metadata.Tx, q paging.Query, wanted index.Request, found *Found) error {
	for {
		result, err := s.indexing.Search(ctx, wanted)
		if err != nil {
			return indexError(err)
		}
		reader := hitReader{s: s, tx: tx, wanted: wanted, described: q.Descriptive, documents: indexing.NewDocuments(tx, nil)}
		for i, hit := range result.Hits {
			if err := reader.read(hit, found); err != nil {
				return err
			}
			if reader.bytes >= core.MaxPageBytes {
				result.Hits = result.Hits[:i+1]
				break
			}
		}
		if wanted.Counts > 0 {
			wanted.Counts = 0
			if err := found.count(tx, result); err != nil {
				return err
			}
		}
		if len(result.Hits) == 0 {
			return nil
		}
		last := result.Hits[len(result.Hits)-1].Position
		if wanted.After = &last; len(found.Items) == 0 {
			continue
		}
		found.PageEnds, err = s.core.Ends(q, positionOf(q.Order, last))
		return err
	}
}

// positionOf returns the position of a hit, with only the fields that the order uses.
func positionOf(order paging.Order, at index.Position) paging.Position {
	position := paging.Position{ID: at.ID}
	switch order {
	case paging.ByName:
		position.Name = at.Name
	case paging.ByRelevance:
		position.Score, position.Stamp = uint32(at.Score), int64(at.Stamp)
	default:
		position.Stamp = int64(at.Stamp)
	}
	return position
}

// count copies the counts of a result, and reads the names of its dataspaces.
func (f *Found) count(tx *metadata.Tx, result index.Result) error {
	f.Counted, f.Total, f.Counts, f.Names = true, result.Total, result.Counts, map[metadata.ID]string{}
	for _, c := range result.Counts.Dataspaces {
		d, err := tx.Dataspaces.Get(c.Value)
		if errors.Is(err, metadata.ErrNotFound) {
			continue // the index is ahead of this transaction
		}
		if err != nil {
			return err
		}
		f.Names[d.ID] = d.Name
	}
	return nil
}

// hitReader reads the present state of the hits of one search.
type hitReader struct {
	s         *Index
	tx        *metadata.Tx
	wanted    index.Request
	described bool // include descriptive metadata
	documents indexing.Documents
	path      []string // names and titles of the containers of the current hit
	bytes     int      // of descriptive metadata so far
}

// read adds a hit unless it has been deleted or is no longer readable.
func (r *hitReader) read(hit index.Hit, found *Found) error {
	h := Hit{Kind: hit.Kind}
	r.path = r.path[:0]
	document, record, err := r.object(metadata.ID(hit.ID), &h)
	var refusal *errs.Error
	if errors.As(err, &refusal) && refusal.Kind == errs.NotFound {
		return nil
	}
	if err != nil || record.State != metadata.Active {
		return err
	}
	if _, ok := slices.BinarySearchFunc(r.wanted.Dataspaces, document.Dataspace, compareIDs); !ok && !r.wanted.All {
		return nil
	}
	h.Matched = indexing.Matched(r.wanted.Query, document, r.path...)
	found.Items = append(found.Items, h)
	return nil
}

// object reads an object into its hit. It returns its document and the record that is shown.
func (r *hitReader) object(id metadata.ID, h *Hit) (d search.Document, record metadata.Record, err error) {
	switch h.Kind {
	case search.Dataspace:
		if h.Dataspace, err = core.LookupDataspace(r.tx, id.String(), ""); err == nil {
			d, err = r.documents.Dataspace(h.Dataspace)
		}
		return d, h.Dataspace.Record, errors.Join(err, r.describe(id, &h.Dataspace.Descriptive))
	case search.Set:
		var set core.ResolvedSet
		if set, err = core.LookupSet(r.tx, id.String(), ""); err == nil {
			h.Set, r.path = set.Shown(), append(r.path, set.Dataspace.Name, set.Dataspace.Title)
			d, err = r.documents.Set(h.Set)
		}
		return d, h.Set.Record, errors.Join(err, r.describe(id, &h.Set.Descriptive))
	}
	resource, err := core.LookupResource(r.tx, id.String())
	if err == nil {
		in := resource.Set
		h.Resource, r.path = resource.Shown(), append(r.path, in.Dataspace.Name, in.Dataspace.Title, in.Name, in.Title)
		r.s.core.Stores.SetDamaged(r.tx, &h.Resource)
		d, err = r.documents.Resource(h.Resource)
	}
	return d, h.Resource.Record, errors.Join(err, r.describe(id, &h.Resource.Descriptive))
}

// describe reads the descriptive metadata of a hit if the request requests them.
func (r *hitReader) describe(id metadata.ID, into *string) error {
	if !r.described {
		return nil
	}
	err := rows.Described(r.tx, id, into)
	r.bytes += len(*into)
	return err
}

func compareIDs(a, b [16]byte) int { return slices.Compare(a[:], b[:]) }

// indexError converts an error of the index to an error for clients.
func indexError(err error) error {
	if errors.Is(err, index.ErrTooCostly) {
		return invalidQuery("too many words in too many files begin with the words of this query; search for longer or fewer words, or limit the search with in:")
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return storage.Error(err)
	}
	return &errs.Error{Kind: errs.Unavailable, Code: errs.CodeUnavailable, Message: "the search index cannot be read; try again in a moment", Err: err}
}

// Status returns how far the search index has come. Only sysadmins may call it.
func (s *Index) Status(ctx context.Context, p auth.Principal) (status indexing.Status, err error) {
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		if err := core.OnlySysadmin(p); err != nil {
			return err
		}
		log, err := tx.Audit.State()
		status = s.indexing.Status(log.Size)
		return err
	})
	return status, err
}

// Rebuild deletes the search index and rebuilds it in the background. Only sysadmins may call
// it.
func (s *Index) Rebuild(ctx context.Context, p auth.Principal) error {
	err := s.core.View(ctx, p, func(_ *metadata.Tx, p auth.Principal) error { return core.OnlySysadmin(p) })
	if err == nil {
		err = s.indexing.Rebuild()
	}
	return err
}

// Indexed waits until a search finds everything that is committed at the time of the call. It is
// for tests and measurements.
func (s *Index) Indexed(ctx context.Context) error {
	size, err := s.core.LogSize(ctx)
	if err != nil {
		return err
	}
	return s.indexing.Followed(ctx, size)
}
