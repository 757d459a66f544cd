package maintenance_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/repository/maintenance"
	"labshelf/repository/repositorytest"
)

// TestObjectTrash: an object that no row names any more can be read until its grace period has
// ended. A purge without a grace period still keeps it for an hour.
func TestObjectTrash(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShared(t)
		first := s.Upload(s.Sets[0], content)
		b := s.blob(first)
		again := s.Upload(s.Sets[0], content)
		if now := s.blob(again); now.Object == b.Object || now.Digest != b.Digest {
			t.Errorf("the same content is now %+v, was %+v", now, b)
		}
		upkeep := maintenance.NewUpkeep(s.meta, s.files)
		for _, step := range []struct {
			after, grace time.Duration
			files        int64
		}{{time.Minute, 0, 0}, {58 * time.Minute, 0, 0}, {2 * time.Minute, 0, 1}, {time.Minute, 0, 0}} {
			time.Sleep(step.after)
			got, err := upkeep.Purge(t.Context(), maintenance.PurgeOptions{Grace: step.grace})
			if err != nil || got.TrashFiles != step.files || got.Orphans != 0 || got.Blobs != 0 {
				t.Errorf("purge: %+v, %v, want %d from the trash", got, err, step.files)
			}
			if _, err := s.files.Stat(t.Context(), b); errors.Is(err, blobs.ErrNotFound) != (step.files > 0) && step.after > time.Minute {
				t.Errorf("after %v: %v", step.after, err)
			}
		}
		if got, err := s.Content(first.ID); err != nil || got != content {
			t.Errorf("reading returns %q, %v", got, err)
		}
		if found := repositorytest.Violations(t, s.meta, s.files); len(found) > 0 {
			t.Errorf("%q", found)
		}
	})
}

// blob returns the blob of a resource.
func (s *shared) blob(r metadata.Resource) (b blobs.Blob) {
	s.T.Helper()
	s.OK(s.meta.View(s.T.Context(), func(tx *metadata.Tx) (err error) {
		b, err = tx.Blobs.Get(r.Digest)
		return err
	}))
	return b
}

// TestObjectDamage: a check and a download find a lost object, and an upload of the same bytes
// restores it. If an object was replaced during a verification, the result does not apply to the
// new object.
func TestObjectDamage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShared(t)
		r := s.Upload(s.Sets[0], content)
		lost := s.blob(r)
		s.OK(s.files.DeleteObject(t.Context(), blobs.Object{Name: lost.Object}))
		if found := repositorytest.Violations(t, s.meta, s.files); len(found) != 1 || !strings.Contains(found[0], "its file is missing") {
			t.Errorf("a check finds %q", found)
		}
		_, err := s.Content(r.ID)
		var known *errs.Error
		if !errors.As(err, &known) || known.Code != errs.CodeDataDamaged {
			t.Errorf("reading returns %v", err)
		}
		if !s.Get(r.ID).Damaged {
			t.Error("the damage was not recorded")
		}
		s.Upload(s.Sets[0], content)
		if got, err := s.Content(r.ID); err != nil || got != content || s.Get(r.ID).Damaged {
			t.Errorf("after an upload of the same bytes: %q, %v", got, err)
		}
		if found := repositorytest.Violations(t, s.meta, s.files); len(found) > 0 {
			t.Errorf("%q", found)
		}
	})
}

// TestObjectErased: an erased version is removed immediately, with all earlier objects that have
// the same bytes. A purged object can still be read for a backup.
func TestObjectErased(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShared(t)
		upkeep := maintenance.NewUpkeep(s.meta, s.files)
		r := s.Upload(s.Sets[0], content)
		s.Replace(r, content) // the same content in another object
		s.Replace(r, "another")
		for i, number := range []string{"1", "2"} {
			_, stays, err := s.Service.Versions.Erase(t.Context(), s.Admin, r.ID.String(), number)
			if err != nil || stays != (i == 0) {
				t.Errorf("version %s: stays: %t, %v", number, stays, err)
			}
		}
		left := 0
		s.OK(s.files.WalkObjects(t.Context(), func(blobs.Object) error { left++; return nil }))
		if left != 1 {
			t.Errorf("%d objects remain, want only the object of the present version", left)
		}
		other := s.Delete(s.Upload(s.Sets[0], "deleted"))
		time.Sleep(time.Second)
		_, err := upkeep.Purge(t.Context(), maintenance.PurgeOptions{})
		s.OK(err)
		file, size, err := upkeep.OpenBlob(t.Context(), other.Digest.String())
		s.OK(err)
		got, err := io.ReadAll(file)
		if err := errors.Join(err, file.Close()); err != nil || string(got) != "deleted" || size != int64(len(got)) {
			t.Errorf("from the trash: %q, %v", got, err)
		}
	})
}
