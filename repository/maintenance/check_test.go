package maintenance_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"labshelf/auth"
	"labshelf/blobs/blobstest"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/repository"
	"labshelf/repository/repositorytest"
)

// TestCheckFindsBrokenRules breaks one rule at a time directly in the store.
func TestCheckFindsBrokenRules(t *testing.T) {
	t.Parallel()
	type tables = *metadata.Tx
	for want, breaks := range map[string]func(tx tables, h *repositorytest.World) error{
		"modified before it was created": func(tx tables, h *repositorytest.World) error {
			h.Space.Modified = h.Space.Created - 1
			return tx.Dataspaces.Put(h.Space)
		},
		"active, but refers to a deletion": func(tx tables, h *repositorytest.World) error {
			h.Sets[0].TakenBy = 7
			return tx.Sets.Put(h.Sets[0])
		},
		"no active sysadmin": func(tx tables, h *repositorytest.World) error {
			u, err := tx.Users.Get(h.Admin.UserID)
			u.Sysadmin = false
			return errors.Join(err, tx.Users.Put(u))
		},
		"its user is deleted, but it is not revoked": func(tx tables, h *repositorytest.World) error {
			u, err := tx.Users.Get(h.Admin.UserID)
			u.State = metadata.Deleted
			return errors.Join(err, tx.Users.Put(u))
		},
		"active in a deleted dataspace": func(tx tables, h *repositorytest.World) error {
			h.Space.State = metadata.Deleted
			return tx.Dataspaces.Put(h.Space)
		},
		"active in a deleted set or dataspace": func(tx tables, h *repositorytest.World) error {
			h.Sets[0].State = metadata.Deleted
			return tx.Sets.Put(h.Sets[0])
		},
		"its dataspace 7ZZZZZZZZZZZZZZZZZZZZZZZZZ does not exist": func(tx tables, h *repositorytest.World) error {
			h.Sets[1].DataspaceID = nowhere
			return tx.Sets.Put(h.Sets[1])
		},
		"its set 7ZZZZZZZZZZZZZZZZZZZZZZZZZ does not exist": func(tx tables, h *repositorytest.World) error {
			h.Resources[0].SetID = nowhere
			return tx.Resources.Put(h.Resources[0])
		},
		"its set is in another dataspace": func(tx tables, h *repositorytest.World) error {
			h.Resources[0].DataspaceID = nowhere
			return tx.Resources.Put(h.Resources[0])
		},
		"its stamp": func(tx tables, h *repositorytest.World) error {
			h.Resources[0].Modified = h.Resources[1].Modified
			return tx.Resources.Put(h.Resources[0])
		},
		"is not recorded": func(tx tables, h *repositorytest.World) error {
			h.Resources[0].Digest[0] ^= 1
			return tx.Resources.Put(h.Resources[0])
		},
		"its blob": func(tx tables, h *repositorytest.World) error {
			h.Resources[0].Bytes++
			return tx.Resources.Put(h.Resources[0])
		},
		"purged, but not deleted": func(tx tables, h *repositorytest.World) error {
			h.Resources[0].Body = metadata.Purged
			return tx.Resources.Put(h.Resources[0])
		},
		"its user or its dataspace does not exist": func(tx tables, h *repositorytest.World) error {
			p, err := tx.Privileges.Of(h.Admin.UserID, h.Space.ID)
			p.DataspaceID = nowhere
			return errors.Join(err, tx.Privileges.Put(p))
		},
		"its usage is": func(tx tables, h *repositorytest.World) error {
			c, err := tx.Usage.Get(h.Space.ID)
			c.ActiveFiles++
			return errors.Join(err, tx.Usage.Put(h.Space.ID, h.Space.Created.Day(), c))
		},
		"its usage is 1 bytes": func(tx tables, h *repositorytest.World) error {
			return tx.UserUsage.Put(metadata.UserUsage{UserID: h.Admin.UserID, Bytes: 1})
		},
		"its usage is 2 bytes, but the versions that it stored have 0": func(tx tables, _ *repositorytest.World) error {
			return tx.UserUsage.Put(metadata.UserUsage{UserID: nowhere, Bytes: 2})
		},
		"its object does not exist": func(tx tables, h *repositorytest.World) error {
			return tx.Descriptive.Put(metadata.Descriptive{ObjectID: h.Admin.UserID, JSON: `{"tags":["a"]}`})
		},
		"it is not in the canonical form": func(tx tables, h *repositorytest.World) error {
			return tx.Descriptive.Put(metadata.Descriptive{ObjectID: h.Sets[0].ID, JSON: `{"tags": ["a"]}`})
		},
		"or empty": func(tx tables, h *repositorytest.World) error {
			return tx.Descriptive.Put(metadata.Descriptive{ObjectID: h.Space.ID, JSON: `{}`})
		},
		"metadata.colour": func(tx tables, h *repositorytest.World) error {
			return tx.Descriptive.Put(metadata.Descriptive{ObjectID: h.Sets[0].ID, JSON: `{"colour":"red"}`})
		},
		"metadata.publisher is not available for a file": func(tx tables, h *repositorytest.World) error {
			return tx.Descriptive.Put(metadata.Descriptive{ObjectID: h.Resources[0].ID, JSON: `{"publisher":"Curie"}`})
		},
		"its set does not exist": func(tx tables, h *repositorytest.World) error {
			return tx.Folders.Put(metadata.Folder{SetID: h.Space.ID, Path: "a/"})
		},
		"its path has no slash at the end": func(tx tables, h *repositorytest.World) error {
			return tx.Folders.Put(metadata.Folder{SetID: h.Sets[0].ID, Path: "a"})
		},
		"their resource does not exist": func(tx tables, h *repositorytest.World) error {
			return tx.FileProperties.Put(metadata.FileProperties{ResourceID: h.Sets[0].ID, Properties: "p"})
		},
		"the dataspace of the invitation is missing": func(tx tables, h *repositorytest.World) error {
			return tx.Links.Put(metadata.Link{Record: h.Sets[0].Record, Kind: metadata.Invitation, DataspaceID: nowhere, Role: auth.Editor, OwnerID: h.Admin.UserID})
		},
		"its set is not in its dataspace": func(tx tables, h *repositorytest.World) error {
			return tx.Links.Put(metadata.Link{Record: h.Sets[0].Record, Kind: metadata.ShareLink, SetID: h.Sets[0].ID, DataspaceID: nowhere, OwnerID: h.Admin.UserID})
		},
		"its owner does not exist": func(tx tables, h *repositorytest.World) error {
			return tx.Links.Put(metadata.Link{Record: h.Sets[0].Record, Kind: metadata.ShareLink, SetID: h.Sets[0].ID, DataspaceID: h.Space.ID, OwnerID: nowhere})
		},
		"it does not exist, but its uses do": func(tx tables, _ *repositorytest.World) error {
			return tx.LinkUses.Put(metadata.LinkUse{LinkID: nowhere, Count: 1})
		},
		"its container is not deleted": func(tx tables, h *repositorytest.World) error {
			return tx.Cascades.Put(metadata.Cascade{Container: h.Sets[0].ID, DataspaceID: h.Space.ID})
		},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			meta, files := metadatatest.NewMemory(time.Now), blobstest.NewMemory()
			h := repositorytest.NewWorld(t, repositorytest.NewStill(meta, files, repository.Config{PageSize: 100, DirectoryPageSize: 100}), 2, 0)
			if found := repositorytest.Violations(t, meta, files); len(found) > 0 {
				t.Fatalf("in a sound store: %q", found)
			}
			h.OK(meta.Update(t.Context(), func(tx *metadata.Tx) error { return breaks(tx, h) }))
			if found := repositorytest.Violations(t, meta, files); !strings.Contains(strings.Join(found, "\n"), want) {
				t.Errorf("found %q", found)
			}
		})
	}
}

