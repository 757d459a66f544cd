package repositorytest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"labshelf/auth"
	"labshelf/formats/audit"
	"labshelf/metadata"
)

// Audited is a store that watches each change: what it puts and the stamps that it takes must have
// their entries in the audit log, in the same transaction, and the entries must be of stamps that
// it takes. It reports what has none to fail, from any goroutine.
//
// Without an entry may be: the beginning of a resumable upload, a blob that is recorded as
// unreferenced or damaged, an inline body that becomes a file, the time a key was last used,
// sessions that have ended by themselves, and leases.
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
			return fn(tx) // damaged
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

// watched is one transaction.
type watched struct {
	tx      *metadata.Tx
	stamps  []metadata.Stamp
	excused map[metadata.Stamp]bool // of what has no entry
	changes []change
}

// change is a row that was put, and what an entry about it says.
type change struct {
	what  string
	entry uint64 // number in its record; 0: it has none
	says  func(audit.Entry) bool
	until metadata.Stamp // no entry is needed from this stamp on; 0: always
}

// tables are those of the transaction, watched.
func (w *watched) tables() *metadata.Tx {
	tx := *w.tx
	tx.Stamp = func() metadata.Stamp {
		w.stamps = append(w.stamps, w.tx.Stamp())
		return w.stamps[len(w.stamps)-1]
	}
	tx.Dataspaces, tx.Sets, tx.Resources = watchedDataspaces{tx.Dataspaces, w}, watchedSets{tx.Sets, w}, watchedResources{tx.Resources, w}
	tx.Versions, tx.Users, tx.Keys = watchedVersions{tx.Versions, w}, watchedUsers{tx.Users, w}, watchedKeys{tx.Keys, w}
	tx.Descriptive = watchedDescriptives{tx.Descriptive, w}
	tx.Schemas, tx.SchemaVersions, tx.Edits = watchedSchemas{tx.Schemas, w}, watchedSchemaVersions{tx.SchemaVersions, w}, watchedEdits{tx.Edits, w}
	tx.Privileges, tx.Sessions = watchedPrivileges{tx.Privileges, w}, watchedSessions{tx.Sessions, w}
	tx.Uploads, tx.Damages, tx.Unreferenced = excusedUploads{tx.Uploads, w}, excusedDamages{tx.Damages, w}, excusedUnreferenced{tx.Unreferenced, w}
	tx.Leases = excusedLeases{tx.Leases, w}
	return &tx
}

// missing returns what the entries from a number on do not say of the transaction, and what they
// say too much.
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
			missing = append(missing, fmt.Sprintf("entry %d, %s, has a stamp that no change took, or that of another", number, e.Action))
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

// put notes a row that is put. present is the one that it replaces, with whatever may change
// without an entry as in the new one.
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

// about tells entries about an object.
func about(kind audit.Kind, id metadata.ID) func(audit.Entry) bool {
	return func(e audit.Entry) bool { return e.Object == audit.Object{Kind: kind, ID: id} }
}

type watchedDataspaces struct {
	metadata.Dataspaces
	*watched
}

func (t watchedDataspaces) Put(row metadata.Dataspace) error {
	present, err := t.Get(row.ID)
	err = put(t.watched, "dataspace "+row.Name, row, present, err, row.Entry, about(audit.Dataspace, row.ID))
	return errors.Join(err, t.Dataspaces.Put(row))
}

type watchedSets struct {
	metadata.Sets
	*watched
}

func (t watchedSets) Put(row metadata.Set) error {
	present, err := t.Get(row.ID)
	err = put(t.watched, "set "+row.Name, row, present, err, row.Entry, about(audit.Set, row.ID))
	return errors.Join(err, t.Sets.Put(row))
}

type watchedResources struct {
	metadata.Resources
	*watched
}

func (t watchedResources) Put(row metadata.Resource) error {
	present, err := t.Get(row.ID)
	if row.Body == metadata.InBlob && present.Body == metadata.Inline { // it became a file
		present.Body = row.Body
	}
	err = put(t.watched, "resource "+row.Name, row, present, err, row.Entry, about(audit.Resource, row.ID))
	return errors.Join(err, t.Resources.Put(row))
}

type watchedVersions struct {
	metadata.Versions
	*watched
}

func (t watchedVersions) Put(row metadata.Version) error {
	present, err := t.Get(row.Key())
	if row.Body == metadata.InBlob && present.Body == metadata.Inline {
		present.Body = row.Body
	}
	err = put(t.watched, "a version of "+row.Name, row, present, err, 0, about(audit.Resource, row.ResourceID))
	return errors.Join(err, t.Versions.Put(row))
}

type watchedDescriptives struct {
	metadata.Descriptives
	*watched
}

