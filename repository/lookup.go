package repository

import (
	"errors"
	"fmt"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/repository/internal/rows"
)

// orNotFound turns a store's ErrNotFound into the one that a client sees. field is where the id
// came from, "" for the path.
func orNotFound[T any](object T, err error, code errs.Code, what, field string) (T, error) {
	if errors.Is(err, metadata.ErrNotFound) {
		return object, &errs.Error{Kind: errs.NotFound, Code: code, Field: field, Message: "there is no " + what + " with this id"}
	}
	return object, err
}

// byID reads an object by an id as a client sent it. Another spelling, or no id at all, is an id
// that does not exist.
func byID[T any](get func(metadata.ID) (T, error), id string) (object T, err error) {
	parsed, ok := metadata.ParseID(id)
	if !ok {
		return object, metadata.ErrNotFound
	}
	return get(parsed)
}

// lookupDataspace finds a dataspace by an id from field, "" for the path.
func lookupDataspace(tx *metadata.Tx, id, field string) (metadata.Dataspace, error) {
	d, err := byID(tx.Dataspaces.Get, id)
	return orNotFound(d, err, errs.CodeDataspaceNotFound, "dataspace", field)
}

// admit authorises the caller, then reads the descriptive metadata, which the dataspace is to be
// shown or changed with.
func admit(tx *metadata.Tx, p auth.Principal, d *metadata.Dataspace, action auth.Action) error {
	if err := authorise(tx, p, *d, action); err != nil {
		return err
	}
	return rows.Described(tx, d.ID, &d.Descriptive)
}

// lookupUser finds a user by an id from field, "" for the path.
func lookupUser(tx *metadata.Tx, id, field string) (metadata.User, error) {
	u, err := byID(tx.Users.Get, id)
	return orNotFound(u, err, errs.CodeUserNotFound, "user", field)
}

// lookupPrivilege finds a privilege by its id.
func lookupPrivilege(tx *metadata.Tx, id string) (metadata.Privilege, error) {
	p, err := byID(tx.Privileges.Get, id)
	return orNotFound(p, err, errs.CodePrivilegeNotFound, "privilege", "")
}

// resolvedSet is a set with what its state depends on.
type resolvedSet struct {
	metadata.Set
	dataspace metadata.Dataspace
	above     *metadata.Cascade // under way in the dataspace
	own       *metadata.Cascade // under way in the set itself
}

// lookupSet finds a set by an id from field, "" for the path.
func lookupSet(tx *metadata.Tx, id, field string) (resolvedSet, error) {
	set, err := byID(func(id metadata.ID) (resolvedSet, error) { return resolveSet(tx, id) }, id)
	return orNotFound(set, err, errs.CodeSetNotFound, "set", field)
}

// readSet is placeOf, from the tables. ErrNotFound is that of the set.
func readSet(tx *metadata.Tx, id metadata.ID) (resolved resolvedSet, err error) {
	if resolved.Set, err = tx.Sets.Get(id); err != nil {
		return resolved, err
	}
	if resolved.dataspace, err = tx.Dataspaces.Get(resolved.DataspaceID); errors.Is(err, metadata.ErrNotFound) {
		err = fmt.Errorf("%w: set %s is in no dataspace", metadata.ErrRecordDamaged, id)
	}
	if err != nil {
		return resolved, err
	}
	if resolved.above, err = rows.CascadeOf(tx, resolved.DataspaceID); err != nil {
		return resolved, err
	}
	resolved.own, err = rows.CascadeOf(tx, id)
	return resolved, err
}

// shown is the set as a client sees it now: with the state that it has or is about to get.
func (s resolvedSet) shown() metadata.Set {
	set := s.Set
	set.State = rows.Shown(s.above, set.Record)
	return set
}

// admit authorises the caller, then reads the descriptive metadata, which the record is to be shown
// or changed with.
func (s *resolvedSet) admit(tx *metadata.Tx, p auth.Principal, action auth.Action) error {
	if err := authorise(tx, p, s.dataspace, action); err != nil {
		return err
	}
	return rows.Described(tx, s.ID, &s.Descriptive)
}

// resolvedResource is a resource with what its state depends on.
type resolvedResource struct {
	metadata.Resource
	set resolvedSet
}

// lookupResource finds a resource by its id.
func lookupResource(tx *metadata.Tx, id string) (resolvedResource, error) {
	r, err := byID(tx.Resources.Get, id)
	if r, err = orNotFound(r, err, errs.CodeResourceNotFound, "resource", ""); err != nil {
		return resolvedResource{}, err
	}
	resolved, err := resolveSet(tx, r.SetID)
	return resolvedResource{Resource: r, set: resolved}, err
}

// admit authorises the caller, then reads the descriptive metadata, which the record is to be shown
// or changed with.
func (r *resolvedResource) admit(tx *metadata.Tx, p auth.Principal, action auth.Action) error {
	if err := authorise(tx, p, r.set.dataspace, action); err != nil {
		return err
	}
	return rows.Described(tx, r.ID, &r.Descriptive)
}

// due returns the cascade that will still change the resource, or nil.
func (r resolvedResource) due() *metadata.Cascade {
	for _, cascade := range []*metadata.Cascade{r.set.above, r.set.own} {
		if rows.Due(cascade, r.Record) && r.Body != metadata.Purged {
			return cascade
		}
	}
	return nil
}

// shown is the resource as a client sees it now: with the state that it has or is about to get.
func (r resolvedResource) shown() metadata.Resource {
	resource := r.Resource
	if cascade := r.due(); cascade != nil {
		resource.State = rows.Target(cascade)
	}
	return resource
}
