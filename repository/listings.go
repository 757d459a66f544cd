package repository

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"

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

// lister lists one kind of object: it says where a query's items come from and where each one is in
// the order.
type lister[T any] struct {
	items    func(tx *metadata.Tx, p auth.Principal, q paging.Query) (iter.Seq2[T, error], error)
	position func(T) paging.Position
	bytes    func(T) int // of the texts of an item; nil: they are short
}

// collect returns the items of one page.
func (l *lister[T]) collect(items iter.Seq2[T, error], limit int) (page []T, err error) {
	bytes := 0
	for item, err := range items {
		if err != nil {
			return nil, err
		}
		page = append(page, item)
		if l.bytes != nil {
			bytes += l.bytes(item)
		}
		if len(page) >= limit || bytes >= MaxPageBytes {
			break
		}
	}
	return page, nil
}

// list reads one page of a small listing. Both the first request of a listing and those for its
// later pages are answered here.
func list[T any](ctx context.Context, s *Service, p auth.Principal, listing paging.Listing, req ListRequest, l lister[T]) (page Page[T], err error) {
	err = s.readDurable(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		q, err := s.query(tx, p, listing, req)
		if err != nil {
			return err
		}
		items, err := l.items(tx, p, q)
		if err != nil {
			return err
		}
		if page.Items, err = l.collect(items, q.Limit); err != nil || len(page.Items) == 0 {
			return err
		}
		page.PageEnds, err = s.ends(q, l.position(page.Items[len(page.Items)-1]))
		return err
	})
	return page, err
}

// ends makes the tokens of the page that a query asked for and that ends with last.
func (s *Service) ends(q paging.Query, last paging.Position) (ends PageEnds, err error) {
	if ends.Current, err = s.tokens.Encode(q); err != nil {
		return ends, err
	}
	q.After = last
	ends.Next, err = s.tokens.Encode(q)
	return ends, err
}

// ListResources lists resources: of the whole service, of a dataspace or of a set. It hands each
// one to add, in order, and keeps none itself. A resource is borrowed: neither it nor its texts are
// valid once add has returned. Add runs inside the transaction; what it got means nothing where an
// error is returned. Where the request asks for folders it hands their paths to folder, likewise:
// those in which there are files in a state that is asked for, and with active files also those
// that were made by themselves.
func (s *Service) ListResources(ctx context.Context, p auth.Principal, listing paging.Listing, req ListRequest, add func(*metadata.Resource), folder func(path string)) (ends PageEnds, err error) {
	err = s.readDurable(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		q, err := s.query(tx, p, listing, req)
		if err != nil || q.Until.Set && q.Until.At == 0 {
			return err
		}
		within, err := resourceRange(tx, p, &q)
		if err != nil {
			return err
		}
		items, bytes, last := 0, 0, position{byName: q.Order.ByNames()}
		s.prefetchPage(tx, within, q)
		damaged := s.stores.Damaged(tx)
		var failed error
		file := func(r *metadata.Resource) (more bool) {
			if r.Damaged = damaged(r); p.Anonymous {
				r.Passage = metadata.Passage{}
			}
			if q.Descriptive {
				failed = rows.Described(tx, r.ID, &r.Descriptive)
			}
			add(r)
			last.at(r)
			items++
			bytes += len(r.Name) + len(r.Description) + len(r.Descriptive)
			return items < q.Limit && bytes < MaxPageBytes && failed == nil
		}
		if q.Folders {
			err = tx.Resources.Children(within, file, func(path string) (more bool) {
				folder(path)
				last.behind(path)
				items++
				return items < q.Limit
			})
		} else {
			err = tx.Resources.Page(within, file)
		}
		if err = cmp.Or(err, failed); err != nil || items == 0 {
			return err
		}
		ends, err = s.ends(q, last.position())
		return err
	})
	return ends, err
}

// prefetchPage fetches what a page reads, where that is faster than one after the other.
func (s *Service) prefetchPage(tx *metadata.Tx, within metadata.ResourceRange, q paging.Query) {
	costly := false // to read one after the other
	tx.Prefetch(func() {
		costly = true
		s.stores.Damaged(tx)
		if !q.Folders {
			_ = tx.Resources.Page(within, func(*metadata.Resource) bool { return false })
		}
	})
	if !costly || !q.Descriptive || q.Folders {
		return
	}
	ids := make([]metadata.ID, 0, q.Limit)
	_ = tx.Resources.Page(within, func(r *metadata.Resource) bool { // an error of it comes again
		ids = append(ids, r.ID)
		return len(ids) < q.Limit
	})
	tx.Prefetch(func() {
		for _, id := range ids {
			_, _ = tx.Descriptive.Get(id)
		}
		_ = tx.Resources.Page(within, func(*metadata.Resource) bool { return false }) // what was fetched of it has been read
	})
}

