package maintenance_test

import (
	"context"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/repository"
	"labshelf/repository/maintenance"
)

const day = 24 * time.Hour

// noted returns the number and size of the recorded unreferenced blobs.
func (k *kept) noted() (total metadata.BlobCount) {
	k.T.Helper()
	k.OK(k.Meta.View(k.T.Context(), func(tx *metadata.Tx) (err error) {
		total, err = tx.Unreferenced.Total()
		return err
	}))
	return total
}

// purged purges with a minimum age at time now. It returns the number of removed blobs, of removed
// files without a row, and of both that were kept.
func (k *kept) purged(olderThan time.Duration, now func() time.Time) [3]int64 {
	k.T.Helper()
	result, err := k.Upkeep.Purge(k.T.Context(), maintenance.PurgeOptions{OlderThan: olderThan, Now: now, Grace: day})
	k.OK(err)
	return [3]int64{result.Blobs, result.Orphans, result.Recent}
}

func (k *kept) want(when string, got, want [3]int64) {
	k.T.Helper()
	if got != want {
		k.T.Errorf("%s: removed %d blobs and %d files without a row, kept %d, want %d", when, got[0], got[1], got[2], want)
	}
}

// TestUnreferencedCountsFromFirstScan: a file without a record is removed after the minimum age.
// The age counts from the first purge that found the file, whatever the time of the file. For a
// replaced file, it counts from the replacement.
func TestUnreferencedCountsFromFirstScan(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newKept(t, repository.Config{}, 2)
		k.Leave(orphan, []byte("orphan"))
		old := time.Now().Add(-365 * day)
		k.OK(os.Chtimes(k.Path(orphan), old, old))
		k.ReplaceUnkept(k.files0(), "replaced")
		time.Sleep(time.Hour)
		k.want("at first", k.purged(90*day, nil), [3]int64{0, 0, 2})
		time.Sleep(90*day - time.Hour + time.Second)
		k.want("90 days after the replacement", k.purged(90*day, nil), [3]int64{1, 0, 1})
		time.Sleep(time.Hour)
		k.want("90 days after the first purge", k.purged(90*day, nil), [3]int64{0, 1, 0})
		if got := k.noted(); got != (metadata.BlobCount{}) {
			t.Errorf("%+v are still noted", got)
		}
	})
}

// TestUnreferencedCountsAnewAfterReference: a blob that had a reference in the meantime is as
// recent as a blob that has just lost its first one.
func TestUnreferencedCountsAnewAfterReference(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newKept(t, repository.Config{}, 1)
		r := k.files0()
		k.ReplaceUnkept(r, "another")
		time.Sleep(100 * day)
		again := k.Upload(k.Sets[0], "file 0 0")
		if got := k.noted(); got != (metadata.BlobCount{}) {
			t.Errorf("with a reference, %+v are recorded", got)
		}
		k.ReplaceUnkept(again, "yet another")
		time.Sleep(time.Second)
		k.want("referred to until now", k.purged(90*day, nil), [3]int64{0, 0, 1})
		time.Sleep(9 * day)
		k.want("9 days later", k.purged(9*day, nil), [3]int64{1, 0, 0})
	})
}

// TestPurgeAfterClockRanAhead: after the clock ran ahead, stamps stay ahead for years. This
// neither keeps blobs for years nor makes recently recorded blobs old enough.
func TestPurgeAfterClockRanAhead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newKept(t, repository.Config{}, 0)
		k.Leave(orphan, []byte("orphan"))
		ahead := metadata.Stamp(time.Now().AddDate(10, 0, 0).UnixMicro())
		k.OK(k.Meta.Update(t.Context(), func(tx *metadata.Tx) error {
			return tx.Unreferenced.Put(metadata.Unreferenced{Digest: orphan, Bytes: 6, Since: ahead})
		}))
		k.want("noted in ten years", k.purged(90*day, nil), [3]int64{0, 0, 1})
		k.want("noted in ten years, once more", k.purged(time.Nanosecond, nil), [3]int64{0, 0, 1})
		time.Sleep(89 * day)
		k.want("89 days after that was noticed", k.purged(90*day, nil), [3]int64{0, 0, 1})
		time.Sleep(day + time.Second)
		k.want("90 days after that was noticed", k.purged(90*day, nil), [3]int64{0, 1, 0})
	})
}

