package maintenance_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/repository"
	"labshelf/repository/containers"
	"labshelf/repository/core"
	"labshelf/repository/files"
	"labshelf/repository/maintenance"
	"labshelf/repository/repositorytest"
)

// version reads the file of a version.
func (k *kept) version(id metadata.ID, number int) (string, error) {
	_, file, err := k.Service.Versions.Open(k.T.Context(), k.Admin, id.String(), fmt.Sprint(number))
	if err != nil {
		return "", err
	}
	content, err := io.ReadAll(file)
	return string(content), errors.Join(err, file.Close())
}

// wantKept compares which versions of a resource can be read. The others must have been removed.
func (k *kept) wantKept(when string, id metadata.ID, of int, want ...int) {
	k.T.Helper()
	var got []int
	for number := 1; number <= of; number++ {
		if content, err := k.version(id, number); err == nil && content == fmt.Sprint("content ", number) {
			got = append(got, number)
		} else {
			k.Refused(err, errs.CodeVersionRemoved)
		}
	}
	if !slices.Equal(got, want) {
		k.T.Errorf("%s: versions %d are kept, want %d", when, got, want)
	}
}

func (k *kept) retain(rule metadata.Retention) {
	k.T.Helper()
	_, err := k.Service.Dataspaces.Update(k.T.Context(), k.Admin, k.Space.ID.String(), containers.DataspaceFields{Retention: &rule}, core.Match{})
	k.OK(err)
}

func (k *kept) label(id metadata.ID, number int, text string) {
	k.T.Helper()
	_, err := k.Service.Versions.Label(k.T.Context(), k.Admin, id.String(), fmt.Sprint(number), files.VersionFields{Label: new(text)}, repositorytest.Always)
	k.OK(err)
}

// dryThenReal purges twice, first as a dry run, and fails the test unless the counts are equal.
func (k *kept) dryThenReal(o maintenance.PurgeOptions) (result maintenance.PurgeResult, labelled []string) {
	k.T.Helper()
	var results [2]maintenance.PurgeResult
	var names [2][]string
	for i := range results {
		o.DryRun = i == 0
		o.Labelled = func(v metadata.Version) {
			names[i] = append(names[i], fmt.Sprint(v.ResourceID, " ", v.Number+1, " ", v.Label))
		}
		var err error
		results[i], err = k.Upkeep.Purge(k.T.Context(), o)
		k.OK(err)
	}
	if results[0] != results[1] || !slices.Equal(names[0], names[1]) {
		k.T.Errorf("the dry run returns %+v, %q; the purge %+v, %q", results[0], names[0], results[1], names[1])
	}
	return results[0], names[0]
}

// TestRetention: a purge removes the bytes of versions according to the retention of their
// dataspace, except labeled ones, and keeps their rows.
func TestRetention(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newKept(t, repository.Config{}, 0)
		made := k.Upload(k.Sets[0], "content 1") // one version per day
		for n := 2; n <= 6; n++ {
			time.Sleep(day)
			k.Replace(made, fmt.Sprint("content ", n))
		}
		k.label(made.ID, 2, "as published")
		if got, _ := k.dryThenReal(maintenance.PurgeOptions{Now: later}); got != (maintenance.PurgeResult{}) {
			t.Errorf("with a retention that keeps all versions: %+v", got)
		}
		k.retain(metadata.Retention{Days: 3})
		got, _ := k.dryThenReal(maintenance.PurgeOptions{})
		k.wantKept("three days", made.ID, 6, 2, 3, 4, 5, 6)
		if want := (maintenance.PurgeResult{Versions: 1, VersionBytes: 9, Blobs: 1, BlobBytes: 9, TrashFiles: 1, TrashBytes: 9}); got != want {
			t.Errorf("three days: %+v, want %+v", got, want)
		}
		k.retain(metadata.Retention{Last: 2})
		got, _ = k.dryThenReal(maintenance.PurgeOptions{OlderThan: 36 * time.Hour})
		k.wantKept("the last two, replaced 36 hours ago", made.ID, 6, 2, 4, 5, 6)
		if got.Versions != 1 || got.Recent != 0 {
			t.Errorf("the last two: %+v", got)
		}
		time.Sleep(time.Second)
		k.dryThenReal(maintenance.PurgeOptions{})
		k.wantKept("the last two", made.ID, 6, 2, 5, 6)
		k.label(made.ID, 2, "")
		k.dryThenReal(maintenance.PurgeOptions{})
		k.wantKept("without the label", made.ID, 6, 5, 6)

		v, err := k.Service.Versions.Get(t.Context(), k.Admin, made.ID.String(), "1")
		k.OK(err)
		if v.Digest != made.Digest || v.Bytes != 9 || v.Removed.String() != "retention: 3 days" || v.Removed.At == 0 {
			t.Errorf("a version after the purge: %+v", v)
		}
		_, err = k.Service.Versions.Restore(t.Context(), k.Admin, made.ID.String(), "1", repositorytest.Always)
		k.Refused(err, errs.CodeVersionRemoved)
		usage, err := k.Service.Dataspaces.DataspaceUsage(t.Context(), k.Admin, k.Space.ID.String())
		if k.OK(err); usage.OldVersions != 1 || usage.OldBytes != 9 {
			t.Errorf("usage %+v", usage.Counters)
		}
		k.Sound()
	})
}