// position remembers where in its order a borrowed resource is, or a folder.
type position struct {
	byName bool
	stamp  metadata.Stamp
	id     metadata.ID
	name   []byte
}

func (p *position) at(r *metadata.Resource) {
	p.stamp, p.id = r.Modified, r.ID
	if p.byName {
		p.name = append(p.name[:0], r.Name...)
	}
}

func (p *position) behind(folder string) {
	p.stamp, p.id, p.name = 0, metadata.ID{}, append(p.name[:0], folder...)
}

func (p *position) position() paging.Position {
	if p.byName {
		return paging.Position{Name: string(p.name), ID: p.id}
	}
	return paging.Position{Stamp: int64(p.stamp), ID: p.id}
}

// resourceRange returns the range of the resources that a query requests. It changes names in the
// query to the form in which they exist, so that the pages that follow have it, too.
func resourceRange(tx *metadata.Tx, p auth.Principal, q *paging.Query) (within metadata.ResourceRange, err error) {
	within = metadata.ResourceRange{
		Set: q.Set, States: q.States, Order: q.Order, Since: metadata.Stamp(q.Since.At), Until: metadata.Stamp(q.Until.At),
		Name: q.Name, NamePrefix: q.NamePrefix, After: q.After,
	}
	switch {
	case q.Listing == paging.SetResources:
		within.Set = q.Parent
	case q.Listing == paging.DataspaceResources:
		within.Dataspaces = []metadata.ID{q.Parent}
	case q.Dataspace != metadata.ID{}:
		within.Dataspaces = []metadata.ID{q.Dataspace}
	case q.Set == metadata.ID{}:
		within.Dataspaces, err = readable(tx, p, metadata.ID{})
	}
	if err == nil {
		err = inStoredForm(tx, &within, q.Folders)
		q.Name, q.NamePrefix = within.Name, within.NamePrefix
	}
	return within, err
}

// ListSets lists sets, by id: of the whole service or of a dataspace.
func (s *Service) ListSets(ctx context.Context, p auth.Principal, listing paging.Listing, req ListRequest) (Page[metadata.Set], error) {
	return list(ctx, s, p, listing, req, lister[metadata.Set]{
		items: func(tx *metadata.Tx, p auth.Principal, q paging.Query) (iter.Seq2[metadata.Set, error], error) {
			var within []metadata.ID
			var err error
			switch {
			case q.Listing == paging.DataspaceSets:
				within = []metadata.ID{q.Parent}
			case q.Dataspace != metadata.ID{}:
				within = []metadata.ID{q.Dataspace}
			default:
				within, err = readable(tx, p, metadata.ID{})
			}
			return withDescriptive(tx, q, listedSets(tx, within, q), func(set *metadata.Set) (metadata.ID, *string) { return set.ID, &set.Descriptive }), err
		},
		position: func(set metadata.Set) paging.Position { return paging.Position{ID: set.ID} },
		bytes:    func(set metadata.Set) int { return len(set.Description) + len(set.Descriptive) },
	})
}

// ListDataspaces lists the dataspaces that the caller may read, by id.
func (s *Service) ListDataspaces(ctx context.Context, p auth.Principal, req ListRequest) (Page[metadata.Dataspace], error) {
	return list(ctx, s, p, paging.Dataspaces, req, lister[metadata.Dataspace]{
		items: func(tx *metadata.Tx, p auth.Principal, q paging.Query) (iter.Seq2[metadata.Dataspace, error], error) {
			all, err := listedDataspaces(tx, p, q)
			if err != nil {
				return nil, err
			}
			matching := filter(all, func(d metadata.Dataspace) bool {
				return hasState(q.States, d.Record) && (q.Visibility == "" || d.Visibility.String() == q.Visibility) &&
					(q.Origin == nil || d.Origin == *q.Origin)
			})
			return withDescriptive(tx, q, matching, func(d *metadata.Dataspace) (metadata.ID, *string) { return d.ID, &d.Descriptive }), nil
		},
		position: func(d metadata.Dataspace) paging.Position { return paging.Position{ID: d.ID} },
		bytes:    func(d metadata.Dataspace) int { return len(d.Description) + len(d.Descriptive) },
	})
}

