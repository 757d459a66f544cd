package maintenance_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"labshelf/blobs/blobstest"
	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/repository"
	"labshelf/repository/repositorytest"
)

// TestCheckFindsFaultsOfLog changes the audit log, or a row that names its entries, directly
// in the store. A check reports each change, and nothing else.
func TestCheckFindsFaultsOfLog(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		breaks func(l *brokenLog) error
		want   []string // expected findings; %d: the entry of the first resource
	}{
		"a leaf is changed": {func(l *brokenLog) error {
			return l.leaf(l.entry(), func(leaf []byte) { leaf[len(leaf)-1] ^= 1 })
		}, []string{"its hashes do not match its leaf", "the stored hashes that it must continue do not match", "its texts differ from the hashed ones"}},
		"an invalid leaf": {func(l *brokenLog) error {
			return l.leaf(l.entry(), func(leaf []byte) { leaf[0] = 9 })
		}, []string{"entry %d: it has no leaf of a known format", "its hashes do not match its leaf", "the stored hashes that it must continue do not match",
			"its entry %d of the audit log cannot be read"}},
		"a hash is changed": {func(l *brokenLog) error {
			return l.row(1, func(e *metadata.AuditEntry) { e.Completed = []audit.Hash{{1}} })
		}, []string{"entry 1: its hashes do not match its leaf and the entries before it"}},
		"a text is changed": {func(l *brokenLog) error {
			return l.row(l.entry(), func(e *metadata.AuditEntry) { e.Texts.Text = `{"name":"another"}` })
		}, []string{"entry %d: its texts differ from the hashed ones"}},
		"a salt is changed": {func(l *brokenLog) error {
			return l.row(l.entry(), func(e *metadata.AuditEntry) { e.Texts.Salt[3] ^= 1 })
		}, []string{"entry %d: its texts differ from the hashed ones"}},
		"an address is put to an entry without one": {func(l *brokenLog) error {
			return l.row(l.entry(), func(e *metadata.AuditEntry) { e.Address = audit.Seal("::1") })
		}, []string{"entry %d: its address differ from the hashed ones"}},
		"values were erased": {func(l *brokenLog) error {
			return l.row(l.entry(), func(e *metadata.AuditEntry) { e.Texts = audit.Sealed{} })
		}, nil},
		"the state has another hash": {func(l *brokenLog) error {
			return l.append(audit.Entry{Action: audit.PurgeRun, Stamp: int64(l.tx.Stamp())}, func(next *audit.State) { next.Frontier[0][0] ^= 1 })
		}, []string{"the stored hashes that it must continue do not match the entries before it"}},
		"a stamp does not ascend": {func(l *brokenLog) error {
			return l.append(audit.Entry{Action: audit.PurgeRun, Stamp: 5}, nil)
		}, []string{"its stamp 5 is not later than the stamp of the entry before it"}},
		"an epoch continues another log": {func(l *brokenLog) error {
			epoch, err := l.tx.Lineage.Epoch()
			return errors.Join(err, l.append(audit.Entry{Action: audit.EpochBegin, Stamp: int64(l.tx.Stamp()), Values: audit.Epoch{ID: epoch.ID.String(), Size: 1}.Values()}, nil))
		}, []string{"it does not begin an epoch that continues the entries before it"}},
		"an epoch without an entry": {func(l *brokenLog) error {
			return l.tx.Lineage.Put(metadata.NewEpoch(0, time.Now()))
		}, []string{"has no entry"}},
		"a cause is not before": {func(l *brokenLog) error {
			return l.append(audit.Entry{Action: audit.PurgeRun, Stamp: int64(l.tx.Stamp()), Cause: 1000}, nil)
		}, []string{"its cause, entry 1000, is not an earlier entry"}},
		"a resource names no entry": {func(l *brokenLog) error {
			l.h.Resources[0].Entry = 0
			return l.tx.Resources.Put(l.h.Resources[0])
		}, []string{"entry %d: resource", "whose last entry it is, names another entry or no entry"}},
		"a resource names a missing entry": {func(l *brokenLog) error {
			l.h.Resources[0].Entry = 1000
			return l.tx.Resources.Put(l.h.Resources[0])
		}, []string{"its entry 1000 of the audit log cannot be read", "whose last entry it is"}},
		"a resource names the entry of another one": {func(l *brokenLog) error {
			l.h.Resources[0].Entry = l.h.Resources[1].Entry
			return l.tx.Resources.Put(l.h.Resources[0])
		}, []string{"of the audit log is about another object", "whose last entry it is"}},
		"a set names the entry of a resource": {func(l *brokenLog) error {
			l.h.Sets[1].Entry = l.entry()
			return l.tx.Sets.Put(l.h.Sets[1])
		}, []string{"set", "of the audit log is about another object", "whose last entry it is"}},
		"a resource was changed without an entry": {func(l *brokenLog) error {
			l.h.Resources[0].Modified = l.tx.Stamp()
			return l.tx.Resources.Put(l.h.Resources[0])
		}, []string{"it was modified at"}},
		"a file was replaced without an entry": {func(l *brokenLog) error {
			l.h.Resources[0].Digest = l.h.Resources[1].Digest
			return l.tx.Resources.Put(l.h.Resources[0])
		}, []string{"its file differs from its last entry in the audit log, %d"}},
		"a user was deleted without an entry": {func(l *brokenLog) error {
			u, err := l.tx.Users.Get(l.h.Admin.UserID)
			u.State = metadata.Deleted
			return errors.Join(err, l.tx.Users.Put(u))
		}, []string{"it is deleted, and its last entry of the audit log is user.create", "there is no active sysadmin", "it is not revoked"}},
		"a set was restored without an entry": {func(l *brokenLog) error {
			l.h.OK(l.append(audit.Entry{Action: audit.SetDelete, Stamp: int64(l.h.Sets[1].Modified) + 1<<40,
				Object: audit.Object{Kind: audit.Set, ID: l.h.Sets[1].ID}, Previous: l.h.Sets[1].Entry}, nil))
			l.h.Sets[1].Entry, l.h.Sets[1].Modified = l.last(), l.h.Sets[1].Modified+1<<40
			return l.tx.Sets.Put(l.h.Sets[1])
		}, []string{"it is active, and its last entry of the audit log is set.delete"}},
		"a dataspace names no entry": {func(l *brokenLog) error {
			d, err := l.tx.Dataspaces.Get(l.h.Space.ID)
			d.Entry = 0
			return errors.Join(err, l.tx.Dataspaces.Put(d))
		}, []string{"dataspace", "whose last entry it is, names another entry or no entry"}},
		"a user names no entry": {func(l *brokenLog) error {
			u, err := l.tx.Users.Get(l.h.Admin.UserID)
			u.Entry = 0
			return errors.Join(err, l.tx.Users.Put(u))
		}, []string{"user", "whose last entry it is, names another entry or no entry"}},
		"a resource was put back": {func(l *brokenLog) error {
			return l.about(l.h.Resources[0].ID, l.entry())
		}, []string{"its entry %d of the audit log is not the last one about it", "whose last entry it is, names another entry or no entry"}},
		"a history is forked": {func(l *brokenLog) error {
			return errors.Join(l.about(l.h.Resources[0].ID, l.entry()), l.about(l.h.Resources[0].ID, l.entry()))
		}, []string{"the previous entry that it names, %d, has no object, or another entry already follows it", "is not the last one", "names another entry or no entry", "names another entry or no entry"}},
		"a history continues in another one": {func(l *brokenLog) error {
			err := l.about(l.h.Resources[0].ID, l.h.Resources[1].Entry)
			l.h.Resources[0].Entry = l.last()
			return errors.Join(err, l.tx.Resources.Put(l.h.Resources[0]))
		}, []string{"is about another", "entry %d: resource", "is not the last one about it", "it was modified at"}},
		"a history continues in the future": {func(l *brokenLog) error {
			return errors.Join(l.about(nowhere, 1000))
		}, []string{"the previous entry that it names, 1000, is not an earlier entry", "names another entry or no entry"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			meta, files := metadatatest.NewMemory(time.Now), blobstest.NewMemory()
			h := repositorytest.NewWorld(t, repositorytest.NewStill(meta, files, repository.Config{PageSize: 100, DirectoryPageSize: 100}), 2, 0)
			if found := repositorytest.Violations(t, meta, files); len(found) > 0 {
				t.Fatalf("in a sound store: %q", found)
			}
			first := h.Resources[0].Entry
			h.OK(meta.Update(t.Context(), func(tx *metadata.Tx) error { return tc.breaks(&brokenLog{tx, h}) }))
			holdsFindings(t, repositorytest.Violations(t, meta, files), tc.want, first)
		})
	}
}

