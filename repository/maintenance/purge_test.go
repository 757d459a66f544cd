package maintenance_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/repository"
	"labshelf/repository/maintenance"
	"labshelf/repository/repositorytest"
)

// TestPurge counts the removed objects. A dry run before it returns the same counts and changes
// nothing.
func TestPurge(t *testing.T) {
	t.Parallel()
	k := newKept(t, repository.Config{}, 6)
	ctx, files := t.Context(), k.Resources
	shared := k.Upload(k.Sets[0], "file 0 1") // has the content of files[1], which is deleted
	k.KeepLast(1)
	k.Replace(files[2], "replaced")
	for _, r := range []metadata.Resource{files[0], files[1], files[3]} {
		k.Delete(r)
	}
	recent := k.Delete(files[4])
	k.Leave(orphan, []byte("orphan"))
	options := maintenance.PurgeOptions{Now: func() time.Time { return time.UnixMicro(int64(recent.Modified)).Add(time.Hour) }, OlderThan: time.Hour}
	options.Grace = time.Hour
	before, err := k.Service.Dataspaces.DataspaceUsage(ctx, k.Admin, k.Space.ID.String())
	k.OK(err)

	// files[0], [1] and [3] are purged. shared still needs the blob of [1]. Nothing needs the blob
	// of files[2] any more. The purge itself records the time from which the orphan is
	// unreferenced.
	want := maintenance.PurgeResult{Resources: 3, ResourceBytes: 24, Versions: 1, VersionBytes: 8, Blobs: 3, BlobBytes: 24, Recent: 1, RecentBytes: 6}
	for _, dry := range []bool{true, true, false} {
		options.DryRun = dry
		if got, err := k.Upkeep.Purge(ctx, options); err != nil || got != want {
			t.Fatalf("dry run %t: got %+v, %v, want %+v", dry, got, err, want)
		}
	}
	for i, want := range []bool{true, true, false, true, false, false} {
		before := files[i]
		r := k.Get(before.ID)
		if (r.Body == metadata.Purged) != want {
			t.Errorf("resource %d: its body is %d", i, r.Body)
		}
		if i < 2 && (r.Modified == before.Modified || r.Tag() == r.Record.Tag()) {
			t.Errorf("resource %d has the tag %s, its record %s", i, r.Tag(), r.Record.Tag())
		}
	}
	if got, err := k.Content(shared.ID); err != nil || got != "file 0 1" {
		t.Errorf("a resource that shares its blob with a purged one: %q, %v", got, err)
	}
	if _, err := k.Service.Files.Restore(ctx, k.Admin, recent.ID.String(), repositorytest.Always); err != nil {
		t.Errorf("a resource that was deleted just now: %v", err)
	}
	_, err = k.Service.Files.Restore(ctx, k.Admin, files[0].ID.String(), repositorytest.Always)
	k.Refused(err, errs.CodePurged)
	usage, err := k.Service.Dataspaces.DataspaceUsage(ctx, k.Admin, k.Space.ID.String())
	k.OK(err)
	if usage.DeletedFiles != 3 || usage.DeletedBytes != before.DeletedBytes-24-8 {
		t.Errorf("usage before %+v, after %+v", before.Counters, usage.Counters)
	}
	if found := repositorytest.Violations(t, k.Meta, k.Blobs); len(found) > 0 {
		t.Errorf("%q", found)
	}

	again := k.Upload(k.Sets[0], "file 0 0")
	if got, err := k.Content(again.ID); err != nil || got != "file 0 0" {
		t.Errorf("the content of a purged resource, uploaded again: %q, %v", got, err)
	}
	options.Now, options.OlderThan, options.Grace = later, 0, 0
	want = maintenance.PurgeResult{Orphans: 1, OrphanBytes: 6, TrashFiles: 4, TrashBytes: 30}
	for _, options.DryRun = range []bool{true, false} {
		if got, err := k.Upkeep.Purge(ctx, options); err != nil || got != want {
			t.Errorf("without a grace period: got %+v, %v, want %+v", got, err, want)
		}
	}
}

// orphan is the digest of a file without a record. Its content has another digest.
var orphan = [32]byte{0xab, 1}

