package repository_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"labshelf/errs"
	"labshelf/metadata"
	"labshelf/repository"
)

// TestPurge counts what is removed, and the same before in a dry run that changes nothing.
func TestPurge(t *testing.T) {
	t.Parallel()
	k := newKept(t, repository.Config{}, 6)
	ctx, files := t.Context(), k.held.files
	shared := k.upload(k.sets[0], "file 0 1") // has the content of files[1], which is deleted
	k.replace(files[2], "replaced")
	for _, r := range []metadata.Resource{files[0], files[1], files[3]} {
		k.remove(r)
	}
	recent := k.remove(files[4])
	k.leave(orphan, []byte("orphan"))
	options := repository.PurgeOptions{Now: func() time.Time { return time.UnixMicro(int64(recent.Modified)).Add(time.Hour) }, OlderThan: time.Hour}
	options.Grace = time.Hour
	before, err := k.svc.DataspaceUsage(ctx, k.admin, k.space.ID.String())
	k.ok(err)

	// files[0], [1] and [3] are purged; of their blobs that of [1] is needed by shared; that of files[2] is not needed any more.
	// Since when nothing refers to the orphan is found out by the purge.
	want := repository.PurgeResult{Resources: 3, ResourceBytes: 24, Blobs: 3, BlobBytes: 24, Recent: 1, RecentBytes: 6}
	for _, dry := range []bool{true, true, false} {
		options.DryRun = dry
		if got, err := k.upkeep.Purge(ctx, options); err != nil || got != want {
			t.Fatalf("dry run %t: got %+v, %v, want %+v", dry, got, err, want)
		}
	}
	for i, want := range []bool{true, true, false, true, false, false} {
		before := files[i]
		r := k.get(before.ID)
		if (r.Body == metadata.Purged) != want {
			t.Errorf("resource %d: its body is %d", i, r.Body)
		}
		if i < 2 && (r.Modified == before.Modified || r.Tag() == r.Record.Tag()) {
			t.Errorf("resource %d has the tag %s, its record %s", i, r.Tag(), r.Record.Tag())
		}
	}
	if got, err := k.content(shared.ID); err != nil || got != "file 0 1" {
		t.Errorf("a resource that shares its blob with a purged one: %q, %v", got, err)
	}
	if _, err := k.svc.RestoreResource(ctx, k.admin, recent.ID.String(), always); err != nil {
		t.Errorf("what was deleted just now: %v", err)
	}
	_, err = k.svc.RestoreResource(ctx, k.admin, files[0].ID.String(), always)
	k.refused(err, errs.CodePurged)
	usage, err := k.svc.DataspaceUsage(ctx, k.admin, k.space.ID.String())
	k.ok(err)
	if usage.DeletedFiles != 3 || usage.DeletedBytes != before.DeletedBytes-24-8 {
		t.Errorf("usage before %+v, after %+v", before.Counters, usage.Counters)
	}
	if found := violations(t, k.meta, k.files); len(found) > 0 {
		t.Errorf("%q", found)
	}

	again := k.upload(k.sets[0], "file 0 0")
	if got, err := k.content(again.ID); err != nil || got != "file 0 0" {
		t.Errorf("the content of a purged resource, uploaded again: %q, %v", got, err)
	}
	options.Now, options.OlderThan, options.Grace = later, 0, 0
	want = repository.PurgeResult{Orphans: 1, OrphanBytes: 6, TrashFiles: 4, TrashBytes: 30}
	for _, options.DryRun = range []bool{true, false} {
		if got, err := k.upkeep.Purge(ctx, options); err != nil || got != want {
			t.Errorf("without a grace period: got %+v, %v, want %+v", got, err, want)
		}
	}
}

// orphan is the digest of nothing that is recorded; its file says so when it is read.
var orphan = [32]byte{0xab, 1}

// TestPurgeLeavesTheStampAndCountsToday: a tombstone keeps the time of its deletion; the day of the counters is that of the purge.
func TestPurgeLeavesTheStampAndCountsToday(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const day = 24 * time.Hour
		k := newKept(t, repository.Config{}, 1)
		time.Sleep(day)
		deleted := k.remove(k.files0())
		time.Sleep(2 * day)
		if got, err := k.upkeep.Purge(t.Context(), repository.PurgeOptions{OlderThan: 2*day + time.Hour}); err != nil || got.Resources != 0 {
			t.Errorf("deleted two days ago, purged by more: %+v, %v", got, err)
		}
		if got, err := k.upkeep.Purge(t.Context(), repository.PurgeOptions{OlderThan: day}); err != nil || got.Resources != 1 {
			t.Errorf("deleted two days ago, purged by one: %+v, %v", got, err)
		}
		if r := k.get(deleted.ID); r.Modified != deleted.Modified || r.Body != metadata.Purged {
			t.Errorf("deleted at %d, body %d, modified at %d", deleted.Modified, r.Body, r.Modified)
		}
		usage, err := k.svc.DataspaceUsage(t.Context(), k.admin, k.space.ID.String())
		k.ok(err)
		first := deleted.Created.Day()
		want := []metadata.DayCounters{
			{Day: first, Counters: metadata.Counters{ActiveFiles: 1, ActiveBytes: deleted.Bytes}},
			{Day: first + 1, Counters: metadata.Counters{DeletedFiles: 1, DeletedBytes: deleted.Bytes}},
			{Day: first + 3, Counters: metadata.Counters{DeletedFiles: 1}},
		}
		if !slices.Equal(usage.Days, want) {
			t.Errorf("days %+v, want %+v", usage.Days, want)
		}
		if found := violations(t, k.meta, k.files); len(found) > 0 {
			t.Errorf("%q", found)
		}
	})
}

