package core

import (
	"slices"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/paging"
)

// openListings are the listings within one object. An anonymous reader may use them if it may read
// the object. Listings across the repository require a key: a harvester that has lost its key must
// not mistake the open part for everything.
var openListings = map[paging.Listing]bool{
	paging.DataspaceSets: true, paging.DataspaceResources: true, paging.SetResources: true, paging.ResourceVersions: true,
}

// Query looks up the container of a request, authorises the caller, and then parses the rest.
func (s *Core) Query(tx *metadata.Tx, p auth.Principal, listing paging.Listing, req ListRequest) (q paging.Query, err error) {
	if p.Anonymous && !openListings[listing] {
		return q, unauthenticated()
	}
	q.Listing = listing
	switch listing {
	case paging.DataspaceSets, paging.DataspaceResources, paging.DataspaceHistory:
		q.Parent, err = ReadableDataspace(tx, p, req.Container)
	case paging.SetResources, paging.SetHistory:
		q.Parent, err = readableSet(tx, p, req.Container)
	case paging.ResourceVersions, paging.ResourceHistory:
		var resolved ResolvedResource
		resolved, err = ReadableResource(tx, p, req.Container)
		q.Parent = resolved.ID
	case paging.UserKeys:
		var u metadata.User
		if u, err = LookupUser(tx, Myself(p, req.Container), ""); err == nil {
			q.Parent, err = u.ID, Oneself(p, u.ID)
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

// resolve looks up the objects that a query filters by, and then checks that the caller may read
// them. All callers get the same errors for objects that do not exist or are elsewhere. given
// returns the id in a parameter.
func resolve(tx *metadata.Tx, p auth.Principal, q paging.Query, given func(name string) (string, bool, error)) (paging.Query, error) {
	accepted := paging.Accepted(q.Listing)
	var within []metadata.Dataspace // the caller must be able to read these
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
			d, err = LookupDataspace(tx, id, name)
			if q.Dataspace = d.ID; q.Listing != paging.Privileges {
				within = append(within, d)
			}
		case "setId":
			var resolved ResolvedSet
			resolved, err = LookupSet(tx, id, name)
			q.Set, within = resolved.ID, append(within, resolved.Dataspace)
			if err == nil && q.Dataspace != (metadata.ID{}) && resolved.DataspaceID != q.Dataspace {
				err = &errs.Error{Kind: errs.NotFound, Code: errs.CodeSetNotFound, Field: name, Message: "there is no set with this id in that dataspace"}
			}
		case "userId":
			var u metadata.User
			u, err = LookupUser(tx, Myself(p, id), name)
			q.User = u.ID
		}
		if err != nil {
			return q, err
		}
	}
	for _, d := range within {
		if err := Authorise(tx, p, d, auth.Read); err != nil {
			return q, err
		}
	}
	return q, nil
}

// ReadableDataspace returns the id of a dataspace, or an error if the caller may not read it.
func ReadableDataspace(tx *metadata.Tx, p auth.Principal, id string) (metadata.ID, error) {
	d, err := LookupDataspace(tx, id, "")
	if err != nil {
		return metadata.ID{}, err
	}
	return d.ID, Authorise(tx, p, d, auth.Read)
}

func readableSet(tx *metadata.Tx, p auth.Principal, id string) (metadata.ID, error) {
	resolved, err := LookupSet(tx, id, "")
	if err != nil {
		return metadata.ID{}, err
	}
	return resolved.ID, Authorise(tx, p, resolved.Dataspace, auth.Read)
}
