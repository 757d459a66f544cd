package repositorytest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/formats/audit"
	"labshelf/metadata"
)

// Audited is a store that verifies each transaction. The rows that a transaction puts, and the
// stamps that it takes, must have entries in the audit log in the same transaction. The entries
// must have stamps that the transaction takes. It reports violations to Fail, from any goroutine.
//
// These need no entry: the beginning of a resumable upload, a blob recorded as unreferenced or
// damaged, an inline body that becomes a file, the time a key was last used, expired sessions, and
// leases.
type Audited struct {
	metadata.Store
	Fail func(format string, args ...any)
}

// Update implements metadata.Store.
func (s Audited) Update(ctx context.Context, fn func(*metadata.Tx) error) error {
	return s.watch(ctx, s.Store.Update, fn)
}

// UpdateBackground implements metadata.Store.
func (s Audited) UpdateBackground(ctx context.Context, fn func(*metadata.Tx) error) error {
	return s.watch(ctx, s.Store.UpdateBackground, fn)
}

func (s Audited) watch(ctx context.Context, commit func(context.Context, func(*metadata.Tx) error) error, fn func(*metadata.Tx) error) error {
	var missing []string
	err := commit(ctx, func(tx *metadata.Tx) error {
		missing = nil
		before, err := tx.Audit.State()
		if err != nil {
			return fn(tx) // the log is damaged
		}
		w := &watched{tx: tx, excused: map[metadata.Stamp]bool{}}
		if err := fn(w.tables()); err != nil {
			return err
		}
		missing, err = w.missing(before.Size)
		return err
	})
	if err == nil && len(missing) > 0 {
		s.Fail("a commit without its entries in the audit log: %q", missing)
	}
	return err
}

// watched is one watched transaction.
type watched struct {
	tx      *metadata.Tx
	stamps  []metadata.Stamp
	excused map[metadata.Stamp]bool // stamps of rows that need no entry
	changes []change
}

// change is a row that was put, and the condition for the entry about it.
type change struct {
	what  string
	entry uint64 // number of the entry in its record; 0 if the record has no entry
	says  func(audit.Entry) bool
	until metadata.Stamp // no entry is needed at this stamp or later; 0 if an entry is always needed
}

// tables returns the tables of the transaction, watched.
func (w *watched) tables() *metadata.Tx {
	tx := *w.tx
	tx.Stamp = func() metadata.Stamp {
		w.stamps = append(w.stamps, w.tx.Stamp())
		return w.stamps[len(w.stamps)-1]
	}
	tx.Resources, tx.Keys = watchedResources{tx.Resources, w}, watchedKeys{tx.Keys, w}
	w.watchContainers(&tx)
	w.watchUsers(&tx)
	tx.Uploads = excusedUploads{excuse(w, tx.Uploads, func(row metadata.ResumableUpload) metadata.Stamp { return row.Created }), tx.Uploads}
	tx.Damages = excuse(w, tx.Damages, func(row metadata.Damage) metadata.Stamp { return row.Found })
	tx.Unreferenced = excusedUnreferenced{excuse(w, tx.Unreferenced, func(row metadata.Unreferenced) metadata.Stamp { return row.Since }), tx.Unreferenced}
	tx.Leases = excusedLeases{excuse(w, tx.Leases, func(row metadata.Lease) metadata.Stamp { return row.Fence }), tx.Leases}
	return &tx
}

// missing returns the changes without entries and the entries without changes, among the entries
// with at least the given number.
func (w *watched) missing(from uint64) (missing []string, err error) {
	state, err := w.tx.Audit.State()
	if err != nil {
		return nil, err
	}
	var entries []audit.Entry
	logged := map[metadata.Stamp]bool{}
	for number := from; number < state.Size; number++ {
		row, err := w.tx.Audit.Get(number)
		if err != nil {
			return nil, err
		}
		e, err := row.Entry()
		if err != nil {
			return nil, err
		}
		stamp := metadata.Stamp(e.Stamp)
		if e.Action.String() == "" || e.Action != audit.EpochBegin && (!slices.Contains(w.stamps, stamp) || logged[stamp]) {
			missing = append(missing, fmt.Sprintf("entry %d, %s, has a stamp that no change took, or the stamp of another", number, e.Action))
		}
		logged[stamp] = true
		entries = append(entries, e)
	}
	for _, stamp := range w.stamps {
		if !logged[stamp] && !w.excused[stamp] {
			missing = append(missing, fmt.Sprintf("the stamp %d", stamp))
		}
	}
	last, err := w.tx.Lineage.LastStamp()
	for _, c := range w.changes {
		if c.until != 0 && c.until <= last {
			continue
		}
		if !slices.ContainsFunc(entries, c.says) || c.entry != 0 && (c.entry < from || c.entry >= state.Size) {
			missing = append(missing, c.what)
		}
	}
	return missing, err
}

