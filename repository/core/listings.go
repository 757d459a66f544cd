package core

import (
	"context"
	"errors"
	"iter"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/internal/rows"
)

// ListRequest is what a request says about the page that it wants. Either Params or Token counts: a
// token holds all that the parameters of its listing said.
type ListRequest struct {
	Container string              // the id in the path of the listing, if it has one
	Params    map[string][]string // query parameters
	Token     string
}

// PageEnds are tokens: of a page, and of the one after its last item. A page without items has
// none; it is the end of the listing, for now.
type PageEnds struct{ Current, Next string }

// Page is one page of a listing.
type Page[T any] struct {
	Items []T
	PageEnds
}

// MaxPageBytes is how many bytes of texts a page has: with the item that reaches it the page
// ends, whatever limit says. Usual pages are far below: 1,000 resources without metadata have
// some 200 kB. With metadata of up to 64 KiB each, a page of 1,000 would take 60 MB for as long
// as its client reads.
const MaxPageBytes = 2 << 20

// Lister lists one kind of object: it says where a query's items come from and where each one is in
// the order.
type Lister[T any] struct {
	Items    func(tx *metadata.Tx, p auth.Principal, q paging.Query) (iter.Seq2[T, error], error)
	Position func(T) paging.Position
	Bytes    func(T) int // of the texts of an item; nil: they are short
}

// collect returns the items of one page.
func (l *Lister[T]) collect(items iter.Seq2[T, error], limit int) (page []T, err error) {
	bytes := 0
	for item, err := range items {
		if err != nil {
			return nil, err
		}
		page = append(page, item)
		if l.Bytes != nil {
			bytes += l.Bytes(item)
		}
		if len(page) >= limit || bytes >= MaxPageBytes {
			break
		}
	}
	return page, nil
}

// List reads one page of a small listing. Both the first request of a listing and those for its
// later pages are answered here.
func List[T any](ctx context.Context, s *Core, p auth.Principal, listing paging.Listing, req ListRequest, l Lister[T]) (page Page[T], err error) {
	err = s.ReadDurable(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		q, err := s.Query(tx, p, listing, req)
		if err != nil {
			return err
		}
		items, err := l.Items(tx, p, q)
		if err != nil {
			return err
		}
		if page.Items, err = l.collect(items, q.Limit); err != nil || len(page.Items) == 0 {
			return err
		}
		page.PageEnds, err = s.Ends(q, l.Position(page.Items[len(page.Items)-1]))
		return err
	})
	return page, err
}

// Ends makes the tokens of the page that a query asked for and that ends with last.
func (s *Core) Ends(q paging.Query, last paging.Position) (ends PageEnds, err error) {
	if ends.Current, err = s.tokens.Encode(q); err != nil {
		return ends, err
	}
	q.After = last
	ends.Next, err = s.tokens.Encode(q)
	return ends, err
}

// pageSize is how many objects a page has unless the request says it.
func (s *Core) pageSize(listing paging.Listing) int {
	switch listing {
	case paging.Dataspaces, paging.Users, paging.Privileges:
		return s.config.DirectoryPageSize
	}
	return s.config.PageSize
}

func parameterError(err error) error {
	var bad *paging.Error
	if errors.As(err, &bad) {
		return &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidParameter, Field: bad.Field, Message: bad.Message}
	}
	return err
}

// HasState reports whether the record is in one of the states. Both use the same bits.
func HasState(states paging.States, r metadata.Record) bool {
	return states&paging.States(r.State) != 0
}

// Filter yields the items that pass.
func Filter[T any](items iter.Seq2[T, error], pass func(T) bool) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for item, err := range items {
			if (err != nil || pass(item)) && !yield(item, err) {
				return
			}
		}
	}
}

// WithDescriptive yields the items with their descriptive metadata, if the query asks for them. of
// returns where those of an item belong.
func WithDescriptive[T any](tx *metadata.Tx, q paging.Query, items iter.Seq2[T, error], of func(*T) (metadata.ID, *string)) iter.Seq2[T, error] {
	if !q.Descriptive {
		return items
	}
	return func(yield func(T, error) bool) {
		for item, err := range items {
			if err == nil {
				id, into := of(&item)
				err = rows.Described(tx, id, into)
			}
			if !yield(item, err) || err != nil {
				return
			}
		}
	}
}

// Each yields the objects with these ids.
func Each[T any](ids []metadata.ID, get func(metadata.ID) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, id := range ids {
			if item, err := get(id); !yield(item, err) || err != nil {
				return
			}
		}
	}
}
