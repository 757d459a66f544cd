package repository_test

import (
	"context"
	"testing"
	"time"

	"labshelf/auth/errs"
	"labshelf/blobs/blobstest"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/repository"
	"labshelf/repository/core"
	"labshelf/repository/files"
	"labshelf/repository/repositorytest"
)

// held is a repository whose deletions and restorations stop after their first commit, so that
// tests can observe pending changes.
type held struct{ *repositorytest.World }

func populated(t *testing.T, svc *repository.Service, counts ...int) *held {
	return &held{repositorytest.NewWorld(t, svc, counts...)}
}

func newHeld(t *testing.T) *held {
	config := repository.Config{PageSize: 1000, DirectoryPageSize: 1000}
	return populated(t, repositorytest.NewStill(metadatatest.NewMemory(time.Now), blobstest.NewMemory(), config), 450, 0)
}

// finish runs the remaining batches.
func (h *held) finish(container metadata.ID) {
	for range 50 { // more batches than the slowest machine needs
		h.OK(h.Service.TakeBatch(h.T.Context(), container))
	}
}

func edit(description string) files.Fields { return files.Fields{Description: &description} }

// TestDeletionShownFromFirstCommit tests that after the first commit everything in the set is shown
// as deleted, and nothing can be created in it. Listings show the former state of an object until
// its batch is applied.
func TestDeletionShownFromFirstCommit(t *testing.T) {
	t.Parallel()
	for _, container := range []string{"set", "dataspace"} {
		t.Run(container, func(t *testing.T) {
			t.Parallel()
			h, ctx := newHeld(t), t.Context()
			set, last := h.Sets[0].ID.String(), h.Resources[len(h.Resources)-1]
			of := h.Sets[0].ID
			var err error
			if container == "set" {
				_, err = h.Service.Sets.Delete(ctx, h.Admin, set, repositorytest.Always)
			} else {
				of = h.Space.ID
				_, err = h.Service.Dataspaces.Delete(ctx, h.Admin, of.String(), repositorytest.Always)
			}
			h.Begun(err)

			if state := h.Listed()[last.ID]; state != metadata.Active {
				t.Errorf("the listing shows a resource %s before its batch", state)
			}
			if r := h.Get(last.ID); r.State != metadata.Deleted || r.Modified != last.Modified {
				t.Errorf("a resource to be deleted is shown %s, modified at %d; want deleted, at %d", r.State, r.Modified, last.Modified)
			}
			_, _, err = h.Service.Files.OpenResource(ctx, h.Admin, last.ID.String())
			h.Refused(err, errs.CodeResourceGone)
			_, err = h.TryUpload(h.Sets[0], "late")
			h.Refused(err, errs.CodeParentDeleted)
			_, err = h.Service.Files.Edit(ctx, h.Admin, last.ID.String(), edit("late"), core.Match{})
			h.Refused(err, errs.CodeDeleted)
			_, err = h.Service.Files.Restore(ctx, h.Admin, last.ID.String(), repositorytest.Always)
			h.Refused(err, errs.CodeParentDeleted)
			if again, err := h.Service.Files.Delete(ctx, h.Admin, last.ID.String(), repositorytest.Always); err != nil || again.Modified != last.Modified {
				t.Errorf("deleting a resource that is to be deleted changed it: %v, %v", again, err)
			}
			_, err = h.Service.Sets.Restore(ctx, h.Admin, set, repositorytest.Always)
			h.Refused(err, errs.CodeBusy)
			_, err = h.Service.Dataspaces.Restore(ctx, h.Admin, h.Space.ID.String(), repositorytest.Always)
			if container == "set" {
				err = passDataspace(ctx, h)
			}
			h.Refused(err, errs.CodeBusy)

			h.finish(of)
			for id, state := range h.Listed() {
				if state != metadata.Deleted {
					t.Fatalf("%s is still %s", id, state)
				}
			}
		})
	}
}

// passDataspace requests a change that must wait for the cascades in the dataspace.
func passDataspace(ctx context.Context, h *held) error {
	_, err := h.Service.Dataspaces.Delete(ctx, h.Admin, h.Space.ID.String(), repositorytest.Always)
	return err
}

// TestSameRequestWaits: a repeated request waits for the first one, even with the precondition that
// the first one fulfilled.
func TestSameRequestWaits(t *testing.T) {
	t.Parallel()
	h := newHeld(t)
	set, err := h.Service.Sets.Get(t.Context(), h.Admin, h.Sets[0].ID.String())
	h.OK(err)
	for range 2 {
		_, err := h.Service.Sets.Delete(t.Context(), h.Admin, set.ID.String(), core.MatchTag(set.Tag()))
		h.Begun(err)
	}
}

