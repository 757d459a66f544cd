package rows

import (
	"errors"

	"labshelf/formats/audit"
	"labshelf/metadata"
)

// BeginEdit stores a new bulk edit of a set, with its entry. The entries about its files must name
// that entry as their Cause. BeginEdit sets the id, time and entry of e. If e undoes another bulk
// edit, BeginEdit records that in the row of the other one.
func BeginEdit(tx *metadata.Tx, c Change, set metadata.Set, e *metadata.BulkEdit) (err error) {
	c.Action = audit.EditBegin
	c.Values.Change("kind", "", e.Kind.String())
	var undone metadata.BulkEdit
	if e.Kind == metadata.EditUndo {
		if undone, err = tx.Edits.Get(e.Undoes); err != nil {
			return err
		}
		c.Action = audit.EditUndo
		c.Values.Change("undoes", "", undone.ID.String())
	}
	e.Created = tx.Stamp()
	e.ID, e.SetID, e.By, e.Objects = metadata.NewID(e.Created), set.ID, c.By.UserID, 0
	entry := audit.Entry{Object: audit.Object{Kind: audit.Edit, ID: e.ID}, Dataspace: set.DataspaceID, Set: set.ID}
	if e.Entry, err = c.Log(tx, e.Created, entry, audit.Changes{}); err != nil {
		return err
	}
	if e.Kind == metadata.EditUndo {
		undone.UndoneBy = e.ID
		err = tx.Edits.Put(undone)
	}
	return errors.Join(err, tx.Edits.Put(*e))
}

// RecordEdited records the files that a bulk edit has changed. entries are the numbers of their
// entries, which SaveResource has set in their records. Call it in the transaction that saves the
// files.
func RecordEdited(tx *metadata.Tx, edit metadata.ID, entries ...uint64) error {
	if len(entries) == 0 {
		return nil
	}
	e, err := tx.Edits.Get(edit)
	if err != nil {
		return err
	}
	for _, number := range entries {
		err = errors.Join(err, tx.EditEntries.Put(metadata.EditEntry{EditID: edit, Number: number}))
	}
	e.Objects += int64(len(entries))
	return errors.Join(err, tx.Edits.Put(e))
}
