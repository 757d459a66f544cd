package repository

import (
	"errors"
	"fmt"
)

// found turns a store's ErrNotFound into the one that a client sees. field is where the id came from, "" for the path.
func found[T any](object T, err error, code Code, what, field string) (T, error) {
	if errors.Is(err, ErrNotFound) {
		return object, &Error{Kind: NotFound, Code: code, Field: field, Message: "there is no " + what + " with this id"}
	}
	return object, err
}

// byID reads an object by an id as a client sent it. Another spelling, or no id at all, is an id that does not exist.
func byID[T any](get func(ID) (T, error), id string) (object T, err error) {
	parsed, ok := parseID(id)
	if !ok {
		return object, ErrNotFound
	}
	return get(parsed)
}

func findDataspace(tx *Tx, id, field string) (Dataspace, error) {
	d, err := byID(tx.Dataspaces.Get, id)
	return found(d, err, CodeDataspaceNotFound, "dataspace", field)
}

func findUser(tx *Tx, id, field string) (User, error) {
	u, err := byID(tx.Users.Get, id)
	return found(u, err, CodeUserNotFound, "user", field)
}

func findPrivilege(tx *Tx, id string) (Privilege, error) {
	p, err := byID(tx.Privileges.Get, id)
	return found(p, err, CodePrivilegeNotFound, "privilege", "")
}

// placedSet is a set with what its state depends on.
type placedSet struct {
	Set
	dataspace Dataspace
	above     *Step // under way in the dataspace
	own       *Step // under way in the set itself
}

func findSet(tx *Tx, id, field string) (placedSet, error) {
	set, err := byID(func(id ID) (placedSet, error) { return placeOf(tx, id) }, id)
	return found(set, err, CodeSetNotFound, "set", field)
}

// readPlace is placeOf, from the tables. ErrNotFound is that of the set.
func readPlace(tx *Tx, id ID) (placed placedSet, err error) {
	if placed.Set, err = tx.Sets.Get(id); err != nil {
		return placed, err
	}
	if placed.dataspace, err = tx.Dataspaces.Get(placed.DataspaceID); errors.Is(err, ErrNotFound) {
		err = fmt.Errorf("%w: set %s is in no dataspace", ErrRecordDamaged, id)
	}
	if err != nil {
		return placed, err
	}
	if placed.above, err = stepOf(tx, placed.DataspaceID); err != nil {
		return placed, err
	}
	placed.own, err = stepOf(tx, id)
	return placed, err
}

// shown is the set as a client sees it now: with the state that it has or is about to get.
func (s placedSet) shown() Set {
	set := s.Set
	set.State = cascade{s.above}.shows(set.Record)
	return set
}

// placedResource is a resource with what its state depends on.
type placedResource struct {
	Resource
	set placedSet
}

func findResource(tx *Tx, id string) (placedResource, error) {
	r, err := byID(tx.Resources.Get, id)
	if r, err = found(r, err, CodeResourceNotFound, "resource", ""); err != nil {
		return placedResource{}, err
	}
	placed, err := placeOf(tx, r.SetID)
	return placedResource{Resource: r, set: placed}, err
}

// due returns the step that will still change the resource, or nil.
func (r placedResource) due() *Step {
	for _, step := range []*Step{r.set.above, r.set.own} {
		if (cascade{step}).due(r.Record) && r.Body != Purged {
			return step
		}
	}
	return nil
}

// shown is the resource as a client sees it now: with the state that it has or is about to get.
func (r placedResource) shown() Resource {
	resource := r.Resource
	if step := r.due(); step != nil {
		resource.State = cascade{step}.target()
	}
	return resource
}

// stepOf returns what is under way in a container, nil where nothing is.
func stepOf(tx *Tx, container ID) (*Step, error) {
	step, err := tx.Steps.Get(container)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	return &step, err
}
