package maintenance_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"labshelf/blobs"
	"labshelf/blobs/blobstest"
	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/repository"
	"labshelf/repository/internal/rows"
	"labshelf/repository/repositorytest"
)

// described returns a sound store with a schema of two versions, and a bulk edit of one file that
// was undone.
func described(t *testing.T, files blobs.Folder) (h *repositorytest.World, meta *metadatatest.Memory, schema metadata.Schema, edit metadata.BulkEdit) {
	t.Helper()
	meta = metadatatest.NewMemory(time.Now)
	h = repositorytest.NewWorld(t, repositorytest.NewStill(meta, files, repository.Config{PageSize: 100, DirectoryPageSize: 100}), 2, 0)
	audited := repositorytest.Audited{Store: meta, Fail: t.Errorf}
	h.OK(audited.Update(t.Context(), func(tx *metadata.Tx) error {
		stamp := tx.Stamp()
		schema = metadata.Schema{
			Record:      metadata.Record{ID: metadata.NewID(stamp), State: metadata.Active, Created: stamp, Modified: stamp},
			DataspaceID: h.Space.ID, Name: "runs", For: metadata.ForFiles, Version: 1,
		}
		if err := rows.SaveSchema(tx, rows.Change{By: h.Admin, Action: audit.SchemaCreate}, nil, &schema, "{}"); err != nil {
			return err
		}
		before := schema
		schema.Version, schema.Modified = 2, tx.Stamp()
		return rows.SaveSchema(tx, rows.Change{By: h.Admin, Action: audit.SchemaUpdate}, &before, &schema, `{"type":"object"}`)
	}))
	h.OK(audited.Update(t.Context(), func(tx *metadata.Tx) error {
		edit = metadata.BulkEdit{Kind: metadata.EditOfMany}
		if err := rows.BeginEdit(tx, rows.Change{By: h.Admin}, h.Sets[0], &edit); err != nil {
			return err
		}
		before := h.Resources[0]
		file := before
		file.Descriptive, file.Modified = `{"tags":["a"]}`, tx.Stamp()
		if err := rows.SaveResource(tx, rows.Change{By: h.Admin, Action: audit.ResourceEdit, Cause: edit.Entry}, &before, &file); err != nil {
			return err
		}
		undo := metadata.BulkEdit{Kind: metadata.EditUndo, Undoes: edit.ID}
		return errors.Join(rows.RecordEdited(tx, edit.ID, file.Entry), rows.BeginEdit(tx, rows.Change{By: h.Admin}, h.Sets[0], &undo))
	}))
	h.OK(meta.View(t.Context(), func(tx *metadata.Tx) (err error) {
		edit, err = tx.Edits.Get(edit.ID)
		return err
	}))
	return h, meta, schema, edit
}

// TestCheckFindsBrokenDescriptions breaks one rule of schemas and bulk edits at a time.
func TestCheckFindsBrokenDescriptions(t *testing.T) {
	t.Parallel()
	for want, breaks := range map[string]func(tx *metadata.Tx, h *repositorytest.World, s metadata.Schema, e metadata.BulkEdit) error{
		"its last entry of the audit log, schema.update": func(tx *metadata.Tx, _ *repositorytest.World, s metadata.Schema, _ metadata.BulkEdit) error {
			s.Modified++
			return tx.Schemas.Put(s)
		},
		"its dataspace 7ZZZZZZZZZZZZZZZZZZZZZZZZZ does not exist": func(tx *metadata.Tx, _ *repositorytest.World, s metadata.Schema, _ metadata.BulkEdit) error {
			s.DataspaceID = nowhere
			return tx.Schemas.Put(s)
		},
		"another active schema has the same name": func(tx *metadata.Tx, _ *repositorytest.World, s metadata.Schema, _ metadata.BulkEdit) error {
			s.ID = nowhere
			return tx.Schemas.Put(s)
		},
		"neither for files nor for sets": func(tx *metadata.Tx, _ *repositorytest.World, s metadata.Schema, _ metadata.BulkEdit) error {
			s.For = 3
			return tx.Schemas.Put(s)
		},
		"its version 3 is missing": func(tx *metadata.Tx, _ *repositorytest.World, s metadata.Schema, _ metadata.BulkEdit) error {
			s.Version = 3
			return tx.Schemas.Put(s)
		},
		"its newest version is 2, but version 3 exists": func(tx *metadata.Tx, _ *repositorytest.World, s metadata.Schema, _ metadata.BulkEdit) error {
			return tx.SchemaVersions.Put(metadata.SchemaVersion{SchemaID: s.ID, Number: 3})
		},
		"it does not exist, but its version 1 does": func(tx *metadata.Tx, _ *repositorytest.World, _ metadata.Schema, _ metadata.BulkEdit) error {
			return tx.SchemaVersions.Put(metadata.SchemaVersion{SchemaID: nowhere, Number: 1})
		},
		"its set 7ZZZZZZZZZZZZZZZZZZZZZZZZZ does not exist": func(tx *metadata.Tx, _ *repositorytest.World, _ metadata.Schema, e metadata.BulkEdit) error {
			e.SetID = nowhere
			return tx.Edits.Put(e)
		},
		"it has changed 2 files, but has 1 entries": func(tx *metadata.Tx, _ *repositorytest.World, _ metadata.Schema, e metadata.BulkEdit) error {
			e.Objects++
			return tx.Edits.Put(e)
		},
		"is missing or belongs to another edit": func(tx *metadata.Tx, _ *repositorytest.World, _ metadata.Schema, e metadata.BulkEdit) error {
			e.Entry++
			return tx.Edits.Put(e)
		},
		"entry 1 of the audit log is missing or belongs to another edit": func(tx *metadata.Tx, _ *repositorytest.World, _ metadata.Schema, e metadata.BulkEdit) error {
			return tx.EditEntries.Put(metadata.EditEntry{EditID: e.ID, Number: 1})
		},
		"entry 99 of the audit log is missing or belongs to another edit": func(tx *metadata.Tx, _ *repositorytest.World, _ metadata.Schema, e metadata.BulkEdit) error {
			return tx.EditEntries.Put(metadata.EditEntry{EditID: e.ID, Number: 99})
		},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			files := blobstest.NewMemory()
			h, meta, schema, edit := described(t, files)
			if found := repositorytest.Violations(t, meta, files); len(found) > 0 {
				t.Fatalf("in a sound store: %q", found)
			}
			if edit.Objects != 1 || edit.UndoneBy == (metadata.ID{}) {
				t.Errorf("the bulk edit is %+v", edit)
			}
			h.OK(meta.Update(t.Context(), func(tx *metadata.Tx) error { return breaks(tx, h, schema, edit) }))
			if found := repositorytest.Violations(t, meta, files); !strings.Contains(strings.Join(found, "\n"), want) {
				t.Errorf("found %q", found)
			}
		})
	}
}