// TestRetentionKeepsSharedBlobs: a blob is removed with the last version that has it, whatever its
// number.
func TestRetentionKeepsSharedBlobs(t *testing.T) {
	t.Parallel()
	k := newKept(t, repository.Config{}, 0)
	made := k.Upload(k.Sets[0], "content 1")
	k.Replace(made, "content 2")
	_, err := k.Service.Versions.Restore(t.Context(), k.Admin, made.ID.String(), "1", repositorytest.Always)
	k.OK(err)
	k.retain(metadata.Retention{Last: 1})
	if got, _ := k.dryThenReal(maintenance.PurgeOptions{Now: later}); got.Versions != 2 || got.Blobs != 1 {
		t.Errorf("%+v", got)
	}
	if got, err := k.Content(made.ID); err != nil || got != "content 1" {
		t.Errorf("%q, %v", got, err)
	}
	k.Sound()
}

// TestPurgeRemovesAllVersions: a purge removes all versions of a deleted resource, including
// labeled ones, which a dry run reports. It removes no version of a restored resource.
func TestPurgeRemovesAllVersions(t *testing.T) {
	t.Parallel()
	k := newKept(t, repository.Config{}, 0)
	gone, back := k.Upload(k.Sets[0], "content 1"), k.Upload(k.Sets[0], "kept 1")
	k.Replace(gone, "content 2")
	k.Replace(gone, "content 3")
	k.Replace(back, "kept 2")
	k.label(gone.ID, 1, "as published")
	k.Delete(gone)
	k.Delete(back)
	_, err := k.Service.Files.Restore(t.Context(), k.Admin, back.ID.String(), repositorytest.Always)
	k.OK(err)
	got, labelled := k.dryThenReal(maintenance.PurgeOptions{Now: later})
	want := maintenance.PurgeResult{Resources: 1, ResourceBytes: 9, Versions: 2, VersionBytes: 18, LabelledVersions: 1, Blobs: 3, BlobBytes: 27, TrashFiles: 3, TrashBytes: 27}
	if got != want || !slices.Equal(labelled, []string{gone.ID.String() + " 1 as published"}) {
		t.Errorf("%+v, %q, want %+v", got, labelled, want)
	}
	_, err = k.version(gone.ID, 1)
	k.Refused(err, errs.CodeResourceGone)
	if got, err := k.version(back.ID, 1); err != nil || got != "kept 1" {
		t.Errorf("of the restored resource: %q, %v", got, err)
	}
	k.Sound()
}

// TestEraseVersion: the bytes are immediately removed from the disk, including the trash, and the
// row names the user who erased them. Bytes that other versions need stay.
func TestEraseVersion(t *testing.T) {
	t.Parallel()
	for _, holdUpTo := range []int64{0, 100} {
		k := newKept(t, repository.Config{HoldUpTo: holdUpTo}, 0)
		made := k.Upload(k.Sets[0], "secret")
		k.Replace(made, "nobody")
		k.label(made.ID, 1, "as published")
		erase := func(number string) (metadata.Version, bool, error) {
			return k.Service.Versions.Erase(t.Context(), k.Admin, made.ID.String(), number)
		}
		_, _, err := erase("2")
		k.Refused(err, errs.CodeVersionPresent)
		k.Delete(made) // a deletion does not prevent the erasure
		for range 2 {
			v, shared, err := erase("1")
			if err != nil || shared || v.Removed.Rule != metadata.Erased || v.Removed.By != k.Admin.UserID || v.Body != metadata.Purged {
				t.Errorf("%+v, %t, %v", v, shared, err)
			}
		}
		for _, place := range []string{k.Path(made.Digest), filepath.Join(k.Dir, "trash", made.Digest.String())} {
			if _, err := os.Lstat(place); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: %v", place, err)
			}
		}
		_, err = k.Service.Files.Restore(t.Context(), k.Admin, made.ID.String(), repositorytest.Always)
		k.OK(err)
		_, err = k.version(made.ID, 1)
		k.Refused(err, errs.CodeVersionRemoved)
		usage, err := k.Service.Dataspaces.DataspaceUsage(t.Context(), k.Admin, k.Space.ID.String())
		if k.OK(err); usage.OldVersions != 0 || usage.OldBytes != 0 {
			t.Errorf("usage %+v", usage.Counters)
		}
		k.Sound()
	}
}

