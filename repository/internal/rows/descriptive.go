package rows

import (
	"errors"
	"fmt"

	"labshelf/auth/errs"
	"labshelf/formats/audit"
	"labshelf/formats/descriptive"
	"labshelf/metadata"
)

// Described reads the descriptive metadata of an object as canonical JSON, or "" without any.
func Described(tx *metadata.Tx, object metadata.ID, into *string) error {
	row, err := tx.Descriptive.Get(object)
	*into = row.JSON
	return errs.Ignore(err, metadata.ErrNotFound)
}

// ParseDescriptive parses canonical JSON from the store. For "" it returns zero metadata. An error
// wraps ErrRecordDamaged.
func ParseDescriptive(stored string) (m descriptive.Metadata, err error) {
	if stored == "" {
		return m, nil
	}
	if m, err = descriptive.Parse([]byte(stored)); err != nil {
		err = fmt.Errorf("%w: descriptive metadata: %w", metadata.ErrRecordDamaged, err)
	}
	return m, err
}

// changeDescriptive stores the new descriptive metadata of an object, and adds the changes to
// texts. It writes nothing if they are unchanged.
func changeDescriptive(tx *metadata.Tx, object metadata.ID, before, after string, texts *audit.Changes) error {
	if before == after {
		return nil
	}
	old, err := ParseDescriptive(before)
	now, failed := ParseDescriptive(after)
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	for _, c := range descriptive.Changes(old, now) {
		texts.Change(descriptive.Root+"."+c.Name, c.Before, c.After)
	}
	if after == "" {
		return tx.Descriptive.Remove(object)
	}
	return tx.Descriptive.Put(metadata.Descriptive{ObjectID: object, JSON: after})
}