// TestPurgeKeepsStampAndCountsToday: a tombstone keeps the time of its deletion. The counters
// change on the day of the purge.
func TestPurgeKeepsStampAndCountsToday(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const day = 24 * time.Hour
		k := newKept(t, repository.Config{}, 1)
		time.Sleep(day)
		deleted := k.Delete(k.files0())
		time.Sleep(2 * day)
		if got, err := k.Upkeep.Purge(t.Context(), maintenance.PurgeOptions{OlderThan: 2*day + time.Hour}); err != nil || got.Resources != 0 {
			t.Errorf("deleted two days ago, with a longer grace period: %+v, %v", got, err)
		}
		if got, err := k.Upkeep.Purge(t.Context(), maintenance.PurgeOptions{OlderThan: day}); err != nil || got.Resources != 1 {
			t.Errorf("deleted two days ago, with a grace period of one day: %+v, %v", got, err)
		}
		if r := k.Get(deleted.ID); r.Modified != deleted.Modified || r.Body != metadata.Purged {
			t.Errorf("deleted at %d, body %d, modified at %d", deleted.Modified, r.Body, r.Modified)
		}
		usage, err := k.Service.Dataspaces.DataspaceUsage(t.Context(), k.Admin, k.Space.ID.String())
		k.OK(err)
		first := deleted.Created.Day()
		want := []metadata.DayCounters{
			{Day: first, Counters: metadata.Counters{ActiveFiles: 1, ActiveBytes: deleted.Bytes}},
			{Day: first + 1, Counters: metadata.Counters{DeletedFiles: 1, DeletedBytes: deleted.Bytes}},
			{Day: first + 3, Counters: metadata.Counters{DeletedFiles: 1}},
		}
		if !slices.Equal(usage.Days, want) {
			t.Errorf("days %+v, want %+v", usage.Days, want)
		}
		if found := repositorytest.Violations(t, k.Meta, k.Blobs); len(found) > 0 {
			t.Errorf("%q", found)
		}
	})
}

// TestPurgeKeepsRestored: a purge keeps resources that an unfinished restoration has not
// reached yet.
func TestPurgeKeepsRestored(t *testing.T) {
	t.Parallel()
	for _, container := range []string{"set", "dataspace"} {
		t.Run(container, func(t *testing.T) {
			t.Parallel()
			k := newKept(t, repository.Config{}, 450)
			ctx, of := t.Context(), k.Sets[0].ID
			alone := k.Delete(k.Resources[449])
			pass := func(restore bool) (err error) {
				switch {
				case container == "set" && restore:
					_, err = k.Service.Sets.Restore(ctx, k.Admin, of.String(), repositorytest.Always)
				case container == "set":
					_, err = k.Service.Sets.Delete(ctx, k.Admin, of.String(), repositorytest.Always)
				case restore:
					_, err = k.Service.Dataspaces.Restore(ctx, k.Admin, of.String(), repositorytest.Always)
				default:
					_, err = k.Service.Dataspaces.Delete(ctx, k.Admin, of.String(), repositorytest.Always)
				}
				return err
			}
			if container == "dataspace" {
				of = k.Space.ID
			}
			for _, restore := range []bool{false, true} {
				k.Begun(pass(restore))
				if !restore {
					k.Finish(of)
				}
			}
			for _, dry := range []bool{true, false} {
				got, err := k.Upkeep.Purge(ctx, maintenance.PurgeOptions{Now: later, DryRun: dry, Grace: time.Hour})
				if err != nil || got.Resources != 1 || got.Blobs != 1 {
					t.Errorf("dry run %t: got %+v, %v", dry, got, err)
				}
			}
			k.Finish(of)
			for id, state := range k.Listed() {
				if want := id != alone.ID; want != (state == metadata.Active) {
					t.Fatalf("%s is %s", id, state)
				}
			}
			if found := repositorytest.Violations(t, k.Meta, k.Blobs); len(found) > 0 {
				t.Errorf("%q", found)
			}
		})
	}
}

