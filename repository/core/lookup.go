package core

import (
	"errors"
	"fmt"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/repository/internal/rows"
)

// OrNotFound turns a store's ErrNotFound into the one that a client sees. field is where the id
// came from, "" for the path.
func OrNotFound[T any](object T, err error, code errs.Code, what, field string) (T, error) {
	if errors.Is(err, metadata.ErrNotFound) {
		return object, &errs.Error{Kind: errs.NotFound, Code: code, Field: field, Message: "there is no " + what + " with this id"}
	}
	return object, err
}

// ByID reads an object by an id as a client sent it. Another spelling, or no id at all, is an id
// that does not exist.
func ByID[T any](get func(metadata.ID) (T, error), id string) (object T, err error) {
	parsed, ok := metadata.ParseID(id)
	if !ok {
		return object, metadata.ErrNotFound
	}
	return get(parsed)
}

// LookupDataspace finds a dataspace by an id from field, "" for the path.
func LookupDataspace(tx *metadata.Tx, id, field string) (metadata.Dataspace, error) {
	d, err := ByID(tx.Dataspaces.Get, id)
	return OrNotFound(d, err, errs.CodeDataspaceNotFound, "dataspace", field)
}

// Admit authorises the caller, then reads the descriptive metadata, which the dataspace is to be
// shown or changed with.
func Admit(tx *metadata.Tx, p auth.Principal, d *metadata.Dataspace, action auth.Action) error {
	if err := Authorise(tx, p, *d, action); err != nil {
		return err
	}
	return rows.Described(tx, d.ID, &d.Descriptive)
}

// LookupUser finds a user by an id from field, "" for the path.
func LookupUser(tx *metadata.Tx, id, field string) (metadata.User, error) {
	u, err := ByID(tx.Users.Get, id)
	return OrNotFound(u, err, errs.CodeUserNotFound, "user", field)
}

// LookupPrivilege finds a privilege by its id.
func LookupPrivilege(tx *metadata.Tx, id string) (metadata.Privilege, error) {
	p, err := ByID(tx.Privileges.Get, id)
	return OrNotFound(p, err, errs.CodePrivilegeNotFound, "privilege", "")
}

// ResolvedSet is a set with what its state depends on.
type ResolvedSet struct {
	metadata.Set
	Dataspace metadata.Dataspace
	Above     *metadata.Cascade // under way in the dataspace
	Own       *metadata.Cascade // under way in the set itself
}

// LookupSet finds a set by an id from field, "" for the path.
func LookupSet(tx *metadata.Tx, id, field string) (ResolvedSet, error) {
	set, err := ByID(func(id metadata.ID) (ResolvedSet, error) { return ResolveSet(tx, id) }, id)
	return OrNotFound(set, err, errs.CodeSetNotFound, "set", field)
}

// readSet is placeOf, from the tables. ErrNotFound is that of the set.
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

// Shown is the set as a client sees it now: with the state that it has or is about to get.
func (s ResolvedSet) Shown() metadata.Set {
	set := s.Set
	set.State = rows.Shown(s.Above, set.Record)
	return set
}

// Admit authorises the caller, then reads the descriptive metadata, which the record is to be shown
// or changed with.
func (s *ResolvedSet) Admit(tx *metadata.Tx, p auth.Principal, action auth.Action) error {
	if err := Authorise(tx, p, s.Dataspace, action); err != nil {
		return err
	}
	return rows.Described(tx, s.ID, &s.Descriptive)
}

// ResolvedResource is a resource with what its state depends on.
type ResolvedResource struct {
	metadata.Resource
	Set ResolvedSet
}

// LookupResource finds a resource by its id.
func LookupResource(tx *metadata.Tx, id string) (ResolvedResource, error) {
	r, err := ByID(tx.Resources.Get, id)
	if r, err = OrNotFound(r, err, errs.CodeResourceNotFound, "resource", ""); err != nil {
		return ResolvedResource{}, err
	}
	resolved, err := ResolveSet(tx, r.SetID)
	return ResolvedResource{Resource: r, Set: resolved}, err
}

// Admit authorises the caller, then reads the descriptive metadata, which the record is to be shown
// or changed with.
func (r *ResolvedResource) Admit(tx *metadata.Tx, p auth.Principal, action auth.Action) error {
	if err := Authorise(tx, p, r.Set.Dataspace, action); err != nil {
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

// Shown is the resource as a client sees it now: with the state that it has or is about to get.
func (r ResolvedResource) Shown() metadata.Resource {
	resource := r.Resource
	if cascade := r.due(); cascade != nil {
		resource.State = rows.Target(cascade)
	}
	return resource
}

// ReadableResource finds a resource that the caller may read.
func ReadableResource(tx *metadata.Tx, p auth.Principal, id string) (ResolvedResource, error) {
	resolved, err := LookupResource(tx, id)
	if err != nil {
		return resolved, err
	}
	return resolved, Authorise(tx, p, resolved.Set.Dataspace, auth.Read)
}

// Blame names the field that an object comes from in an error which says what is wrong with the
// object.
func Blame(err error, field string) error {
	var known *errs.Error
	if !errors.As(err, &known) || known.Field != "" || known.Kind != errs.NotFound && known.Kind != errs.Conflict {
		return err
	}
	blamed := *known
	blamed.Field = field
	return &blamed
}

// OpenSet finds the set in which the caller is about to create a resource.
func OpenSet(tx *metadata.Tx, p auth.Principal, id string) (ResolvedSet, error) {
	set, err := LookupSet(tx, id, "setId")
	if err != nil {
		return set, err
	}
	if err := Authorise(tx, p, set.Dataspace, auth.Write); err != nil {
		return set, err
	}
	return set, set.Open("setId")
}

// Open refuses a set into which nothing can be put. field is where its id came from.
func (s ResolvedSet) Open(field string) error {
	switch {
	case s.Dataspace.State == metadata.Deleted:
		return ParentDeleted(field, "dataspace of this set")
	case s.Shown().State == metadata.Deleted:
		return ParentDeleted(field, "set")
	}
	return nil
}

// Me stands for the caller's own id wherever the id of a user is expected.
const Me = "me"

// Myself returns the id of a user, which is that of the caller for "me".
func Myself(p auth.Principal, id string) string {
	if id == Me {
		return p.UserID.String()
	}
	return id
}
