package maintenance_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/repository"
	"labshelf/repository/maintenance"
	"labshelf/repository/repositorytest"
)

const comparing = "comparing the metadata with the files"

// session runs the service for a while. It returns the reports of the service about its metadata.
func (k *kept) session(meta *metadatatest.Memory, during func(*repository.Service)) (reported string, noted []string) {
	k.T.Helper()
	svc := repository.New(meta, k.Blobs, repository.Config{PageSize: 1000, DirectoryPageSize: 1000, Note: func(task string, err error) {
		if err != nil {
			noted = append(noted, task)
		}
	}})
	if during != nil {
		during(svc)
	}
	time.Sleep(3 * time.Minute)
	condition := svc.Monitor.Condition(k.T.Context())
	if condition.Status != maintenance.StatusOK {
		k.T.Errorf("the service is %s", condition.Status)
	}
	for task, why := range condition.Detail.Background {
		if task != comparing {
			k.T.Errorf("%s: %s", task, why)
		}
	}
	svc.Close()
	return condition.Detail.Background[comparing], noted
}

// history returns the findings of a check about the history of the metadata, compared with the
// metadata that the files belong to.
func (k *kept) history(meta metadata.Store) (found []string) {
	k.T.Helper()
	violations, _ := k.Check(maintenance.NewUpkeep(meta, k.Blobs), maintenance.CheckOptions{})
	for _, v := range violations {
		if v.Part == metadata.PartHistory {
			found = append(found, v.Wrong)
		}
	}
	return found
}

func epochOf(k *kept, meta metadata.Store) (epoch metadata.Epoch) {
	k.T.Helper()
	k.OK(meta.View(k.T.Context(), func(tx *metadata.Tx) (err error) {
		epoch, err = tx.Lineage.Epoch()
		return err
	}))
	return epoch
}

func (k *kept) watermark(name string) string { return filepath.Join(k.Dir, "blobs", name) }

// rolledBack returns a repository whose metadata have advanced, and a copy of the metadata from
// before a file was uploaded.
func rolledBack(t *testing.T) (k *kept, older *metadatatest.Memory, lost metadata.Resource) {
	t.Helper()
	k = newKept(t, repository.Config{}, 1)
	older = k.Meta.Reopen(time.Now)
	if reported, _ := k.session(k.Meta, func(*repository.Service) { lost = k.Upload(k.Sets[0], "lost") }); reported != "" {
		t.Errorf("metadata that have advanced: %s", reported)
	}
	return k, older, lost
}

// TestOlderMetadataReported: older metadata are reported in the log, in the status and by a check,
// at each start, until an operator removes the watermark that was set aside. No file is lost in the
// meantime.
func TestOlderMetadataReported(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k, older, lost := rolledBack(t)
		if found := k.history(k.Meta); len(found) != 0 {
			t.Errorf("metadata that have advanced: %q", found)
		}
		if found := k.history(older); len(found) != 1 || !strings.HasPrefix(found[0], "the metadata are older than the files: their last change is of ") {
			t.Errorf("before the service starts: %q", found)
		}
		before := epochOf(k, older)
		k.OK(older.Update(t.Context(), func(tx *metadata.Tx) error { // deleted long ago, in the older state
			return tx.Unreferenced.Put(metadata.Unreferenced{Digest: lost.Digest, Bytes: lost.Bytes, Since: 1})
		}))
		for start := range 3 {
			reported, noted := k.session(older, nil)
			if reported == "" || len(noted) != 1 || noted[0] != comparing {
				t.Errorf("start %d: reported %q, noted %q", start, reported, noted)
			}
			if found := k.history(older); len(found) != 1 {
				t.Errorf("after start %d: %q", start, found)
			}
		}
		if after := epochOf(k, older); after.ID == before.ID || after.Continues(before.ID, lost.Modified) {
			t.Errorf("from %+v to %+v", before, after)
		}
		result, err := maintenance.NewUpkeep(older, k.Blobs).Purge(t.Context(), maintenance.PurgeOptions{OlderThan: 90 * day})
		if err != nil || result.Orphans != 0 || result.Recent != 1 {
			t.Errorf("purge: %+v, %v", result, err)
		}
		k.OK(os.Remove(k.watermark("watermark.ahead")))
		if reported, noted := k.session(older, nil); reported != "" || len(noted) != 0 {
			t.Errorf("after the operator has accepted it: reported %q, noted %q", reported, noted)
		}
		if found := k.history(older); len(found) != 0 {
			t.Errorf("after the operator has accepted it: %q", found)
		}
		if found := k.history(k.Meta); len(found) != 1 || !strings.HasPrefix(found[0], "the metadata do not continue the metadata to which the files belong") {
			t.Errorf("the newer metadata, restored after that: %q", found)
		}
	})
}

