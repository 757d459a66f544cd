package rows

import (
	"errors"

	"labshelf/auth/errs"
	"labshelf/formats/audit"
	"labshelf/metadata"
)

// Containers are the dataspace and the set of what an entry is about; zero where it is in none.
type Containers struct{ Dataspace, Set metadata.ID }

// ContainersOf looks them up: an entry names them only where its object was made.
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

// idText writes an id; "" for none.
func idText(id metadata.ID) string {
	if id == (metadata.ID{}) {
		return ""
	}
	return id.String()
}

// ReadEntry returns an entry of the log, with the epoch that it belongs to where before is that of
// the entry before it.
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
