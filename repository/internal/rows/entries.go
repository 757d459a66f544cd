package rows

import (
	"errors"

	"labshelf/auth/errs"
	"labshelf/formats/audit"
	"labshelf/metadata"
)

// Containers are the dataspace and the set of the object of an entry. An id is zero without one.
type Containers struct{ Dataspace, Set metadata.ID }

// ContainersOf looks up the containers, since only the entry that creates an object names them.
func ContainersOf(tx *metadata.Tx, e audit.Entry) (in Containers, err error) {
	in = Containers{e.Dataspace, e.Set}
	switch e.Object.Kind {
	case audit.Dataspace:
		in.Dataspace = e.Object.ID
	case audit.Set:
		var set metadata.Set
		set, err = tx.Sets.Get(e.Object.ID)
		in = Containers{set.DataspaceID, set.ID}
	case audit.Resource:
		var r metadata.Resource
		r, err = tx.Resources.Get(e.Object.ID)
		in = Containers{r.DataspaceID, r.SetID}
	}
	return in, errs.Ignore(err, metadata.ErrNotFound)
}

// idText formats an id, "" for the zero id.
func idText(id metadata.ID) string {
	if id == (metadata.ID{}) {
		return ""
	}
	return id.String()
}

// ReadEntry returns an entry of the log and its epoch. before is the epoch of the preceding entry.
func ReadEntry(tx *metadata.Tx, number uint64, before metadata.EpochID) (e audit.Entry, epoch metadata.EpochID, err error) {
	if e, err = tx.Audit.Entry(number); err != nil || e.Action != audit.EpochBegin {
		return e, before, err
	}
	begun, err := audit.ParseEpoch(e.Values)
	if err == nil {
		err = epoch.UnmarshalText([]byte(begun.ID))
	}
	if err != nil {
		err = errors.Join(metadata.ErrRecordDamaged, err)
	}
	return e, epoch, err
}
