package containers

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"

	"labshelf/auth"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/core"
)

// OpenDataspaces passes each active open dataspace to add, ordered by id, until add returns false.
// It returns an error if anonymous readers are not allowed. add runs in a transaction and must
// return quickly.
func (s *Dataspaces) OpenDataspaces(ctx context.Context, add func(metadata.Dataspace) bool) error {
	return s.core.ReadDurable(ctx, auth.Principal{Anonymous: true}, func(tx *metadata.Tx, p auth.Principal) error {
		for id, err := range tx.Dataspaces.Public(metadata.ID{}) {
			if err = errors.Join(err, ctx.Err()); err != nil {
				return err
			}
			d, err := tx.Dataspaces.Get(id)
			if err != nil {
				return err
			}
			if d.Visibility == metadata.Open && d.State == metadata.Active && !add(d) {
				return nil
			}
		}
		return nil
	})
}

// ListedDataspaces yields the dataspaces that the caller may read, ordered by id. If the query has
// a name, it yields only the dataspace with that name.
func ListedDataspaces(tx *metadata.Tx, p auth.Principal, q paging.Query) (iter.Seq2[metadata.Dataspace, error], error) {
	one := named(tx.Dataspaces.ByName, tx.Dataspaces.Get, q.Name, q.After.ID)
	ids, err := core.Readable(tx, core.Passing(p), q.After.ID)
	switch all := ids == nil; {
	case err != nil:
		return nil, err
	case all && q.Name != nil:
		return one, nil
	case all:
		return tx.Dataspaces.All(q.After.ID), nil
	case q.Name != nil:
		return core.Filter(one, func(d metadata.Dataspace) bool { return slices.Contains(ids, d.ID) }), nil
	}
	return core.Each(ids, tx.Dataspaces.Get), nil
}

// listedSets yields the sets of some dataspaces, or of all if dataspaces is nil, ordered by id. If
// the query has a name, it yields only the set with that name.
func listedSets(tx *metadata.Tx, dataspaces []metadata.ID, q paging.Query) iter.Seq2[metadata.Set, error] {
	if q.Name == nil {
		return tx.Sets.Range(metadata.SetRange{Dataspaces: dataspaces, States: q.States, After: q.After.ID})
	}
	return core.Filter(named(tx.Sets.ByName, tx.Sets.Get, q.Name, q.After.ID), func(set metadata.Set) bool {
		return core.HasState(q.States, set.Record) && (dataspaces == nil || slices.Contains(dataspaces, set.DataspaceID))
	})
}

// named yields the object with a unique name, if it exists and its id is greater than the given
// one.
func named[T any](find func(name string) (metadata.ID, error), get func(metadata.ID) (T, error), name *string, after metadata.ID) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		id, err := find(*name)
		if errors.Is(err, metadata.ErrNotFound) || err == nil && id.Compare(after) <= 0 {
			return
		}
		var object T
		if err == nil {
			object, err = get(id)
		}
		yield(object, err)
	}
}

// List lists the sets of the whole service or of a dataspace, ordered by id.
func (s *Sets) List(ctx context.Context, p auth.Principal, listing paging.Listing, req core.ListRequest) (core.Page[metadata.Set], error) {
	return core.List(ctx, s.core, p, listing, req, core.Lister[metadata.Set]{
		Items: func(tx *metadata.Tx, p auth.Principal, q paging.Query) (iter.Seq2[metadata.Set, error], error) {
			var within []metadata.ID
			var err error
			switch {
			case q.Listing == paging.DataspaceSets:
				within = []metadata.ID{q.Parent}
			case q.Dataspace != metadata.ID{}:
				within = []metadata.ID{q.Dataspace}
			default:
				within, err = core.Readable(tx, core.Passing(p), metadata.ID{})
			}
			listed := core.Filter(listedSets(tx, within, q), func(set metadata.Set) bool { return p.Limits.Permits(set.DataspaceID, set.ID, auth.Read) })
			return core.WithDescriptive(tx, q, listed, func(set *metadata.Set) (metadata.ID, *string) { return set.ID, &set.Descriptive }), err
		},
		Position: func(set metadata.Set) paging.Position { return paging.Position{ID: set.ID} },
		Bytes:    func(set metadata.Set) int { return len(set.Description) + len(set.Descriptive) },
	})
}

