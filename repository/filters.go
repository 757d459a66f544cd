package repository

import (
	"errors"
	"iter"
	"slices"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/paging"
)

// query finds what the request names, authorises the caller, then reads the rest of the request.
func (s *Service) query(tx *metadata.Tx, p auth.Principal, listing paging.Listing, req ListRequest) (q paging.Query, err error) {
	if p.Anonymous && !openListings[listing] {
		return q, unauthenticated()
	}
	q.Listing = listing
	switch listing {
	case paging.DataspaceSets, paging.DataspaceResources, paging.DataspaceHistory:
		q.Parent, err = readableDataspace(tx, p, req.Container)
	case paging.SetResources, paging.SetHistory:
		q.Parent, err = readableSet(tx, p, req.Container)
	case paging.ResourceVersions, paging.ResourceHistory:
		var resolved resolvedResource
		resolved, err = readableResource(tx, p, req.Container)
		q.Parent = resolved.ID
	case paging.UserKeys:
		var u metadata.User
		if u, err = lookupUser(tx, myself(p, req.Container), ""); err == nil {
			q.Parent, err = u.ID, oneself(p, u.ID)
		}
	}
	if err != nil {
		return q, err
	}
	if req.Token == "" {
		if q, err = resolve(tx, p, q, req.given); err != nil {
			return q, err
		}
		q, err = paging.Parse(q, req.Params, s.pageSize(listing))
		return q, parameterError(err)
	}
	for name := range req.Params {
		return q, &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidParameter, Field: Shorten(name),
			Message: "the address of a page takes no parameters; it has those of its listing"}
	}
	if q, err = s.tokens.Decode(listing, q.Parent, req.Token); err != nil {
		return q, &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidToken, Message: "this page address is not one that this listing has given out", Err: err}
	}
	named := map[string]metadata.ID{"dataspaceId": q.Dataspace, "setId": q.Set, "userId": q.User}
	return resolve(tx, p, q, func(name string) (string, bool, error) {
		return named[name].String(), named[name] != metadata.ID{}, nil
	})
}

func (req ListRequest) given(name string) (string, bool, error) {
	value, present, err := paging.IDParam(req.Params, name)
	return value, present, parameterError(err)
}

// resolve finds the objects that a query names to filter by, then checks that the caller may read
// them: what does not exist, or is not where the query looks for it, is told to every caller alike.
// given returns the id of a parameter.
func resolve(tx *metadata.Tx, p auth.Principal, q paging.Query, given func(name string) (string, bool, error)) (paging.Query, error) {
	accepted := paging.Accepted(q.Listing)
	var within []metadata.Dataspace // that the caller must be able to read
	for _, name := range []string{"dataspaceId", "setId", "userId"} {
		if !slices.Contains(accepted, name) {
			continue
		}
		id, present, err := given(name)
		if err != nil {
			return q, err
		}
		if !present {
			continue
		}
		switch name {
		case "dataspaceId":
			var d metadata.Dataspace
			d, err = lookupDataspace(tx, id, name)
			if q.Dataspace = d.ID; q.Listing != paging.Privileges {
				within = append(within, d)
			}
		case "setId":
			var resolved resolvedSet
			resolved, err = lookupSet(tx, id, name)
			q.Set, within = resolved.ID, append(within, resolved.dataspace)
			if err == nil && q.Dataspace != (metadata.ID{}) && resolved.DataspaceID != q.Dataspace {
				err = &errs.Error{Kind: errs.NotFound, Code: errs.CodeSetNotFound, Field: name, Message: "there is no set with this id in that dataspace"}
			}
		case "userId":
			var u metadata.User
			u, err = lookupUser(tx, myself(p, id), name)
			q.User = u.ID
		}
		if err != nil {
			return q, err
		}
	}
	for _, d := range within {
		if err := authorise(tx, p, d, auth.Read); err != nil {
			return q, err
		}
	}
	return q, nil
}

// readableDataspace returns the id of a dataspace that the caller may read.
func readableDataspace(tx *metadata.Tx, p auth.Principal, id string) (metadata.ID, error) {
	d, err := lookupDataspace(tx, id, "")
	if err != nil {
		return metadata.ID{}, err
	}
	return d.ID, authorise(tx, p, d, auth.Read)
}

func readableSet(tx *metadata.Tx, p auth.Principal, id string) (metadata.ID, error) {
	resolved, err := lookupSet(tx, id, "")
	if err != nil {
		return metadata.ID{}, err
	}
	return resolved.ID, authorise(tx, p, resolved.dataspace, auth.Read)
}

// listedDataspaces yields those that the caller may read, by id, and of them only the one that the
// query names.
func listedDataspaces(tx *metadata.Tx, p auth.Principal, q paging.Query) (iter.Seq2[metadata.Dataspace, error], error) {
	one := named(tx.Dataspaces.ByName, tx.Dataspaces.Get, q.Name, q.After.ID)
	switch {
	case p.Sysadmin && q.Name != nil:
		return one, nil
	case p.Sysadmin:
		return tx.Dataspaces.All(q.After.ID), nil
	}
	ids, err := readable(tx, p, q.After.ID)
	if q.Name != nil {
		return filter(one, func(d metadata.Dataspace) bool { return slices.Contains(ids, d.ID) }), err
	}
	return each(ids, tx.Dataspaces.Get), err
}

// listedSets yields those of some dataspaces (nil: of all), by id, and of them only the one that
// the query names.
func listedSets(tx *metadata.Tx, dataspaces []metadata.ID, q paging.Query) iter.Seq2[metadata.Set, error] {
	if q.Name == nil {
		return tx.Sets.Range(metadata.SetRange{Dataspaces: dataspaces, States: q.States, After: q.After.ID})
	}
	return filter(named(tx.Sets.ByName, tx.Sets.Get, q.Name, q.After.ID), func(set metadata.Set) bool {
		return hasState(q.States, set.Record) && (dataspaces == nil || slices.Contains(dataspaces, set.DataspaceID))
	})
}

// named yields the object that has a name, of which there is at most one, if its id is greater than
// after.
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