// TestPurgeLeavesWhatComesBack: a restoration under way has not come to its resources yet.
func TestPurgeLeavesWhatComesBack(t *testing.T) {
	t.Parallel()
	for _, container := range []string{"set", "dataspace"} {
		t.Run(container, func(t *testing.T) {
			t.Parallel()
			k := newKept(t, repository.Config{}, 450)
			ctx, of := t.Context(), k.sets[0].ID
			alone := k.remove(k.held.files[449])
			pass := func(restore bool) (err error) {
				switch {
				case container == "set" && restore:
					_, err = k.svc.RestoreSet(ctx, k.admin, of.String(), always)
				case container == "set":
					_, err = k.svc.DeleteSet(ctx, k.admin, of.String(), always)
				case restore:
					_, err = k.svc.RestoreDataspace(ctx, k.admin, of.String(), always)
				default:
					_, err = k.svc.DeleteDataspace(ctx, k.admin, of.String(), always)
				}
				return err
			}
			if container == "dataspace" {
				of = k.space.ID
			}
			for _, restore := range []bool{false, true} {
				k.begun(pass(restore))
				if !restore {
					k.finish(of)
				}
			}
			for _, dry := range []bool{true, false} {
				got, err := k.upkeep.Purge(ctx, repository.PurgeOptions{Now: later, DryRun: dry, Grace: time.Hour})
				if err != nil || got.Resources != 1 || got.Blobs != 1 {
					t.Errorf("dry run %t: got %+v, %v", dry, got, err)
				}
			}
			k.finish(of)
			for id, state := range k.listed() {
				if want := id != alone.ID; want != (state == metadata.Active) {
					t.Fatalf("%s is %s", id, state)
				}
			}
			if found := violations(t, k.meta, k.files); len(found) > 0 {
				t.Errorf("%q", found)
			}
		})
	}
}

// TestPurgeOfADeletedSet: what has been purged does not come back with its set, in any number of commits.
func TestPurgeOfADeletedSet(t *testing.T) {
	t.Parallel()
	k := newKept(t, repository.Config{}, 450)
	ctx, set := t.Context(), k.sets[0].ID
	_, err := k.svc.DeleteSet(ctx, k.admin, set.String(), always)
	k.begun(err)
	k.finish(set)
	got, err := k.upkeep.Purge(ctx, repository.PurgeOptions{Now: later})
	if err != nil || got.Resources != 450 || got.Blobs != 450 || got.TrashFiles != 450 {
		t.Errorf("got %+v, %v", got, err)
	}
	_, err = k.svc.RestoreSet(ctx, k.admin, set.String(), always)
	k.begun(err)
	k.finish(set)
	for id, state := range k.listed() {
		if state != metadata.Deleted {
			t.Fatalf("%s is %s, and was purged", id, state)
		}
	}
	if found := violations(t, k.meta, k.files); len(found) > 0 {
		t.Errorf("%q", found)
	}
	if r := k.upload(k.sets[0], "file 0 1"); r.State != metadata.Active {
		t.Errorf("an upload after that is %s", r.State)
	}
}

// contradicting is a store whose indexes are not what its rows say.
type contradicting struct{ metadata.Store }

func (contradicting) Inspect(_ context.Context, report func(metadata.Violation)) error {
	report(metadata.Violation{Part: metadata.PartRows, Kind: "blob_refs", Wrong: "the row that it points to has no such entry"})
	return nil
}

// TestPurgeRefusesDamagedMetadata: an index that lies about who needs a file must not cost the file.
func TestPurgeRefusesDamagedMetadata(t *testing.T) {
	t.Parallel()
	k := newKept(t, repository.Config{}, 2)
	k.remove(k.held.files[0])
	upkeep := repository.NewUpkeep(contradicting{k.meta}, k.files)
	for _, dry := range []bool{true, false} {
		result, err := upkeep.Purge(t.Context(), repository.PurgeOptions{Now: later, DryRun: dry})
		k.refused(err, errs.CodeDataDamaged)
		if !errors.Is(err, metadata.ErrRecordDamaged) || result != (repository.PurgeResult{}) || k.get(k.held.files[0].ID).Body == metadata.Purged {
			t.Errorf("dry run %t: %+v, %v", dry, result, err)
		}
	}
}

// TestPurgeLeavesWhatIsReferredTo: the file of a resource is no orphan, also where its row is lost.
func TestPurgeLeavesWhatIsReferredTo(t *testing.T) {
	t.Parallel()
	k := newKept(t, repository.Config{}, 1)
	r := k.files0()
	k.ok(k.meta.Update(t.Context(), func(tx *metadata.Tx) error { return tx.Blobs.Remove(r.Digest) }))
	if result, err := k.upkeep.Purge(t.Context(), repository.PurgeOptions{Now: later}); err != nil || result.Orphans != 0 {
		t.Errorf("%+v, %v", result, err)
	}
	if got, err := k.content(r.ID); err != nil || got != "file 0 0" {
		t.Errorf("%q, %v", got, err)
	}
}