// ListUsers lists users, by id.
func (s *Service) ListUsers(ctx context.Context, p auth.Principal, req ListRequest) (Page[metadata.User], error) {
	return list(ctx, s, p, paging.Users, req, lister[metadata.User]{
		items: func(tx *metadata.Tx, _ auth.Principal, q paging.Query) (iter.Seq2[metadata.User, error], error) {
			return filter(tx.Users.All(q.After.ID), func(u metadata.User) bool { return hasState(q.States, u.Record) }), nil
		},
		position: func(u metadata.User) paging.Position { return paging.Position{ID: u.ID} },
	})
}

// ListKeys lists the keys of a user, by id.
func (s *Service) ListKeys(ctx context.Context, p auth.Principal, req ListRequest) (Page[metadata.Key], error) {
	return list(ctx, s, p, paging.UserKeys, req, lister[metadata.Key]{
		items: func(tx *metadata.Tx, _ auth.Principal, q paging.Query) (iter.Seq2[metadata.Key, error], error) {
			return tx.Keys.OfUser(q.Parent, q.After.ID), nil
		},
		position: func(k metadata.Key) paging.Position { return paging.Position{ID: k.ID} },
	})
}

// ListPrivileges lists, by id, the caller's privileges and those of the dataspaces in which the
// caller has a role.
func (s *Service) ListPrivileges(ctx context.Context, p auth.Principal, req ListRequest) (Page[metadata.Privilege], error) {
	return list(ctx, s, p, paging.Privileges, req, lister[metadata.Privilege]{
		items: func(tx *metadata.Tx, p auth.Principal, q paging.Query) (iter.Seq2[metadata.Privilege, error], error) {
			all := tx.Privileges.All(q.After.ID)
			if !p.Sysadmin {
				visible, err := visiblePrivileges(tx, p, q.After.ID)
				if err != nil {
					return nil, err
				}
				all = each(visible, tx.Privileges.Get)
			}
			return filter(all, func(v metadata.Privilege) bool {
				return hasState(q.States, v.Record) && (q.User == metadata.ID{} || v.UserID == q.User) &&
					(q.Dataspace == metadata.ID{} || v.DataspaceID == q.Dataspace)
			}), nil
		},
		position: func(v metadata.Privilege) paging.Position { return paging.Position{ID: v.ID} },
	})
}

// visiblePrivileges returns the ids, ascending, from those greater than after.
func visiblePrivileges(tx *metadata.Tx, p auth.Principal, after metadata.ID) ([]metadata.ID, error) {
	ids := map[metadata.ID]bool{}
	for own, err := range tx.Privileges.OfUser(p.UserID, metadata.ID{}) {
		if err != nil {
			return nil, err
		}
		ids[own.ID] = true
		if own.State != metadata.Active {
			continue
		}
		for other, err := range tx.Privileges.OfDataspace(own.DataspaceID) {
			if err != nil {
				return nil, err
			}
			ids[other.ID] = true
		}
	}
	maps.DeleteFunc(ids, func(id metadata.ID, _ bool) bool { return id.Compare(after) <= 0 })
	return slices.SortedFunc(maps.Keys(ids), metadata.ID.Compare), nil
}

// pageSize is how many objects a page has unless the request says it.
func (s *Service) pageSize(listing paging.Listing) int {
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

// hasState tells whether the record is in one of the states; both count the same bits.
func hasState(states paging.States, r metadata.Record) bool {
	return states&paging.States(r.State) != 0
}

// filter yields the items that pass.
func filter[T any](items iter.Seq2[T, error], pass func(T) bool) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for item, err := range items {
			if (err != nil || pass(item)) && !yield(item, err) {
				return
			}
		}
	}
}

// withDescriptive yields the items with their descriptive metadata, if the query asks for them. of
// returns where those of an item belong.
func withDescriptive[T any](tx *metadata.Tx, q paging.Query, items iter.Seq2[T, error], of func(*T) (metadata.ID, *string)) iter.Seq2[T, error] {
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

// each yields the objects with these ids.
func each[T any](ids []metadata.ID, get func(metadata.ID) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, id := range ids {
			if item, err := get(id); !yield(item, err) || err != nil {
				return
			}
		}
	}
}