// described tells entries about an object of any kind.
func described(id metadata.ID) func(audit.Entry) bool {
	return func(e audit.Entry) bool { return e.Object.ID == id }
}

func (t watchedDescriptives) Put(row metadata.Descriptive) error {
	present, err := t.Get(row.ObjectID)
	err = put(t.watched, "metadata of "+row.ObjectID.String(), row, present, err, 0, described(row.ObjectID))
	return errors.Join(err, t.Descriptives.Put(row))
}

func (t watchedDescriptives) Remove(id metadata.ID) error {
	t.changes = append(t.changes, change{"metadata of " + id.String(), 0, described(id), 0})
	return t.Descriptives.Remove(id)
}

type watchedSchemas struct {
	metadata.Schemas
	*watched
}

func (t watchedSchemas) Put(row metadata.Schema) error {
	present, err := t.Get(row.ID)
	err = put(t.watched, "schema "+row.Name, row, present, err, row.Entry, about(audit.Schema, row.ID))
	return errors.Join(err, t.Schemas.Put(row))
}

type watchedSchemaVersions struct {
	metadata.SchemaVersions
	*watched
}

func (t watchedSchemaVersions) Put(row metadata.SchemaVersion) error {
	present, err := t.Get(row.Key())
	err = put(t.watched, "a version of the schema "+row.SchemaID.String(), row, present, err, 0, about(audit.Schema, row.SchemaID))
	return errors.Join(err, t.SchemaVersions.Put(row))
}

type watchedEdits struct {
	metadata.BulkEdits
	*watched
}

// Put watches new ones: how many files one has changed, and what undid it, is in other entries.
func (t watchedEdits) Put(row metadata.BulkEdit) error {
	present, err := t.Get(row.ID)
	if err == nil {
		present = row
	}
	err = put(t.watched, "edit "+row.ID.String(), row, present, err, row.Entry, about(audit.Edit, row.ID))
	return errors.Join(err, t.BulkEdits.Put(row))
}

type watchedUsers struct {
	metadata.Users
	*watched
}

func (t watchedUsers) Put(row metadata.User) error {
	present, err := t.Get(row.ID)
	err = put(t.watched, "user "+row.Username, row, present, err, row.Entry, about(audit.User, row.ID))
	return errors.Join(err, t.Users.Put(row))
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

type watchedPrivileges struct {
	metadata.Privileges
	*watched
}

func (t watchedPrivileges) Put(row metadata.Privilege) error {
	present, err := t.Get(row.ID)
	err = put(t.watched, "a role", row, present, err, 0, func(e audit.Entry) bool {
		return about(audit.Dataspace, row.DataspaceID)(e) && e.Subject == row.UserID
	})
	return errors.Join(err, t.Privileges.Put(row))
}

type watchedSessions struct {
	metadata.Sessions
	*watched
}

// session tells entries about a session, of an action.
func session(action audit.Action, digest auth.SessionDigest) func(audit.Entry) bool {
	return func(e audit.Entry) bool { return e.Action == action && bytes.HasPrefix(digest[:], e.Session[:]) }
}

func (t watchedSessions) Put(row metadata.Session) error {
	present, err := t.Get(row.UserID, row.Digest)
	err = put(t.watched, "a session begins", row, present, err, 0, session(audit.SessionBegin, row.Digest))
	return errors.Join(err, t.Sessions.Put(row))
}

// Remove of a session that would still serve has an entry.
func (t watchedSessions) Remove(user metadata.ID, digest auth.SessionDigest) error {
	row, err := t.Get(user, digest)
	if key, failed := t.tx.Keys.Get(user, row.KeyID); err == nil && failed == nil && key.Gone == 0 {
		t.changes = append(t.changes, change{"a session ends", 0, session(audit.SessionEnd, digest), row.Expires})
	}
	return t.Sessions.Remove(user, digest)
}

type excusedUploads struct {
	metadata.ResumableUploads
	*watched
}

func (t excusedUploads) Put(row metadata.ResumableUpload) error {
	t.excused[row.Created] = true
	return t.ResumableUploads.Put(row)
}

type excusedDamages struct {
	metadata.Damages
	*watched
}

func (t excusedDamages) Put(row metadata.Damage) error {
	t.excused[row.Found] = true
	return t.Damages.Put(row)
}

type excusedUnreferenced struct {
	metadata.UnreferencedBlobs
	*watched
}

func (t excusedUnreferenced) Put(row metadata.Unreferenced) error {
	t.excused[row.Since] = true
	return t.UnreferencedBlobs.Put(row)
}

type excusedLeases struct {
	metadata.Leases
	*watched
}

func (t excusedLeases) Put(row metadata.Lease) error {
	t.excused[row.Fence] = true
	return t.Leases.Put(row)
}
