package repository_test

import (
	"context"
	"errors"
	"io"
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

// TestArchiveDuringARestoration: during a restoration, an archive is refused, because it would be
// incomplete.
func TestArchiveDuringARestoration(t *testing.T) {
	t.Parallel()
	h := newHeld(t)
	set := h.Sets[0]
	count := func() (n int, err error) {
		archive, err := h.Service.Files.OpenArchive(t.Context(), h.Admin, set.ID.String(), "", nil)
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
	_, err = h.Service.Sets.Delete(t.Context(), h.Admin, set.ID.String(), core.Match{})
	h.Begun(err)
	_, err = count()
	h.Refused(err, errs.CodeSetGone)
	h.finish(set.ID)
	_, err = h.Service.Sets.Restore(t.Context(), h.Admin, set.ID.String(), core.Match{})
	h.Begun(err)
	_, err = count()
	h.Refused(err, errs.CodeBusy)
	h.finish(set.ID)
	if after, err := count(); err != nil || after != before {
		t.Errorf("%d files after, want %d, and %v", after, before, err)
	}
}

// TestArchiveRoom: the open archives together stay within the limit, and closing an archive frees
// its capacity.
func TestArchiveRoom(t *testing.T) {
	t.Parallel()
	h := newHeld(t)
	set, all, under := h.Sets[0].ID.String(), int64(len(h.Resources)), h.Service.Files.Archived()
	open := func() (*files.Archive, error) { return h.Service.Files.OpenArchive(t.Context(), h.Admin, set, "", nil) }
	under.Store(repository.ArchiveRoom - all)
	first, err := open()
	h.OK(err)
	_, err = open()
	h.Refused(err, errs.CodeUnavailable)
	first.Close()
	again, err := open()
	h.OK(err)
	again.Close()
	if left := under.Load(); left != repository.ArchiveRoom-all {
		t.Errorf("%d files are counted, want %d", left, repository.ArchiveRoom-all)
	}
}

// reserved is a store that counts the resources read before capacity was reserved for the earlier
// ones.
type reserved struct {
	metadata.Store
	svc    *repository.Service
	before int64
	most   int64 // maximum number read without a reservation
}

func (r *reserved) View(ctx context.Context, fn func(*metadata.Tx) error) error {
	return r.Store.View(ctx, func(tx *metadata.Tx) error {
		watched := *tx
		watched.Resources = reservedRows{tx.Resources, r}
		return fn(&watched)
	})
}

type reservedRows struct {
	metadata.Resources
	store *reserved
}

func (r reservedRows) Page(q metadata.ResourceRange, fn func(*metadata.Resource) bool) error {
	var given int64
	return r.Resources.Page(q, func(row *metadata.Resource) bool {
		given++
		more := fn(row)
		r.store.most = max(r.store.most, given-(r.store.svc.Files.Archived().Load()-r.store.before))
		return more
	})
}

// TestArchiveReserves: capacity is reserved before memory is used, so that many concurrent requests
// are refused in time.
func TestArchiveReserves(t *testing.T) {
	t.Parallel()
	store := &reserved{Store: metadatatest.NewMemory(time.Now)}
	store.svc = repositorytest.NewStill(store, blobstest.NewMemory(), repository.Config{PageSize: 10, DirectoryPageSize: 10})
	h := populated(t, store.svc, 5)
	store.before = repository.ArchiveRoom - 2
	h.Service.Files.Archived().Store(store.before)
	_, err := h.Service.Files.OpenArchive(t.Context(), h.Admin, h.Sets[0].ID.String(), "", nil)
	h.Refused(err, errs.CodeUnavailable)
	if store.most > 0 {
		t.Errorf("%d files had been collected without a reservation", store.most)
	}
	if left := h.Service.Files.Archived().Load(); left != store.before {
		t.Errorf("%d files are counted afterwards, want %d", left, store.before)
	}
}
