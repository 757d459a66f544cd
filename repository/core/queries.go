package core

import (
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

// Query looks up the container of a request and the objects that it filters by, and authorises the
// caller. Then it completes the query, or returns the error for a malformed parameter.
func (s *Core) Query(tx *metadata.Tx, p auth.Principal, listing paging.Listing, req ListRequest) (q paging.Query, err error) {
	if p.Anonymous && !openListings[listing] {
		return q, unauthenticated()
	}
	if err := listable(p, listing); err != nil {
		return q, err
	}
	q.Listing = listing
	switch listing {
	case paging.DataspaceSets, paging.DataspaceResources:
		q.Parent, err = ReadableDataspace(tx, Passing(p), req.Container)
	case paging.DataspaceHistory:
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
		if q, err = resolve(tx, p, q, req.IDs); err != nil {
			return q, err
		}
		if req.Malformed != nil {
			return q, parameterError(req.Malformed)
		}
		q, err = paging.Complete(q, req.IDs, req.Selection, s.pageSize(listing))
		return q, parameterError(err)
	}
	if req.Malformed != nil {
		return q, req.Malformed
	}
	if q, err = s.tokens.Decode(listing, q.Parent, req.Token); err != nil {
		return q, &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidToken, Message: "this address is not a page of this listing; start at its first page", Err: err}
	}
	return resolve(tx, p, q, paging.IDs{DataspaceID: idText(q.Dataspace), SetID: idText(q.Set), UserID: idText(q.User)})
}

// listable returns an error if the key of the caller permits no page of a listing.
func listable(p auth.Principal, listing paging.Listing) error {
	switch listing {
	case paging.Privileges, paging.Links, paging.AuditEntries:
		return Unlimited(p)
	case paging.Users:
		return Reads(p)
	}
	return Permitted(p, auth.Read)
}

// idText returns an id as a string, "" for the zero id.
func idText(id metadata.ID) string {
	if id == (metadata.ID{}) {
		return ""
	}
	return id.String()
}

// resolve looks up the objects that a query filters by, and then checks that the caller may read
// them. All callers get the same errors for objects that do not exist or are elsewhere.
func resolve(tx *metadata.Tx, p auth.Principal, q paging.Query, ids paging.IDs) (paging.Query, error) {
	readable := func() error { return nil } // the caller must be able to read the innermost container
	if ids.DataspaceID != "" {
		d, err := LookupDataspace(tx, ids.DataspaceID, "dataspaceId")
		if err != nil {
			return q, err
		}
		if q.Dataspace = d.ID; q.Listing != paging.Privileges {
			readable = func() error { return Authorise(tx, Passing(p), d, auth.Read) }
		}
	}
	if ids.SetID != "" {
		resolved, err := LookupSet(tx, ids.SetID, "setId")
		if err == nil && q.Dataspace != (metadata.ID{}) && resolved.DataspaceID != q.Dataspace {
			err = &errs.Error{Kind: errs.NotFound, Code: errs.CodeSetNotFound, Field: "setId", Message: "there is no set with this id in that dataspace"}
		}
		if err != nil {
			return q, err
		}
		q.Set, readable = resolved.ID, func() error { return resolved.Authorise(tx, p, auth.Read) }
	}
	if ids.UserID != "" {
		u, err := LookupUser(tx, Myself(p, ids.UserID), "userId")
		if err != nil {
			return q, err
		}
		q.User = u.ID
	}
	return q, readable()
}

// ReadableDataspace returns the id of a dataspace, or an error if the caller is not allowed to read
// it.
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
	return resolved.ID, resolved.Authorise(tx, p, auth.Read)
}