// TestNewerMetadataRestored: if the newer metadata are restored, they match the watermark that was
// set aside.
func TestNewerMetadataRestored(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k, older, lost := rolledBack(t)
		if reported, _ := k.session(older, nil); reported == "" {
			t.Error("nothing was reported")
		}
		k.OK(os.Rename(k.watermark("watermark.ahead"), k.watermark("watermark")))
		if reported, noted := k.session(k.Meta, nil); reported != "" || len(noted) != 0 {
			t.Errorf("reported %q, noted %q", reported, noted)
		}
		if found := repositorytest.Violations(t, k.Meta, k.Blobs); len(found) != 0 {
			t.Errorf("%q", found)
		}
		if got, err := k.Content(lost.ID); got != "lost" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	})
}

// TestWatermarkAfterKill: a killed service leaves an older watermark, which is not an
// error. Without changes, no watermark is written.
func TestWatermarkAfterKill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newKept(t, repository.Config{}, 1)
		svc := repository.New(k.Meta, k.Blobs, repository.Config{})
		k.Upload(k.Sets[0], "first")
		time.Sleep(3 * time.Minute)
		written, err := os.ReadFile(k.watermark("watermark"))
		if k.OK(err); !strings.Contains(string(written), epochOf(k, k.Meta).ID.String()) {
			t.Errorf("the watermark is %s", written)
		}
		info, err := os.Stat(k.watermark("watermark"))
		k.OK(err)
		time.Sleep(time.Hour)
		if later, err := os.Stat(k.watermark("watermark")); err != nil || !os.SameFile(info, later) {
			t.Errorf("a watermark was written without a change (%v)", err)
		}
		k.Upload(k.Sets[0], "second") // after the last watermark
		killed := k.Meta.Reopen(time.Now)
		if found := k.history(killed); len(found) != 0 {
			t.Errorf("%q", found)
		}
		svc.Close()
		if after, err := os.ReadFile(k.watermark("watermark")); err != nil || string(after) == string(written) {
			t.Errorf("at the end, the watermark has not changed: %s, %v", after, err)
		}
		if _, err := os.Lstat(k.watermark("watermark.new")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("remaining: %v", err)
		}
		if found := repositorytest.Violations(t, k.Meta, k.Blobs); len(found) != 0 {
			t.Errorf("%q", found)
		}
	})
}

// TestForeignWatermark tests watermarks of another repository, truncated ones, and one that was
// being written during a power failure.
func TestForeignWatermark(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k, _, _ := rolledBack(t)
		other := metadatatest.NewMemory(time.Now)
		if found := k.history(other); len(found) != 1 || !strings.Contains(found[0], "belong to another repository") {
			t.Errorf("of another repository: %q", found)
		}
		k.OK(os.WriteFile(k.watermark("watermark"), []byte(`{"identity"`), 0o600))
		k.OK(os.WriteFile(k.watermark("watermark.new"), []byte(`{`), 0o600))
		if found := k.history(k.Meta); len(found) != 1 || !strings.Contains(found[0], "cannot be read") {
			t.Errorf("cut off: %q", found)
		}
		if _, noted := k.session(k.Meta, func(*repository.Service) { k.Upload(k.Sets[0], "more") }); len(noted) != 1 {
			t.Errorf("cut off: noted %q", noted)
		}
		if found := k.history(k.Meta); len(found) != 0 {
			t.Errorf("written again: %q", found)
		}
	})
}