// TestPurgeWithClockBehind: a clock that is behind for a while makes no blob older.
func TestPurgeWithClockBehind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newKept(t, repository.Config{}, 0)
		k.Leave(orphan, []byte("orphan"))
		behind := func() time.Time { return time.Now().AddDate(-20, 0, 0) }
		k.want("noted by the right clock", k.purged(90*day, nil), [3]int64{0, 0, 1})
		k.want("while the clock is behind", k.purged(90*day, behind), [3]int64{0, 0, 1})
		time.Sleep(day)
		k.want("when it is right again", k.purged(90*day, nil), [3]int64{0, 0, 1})
		time.Sleep(9 * day)
		k.want("9 days later", k.purged(9*day, nil), [3]int64{0, 1, 0})
	})
}

// interrupted is a blob store that calls a function just before a blob is removed.
type interrupted struct {
	blobs.Folder
	before func()
}

func (f interrupted) Remove(digest blobs.Digest, confirm func() error) error {
	f.before()
	return f.Folder.Remove(digest, confirm)
}

// TestPurgeKeepsNewlyUnreferenced: if a blob gets and loses a reference after the purge has
// examined it, its age counts from that time.
func TestPurgeKeepsNewlyUnreferenced(t *testing.T) {
	t.Parallel()
	for _, rowless := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			k := newKept(t, repository.Config{}, 1)
			r := k.files0()
			k.ReplaceUnkept(r, "another")
			if rowless {
				k.OK(k.Meta.Update(t.Context(), func(tx *metadata.Tx) error { return tx.Blobs.Remove(r.Digest) }))
			}
			time.Sleep(91 * day)
			files := interrupted{k.Blobs, func() {
				k.ReplaceUnkept(k.Upload(k.Sets[0], "file 0 0"), "yet another")
				if rowless {
					k.OK(k.Meta.Update(t.Context(), func(tx *metadata.Tx) error { return tx.Blobs.Remove(r.Digest) }))
				}
			}}
			got, err := maintenance.NewUpkeep(k.Meta, files).Purge(t.Context(), maintenance.PurgeOptions{OlderThan: 90 * day})
			if _, stat := k.Blobs.Stat(t.Context(), blobs.Blob{Digest: r.Digest}); err != nil || stat != nil || got.Blobs != 0 || got.Orphans != 0 {
				t.Errorf("without a row %t: %+v, %v; the file: %v", rowless, got, err, stat)
			}
			if k.noted() != (metadata.BlobCount{Blobs: 1, Bytes: 8}) {
				t.Errorf("without a row %t: recorded %+v", rowless, k.noted())
			}
		})
	}
}