// holdsFindings compares findings, in any order, with the strings that they must contain.
func holdsFindings(t *testing.T, found, want []string, entry uint64) {
	t.Helper()
	left := slices.Clone(found)
	for _, w := range want {
		w = strings.ReplaceAll(w, "%d", fmt.Sprint(entry))
		at := slices.IndexFunc(left, func(f string) bool { return strings.Contains(f, w) })
		if at < 0 {
			if !slices.ContainsFunc(found, func(f string) bool { return strings.Contains(f, w) }) {
				t.Errorf("%q is missing in %q", w, found)
			}
			continue
		}
		left = slices.Delete(left, at, at+1)
	}
	if len(left) > 0 {
		t.Errorf("unexpected finding: %q", left)
	}
}

// brokenLog is a log to break.
type brokenLog struct {
	tx *metadata.Tx
	h  *repositorytest.World
}

// entry returns the number of the entry of the first resource.
func (l *brokenLog) entry() uint64 { return l.h.Resources[0].Entry }

func (l *brokenLog) last() uint64 {
	state, err := l.tx.Audit.State()
	l.h.OK(err)
	return state.Size - 1
}

func (l *brokenLog) row(number uint64, change func(*metadata.AuditEntry)) error {
	e, err := l.tx.Audit.Get(number)
	change(&e)
	return errors.Join(err, l.tx.Audit.Replace(e))
}

func (l *brokenLog) leaf(number uint64, change func(leaf []byte)) error {
	return l.row(number, func(e *metadata.AuditEntry) {
		e.Leaf = slices.Clone(e.Leaf)
		change(e.Leaf)
	})
}

// append adds an entry with a changed state.
func (l *brokenLog) append(e audit.Entry, change func(next *audit.State)) error {
	leaf, err := e.Leaf()
	if err != nil {
		return err
	}
	before, err := l.tx.Audit.State()
	if err != nil {
		return err
	}
	row := metadata.AuditEntry{Number: before.Size, Leaf: leaf}
	var next audit.State
	row.Completed, next = before.Append(leaf)
	if change != nil {
		change(&next)
	}
	return l.tx.Audit.Append(row, next)
}

// about adds an entry about a resource whose record does not name the entry.
func (l *brokenLog) about(id metadata.ID, previous uint64) error {
	object := audit.Object{Kind: audit.Resource, ID: id}
	return l.append(audit.Entry{Action: audit.ResourceEdit, Stamp: int64(l.tx.Stamp()), Object: object, Previous: previous}, nil)
}
