package repository_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"labshelf/auth/errs"
	"labshelf/blobs/blobstest"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/repository"
	"labshelf/repository/repositorytest"
)

// stuck is a store in which the batches of one container fail while it is broken.
type stuck struct {
	metadata.Store
	container metadata.ID
	broken    atomic.Bool
}

type stuckSteps struct {
	metadata.Table[metadata.ID, metadata.Cascade]
	stuck *stuck
}

var errStuck = fmt.Errorf("stuck: %w", metadata.ErrNoSpace)

func (s stuckSteps) Get(id metadata.ID) (metadata.Cascade, error) {
	step, err := s.Table.Get(id)
	if err == nil && id == s.stuck.container && s.stuck.broken.Load() {
		return step, errStuck
	}
	return step, err
}

func (s *stuck) Update(ctx context.Context, fn func(*metadata.Tx) error) error {
	return s.Store.Update(ctx, func(tx *metadata.Tx) error {
		tx.Cascades = stuckSteps{tx.Cascades, s}
		return fn(tx)
	})
}

func (s *stuck) UpdateBackground(ctx context.Context, fn func(*metadata.Tx) error) error {
	return s.Update(ctx, fn)
}

// TestFailingCascadeDelaysNoOther: the request that waits for a failing cascade gets the error. The
// other cascades continue, and the failing cascade resumes automatically.
func TestFailingCascadeDelaysNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		meta := &stuck{Store: metadatatest.NewMemory(time.Now)}
		h := populated(t, repository.New(meta, blobstest.NewMemory(), repository.Config{PageSize: 1000, DirectoryPageSize: 1000}), 250, 250)
		defer h.Service.Close()
		meta.container = h.Sets[0].ID
		meta.broken.Store(true)
		_, err := h.Service.Sets.Delete(ctx, h.Admin, h.Sets[0].ID.String(), repositorytest.Always)
		h.Refused(err, errs.CodeNoSpace)
		var known *errs.Error
		if errors.As(err, &known) && !strings.Contains(known.Message, "has begun") {
			t.Errorf("the error is %q, but the set is deleted", known.Message)
		}
		_, err = h.Service.Sets.Delete(ctx, h.Admin, h.Sets[1].ID.String(), repositorytest.Always)
		h.OK(err)
		meta.broken.Store(false)
		_, err = h.Service.Sets.Delete(ctx, h.Admin, h.Sets[0].ID.String(), repositorytest.Always)
		h.OK(err)
		if last := h.Listed()[h.Resources[249].ID]; last != metadata.Deleted {
			t.Errorf("the last resource of the delayed set is %s", last)
		}
	})
}