// put records a row that is put, unless it equals present, the row that it replaces. The caller
// copies the fields that may change without an entry from row to present.
func put[T comparable](w *watched, what string, row, present T, err error, entry uint64, says func(audit.Entry) bool) error {
	switch {
	case err == nil && row == present:
		return nil
	case err != nil && !errors.Is(err, metadata.ErrNotFound):
		return err
	}
	w.changes = append(w.changes, change{what, entry, says, 0})
	return nil
}

// about returns a condition for entries about an object.
func about(kind audit.Kind, id metadata.ID) func(audit.Entry) bool {
	return func(e audit.Entry) bool { return e.Object == audit.Object{Kind: kind, ID: id} }
}

// watchedTable is a table that calls a function before each Put.
type watchedTable[K, R any] struct {
	metadata.Table[K, R]
	before func(R) error
}

func (t watchedTable[K, R]) Put(row R) error { return errors.Join(t.before(row), t.Table.Put(row)) }

// watch returns a table that calls before in front of each Put.
func watch[K, R any](t metadata.Table[K, R], before func(R) error) watchedTable[K, R] {
	return watchedTable[K, R]{t, before}
}

// excuse returns a table that registers a stamp of each row put into it as needing no entry.
func excuse[K, R any](w *watched, t metadata.Table[K, R], stamp func(R) metadata.Stamp) watchedTable[K, R] {
	return watch(t, func(row R) error {
		w.excused[stamp(row)] = true
		return nil
	})
}

type (
	watchedDataspaces struct {
		watchedTable[metadata.ID, metadata.Dataspace]
		metadata.DataspaceFinders
	}
	watchedSets struct {
		watchedTable[metadata.ID, metadata.Set]
		metadata.SetFinders
	}
	watchedVersions struct {
		watchedTable[metadata.VersionKey, metadata.Version]
		metadata.Backwards[metadata.VersionKey, metadata.Version]
	}
	watchedSchemas struct {
		watchedTable[metadata.ID, metadata.Schema]
		metadata.SchemaFinders
	}
	watchedSchemaVersions struct {
		watchedTable[metadata.SchemaVersionKey, metadata.SchemaVersion]
		metadata.Backwards[metadata.SchemaVersionKey, metadata.SchemaVersion]
	}
	watchedEdits struct {
		watchedTable[metadata.ID, metadata.BulkEdit]
		metadata.EditFinders
	}
	watchedUsers struct {
		watchedTable[metadata.ID, metadata.User]
		metadata.UserFinders
	}
	watchedPrivileges struct {
		watchedTable[metadata.ID, metadata.Privilege]
		metadata.PrivilegeFinders
	}
	excusedUploads struct {
		watchedTable[metadata.ID, metadata.ResumableUpload]
		metadata.UploadFinders
	}
	excusedUnreferenced struct {
		watchedTable[blobs.Digest, metadata.Unreferenced]
		metadata.Counted[metadata.BlobCount]
	}
	excusedLeases struct {
		watchedTable[string, metadata.Lease]
		metadata.LeaseFinders
	}
)

// watchContainers watches the tables of dataspaces, sets, former versions, and their descriptions.
func (w *watched) watchContainers(tx *metadata.Tx) {
	tx.Dataspaces = watchedDataspaces{watch(tx.Dataspaces, func(row metadata.Dataspace) error {
		present, err := w.tx.Dataspaces.Get(row.ID)
		return put(w, "dataspace "+row.Name, row, present, err, row.Entry, about(audit.Dataspace, row.ID))
	}), tx.Dataspaces}
	tx.Sets = watchedSets{watch(tx.Sets, func(row metadata.Set) error {
		present, err := w.tx.Sets.Get(row.ID)
		return put(w, "set "+row.Name, row, present, err, row.Entry, about(audit.Set, row.ID))
	}), tx.Sets}
	tx.Versions = watchedVersions{watch(tx.Versions, func(row metadata.Version) error {
		present, err := w.tx.Versions.Get(row.Key())
		if row.Body == metadata.InBlob && present.Body == metadata.Inline {
			present.Body = row.Body
		}
		return put(w, "a version of "+row.Name, row, present, err, 0, about(audit.Resource, row.ResourceID))
	}), tx.Versions}
	tx.Descriptive = watchedDescriptive{watch(tx.Descriptive, func(row metadata.Descriptive) error {
		present, err := w.tx.Descriptive.Get(row.ObjectID)
		return put(w, "metadata of "+row.ObjectID.String(), row, present, err, 0, described(row.ObjectID))
	}), w}
	tx.Schemas = watchedSchemas{watch(tx.Schemas, func(row metadata.Schema) error {
		present, err := w.tx.Schemas.Get(row.ID)
		return put(w, "schema "+row.Name, row, present, err, row.Entry, about(audit.Schema, row.ID))
	}), tx.Schemas}
	tx.SchemaVersions = watchedSchemaVersions{watch(tx.SchemaVersions, func(row metadata.SchemaVersion) error {
		present, err := w.tx.SchemaVersions.Get(row.Key())
		return put(w, "a version of the schema "+row.SchemaID.String(), row, present, err, 0, about(audit.Schema, row.SchemaID))
	}), tx.SchemaVersions}
	// Other entries record how many files an edit has changed, and which edit undid it.
	tx.Edits = watchedEdits{watch(tx.Edits, func(row metadata.BulkEdit) error {
		present, err := w.tx.Edits.Get(row.ID)
		if err == nil {
			present = row
		}
		return put(w, "edit "+row.ID.String(), row, present, err, row.Entry, about(audit.Edit, row.ID))
	}), tx.Edits}
}