// nowhere is an id that no object has.
var nowhere = metadata.ID{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

// TestCheckDuringCascade: a check finds no violation in the middle of a deletion.
func TestCheckDuringCascade(t *testing.T) {
	t.Parallel()
	meta, files := metadatatest.NewMemory(time.Now), blobstest.NewMemory()
	h := repositorytest.NewWorld(t, repositorytest.NewStill(meta, files, repository.Config{PageSize: 1000, DirectoryPageSize: 1000}), 450)
	for range 2 {
		_, err := h.Service.Dataspaces.Delete(t.Context(), h.Admin, h.Space.ID.String(), repositorytest.Always)
		h.Begun(err)
		if found := repositorytest.Violations(t, meta, files); len(found) > 0 {
			t.Fatalf("in a deletion: %q", found)
		}
		h.Finish(meta, files, h.Space.ID)
		_, err = h.Service.Dataspaces.Restore(t.Context(), h.Admin, h.Space.ID.String(), repositorytest.Always)
		h.Begun(err)
		if found := repositorytest.Violations(t, meta, files); len(found) > 0 {
			t.Fatalf("in a restoration: %q", found)
		}
		h.Finish(meta, files, h.Space.ID)
	}
	if found := repositorytest.Violations(t, meta, files); len(found) > 0 {
		t.Errorf("at the end: %q", found)
	}
}
