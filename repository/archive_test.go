package repository_test

import (
	"errors"
	"io"
	"testing"

	"labshelf/repository"
)

// TestArchiveDuringARestoration: until all that comes back has come back, there is no archive that lacks some of it.
func TestArchiveDuringARestoration(t *testing.T) {
	t.Parallel()
	h := newHeld(t)
	set := h.sets[0]
	count := func() (n int, err error) {
		archive, err := h.svc.OpenArchive(t.Context(), h.admin, set.ID.String(), nil)
		if err != nil {
			return 0, err
		}
		defer archive.Close()
		for {
			_, file, err := archive.Next(t.Context())
			if err == io.EOF {
				return n, nil
			}
			if err := errors.Join(err, file.Close()); err != nil {
				return n, err
			}
			n++
		}
	}
	before, err := count()
	if err != nil || before == 0 {
		t.Fatalf("%d files before, %v", before, err)
	}
	_, err = h.svc.DeleteSet(t.Context(), h.admin, set.ID.String(), repository.Match{})
	h.begun(err)
	_, err = count()
	h.refused(err, repository.CodeSetGone)
	h.finish(set.ID)
	_, err = h.svc.RestoreSet(t.Context(), h.admin, set.ID.String(), repository.Match{})
	h.begun(err)
	_, err = count()
	h.refused(err, repository.CodeBusy)
	h.finish(set.ID)
	if after, err := count(); err != nil || after != before {
		t.Errorf("%d files after, want %d, and %v", after, before, err)
	}
}

// TestArchiveRoom: archives together take no more memory than they may, and what one of them took comes back.
func TestArchiveRoom(t *testing.T) {
	t.Parallel()
	h := newHeld(t)
	set, files, under := h.sets[0].ID.String(), int64(len(h.files)), h.svc.Archived()
	open := func() (*repository.Archive, error) { return h.svc.OpenArchive(t.Context(), h.admin, set, nil) }
	under.Store(repository.ArchiveRoom - files)
	first, err := open()
	h.ok(err)
	_, err = open()
	h.refused(err, repository.CodeUnavailable)
	first.Close()
	again, err := open()
	h.ok(err)
	again.Close()
	if left := under.Load(); left != repository.ArchiveRoom-files {
		t.Errorf("%d files are counted, want %d", left, repository.ArchiveRoom-files)
	}
}
