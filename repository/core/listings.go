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

// ListRequest is a request for a page of a listing. It has either IDs and a Selection, or a Token,
// which contains them.
type ListRequest struct {
	Container string // id of the object to list, if any
	paging.IDs
	paging.Selection
	Token string
	Input
}

// PageEnds are the tokens of a page and of the next page. They are empty for a page without items,
// the present end of the listing.
type PageEnds struct{ Current, Next string }

// Page is one page of a listing.
type Page[T any] struct {
	Items []T
	PageEnds
}

// MaxPageBytes is the maximum size of the texts of a page. The item that reaches it is the last one
// of the page, regardless of the limit. Pages rarely reach it, but descriptive metadata of up to 64
// KiB for each item would otherwise make pages of many megabytes.
const MaxPageBytes = 2 << 20

// Lister lists one kind of object: it returns the items of a query, and the position of each in the
// order.
type Lister[T any] struct {
	Items    func(tx *metadata.Tx, p auth.Principal, q paging.Query) (iter.Seq2[T, error], error)
	Position func(T) paging.Position
	Bytes    func(T) int // bytes of the texts of an item; nil if they are short
}

// collect reads the items of one page.
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

// List reads the first or a later page of a listing.
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

// Ends returns the tokens of the page of a query, whose last item is at last.
func (s *Core) Ends(q paging.Query, last paging.Position) (ends PageEnds, err error) {
	if ends.Current, err = s.tokens.Encode(q); err != nil {
		return ends, err
	}
	q.After = last
	ends.Next, err = s.tokens.Encode(q)
	return ends, err
}

// pageSize returns the default page size of a listing.
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

// HasState reports whether the record is in one of the states. States and record states use the
// same bits.
func HasState(states paging.States, r metadata.Record) bool {
	return states&paging.States(r.State) != 0
}

// Filter yields the items for which pass returns true, and all errors.
func Filter[T any](items iter.Seq2[T, error], pass func(T) bool) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for item, err := range items {
			if (err != nil || pass(item)) && !yield(item, err) {
				return
			}
		}
	}
}

// WithDescriptive yields the items with their descriptive metadata, if the query requests them. of
// returns the id of an item and the field to set.
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

// Each yields the objects with the given ids.
func Each[T any](ids []metadata.ID, get func(metadata.ID) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, id := range ids {
			if item, err := get(id); !yield(item, err) || err != nil {
				return
			}
		}
	}
}
