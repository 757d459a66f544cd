package repository_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"labshelf/auth"
	"labshelf/blobs/blobstest"
	"labshelf/errs"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/paging"
	"labshelf/repository"
	"labshelf/repository/repositorytest"
)

// held is a repository whose deletions and restorations stand still after their first commit, to look at what is due.
type held struct {
	t     *testing.T
	svc   *repository.Service
	admin auth.Principal
	space metadata.Dataspace
	sets  []metadata.Set
	files []metadata.Resource
}

var always = repository.Match{}

func newHeld(t *testing.T) *held {
	config := repository.Config{PageSize: 1000, DirectoryPageSize: 1000}
	return populated(t, repository.NewHeld(metadatatest.NewMemory(time.Now), blobstest.NewMemory(), config), 450, 0)
}

// populated makes an admin, a dataspace and sets with so many resources.
func populated(t *testing.T, svc *repository.Service, counts ...int) *held {
	ctx := t.Context()
	h := &held{t: t, svc: svc}
	key, err := h.svc.Bootstrap(ctx, "")
	h.ok(err)
	h.admin, err = h.svc.Authenticate(ctx, key)
	h.ok(err)
	h.space, err = h.svc.CreateDataspace(ctx, h.admin, repository.Fields{"name": "space"})
	h.ok(err)
	for i, count := range counts {
		set, err := h.svc.CreateSet(ctx, h.admin, repository.Fields{"name": fmt.Sprint("set-", i), "dataspaceId": h.space.ID.String()})
		h.ok(err)
		h.sets = append(h.sets, set)
		for j := range count {
			h.files = append(h.files, h.upload(set, fmt.Sprint("file ", i, " ", j)))
		}
	}
	return h
}

func (h *held) ok(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *held) upload(set metadata.Set, name string) metadata.Resource {
	h.t.Helper()
	r, err := h.tryUpload(set, name)
	h.ok(err)
	return r
}

func (h *held) tryUpload(set metadata.Set, name string) (metadata.Resource, error) {
	up, id := h.svc.NewUpload(h.admin), set.ID.String()
	h.ok(up.Receive(h.t.Context(), strings.NewReader(name)))
	defer func() { h.ok(up.Discard()) }()
	return up.Create(h.t.Context(), repository.UploadFields{SetID: &id, Name: &name})
}

// begun accepts the answer to a deletion or restoration that stands still.
func (h *held) begun(err error) {
	h.t.Helper()
	h.refused(err, errs.CodeUnavailable)
}

func (h *held) refused(err error, code errs.Code) {
	h.t.Helper()
	var known *errs.Error
	if !errors.As(err, &known) || known.Code != code {
		h.t.Errorf("got %v, want an error with code %s", err, code)
	}
}

func (h *held) get(id metadata.ID) metadata.Resource {
	h.t.Helper()
	r, err := h.svc.GetResource(h.t.Context(), h.admin, id.String())
	h.ok(err)
	return r
}

// listed returns the states in which the listing of the first set shows its resources.
func (h *held) listed() map[metadata.ID]metadata.State {
	h.t.Helper()
	states := map[metadata.ID]metadata.State{}
	page, err := repositorytest.ListResources(h.t.Context(), h.svc, h.admin, paging.SetResources, repository.ListRequest{
		Container: h.sets[0].ID.String(), Params: map[string][]string{"state": {"all"}, "limit": {"1000"}},
	})
	h.ok(err)
	for _, r := range page.Items {
		states[r.ID] = r.State
	}
	return states
}

// finish takes the steps that are left.
func (h *held) finish(container metadata.ID) {
	for range 50 { // more than it takes on the slowest machine
		h.ok(h.svc.TakeStep(h.t.Context(), container))
	}
}

func edit(description string) repository.Edit[metadata.Resource] {
	return repository.Edit[metadata.Resource]{Fields: repository.Fields{"description": description}}
}

// TestWhatIsDueInADeletion: from the first commit on everything in the set is shown deleted and nothing can be put into it;
// listings show an object as it was until its step.
func TestWhatIsDueInADeletion(t *testing.T) {
	t.Parallel()
	for _, container := range []string{"set", "dataspace"} {
		t.Run(container, func(t *testing.T) {
			t.Parallel()
			h, ctx := newHeld(t), t.Context()
			set, last := h.sets[0].ID.String(), h.files[len(h.files)-1]
			of := h.sets[0].ID
			var err error
			if container == "set" {
				_, err = h.svc.DeleteSet(ctx, h.admin, set, always)
			} else {
				of = h.space.ID
				_, err = h.svc.DeleteDataspace(ctx, h.admin, of.String(), always)
			}
			h.begun(err)

			if state := h.listed()[last.ID]; state != metadata.Active {
				t.Errorf("the listing shows a resource %s before its step", state)
			}
			if r := h.get(last.ID); r.State != metadata.Deleted || r.Modified != last.Modified {
				t.Errorf("a resource that is due is shown %s, modified at %d; want deleted, at %d", r.State, r.Modified, last.Modified)
			}
			_, _, err = h.svc.OpenResource(ctx, h.admin, last.ID.String())
			h.refused(err, errs.CodeResourceGone)
			_, err = h.tryUpload(h.sets[0], "late")
			h.refused(err, errs.CodeParentDeleted)
			_, err = h.svc.EditResource(ctx, h.admin, last.ID.String(), edit("late"))
			h.refused(err, errs.CodeDeleted)
			_, err = h.svc.RestoreResource(ctx, h.admin, last.ID.String(), always)
			h.refused(err, errs.CodeParentDeleted)
			if again, err := h.svc.DeleteResource(ctx, h.admin, last.ID.String(), always); err != nil || again.Modified != last.Modified {
				t.Errorf("deleting what is due changed it: %v, %v", again, err)
			}
			_, err = h.svc.RestoreSet(ctx, h.admin, set, always)
			h.refused(err, errs.CodeBusy)
			_, err = h.svc.RestoreDataspace(ctx, h.admin, h.space.ID.String(), always)
			if container == "set" {
				err = passDataspace(ctx, h)
			}
			h.refused(err, errs.CodeBusy)

			h.finish(of)
			for id, state := range h.listed() {
				if state != metadata.Deleted {
					t.Fatalf("%s is still %s", id, state)
				}
			}
		})
	}
}

