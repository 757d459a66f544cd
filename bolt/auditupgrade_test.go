package bolt

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/blobs/blobstest"
	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository"
	"labshelf/repository/core"
	"labshelf/repository/files"
	"labshelf/repository/repositorytest"
)

// everything contains all rows of a file that are older than the audit log.
func everything(t *testing.T, s *Store) (rows []any) {
	t.Helper()
	err := s.View(t.Context(), func(tx *metadata.Tx) (err error) {
		epoch, failed := tx.Lineage.Epoch()
		last, failed2 := tx.Lineage.LastStamp()
		err = errors.Join(failed, failed2)
		if rows = append(rows, last); epoch != (metadata.Epoch{}) {
			rows = append(rows, epoch)
		}
		rows, err = appendRows(rows, err, tx.Dataspaces.All(metadata.ID{}))
		rows, err = appendRows(rows, err, tx.Sets.Range(metadata.SetRange{States: paging.All}))
		rows, err = appendRows(rows, err, tx.Resources.Range(metadata.ResourceRange{States: paging.All, Order: paging.Oldest}))
		rows, err = appendRows(rows, err, tx.Versions.All(metadata.VersionKey{}))
		rows, err = appendRows(rows, err, tx.Users.All(metadata.ID{}))
		rows, err = appendRows(rows, err, tx.Privileges.All(metadata.ID{}))
		rows, err = appendRows(rows, err, tx.Blobs.All(blobs.Digest{}))
		rows, err = appendRows(rows, err, tx.Unreferenced.All(blobs.Digest{}))
		rows, err = appendRows(rows, err, tx.InlineBodies.All(metadata.VersionKey{}))
		for u, failed := range tx.Users.All(metadata.ID{}) {
			rows, err = appendRows(rows, errors.Join(err, failed), tx.Keys.OfUser(u.ID, metadata.ID{}))
		}
		for d, failed := range tx.Dataspaces.All(metadata.ID{}) {
			rows, err = appendRows(rows, errors.Join(err, failed), tx.Usage.Days(d.ID))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func appendRows[T any](rows []any, err error, seq func(yield func(T, error) bool)) ([]any, error) {
	for row, failed := range seq {
		rows, err = append(rows, row), errors.Join(err, failed)
	}
	return rows, err
}

// logOf returns the state of the log and its decoded entries.
func logOf(t *testing.T, s *Store) (state audit.State, entries []audit.Entry) {
	t.Helper()
	err := s.View(t.Context(), func(tx *metadata.Tx) (err error) {
		if state, err = tx.Audit.State(); err != nil {
			return err
		}
		for number := range state.Size {
			row, err := tx.Audit.Get(number)
			if err != nil {
				return err
			}
			e, err := row.Entry()
			if err != nil {
				return err
			}
			entries = append(entries, e)
		}
		if _, err := tx.Audit.Get(state.Size); !errors.Is(err, metadata.ErrNotFound) {
			return fmt.Errorf("behind the last entry: %w", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return state, entries
}

// versionsWithoutLog returns the olderVersions without an audit log.
func versionsWithoutLog() []string {
	return slices.DeleteFunc(olderVersions(), func(name string) bool {
		return slices.Contains([]string{"version-9", "version-10", "version-11", "version-12", "version-14"}, name)
	})
}

// TestLogBeginsWithUpgrade tests that a file without a log keeps all its rows, and gets exactly one
// entry that continues them.
func TestLogBeginsWithUpgrade(t *testing.T) {
	t.Parallel()
	for _, name := range versionsWithoutLog() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := olderFile(t, name)
			old, err := Open(path, Options{ReadOnly: true})
			if err != nil {
				t.Fatal(err)
			}
			before := everything(t, old)
			hasEpoch := old.schema(t) >= 6
			if state, _ := logOf(t, old); !reflect.DeepEqual(state, audit.State{Frontier: []audit.Hash{}}) && !reflect.DeepEqual(state, audit.State{}) {
				t.Errorf("the state of no log is %+v", state)
			}
			if err := old.Close(); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				s, err := Open(path, Options{})
				if err != nil {
					t.Fatal(err)
				}
				after := everything(t, s)
				if !hasEpoch {
					after = append(after[:1:1], after[2:]...) // without the new entry
				}
				if diff := gocmp.Diff(before, after); diff != "" {
					t.Errorf("its rows are not those from before:\n%s", diff)
				}
				holdsFirstEntry(t, s)
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// holdsFirstEntry fails unless the log has only the entry of the epoch, with the time of the last
// change.
func holdsFirstEntry(t *testing.T, s *Store) {
	t.Helper()
	_, entries := logOf(t, s)
	if len(entries) != 1 {
		t.Fatalf("the log has %d entries", len(entries))
	}
	begun, err := audit.ParseEpoch(entries[0].Values)
	if err != nil {
		t.Fatal(err)
	}
	err = s.View(t.Context(), func(tx *metadata.Tx) error {
		last, err := tx.Lineage.LastStamp()
		epoch, failed := tx.Lineage.Epoch()
		want := audit.Entry{Action: audit.EpochBegin, Stamp: int64(last), Values: entries[0].Values}
		if diff := gocmp.Diff(want, entries[0]); diff != "" {
			t.Errorf("the first entry: %s", diff)
		}
		if of := (audit.Epoch{ID: epoch.ID.String(), Base: int64(epoch.Base), Began: int64(epoch.Began), Root: audit.State{}.Root()}); begun != of {
			t.Errorf("the first entry begins %+v, not %+v", begun, of)
		}
		return errors.Join(err, failed)
	})
	if err != nil {
		t.Error(err)
	}
}

// TestLogChainsBehindUpgrade tests that objects of an older file have no entry, that the first
// change of an object begins its chain, and that later changes continue it.
func TestLogChainsBehindUpgrade(t *testing.T) {
	t.Parallel()
	for _, name := range versionsWithoutLog() {
		s, err := Open(olderFile(t, name), Options{})
		if err != nil {
			t.Fatal(err)
		}
		edit := editorOf(t, s)
		first, second := edit("one"), edit("two")
		state, entries := logOf(t, s)
		if first.Entry != 1 || second.Entry != 2 || state.Size != 3 {
			t.Fatalf("%s: entries %d and %d of %d", name, first.Entry, second.Entry, state.Size)
		}
		for number, want := range []uint64{1: 0, 2: 1} {
			e, object := entries[number], audit.Object{Kind: audit.Resource, ID: first.ID}
			if number > 0 && (e.Action != audit.ResourceEdit || e.Object != object || e.Previous != want) {
				t.Errorf("%s: entry %d is %+v", name, number, e)
			}
		}
		holdsRules(t, s)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// editorOf returns a function that edits one active resource of a store as its sysadmin.
func editorOf(t *testing.T, s *Store) (edit func(description string) metadata.Resource) {
	t.Helper()
	var r metadata.Resource
	var admin auth.Principal
	err := s.View(t.Context(), func(tx *metadata.Tx) error {
		for u, err := range tx.Users.All(metadata.ID{}) {
			if err == nil && u.Sysadmin && u.State == metadata.Active {
				admin.UserID = u.ID
			}
		}
		for row, err := range tx.Resources.Range(metadata.ResourceRange{States: paging.Active, Order: paging.Oldest}) {
			if r = row; err != nil || r.Entry != 0 {
				return errors.Join(err, fmt.Errorf("its entry is %d", r.Entry))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	svc := repositorytest.NewStill(s, blobstest.NewMemory(), repository.Config{PageSize: 100})
	return func(description string) metadata.Resource {
		edited, err := svc.Files.EditResource(t.Context(), admin, r.ID.String(), files.Fields{Description: new(description)}, core.Match{})
		if err != nil {
			t.Fatal(err)
		}
		return edited
	}
}
