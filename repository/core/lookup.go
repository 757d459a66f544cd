package core

import (
	"errors"
	"fmt"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/repository/internal/rows"
)

// OrNotFound converts metadata.ErrNotFound to an error for clients. field is the field that the id
// came from, "" for the path.
func OrNotFound[T any](object T, err error, code errs.Code, what, field string) (T, error) {
	if errors.Is(err, metadata.ErrNotFound) {
		return object, &errs.Error{Kind: errs.NotFound, Code: code, Field: field, Message: "there is no " + what + " with this id"}
	}
	return object, err
}

// ByID reads an object by an id that a client sent. It returns metadata.ErrNotFound for an invalid
// or differently spelled id.
func ByID[T any](get func(metadata.ID) (T, error), id string) (object T, err error) {
	parsed, ok := metadata.ParseID(id)
	if !ok {
		return object, metadata.ErrNotFound
	}
	return get(parsed)
}

// LookupDataspace reads a dataspace. field is the field that the id came from, "" for the path.
func LookupDataspace(tx *metadata.Tx, id, field string) (metadata.Dataspace, error) {
	d, err := ByID(tx.Dataspaces.Get, id)
	return OrNotFound(d, err, errs.CodeDataspaceNotFound, "dataspace", field)
}

// Admit authorises the caller, and reads the descriptive metadata of the dataspace into d.
func Admit(tx *metadata.Tx, p auth.Principal, d *metadata.Dataspace, action auth.Action) error {
	if err := Authorise(tx, p, *d, action); err != nil {
		return err
	}
	return rows.Described(tx, d.ID, &d.Descriptive)
}

// LookupUser reads a user. field is the field that the id came from, "" for the path.
func LookupUser(tx *metadata.Tx, id, field string) (metadata.User, error) {
	u, err := ByID(tx.Users.Get, id)
	return OrNotFound(u, err, errs.CodeUserNotFound, "user", field)
}

// LookupPrivilege reads a privilege.
func LookupPrivilege(tx *metadata.Tx, id string) (metadata.Privilege, error) {
	p, err := ByID(tx.Privileges.Get, id)
	return OrNotFound(p, err, errs.CodePrivilegeNotFound, "privilege", "")
}

// ResolvedSet is a set with everything that its state depends on.
type ResolvedSet struct {
	metadata.Set
	Dataspace metadata.Dataspace
	Above     *metadata.Cascade // cascade of the dataspace, or nil
	Own       *metadata.Cascade // cascade of the set itself, or nil
}

// LookupSet reads a set. field is the field that the id came from, "" for the path.
func LookupSet(tx *metadata.Tx, id, field string) (ResolvedSet, error) {
	set, err := ByID(func(id metadata.ID) (ResolvedSet, error) { return ResolveSet(tx, id) }, id)
	return OrNotFound(set, err, errs.CodeSetNotFound, "set", field)
}

// readSet is like ResolveSet without the cache. ErrNotFound refers to the set.
func readSet(tx *metadata.Tx, id metadata.ID) (resolved ResolvedSet, err error) {
	if resolved.Set, err = tx.Sets.Get(id); err != nil {
		return resolved, err
	}
	if resolved.Dataspace, err = tx.Dataspaces.Get(resolved.DataspaceID); errors.Is(err, metadata.ErrNotFound) {
		err = fmt.Errorf("%w: set %s is in no dataspace", metadata.ErrRecordDamaged, id)
	}
	if err != nil {
		return resolved, err
	}
	if resolved.Above, err = rows.CascadeOf(tx, resolved.DataspaceID); err != nil {
		return resolved, err
	}
	resolved.Own, err = rows.CascadeOf(tx, id)
	return resolved, err
}

// Shown returns the set as clients see it, with the state that a cascade has given or will give to
// it.
func (s ResolvedSet) Shown() metadata.Set {
	set := s.Set
	set.State = rows.Shown(s.Above, set.Record)
	return set
}

// Admit authorises the caller, and reads the descriptive metadata of the set.
func (s *ResolvedSet) Admit(tx *metadata.Tx, p auth.Principal, action auth.Action) error {
	if err := s.Authorise(tx, p, action); err != nil {
		return err
	}
	return rows.Described(tx, s.ID, &s.Descriptive)
}

// ResolvedResource is a resource with everything that its state depends on.
type ResolvedResource struct {
	metadata.Resource
	Set ResolvedSet
}

// LookupResource reads a resource.
func LookupResource(tx *metadata.Tx, id string) (ResolvedResource, error) {
	r, err := ByID(tx.Resources.Get, id)
	if r, err = OrNotFound(r, err, errs.CodeResourceNotFound, "resource", ""); err != nil {
		return ResolvedResource{}, err
	}
	resolved, err := ResolveSet(tx, r.SetID)
	return ResolvedResource{Resource: r, Set: resolved}, err
}

// Admit authorises the caller, and reads the descriptive metadata of the resource.
func (r *ResolvedResource) Admit(tx *metadata.Tx, p auth.Principal, action auth.Action) error {
	if err := r.Set.Authorise(tx, p, action); err != nil {
		return err
	}
	return rows.Described(tx, r.ID, &r.Descriptive)
}

// due returns the cascade that will still change the resource, or nil.
func (r ResolvedResource) due() *metadata.Cascade {
	for _, cascade := range []*metadata.Cascade{r.Set.Above, r.Set.Own} {
		if rows.Due(cascade, r.Record) && r.Body != metadata.Purged {
			return cascade
		}
	}
	return nil
}

// Shown returns the resource as clients see it, with the state that a cascade has given or will
// give to it.
func (r ResolvedResource) Shown() metadata.Resource {
	resource := r.Resource
	if cascade := r.due(); cascade != nil {
		resource.State = rows.Target(cascade)
	}
	return resource
}

// ReadableResource reads a resource that the caller may read.
func ReadableResource(tx *metadata.Tx, p auth.Principal, id string) (ResolvedResource, error) {
	resolved, err := LookupResource(tx, id)
	if err != nil {
		return resolved, err
	}
	return resolved, resolved.Set.Authorise(tx, p, auth.Read)
}

// Blame sets the field of an error about an object, if the error has none, to the field that names
// the object.
func Blame(err error, field string) error {
	var known *errs.Error
	if !errors.As(err, &known) || known.Field != "" || known.Kind != errs.NotFound && known.Kind != errs.Conflict {
		return err
	}
	blamed := *known
	blamed.Field = field
	return &blamed
}

// OpenSet reads the set in which the caller wants to create something. It returns an error if the
// caller is not allowed to perform the action there or the set is deleted.
func OpenSet(tx *metadata.Tx, p auth.Principal, id string, action auth.Action) (ResolvedSet, error) {
	set, err := LookupSet(tx, id, "setId")
	if err != nil {
		return set, err
	}
	if err := set.Authorise(tx, p, action); err != nil {
		return set, err
	}
	return set, set.Open("setId")
}

// Open returns an error if the set is deleted. field is the field that its id came from.
func (s ResolvedSet) Open(field string) error {
	switch {
	case s.Dataspace.State == metadata.Deleted:
		return ParentDeleted(field, "dataspace of this set")
	case s.Shown().State == metadata.Deleted:
		return ParentDeleted(field, "set")
	}
	return nil
}

// Me can replace the caller's own id wherever the id of a user is expected.
const Me = "me"

// Myself returns the caller's id for "me", and other ids unchanged.
func Myself(p auth.Principal, id string) string {
	if id == Me {
		return p.UserID.String()
	}
	return id
}