// passDataspace asks for what must wait for the steps within the dataspace.
func passDataspace(ctx context.Context, h *held) error {
	_, err := h.svc.DeleteDataspace(ctx, h.admin, h.space.ID.String(), always)
	return err
}

// TestWhatIsDueInARestoration: what will come back is shown active and can be written to, which takes its step first; what had
// been deleted before stays deleted.
func TestWhatIsDueInARestoration(t *testing.T) {
	t.Parallel()
	h, ctx := newHeld(t), t.Context()
	set := h.sets[0].ID
	n := len(h.files)
	before, edited, dropped, kept := h.files[n-1], h.files[n-2], h.files[n-3], h.files[n-4]
	_, err := h.svc.DeleteResource(ctx, h.admin, before.ID.String(), always)
	h.ok(err)
	_, err = h.svc.DeleteSet(ctx, h.admin, set.String(), always)
	h.begun(err)
	h.finish(set)
	_, err = h.svc.RestoreSet(ctx, h.admin, set.String(), always)
	h.begun(err)

	if got := h.get(kept.ID).State; got != metadata.Active {
		t.Errorf("what comes back is shown %s", got)
	}
	if got := h.get(before.ID).State; got != metadata.Deleted {
		t.Errorf("what had been deleted before is shown %s", got)
	}
	if got := h.listed()[kept.ID]; got != metadata.Deleted {
		t.Errorf("the listing shows a resource %s before its step", got)
	}
	due := h.get(edited.ID)
	changed, err := h.svc.EditResource(ctx, h.admin, edited.ID.String(), repository.Edit[metadata.Resource]{
		Fields: repository.Fields{"description": "new"}, Match: repository.Match{IfMatch: repository.ETags{Set: true, Tags: []string{due.Tag()}}},
	})
	h.ok(err)
	if changed.State != metadata.Active || h.listed()[edited.ID] != metadata.Active {
		t.Error("writing to a resource did not take its step")
	}
	_, err = h.svc.DeleteResource(ctx, h.admin, dropped.ID.String(), always)
	h.ok(err)
	h.upload(h.sets[0], "put in while the set comes back")

	h.finish(set)
	for id, state := range h.listed() {
		want := metadata.Active
		if id == before.ID || id == dropped.ID {
			want = metadata.Deleted
		}
		if state != want {
			t.Errorf("%s is %s at the end, want %s", id, state, want)
		}
	}
	if got := h.get(edited.ID); got.Modified != changed.Modified {
		t.Error("the step came again to a resource that had been taken")
	}
}

// TestRestoringADataspaceBringsBackWhatItTook: sets and resources that had been deleted by themselves, or with their set, stay
// deleted, and come back with what took them.
func TestRestoringADataspaceBringsBackWhatItTook(t *testing.T) {
	t.Parallel()
	h, ctx := newHeld(t), t.Context()
	large, small := h.sets[0], h.sets[1]
	inSmall := h.upload(small, "in the small set")
	_, err := h.svc.DeleteSet(ctx, h.admin, small.ID.String(), always)
	h.ok(err) // fits into one step
	_, err = h.svc.DeleteDataspace(ctx, h.admin, h.space.ID.String(), always)
	h.begun(err)
	h.finish(h.space.ID)
	_, err = h.svc.RestoreSet(ctx, h.admin, large.ID.String(), always)
	h.refused(err, errs.CodeParentDeleted)
	_, err = h.svc.RestoreDataspace(ctx, h.admin, h.space.ID.String(), always)
	h.begun(err)
	h.finish(h.space.ID)

	for id, want := range map[metadata.ID]metadata.State{large.ID: metadata.Active, small.ID: metadata.Deleted} {
		set, err := h.svc.GetSet(ctx, h.admin, id.String())
		h.ok(err)
		if set.State != want {
			t.Errorf("set %s is %s, want %s", set.Name, set.State, want)
		}
	}
	if got := h.get(h.files[0].ID).State; got != metadata.Active {
		t.Errorf("a resource that the dataspace took is %s", got)
	}
	if got := h.get(inSmall.ID).State; got != metadata.Deleted {
		t.Errorf("a resource that its set took is %s", got)
	}
	_, err = h.svc.RestoreSet(ctx, h.admin, small.ID.String(), always)
	h.ok(err)
	if got := h.get(inSmall.ID).State; got != metadata.Active {
		t.Errorf("a resource whose set is back is %s", got)
	}
	usage, err := h.svc.DataspaceUsage(ctx, h.admin, h.space.ID.String())
	h.ok(err)
	if usage.ActiveFiles != int64(len(h.files)+1) || usage.DeletedFiles != 0 {
		t.Errorf("usage counts %+v", usage.Counters)
	}
}
