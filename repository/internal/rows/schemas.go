package rows

import (
	"cmp"
	"errors"
	"strconv"

	"labshelf/formats/audit"
	"labshelf/metadata"
)

// SaveSchema stores a new (before is nil) or changed schema and sets after.Entry. If after has a
// new version, SaveSchema stores it with this text.
func SaveSchema(tx *metadata.Tx, c Change, before, after *metadata.Schema, text string) (err error) {
	old := cmp.Or(before, &metadata.Schema{})
	e, stamp := about(audit.Schema, old.Record, after.Record, old.Entry)
	e.Dataspace = after.DataspaceID
	if before == nil {
		c.Values.Change("for", "", after.For.String())
	}
	c.Values.Change("types", old.Types, after.Types)
	c.Values.Change("enforce", strconv.FormatBool(old.Enforce), strconv.FormatBool(after.Enforce))
	c.Values.Change("version", strconv.FormatUint(uint64(old.Version), 10), strconv.FormatUint(uint64(after.Version), 10))
	texts := textChanges([][3]string{
		{"name", old.Name, after.Name}, {"title", old.Title, after.Title}, {"description", old.Description, after.Description},
	})
	if after.Entry, err = c.Log(tx, stamp, e, texts); err != nil {
		return err
	}
	if after.Version != old.Version {
		err = tx.SchemaVersions.Put(metadata.SchemaVersion{
			SchemaID: after.ID, Number: after.Version, Text: text, Created: after.Modified, CreatedBy: after.ModifiedBy,
		})
	}
	return errors.Join(err, tx.Schemas.Put(*after))
}