// TestPurgeDeletedSet: purged resources do not return with their set, whatever the number of
// commits.
func TestPurgeDeletedSet(t *testing.T) {
	t.Parallel()
	k := newKept(t, repository.Config{}, 450)
	ctx, set := t.Context(), k.Sets[0].ID
	_, err := k.Service.Sets.Delete(ctx, k.Admin, set.String(), repositorytest.Always)
	k.Begun(err)
	k.Finish(set)
	got, err := k.Upkeep.Purge(ctx, maintenance.PurgeOptions{Now: later})
	if err != nil || got.Resources != 450 || got.Blobs != 450 || got.TrashFiles != 450 {
		t.Errorf("got %+v, %v", got, err)
	}
	_, err = k.Service.Sets.Restore(ctx, k.Admin, set.String(), repositorytest.Always)
	k.Begun(err)
	k.Finish(set)
	for id, state := range k.Listed() {
		if state != metadata.Deleted {
			t.Fatalf("%s is %s, although it was purged", id, state)
		}
	}
	if found := repositorytest.Violations(t, k.Meta, k.Blobs); len(found) > 0 {
		t.Errorf("%q", found)
	}
	if r := k.Upload(k.Sets[0], "file 0 1"); r.State != metadata.Active {
		t.Errorf("a later upload is %s", r.State)
	}
}

// contradicting is a store whose indexes contradict its rows.
type contradicting struct{ metadata.Store }

func (contradicting) Inspect(_ context.Context, report func(metadata.Violation)) error {
	report(metadata.Violation{Part: metadata.PartRows, Kind: "blob_refs", Wrong: "the row that it points to has no such entry"})
	return nil
}

// TestPurgeRefusesDamagedMetadata: a wrong index of references does not cause the loss of a file.
func TestPurgeRefusesDamagedMetadata(t *testing.T) {
	t.Parallel()
	k := newKept(t, repository.Config{}, 2)
	k.Delete(k.Resources[0])
	upkeep := maintenance.NewUpkeep(contradicting{k.Meta}, k.Blobs)
	for _, dry := range []bool{true, false} {
		result, err := upkeep.Purge(t.Context(), maintenance.PurgeOptions{Now: later, DryRun: dry})
		k.Refused(err, errs.CodeDataDamaged)
		if !errors.Is(err, metadata.ErrRecordDamaged) || result != (maintenance.PurgeResult{}) || k.Get(k.Resources[0].ID).Body == metadata.Purged {
			t.Errorf("dry run %t: %+v, %v", dry, result, err)
		}
	}
}

// TestPurgeKeepsReferenced: a file that a resource needs is not removed as an orphan, even if the
// row of its blob is lost.
func TestPurgeKeepsReferenced(t *testing.T) {
	t.Parallel()
	k := newKept(t, repository.Config{}, 1)
	r := k.files0()
	k.OK(k.Meta.Update(t.Context(), func(tx *metadata.Tx) error { return tx.Blobs.Remove(r.Digest) }))
	if result, err := k.Upkeep.Purge(t.Context(), maintenance.PurgeOptions{Now: later}); err != nil || result.Orphans != 0 {
		t.Errorf("%+v, %v", result, err)
	}
	if got, err := k.Content(r.ID); err != nil || got != "file 0 0" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestObserverIsCalledPerPurge: the observer is called for each purge, even if the purge ends
// early, but not for a dry run.
func TestObserverIsCalledPerPurge(t *testing.T) {
	t.Parallel()
	var reported []maintenance.PurgeResult
	var failed error
	watch := repository.Observer{Purged: func(removed maintenance.PurgeResult, took time.Duration, err error) {
		if took < 0 || took == 0 && runtime.GOOS != "windows" { // the clock of Windows is coarse
			t.Errorf("it took %s", took)
		}
		reported, failed = append(reported, removed), err
	}}
	k := newKept(t, repository.Config{Observer: watch}, 3)
	k.Delete(k.Resources[0])
	purge := func(ctx context.Context, dry bool) (maintenance.PurgeResult, error) {
		return k.Upkeep.Purge(ctx, maintenance.PurgeOptions{DryRun: dry, Now: later})
	}
	_, err := purge(t.Context(), true)
	k.OK(err)
	if len(reported) > 0 {
		t.Errorf("a dry run is reported as %+v", reported)
	}
	done, err := purge(t.Context(), false)
	k.OK(err)
	if len(reported) != 1 || reported[0] != done || done.Resources != 1 || failed != nil {
		t.Errorf("removed %+v, but reported %+v, %v", done, reported, failed)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := purge(ended, false); err == nil || len(reported) != 2 || !errors.Is(failed, context.Canceled) {
		t.Errorf("a purge that ended with %v is reported as %+v, %v", err, reported, failed)
	}
}
