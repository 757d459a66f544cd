package bolt

import (
	"errors"
	"iter"
	"testing"

	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/paging"
)

// holdsDescriptions tests that existing descriptive metadata are read from an older file, and that
// the tables that it lacked accept rows.
func holdsDescriptions(t *testing.T, s *Store, readOnly bool) {
	t.Helper()
	id := metadatatest.IDAt('T', 1)
	err := s.View(t.Context(), func(tx *metadata.Tx) error {
		if _, err := tx.Schemas.Get(id); !errors.Is(err, metadata.ErrNotFound) {
			t.Errorf("a schema: %v", err)
		}
		return errors.Join(
			last(tx.Descriptive.All(metadata.ID{})), last(tx.Schemas.All(metadata.ID{})), last(tx.Schemas.OfDataspace(id, paging.All)),
			last(tx.SchemaVersions.All(metadata.SchemaVersionKey{})), last(tx.SchemaVersions.Before(metadata.SchemaVersionKey{Number: 1})),
			last(tx.Folders.All(metadata.FolderKey{})), last(tx.Folders.From(metadata.FolderKey{SetID: id})), last(tx.FileProperties.All(metadata.ID{})),
			last(tx.Links.Range(metadata.LinkRange{})), last(tx.Links.Range(metadata.LinkRange{Dataspace: id})), last(tx.Links.Range(metadata.LinkRange{Owner: id})), last(tx.LinkUses.All(metadata.ID{})),
			last(tx.Leases.Under("")), last(tx.Nodes.All(metadata.ID{})),
			last(tx.Edits.All(metadata.ID{})), last(tx.Edits.OfSet(id, metadata.ID{})), last(tx.EditEntries.From(metadata.EditEntry{})),
		)
	})
	if err != nil {
		t.Error(err)
	}
	if readOnly {
		return
	}
	used := 0
	usedErr := s.View(t.Context(), func(tx *metadata.Tx) (err error) {
		used, err = rowsOf(tx.UserUsage.All(metadata.ID{})) // a check compares them with the resources
		return err
	})
	if used == 0 || usedErr != nil {
		t.Errorf("the usage of %d users is counted, %v", used, usedErr)
	}
	kept := errors.New("nothing of it is kept")
	err = s.Update(t.Context(), func(tx *metadata.Tx) error {
		if err := errors.Join(
			tx.Descriptive.Put(metadata.Descriptive{ObjectID: id, JSON: "{}"}), tx.Descriptive.Remove(id),
			tx.Schemas.Put(metadata.Schema{Record: metadata.Record{ID: id, State: metadata.Active}, DataspaceID: id}),
			tx.SchemaVersions.Put(metadata.SchemaVersion{SchemaID: id, Number: 1}),
			tx.Edits.Put(metadata.BulkEdit{ID: id, SetID: id}), tx.EditEntries.Put(metadata.EditEntry{EditID: id}),
			tx.Folders.Put(metadata.Folder{SetID: id, Path: "a/"}), tx.FileProperties.Put(metadata.FileProperties{ResourceID: id}),
			tx.Links.Put(metadata.Link{Record: metadata.Record{ID: id}, Kind: metadata.ShareLink}), tx.LinkUses.Put(metadata.LinkUse{LinkID: id}),
			tx.Leases.Put(metadata.Lease{Name: "l"}), tx.Nodes.Put(metadata.Node{Instance: id}),
		); err != nil {
			return err
		}
		schemas, schemasErr := rowsOf(tx.Schemas.OfDataspace(id, paging.Active))
		edits, editsErr := rowsOf(tx.Edits.OfSet(id, metadata.ID{}))
		entries, entriesErr := rowsOf(tx.EditEntries.From(metadata.EditEntry{EditID: id}))
		if schemas != 1 || edits != 1 || entries != 1 {
			t.Errorf("%d schemas, %d edits, %d entries", schemas, edits, entries)
		}
		return errors.Join(kept, schemasErr, editsErr, entriesErr)
	})
	if !errors.Is(err, kept) {
		t.Errorf("rows of new tables: %v", err)
	}
}

func rowsOf[T any](rows iter.Seq2[T, error]) (n int, err error) {
	for _, err := range rows {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
