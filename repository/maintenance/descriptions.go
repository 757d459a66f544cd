package maintenance

import (
	"errors"
	"fmt"

	"labshelf/formats/audit"
	"labshelf/formats/descriptive"
	"labshelf/metadata"
)

// checkDescriptive verifies that descriptive metadata belong to an object, follow the rules of its
// kind, and are in canonical form.
func (c *checker) checkDescriptive() error {
	for row, err := range c.tx.Descriptive.All(metadata.ID{}) {
		if err == nil {
			err = c.ended()
		}
		if err != nil {
			return err
		}
		kind, err := c.kindOf(row.ObjectID)
		if err != nil && !errors.Is(err, metadata.ErrNotFound) {
			return err
		}
		wrong := "its object does not exist"
		if err == nil {
			wrong = faultOf(row.JSON, kind)
		}
		c.wrong(wrong != "", "metadata", metadata.Record{ID: row.ObjectID}, "", "%s", wrong)
	}
	return nil
}

// faultOf returns what is wrong with stored descriptive metadata, "" if nothing is.
func faultOf(text string, kind descriptive.Kind) string {
	m, err := descriptive.Parse([]byte(text))
	if err != nil {
		return fmt.Sprintf("it cannot be read: %v", err)
	}
	if string(m.Append(nil)) != text || m.IsZero() {
		return "it is not in the canonical form, or empty"
	}
	if err := m.Validate(kind); err != nil {
		return err.Error()
	}
	return ""
}

// kindOf returns the kind of an object. It returns ErrNotFound if no dataspace, set or resource has
// this id.
func (c *checker) kindOf(id metadata.ID) (descriptive.Kind, error) {
	if _, ok := c.spaces[id]; ok {
		return descriptive.Dataspace, nil
	}
	if _, ok := c.sets[id]; ok {
		return descriptive.Set, nil
	}
	_, err := c.tx.Resources.Get(id)
	return descriptive.Resource, err
}

// checkSchemas verifies that each schema is in a dataspace, has a unique name there while it is
// active, and has its newest version.
func (c *checker) checkSchemas() error {
	type place struct {
		dataspace metadata.ID
		name      string
	}
	taken := map[place]bool{}
	for s, err := range c.tx.Schemas.All(metadata.ID{}) {
		if err != nil {
			return err
		}
		c.checkRecord("schema", s.Record, s.Name)
		if err := c.log.checkObject(audit.Schema, s.Record, s.Name, s.Entry); err != nil {
			return err
		}
		_, ok := c.spaces[s.DataspaceID]
		c.wrong(!ok, "schema", s.Record, s.Name, "its dataspace %s does not exist", s.DataspaceID)
		at := place{s.DataspaceID, s.Name}
		c.wrong(s.State == metadata.Active && taken[at], "schema", s.Record, s.Name, "another active schema has the same name")
		taken[at] = taken[at] || s.State == metadata.Active
		c.wrong(s.For != metadata.ForFiles && s.For != metadata.ForSets, "schema", s.Record, s.Name, "it is neither for files nor for sets")
		if _, err = c.tx.SchemaVersions.Get(s.Newest()); err != nil && !errors.Is(err, metadata.ErrNotFound) {
			return err
		}
		c.wrong(err != nil, "schema", s.Record, s.Name, "its version %d is missing", s.Version)
	}
	return nil
}

// checkSchemaVersions verifies that the versions of a schema are numbered from 1 without gaps, up
// to its newest version.
func (c *checker) checkSchemaVersions() error {
	var before metadata.SchemaVersionKey
	for v, err := range c.tx.SchemaVersions.All(before) {
		if err != nil {
			return err
		}
		c.result.Stamp = max(c.result.Stamp, v.Created)
		s, err := c.tx.Schemas.Get(v.SchemaID)
		if err != nil && !errors.Is(err, metadata.ErrNotFound) {
			return err
		}
		s.ID = v.SchemaID
		if before.Schema != v.SchemaID {
			before = metadata.SchemaVersionKey{Schema: v.SchemaID}
			c.wrong(err != nil, "schema", s.Record, "", "it does not exist, but its version %d does", v.Number)
		}
		c.wrong(v.Number != before.Number+1, "schema", s.Record, s.Name, "its version %d is missing", before.Number+1)
		c.wrong(err == nil && v.Number > s.Version, "schema", s.Record, s.Name, "its newest version is %d, but version %d exists", s.Version, v.Number)
		before = v.Key()
	}
	return nil
}

// checkEdits verifies that each bulk edit belongs to a set, and has one entry in the audit log for
// each file that it has changed. All these entries must name the edit's own entry as their cause.
func (c *checker) checkEdits() error {
	for e, err := range c.tx.Edits.All(metadata.ID{}) {
		if err != nil {
			return err
		}
		of := metadata.Record{ID: e.ID}
		c.result.Stamp = max(c.result.Stamp, e.Created)
		_, ok := c.sets[e.SetID]
		c.wrong(!ok, "edit", of, "", "its set %s does not exist", e.SetID)
		c.checkEntryOfEdit(of, e.Entry, func(entry audit.Entry) bool { return entry.Object == audit.Object{Kind: audit.Edit, ID: e.ID} })
		found := int64(0)
		for row, err := range c.tx.EditEntries.From(metadata.EditEntry{EditID: e.ID}) {
			if err = errors.Join(err, c.ended()); err != nil {
				return err
			}
			found++
			c.checkEntryOfEdit(of, row.Number, func(entry audit.Entry) bool { return entry.Action == audit.ResourceEdit && entry.Cause == e.Entry })
		}
		c.wrong(found != e.Objects, "edit", of, "", "it has changed %d files, but has %d entries in the audit log", e.Objects, found)
	}
	return nil
}

// checkEntryOfEdit reports an entry for which is returns false. Unreadable entries are reported
// with the log.
func (c *checker) checkEntryOfEdit(of metadata.Record, number uint64, is func(audit.Entry) bool) {
	e, err := c.log.entry(number)
	c.wrong(errors.Is(err, metadata.ErrNotFound) || err == nil && !is(e), "edit", of, "", "entry %d of the audit log is missing or belongs to another edit", number)
}
