package repositorytest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
)

// TestAuditedReportsChangesWithoutEntry: each change without its entry in the same commit is
// reported, and no other change.
func TestAuditedReportsChangesWithoutEntry(t *testing.T) {
	t.Parallel()
	user, object := metadata.ID{1}, audit.Object{Kind: audit.User, ID: metadata.ID{1}}
	log := func(tx *metadata.Tx, e audit.Entry) uint64 {
		number, err := tx.Log(e, "", "")
		if err != nil {
			t.Error(err)
		}
		return number
	}
	entry := func(stamp metadata.Stamp) audit.Entry {
		return audit.Entry{Action: audit.UserUpdate, Stamp: int64(stamp), Object: object}
	}
	for name, tc := range map[string]struct {
		change func(tx *metadata.Tx) error
		want   string // "" if nothing is reported
	}{
		"a stamp":                   {func(tx *metadata.Tx) error { tx.Stamp(); return nil }, "the stamp"},
		"a stamp, logged":           {func(tx *metadata.Tx) error { log(tx, entry(tx.Stamp())); return nil }, ""},
		"two, one logged":           {func(tx *metadata.Tx) error { tx.Stamp(); log(tx, entry(tx.Stamp())); return nil }, "the stamp"},
		"an entry without a change": {func(tx *metadata.Tx) error { log(tx, entry(5)); return nil }, "has a stamp that no change took"},
		"two entries":               {func(tx *metadata.Tx) error { s := tx.Stamp(); log(tx, entry(s)); log(tx, entry(s)); return nil }, "or the stamp of another"},
		"no known action":           {func(tx *metadata.Tx) error { log(tx, audit.Entry{Action: 99, Stamp: int64(tx.Stamp())}); return nil }, "has a stamp that no change took"},
		"it fails":                  {func(tx *metadata.Tx) error { tx.Stamp(); return errOnPurpose }, ""},
		"an epoch":                  {func(tx *metadata.Tx) error { return tx.SetEpoch(metadata.NewEpoch(1, time.Now())) }, ""},
		"a row": {func(tx *metadata.Tx) error {
			return tx.Users.Put(metadata.User{Record: metadata.Record{ID: user}, Username: "a"})
		}, "user a"},
		"a row, of another": {func(tx *metadata.Tx) error {
			log(tx, entry(tx.Stamp()))
			return tx.Users.Put(metadata.User{Username: "a"})
		}, "user a"},
		"a row, with an old entry": {func(tx *metadata.Tx) error {
			log(tx, entry(tx.Stamp()))
			return tx.Users.Put(metadata.User{Record: metadata.Record{ID: user}, Username: "a", Entry: 99})
		}, "user a"},
		"a row, logged": {func(tx *metadata.Tx) error {
			return tx.Users.Put(metadata.User{Record: metadata.Record{ID: user}, Username: "a", Entry: log(tx, entry(tx.Stamp()))})
		}, ""},
		"a dataspace": {func(tx *metadata.Tx) error { return tx.Dataspaces.Put(metadata.Dataspace{Name: "d"}) }, "dataspace d"},
		"a set":       {func(tx *metadata.Tx) error { return tx.Sets.Put(metadata.Set{Name: "s"}) }, "set s"},
		"a resource":  {func(tx *metadata.Tx) error { return tx.Resources.Put(metadata.Resource{Name: "r"}) }, "resource r"},
		"a version":   {func(tx *metadata.Tx) error { return tx.Versions.Put(metadata.Version{Name: "v"}) }, "a version of v"},
		"a key":       {func(tx *metadata.Tx) error { return tx.Keys.Put(metadata.Key{Label: "k"}) }, "key k"},
		"a role":      {func(tx *metadata.Tx) error { return tx.Privileges.Put(metadata.Privilege{Role: auth.Admin}) }, "a role"},
		"a session":   {func(tx *metadata.Tx) error { return tx.Sessions.Put(metadata.Session{Expires: 1}) }, "a session begins"},
		"the end of a session": {func(tx *metadata.Tx) error {
			return tx.Sessions.Remove(metadata.SessionKey{User: user, Digest: auth.SessionDigest{1}})
		}, "a session ends"},
		"the end of one that has ended": {func(tx *metadata.Tx) error {
			return tx.Sessions.Remove(metadata.SessionKey{User: user, Digest: auth.SessionDigest{2}})
		}, ""},
		"an upload begins": {func(tx *metadata.Tx) error { return tx.Uploads.Put(metadata.ResumableUpload{Created: tx.Stamp()}) }, ""},
		"a damage":         {func(tx *metadata.Tx) error { return tx.Damages.Put(metadata.Damage{Found: tx.Stamp()}) }, ""},
		"an unreferenced blob": {func(tx *metadata.Tx) error {
			return tx.Unreferenced.Put(metadata.Unreferenced{Digest: blobs.Digest{1}, Since: tx.Stamp()})
		}, ""},
		"a key is used": {func(tx *metadata.Tx) error {
			return tx.Keys.Put(metadata.Key{ID: metadata.ID{1}, UserID: user, Digest: auth.KeyDigest{1}, LastUsed: 9})
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			meta := metadatatest.NewMemory(time.Now)
			err := meta.Update(t.Context(), func(tx *metadata.Tx) error {
				tx.Stamp()
				return errors.Join(
					tx.Keys.Put(metadata.Key{ID: metadata.ID{1}, UserID: user, Digest: auth.KeyDigest{1}}),
					tx.Sessions.Put(metadata.Session{UserID: user, KeyID: metadata.ID{1}, Digest: auth.SessionDigest{1}, Expires: 1 << 60}),
					tx.Sessions.Put(metadata.Session{UserID: user, KeyID: metadata.ID{1}, Digest: auth.SessionDigest{2}, Expires: 1}))
			})
			if err != nil {
				t.Fatal(err)
			}
			var failed []string
			audited := Audited{meta, func(format string, args ...any) { failed = append(failed, fmt.Sprintf(format, args...)) }}
			for _, commit := range []func(context.Context, func(*metadata.Tx) error) error{audited.Update, audited.UpdateBackground} {
				failing := func(tx *metadata.Tx) error { return errors.Join(tc.change(tx), errOnPurpose) }
				if err := commit(t.Context(), failing); !errors.Is(err, errOnPurpose) || failed != nil {
					t.Errorf("for a failed change: %q, %v", failed, err)
				}
			}
			if err := audited.Update(t.Context(), tc.change); err != nil && !errors.Is(err, errOnPurpose) {
				t.Fatal(err)
			}
			if got := strings.Join(failed, "; "); !strings.Contains(got, tc.want) || (got == "") != (tc.want == "") {
				t.Errorf("reported %q, want %q", got, tc.want)
			}
		})
	}
}

var errOnPurpose = errors.New("on purpose")