// TestEraseShared: bytes that another resource has stay, and the result reports that. Bytes in the
// trash of a purge are removed.
func TestEraseShared(t *testing.T) {
	t.Parallel()
	k := newKept(t, repository.Config{}, 0)
	made, twin := k.Upload(k.Sets[0], "secret"), k.Upload(k.Sets[0], "secret")
	k.Replace(made, "nobody")
	if _, shared, err := k.Service.Versions.Erase(t.Context(), k.Admin, made.ID.String(), "1"); err != nil || !shared {
		t.Errorf("shared %t, %v", shared, err)
	}
	if got, err := k.Content(twin.ID); err != nil || got != "secret" {
		t.Errorf("the twin: %q, %v", got, err)
	}
	k.Replace(twin, "nobody else")
	k.KeepLast(1)
	_, err := k.Upkeep.Purge(t.Context(), maintenance.PurgeOptions{Now: later, Grace: day})
	k.OK(err)
	trashed := filepath.Join(k.Dir, "trash", made.Digest.String())
	if _, err := os.Lstat(trashed); err != nil {
		t.Errorf("after the purge: %v", err)
	}
	v, shared, err := k.Service.Versions.Erase(t.Context(), k.Admin, twin.ID.String(), "1")
	if err != nil || shared || v.Removed.Rule != metadata.Erased {
		t.Errorf("after the purge: %+v, %t, %v", v, shared, err)
	}
	if _, err := os.Lstat(trashed); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after the erasure: %v", err)
	}
	k.Sound()
}

// TestEraseSharedInline: bytes that another version of the file has stay, and the result reports
// that, even if each version has a separate copy.
func TestEraseSharedInline(t *testing.T) {
	t.Parallel()
	k := newKept(t, repository.Config{HoldUpTo: 100}, 0)
	upload := k.Service.Uploads.NewUpload(k.Admin) // an unfinished upload, so that no inline body is flushed
	defer func() { k.OK(upload.Discard()) }()
	made := k.Upload(k.Sets[0], "secret")
	for _, content := range []string{"nobody", "secret", "nobody else"} {
		k.Replace(made, content)
	}
	for number, want := range map[string]bool{"2": false, "1": true} {
		if _, shared, err := k.Service.Versions.Erase(t.Context(), k.Admin, made.ID.String(), number); err != nil || shared != want {
			t.Errorf("version %s: shared %t, %v", number, shared, err)
		}
	}
	if _, shared, err := k.Service.Versions.Erase(t.Context(), k.Admin, made.ID.String(), "3"); err != nil || shared {
		t.Errorf("version 3, after the other version: shared %t, %v", shared, err)
	}
	k.Sound()
}

// TestCheckFindsWrongVersions violates each rule about versions that a check verifies.
func TestCheckFindsWrongVersions(t *testing.T) {
	t.Parallel()
	for name, breakIt := range map[string]func(tx *metadata.Tx, v metadata.Version) error{
		"a gap": func(tx *metadata.Tx, v metadata.Version) error { v.Number += 2; return tx.Versions.Put(v) },
		"no earlier version": func(tx *metadata.Tx, v metadata.Version) error {
			v.ResourceID = metadata.ID{9}
			return tx.Versions.Put(v)
		},
		"replaced too late":     func(tx *metadata.Tx, v metadata.Version) error { v.Replaced *= 2; return tx.Versions.Put(v) },
		"purged without a rule": func(tx *metadata.Tx, v metadata.Version) error { v.Body = metadata.Purged; return tx.Versions.Put(v) },
		"of another length":     func(tx *metadata.Tx, v metadata.Version) error { v.Bytes++; return tx.Versions.Put(v) },
		"without its blob":      func(tx *metadata.Tx, v metadata.Version) error { return tx.Blobs.Remove(v.Digest) },
		"inline without a body": func(tx *metadata.Tx, v metadata.Version) error { v.Body = metadata.Inline; return tx.Versions.Put(v) },
		"a body of no version":  func(tx *metadata.Tx, v metadata.Version) error { return tx.InlineBodies.Put(v.Key(), []byte("x")) },
	} {
		k := newKept(t, repository.Config{}, 1)
		r := k.files0()
		k.Replace(r, "replaced")
		k.Sound()
		k.OK(k.Meta.Update(context.Background(), func(tx *metadata.Tx) error {
			v, err := tx.Versions.Get(r.VersionKey())
			return errors.Join(err, breakIt(tx, v))
		}))
		if found, _ := k.Check(k.Upkeep, maintenance.CheckOptions{NoData: true}); len(found) == 0 {
			t.Errorf("%s: a check finds no violation", name)
		}
	}
}