// List lists the dataspaces that the caller may read, ordered by id.
func (s *Dataspaces) List(ctx context.Context, p auth.Principal, req core.ListRequest) (core.Page[metadata.Dataspace], error) {
	return core.List(ctx, s.core, p, paging.Dataspaces, req, core.Lister[metadata.Dataspace]{
		Items: func(tx *metadata.Tx, p auth.Principal, q paging.Query) (iter.Seq2[metadata.Dataspace, error], error) {
			all, err := ListedDataspaces(tx, p, q)
			if err != nil {
				return nil, err
			}
			matching := core.Filter(all, func(d metadata.Dataspace) bool {
				return core.HasState(q.States, d.Record) && (q.Visibility == "" || d.Visibility.String() == q.Visibility) &&
					(q.Origin == nil || d.Origin == *q.Origin)
			})
			return core.WithDescriptive(tx, q, matching, func(d *metadata.Dataspace) (metadata.ID, *string) { return d.ID, &d.Descriptive }), nil
		},
		Position: func(d metadata.Dataspace) paging.Position { return paging.Position{ID: d.ID} },
		Bytes:    func(d metadata.Dataspace) int { return len(d.Description) + len(d.Descriptive) },
	})
}

// List lists users, ordered by id.
func (s *Users) List(ctx context.Context, p auth.Principal, req core.ListRequest) (core.Page[metadata.User], error) {
	return core.List(ctx, s.core, p, paging.Users, req, core.Lister[metadata.User]{
		Items: func(tx *metadata.Tx, _ auth.Principal, q paging.Query) (iter.Seq2[metadata.User, error], error) {
			return core.Filter(tx.Users.All(q.After.ID), func(u metadata.User) bool { return core.HasState(q.States, u.Record) }), nil
		},
		Position: func(u metadata.User) paging.Position { return paging.Position{ID: u.ID} },
	})
}

// ListKeys lists the keys of a user, ordered by id.
func (s *Users) ListKeys(ctx context.Context, p auth.Principal, req core.ListRequest) (core.Page[metadata.Key], error) {
	return core.List(ctx, s.core, p, paging.UserKeys, req, core.Lister[metadata.Key]{
		Items: func(tx *metadata.Tx, _ auth.Principal, q paging.Query) (iter.Seq2[metadata.Key, error], error) {
			return tx.Keys.OfUser(q.Parent, q.After.ID), nil
		},
		Position: func(k metadata.Key) paging.Position { return paging.Position{ID: k.ID} },
	})
}

// ListPrivileges lists the caller's own privileges, and all privileges of the dataspaces in which
// the caller has a role, ordered by id.
func (s *Users) ListPrivileges(ctx context.Context, p auth.Principal, req core.ListRequest) (core.Page[metadata.Privilege], error) {
	return core.List(ctx, s.core, p, paging.Privileges, req, core.Lister[metadata.Privilege]{
		Items: func(tx *metadata.Tx, p auth.Principal, q paging.Query) (iter.Seq2[metadata.Privilege, error], error) {
			all := tx.Privileges.All(q.After.ID)
			if !p.Sysadmin {
				visible, err := visiblePrivileges(tx, p, q.After.ID)
				if err != nil {
					return nil, err
				}
				all = core.Each(visible, tx.Privileges.Get)
			}
			return core.Filter(all, func(v metadata.Privilege) bool {
				return core.HasState(q.States, v.Record) && (q.User == metadata.ID{} || v.UserID == q.User) &&
					(q.Dataspace == metadata.ID{} || v.DataspaceID == q.Dataspace)
			}), nil
		},
		Position: func(v metadata.Privilege) paging.Position { return paging.Position{ID: v.ID} },
	})
}

// visiblePrivileges returns the ids of the privileges that the caller may see, ascending, without
// ids up to the given one.
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
