package repository_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"labshelf/blobs"
	"labshelf/blobs/blobstest"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/repository"
)

// violations are what Check finds.
func violations(t *testing.T, meta metadata.Store, files blobs.Store) (all []string) {
	t.Helper()
	events := repository.CheckEvents{Violation: func(v metadata.Violation) { all = append(all, v.String()) }}
	_, err := repository.NewUpkeep(meta, files).Check(t.Context(), repository.CheckOptions{}, events)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestCheckFindsEachRuleBroken breaks one rule at a time behind the back of the repository.
func TestCheckFindsEachRuleBroken(t *testing.T) {
	t.Parallel()
	type tables = *metadata.Tx
	for want, breaks := range map[string]func(tx tables, h *held) error{
		"modified before it was created": func(tx tables, h *held) error {
			h.space.Modified = h.space.Created - 1
			return tx.Dataspaces.Put(h.space)
		},
		"active, but says what deleted it": func(tx tables, h *held) error {
			h.sets[0].TakenBy = 7
			return tx.Sets.Put(h.sets[0])
		},
		"no active sysadmin": func(tx tables, h *held) error {
			u, err := tx.Users.Get(h.admin.UserID)
			u.Sysadmin = false
			return errors.Join(err, tx.Users.Put(u))
		},
		"its user is deleted, and it is not revoked": func(tx tables, h *held) error {
			u, err := tx.Users.Get(h.admin.UserID)
			u.State = metadata.Deleted
			return errors.Join(err, tx.Users.Put(u))
		},
		"active in a deleted dataspace": func(tx tables, h *held) error {
			h.space.State = metadata.Deleted
			return tx.Dataspaces.Put(h.space)
		},
		"active in a deleted set or dataspace": func(tx tables, h *held) error {
			h.sets[0].State = metadata.Deleted
			return tx.Sets.Put(h.sets[0])
		},
		"its dataspace 7ZZZZZZZZZZZZZZZZZZZZZZZZZ is not there": func(tx tables, h *held) error {
			h.sets[1].DataspaceID = nowhere
			return tx.Sets.Put(h.sets[1])
		},
		"its set 7ZZZZZZZZZZZZZZZZZZZZZZZZZ is not there": func(tx tables, h *held) error {
			h.files[0].SetID = nowhere
			return tx.Resources.Put(h.files[0])
		},
		"its set is in another dataspace": func(tx tables, h *held) error {
			h.files[0].DataspaceID = nowhere
			return tx.Resources.Put(h.files[0])
		},
		"its stamp": func(tx tables, h *held) error {
			h.files[0].Modified = h.files[1].Modified
			return tx.Resources.Put(h.files[0])
		},
		"nothing vouches for its blob": func(tx tables, h *held) error {
			h.files[0].Digest[0] ^= 1
			return tx.Resources.Put(h.files[0])
		},
		"its blob": func(tx tables, h *held) error {
			h.files[0].Bytes++
			return tx.Resources.Put(h.files[0])
		},
		"purged, but not deleted": func(tx tables, h *held) error {
			h.files[0].Body = metadata.Purged
			return tx.Resources.Put(h.files[0])
		},
		"its user or its dataspace is not there": func(tx tables, h *held) error {
			p, err := tx.Privileges.Of(h.admin.UserID, h.space.ID)
			p.DataspaceID = nowhere
			return errors.Join(err, tx.Privileges.Put(p))
		},
		"its usage says": func(tx tables, h *held) error {
			c, err := tx.Usage.Get(h.space.ID)
			c.ActiveFiles++
			return errors.Join(err, tx.Usage.Put(h.space.ID, h.space.Created.Day(), c))
		},
		"its container is not deleted": func(tx tables, h *held) error {
			return tx.Steps.Put(metadata.Step{Container: h.sets[0].ID, DataspaceID: h.space.ID})
		},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			meta, files := metadatatest.NewMemory(time.Now), blobstest.NewMemory()
			h := populated(t, repository.NewHeld(meta, files, repository.Config{PageSize: 100, DirectoryPageSize: 100}), 2, 0)
			if found := violations(t, meta, files); len(found) > 0 {
				t.Fatalf("of a sound store: %q", found)
			}
			h.ok(meta.Update(t.Context(), func(tx *metadata.Tx) error { return breaks(tx, h) }))
			if found := violations(t, meta, files); !strings.Contains(strings.Join(found, "\n"), want) {
				t.Errorf("found %q", found)
			}
		})
	}
}

// nowhere is an id that nothing has.
var nowhere = metadata.ID{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

// TestCheckOfWhatIsUnderWay: a store in the middle of a deletion is sound.
func TestCheckOfWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	meta, files := metadatatest.NewMemory(time.Now), blobstest.NewMemory()
	h := populated(t, repository.NewHeld(meta, files, repository.Config{PageSize: 1000, DirectoryPageSize: 1000}), 450)
	for range 2 {
		_, err := h.svc.DeleteDataspace(t.Context(), h.admin, h.space.ID.String(), always)
		h.begun(err)
		if found := violations(t, meta, files); len(found) > 0 {
			t.Fatalf("in a deletion: %q", found)
		}
		h.finish(h.space.ID)
		_, err = h.svc.RestoreDataspace(t.Context(), h.admin, h.space.ID.String(), always)
		h.begun(err)
		if found := violations(t, meta, files); len(found) > 0 {
			t.Fatalf("in a restoration: %q", found)
		}
		h.finish(h.space.ID)
	}
	if found := violations(t, meta, files); len(found) > 0 {
		t.Errorf("at the end: %q", found)
	}
}