// watchUsers watches the tables of users and their privileges and sessions.
func (w *watched) watchUsers(tx *metadata.Tx) {
	tx.Users = watchedUsers{watch(tx.Users, func(row metadata.User) error {
		present, err := w.tx.Users.Get(row.ID)
		return put(w, "user "+row.Username, row, present, err, row.Entry, about(audit.User, row.ID))
	}), tx.Users}
	tx.Privileges = watchedPrivileges{watch(tx.Privileges, func(row metadata.Privilege) error {
		present, err := w.tx.Privileges.Get(row.ID)
		return put(w, "a role", row, present, err, 0, func(e audit.Entry) bool {
			return about(audit.Dataspace, row.DataspaceID)(e) && e.Subject == row.UserID
		})
	}), tx.Privileges}
	tx.Sessions = watchedSessions{watch(tx.Sessions, func(row metadata.Session) error {
		present, err := w.tx.Sessions.Get(row.Key())
		return put(w, "a session begins", row, present, err, 0, session(audit.SessionBegin, row.Digest))
	}), tx.Sessions, w}
}

type watchedResources struct {
	metadata.Resources
	*watched
}

func (t watchedResources) Put(row metadata.Resource) error {
	present, err := t.Get(row.ID)
	if row.Body == metadata.InBlob && present.Body == metadata.Inline { // the body became a file
		present.Body = row.Body
	}
	err = put(t.watched, "resource "+row.Name, row, present, err, row.Entry, about(audit.Resource, row.ID))
	return errors.Join(err, t.Resources.Put(row))
}

// watchedDescriptive watches removals.
type watchedDescriptive struct {
	watchedTable[metadata.ID, metadata.Descriptive]
	*watched
}

// described returns a condition for entries about an object of any kind.
func described(id metadata.ID) func(audit.Entry) bool {
	return func(e audit.Entry) bool { return e.Object.ID == id }
}

func (t watchedDescriptive) Remove(id metadata.ID) error {
	t.changes = append(t.changes, change{"metadata of " + id.String(), 0, described(id), 0})
	return t.Table.Remove(id)
}

type watchedKeys struct {
	metadata.Keys
	*watched
}

func (t watchedKeys) Put(row metadata.Key) error {
	present, err := t.Get(row.UserID, row.ID)
	present.LastUsed = row.LastUsed
	err = put(t.watched, "key "+row.Label, row, present, err, 0, about(audit.Key, row.ID))
	return errors.Join(err, t.Keys.Put(row))
}

// watchedSessions watches removals.
type watchedSessions struct {
	watchedTable[metadata.SessionKey, metadata.Session]
	metadata.SessionFinders
	*watched
}

// session returns a condition for entries about a session with an action.
func session(action audit.Action, digest auth.SessionDigest) func(audit.Entry) bool {
	return func(e audit.Entry) bool { return e.Action == action && bytes.HasPrefix(digest[:], e.Session[:]) }
}

// Remove requires an entry if the session is still valid.
func (t watchedSessions) Remove(of metadata.SessionKey) error {
	row, err := t.Get(of)
	if key, failed := t.tx.Keys.Get(of.User, row.KeyID); err == nil && failed == nil && key.Gone == 0 {
		t.changes = append(t.changes, change{"a session ends", 0, session(audit.SessionEnd, of.Digest), row.Expires})
	}
	return t.Table.Remove(of)
}