// TestScanRecordsUnreferenced: the service records unreferenced blobs automatically, and the status
// and a check report them. The scan removes records of missing blobs.
func TestScanRecordsUnreferenced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newKept(t, repository.Config{}, 2)
		k.Leave(orphan, []byte("orphan"))
		k.OK(k.Meta.Update(t.Context(), func(tx *metadata.Tx) error { return tx.Blobs.Put(blobs.Blob{Digest: orphan2, Size: 7}) }))
		k.Leave(orphan2, []byte("orphan2"))
		if _, result := k.Check(k.Upkeep, maintenance.CheckOptions{}); result.Unreferenced != 2 || result.UnreferencedBytes != 13 {
			t.Errorf("a check counts %d, %d bytes", result.Unreferenced, result.UnreferencedBytes)
		}
		if k.noted() != (metadata.BlobCount{}) {
			t.Error("a check has stored something")
		}
		svc := repository.New(k.Meta, k.Blobs, repository.Config{})
		defer svc.Close()
		time.Sleep(time.Hour)
		if got := svc.Monitor.Condition(t.Context()).Detail; got.Unreferenced != (metadata.BlobCount{Blobs: 2, Bytes: 13}) || len(got.Background) != 0 {
			t.Errorf("after an hour: %+v, %v", got.Unreferenced, got.Background)
		}
		k.OK(os.Remove(k.Path(orphan)))
		time.Sleep(day)
		if got := svc.Monitor.Condition(t.Context()).Detail.Unreferenced; got != (metadata.BlobCount{Blobs: 1, Bytes: 7}) {
			t.Errorf("after a file was removed manually: %+v", got)
		}
		time.Sleep(9 * day)
		k.want("9 days later", k.purged(9*day, nil), [3]int64{1, 0, 0})
	})
}

// TestStartVerifiesRecentFiles: at its start, a service reports and refuses missing or truncated
// recent files, without waiting for a scrub.
func TestStartVerifiesRecentFiles(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newKept(t, repository.Config{}, 3)
		k.OK(os.Remove(k.Path(k.Resources[0].Digest)))
		k.OK(os.Truncate(k.Path(k.Resources[1].Digest), 0))
		reported := 0
		svc := repository.New(k.Meta, k.Blobs, repository.Config{Note: func(_ string, err error) {
			if err != nil {
				reported++
			}
		}})
		defer svc.Close()
		synctest.Wait()
		if got := svc.Monitor.Condition(t.Context()).Detail.Damaged; got != 2 || reported != 2 {
			t.Errorf("%d are recorded, %d were reported", got, reported)
		}
	})
}

var orphan2 = [32]byte{0xab, 2}

// TestScanReadOnly: a scan is not an error if the metadata are read-only.
func TestScanReadOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newKept(t, repository.Config{}, 1)
		k.Leave(orphan, []byte("orphan"))
		svc := repository.New(readOnlyStore{k.Meta}, k.Blobs, repository.Config{})
		defer svc.Close()
		time.Sleep(time.Hour)
		if got := svc.Monitor.Condition(t.Context()).Detail.Background; len(got) != 0 {
			t.Errorf("background error: %v", got)
		}
	})
}

type readOnlyStore struct{ metadata.Store }

func (readOnlyStore) UpdateBackground(context.Context, func(*metadata.Tx) error) error {
	return metadata.ErrReadOnly
}

// TestUnreferencedCountsAnewInEachEpoch: in a new epoch, the age of unreferenced blobs counts from
// the beginning of the epoch, because rows that referred to them may be lost.
func TestUnreferencedCountsAnewInEachEpoch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newKept(t, repository.Config{}, 2)
		k.Leave(orphan, []byte("orphan"))
		k.ReplaceUnkept(k.files0(), "replaced")
		k.Delete(k.Resources[1])
		k.want("at first", k.purged(90*day, nil), [3]int64{0, 0, 2})
		time.Sleep(100 * day)
		_, err := metadata.BeginEpoch(t.Context(), k.Meta, time.Now())
		k.OK(err)
		time.Sleep(time.Hour)
		for _, dry := range []bool{true, false} {
			got, err := k.Upkeep.Purge(t.Context(), maintenance.PurgeOptions{OlderThan: 90 * day, DryRun: dry, Grace: day})
			if want := (maintenance.PurgeResult{Resources: 1, ResourceBytes: 8, Recent: 3, RecentBytes: 22}); err != nil || got != want {
				t.Errorf("in a new epoch, dry run %t: %+v, %v, want %+v", dry, got, err, want)
			}
		}
		time.Sleep(9 * day)
		k.want("9 days later", k.purged(9*day, nil), [3]int64{2, 1, 0})
	})
}