// TestRestorationShownFromFirstCommit: objects to be restored are shown as active and can be
// changed. A change first applies their batch. Objects that were deleted earlier stay deleted.
func TestRestorationShownFromFirstCommit(t *testing.T) {
	t.Parallel()
	h, ctx := newHeld(t), t.Context()
	set := h.Sets[0].ID
	n := len(h.Resources)
	before, edited, dropped, kept := h.Resources[n-1], h.Resources[n-2], h.Resources[n-3], h.Resources[n-4]
	_, err := h.Service.Files.Delete(ctx, h.Admin, before.ID.String(), repositorytest.Always)
	h.OK(err)
	_, err = h.Service.Sets.Delete(ctx, h.Admin, set.String(), repositorytest.Always)
	h.Begun(err)
	h.finish(set)
	_, err = h.Service.Sets.Restore(ctx, h.Admin, set.String(), repositorytest.Always)
	h.Begun(err)

	if got := h.Get(kept.ID).State; got != metadata.Active {
		t.Errorf("a resource to be restored is shown %s", got)
	}
	if got := h.Get(before.ID).State; got != metadata.Deleted {
		t.Errorf("a resource that was deleted earlier is shown %s", got)
	}
	if got := h.Listed()[kept.ID]; got != metadata.Deleted {
		t.Errorf("the listing shows a resource %s before its batch", got)
	}
	due := h.Get(edited.ID)
	changed, err := h.Service.Files.Edit(ctx, h.Admin, edited.ID.String(), files.Fields{Description: new("new")}, core.MatchTag(due.Tag()))
	h.OK(err)
	if changed.State != metadata.Active || h.Listed()[edited.ID] != metadata.Active {
		t.Error("writing to a resource did not apply its batch")
	}
	_, err = h.Service.Files.Delete(ctx, h.Admin, dropped.ID.String(), repositorytest.Always)
	h.OK(err)
	h.Upload(h.Sets[0], "created during the restoration")

	h.finish(set)
	for id, state := range h.Listed() {
		want := metadata.Active
		if id == before.ID || id == dropped.ID {
			want = metadata.Deleted
		}
		if state != want {
			t.Errorf("%s is %s at the end, want %s", id, state, want)
		}
	}
	if got := h.Get(edited.ID); got.Modified != changed.Modified {
		t.Error("the batch was applied again to a restored resource")
	}
}

// TestRestorationMatchesDeletion: sets and resources that were deleted separately, or
// with their set, stay deleted. Only the restoration that matches their deletion restores them.
func TestRestorationMatchesDeletion(t *testing.T) {
	t.Parallel()
	h, ctx := newHeld(t), t.Context()
	large, small := h.Sets[0], h.Sets[1]
	inSmall := h.Upload(small, "in the small set")
	_, err := h.Service.Sets.Delete(ctx, h.Admin, small.ID.String(), repositorytest.Always)
	h.OK(err) // deletion in a single batch
	_, err = h.Service.Dataspaces.Delete(ctx, h.Admin, h.Space.ID.String(), repositorytest.Always)
	h.Begun(err)
	h.finish(h.Space.ID)
	_, err = h.Service.Sets.Restore(ctx, h.Admin, large.ID.String(), repositorytest.Always)
	h.Refused(err, errs.CodeParentDeleted)
	_, err = h.Service.Dataspaces.Restore(ctx, h.Admin, h.Space.ID.String(), repositorytest.Always)
	h.Begun(err)
	h.finish(h.Space.ID)

	for id, want := range map[metadata.ID]metadata.State{large.ID: metadata.Active, small.ID: metadata.Deleted} {
		set, err := h.Service.Sets.Get(ctx, h.Admin, id.String())
		h.OK(err)
		if set.State != want {
			t.Errorf("set %s is %s, want %s", set.Name, set.State, want)
		}
	}
	if got := h.Get(h.Resources[0].ID).State; got != metadata.Active {
		t.Errorf("a resource deleted with the dataspace is %s", got)
	}
	if got := h.Get(inSmall.ID).State; got != metadata.Deleted {
		t.Errorf("a resource deleted with its set is %s", got)
	}
	_, err = h.Service.Sets.Restore(ctx, h.Admin, small.ID.String(), repositorytest.Always)
	h.OK(err)
	if got := h.Get(inSmall.ID).State; got != metadata.Active {
		t.Errorf("a resource of the restored set is %s", got)
	}
	usage, err := h.Service.Dataspaces.DataspaceUsage(ctx, h.Admin, h.Space.ID.String())
	h.OK(err)
	if usage.ActiveFiles != int64(len(h.Resources)+1) || usage.DeletedFiles != 0 {
		t.Errorf("usage counts %+v", usage.Counters)
	}
}
