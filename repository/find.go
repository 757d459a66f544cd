package repository

import (
	"errors"
	"fmt"

	"labshelf/errs"
	"labshelf/metadata"
)

// found turns a store's ErrNotFound into the one that a client sees. field is where the id came from, "" for the path.
func found[T any](object T, err error, code errs.Code, what, field string) (T, error) {
	if errors.Is(err, metadata.ErrNotFound) {
		return object, &errs.Error{Kind: errs.NotFound, Code: code, Field: field, Message: "there is no " + what + " with this id"}
	}
	return object, err
}

// byID reads an object by an id as a client sent it. Another spelling, or no id at all, is an id that does not exist.
func byID[T any](get func(metadata.ID) (T, error), id string) (object T, err error) {
	parsed, ok := metadata.ParseID(id)
	if !ok {
		return object, metadata.ErrNotFound
	}
	return get(parsed)
}

func findDataspace(tx *metadata.Tx, id, field string) (metadata.Dataspace, error) {
	d, err := byID(tx.Dataspaces.Get, id)
	return found(d, err, errs.CodeDataspaceNotFound, "dataspace", field)
}

func findUser(tx *metadata.Tx, id, field string) (metadata.User, error) {
	u, err := byID(tx.Users.Get, id)
	return found(u, err, errs.CodeUserNotFound, "user", field)
}

func findPrivilege(tx *metadata.Tx, id string) (metadata.Privilege, error) {
	p, err := byID(tx.Privileges.Get, id)
	return found(p, err, errs.CodePrivilegeNotFound, "privilege", "")
}

// placedSet is a set with what its state depends on.
type placedSet struct {
	metadata.Set
	dataspace metadata.Dataspace
	above     *metadata.Step // under way in the dataspace
	own       *metadata.Step // under way in the set itself
}

func findSet(tx *metadata.Tx, id, field string) (placedSet, error) {
	set, err := byID(func(id metadata.ID) (placedSet, error) { return placeOf(tx, id) }, id)
	return found(set, err, errs.CodeSetNotFound, "set", field)
}

// readPlace is placeOf, from the tables. ErrNotFound is that of the set.
func readPlace(tx *metadata.Tx, id metadata.ID) (placed placedSet, err error) {
	if placed.Set, err = tx.Sets.Get(id); err != nil {
		return placed, err
	}
	if placed.dataspace, err = tx.Dataspaces.Get(placed.DataspaceID); errors.Is(err, metadata.ErrNotFound) {
		err = fmt.Errorf("%w: set %s is in no dataspace", metadata.ErrRecordDamaged, id)
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
func (s placedSet) shown() metadata.Set {
	set := s.Set
	set.State = cascade{s.above}.shows(set.Record)
	return set
}

// placedResource is a resource with what its state depends on.
type placedResource struct {
	metadata.Resource
	set placedSet
}

func findResource(tx *metadata.Tx, id string) (placedResource, error) {
	r, err := byID(tx.Resources.Get, id)
	if r, err = found(r, err, errs.CodeResourceNotFound, "resource", ""); err != nil {
		return placedResource{}, err
	}
	placed, err := placeOf(tx, r.SetID)
	return placedResource{Resource: r, set: placed}, err
}

// due returns the step that will still change the resource, or nil.
func (r placedResource) due() *metadata.Step {
	for _, step := range []*metadata.Step{r.set.above, r.set.own} {
		if (cascade{step}).due(r.Record) && r.Body != metadata.Purged {
			return step
		}
	}
	return nil
}

// shown is the resource as a client sees it now: with the state that it has or is about to get.
func (r placedResource) shown() metadata.Resource {
	resource := r.Resource
	if step := r.due(); step != nil {
		resource.State = cascade{step}.target()
	}
	return resource
}

// stepOf returns what is under way in a container, nil where nothing is.
func stepOf(tx *metadata.Tx, container metadata.ID) (*metadata.Step, error) {
	step, err := tx.Steps.Get(container)
	if errors.Is(err, metadata.ErrNotFound) {
		return nil, nil
	}
	return &step, err
}
