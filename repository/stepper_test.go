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

	"labshelf/blobs/blobstest"
	"labshelf/errs"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/repository"
)

// stuck is a store in which the steps of one container fail once it is broken.
type stuck struct {
	metadata.Store
	container metadata.ID
	broken    atomic.Bool
}

type stuckSteps struct {
	metadata.Steps
	stuck *stuck
}

var errStuck = fmt.Errorf("stuck: %w", metadata.ErrNoSpace)

func (s stuckSteps) Get(id metadata.ID) (metadata.Step, error) {
	step, err := s.Steps.Get(id)
	if err == nil && id == s.stuck.container && s.stuck.broken.Load() {
		return step, errStuck
	}
	return step, err
}

func (s *stuck) Update(ctx context.Context, fn func(*metadata.Tx) error) error {
	return s.Store.Update(ctx, func(tx *metadata.Tx) error {
		tx.Steps = stuckSteps{tx.Steps, s}
		return fn(tx)
	})
}

func (s *stuck) UpdateBehind(ctx context.Context, fn func(*metadata.Tx) error) error {
	return s.Update(ctx, fn)
}

// TestOneStuckContainerHoldsUpNoOther: its request is told, the others go on, and it goes on by itself when it can.
func TestOneStuckContainerHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		meta := &stuck{Store: metadatatest.NewMemory(time.Now)}
		h := populated(t, repository.New(meta, blobstest.NewMemory(), repository.Config{PageSize: 1000, DirectoryPageSize: 1000}), 250, 250)
		defer h.svc.Close()
		meta.container = h.sets[0].ID
		meta.broken.Store(true)
		_, err := h.svc.DeleteSet(ctx, h.admin, h.sets[0].ID.String(), always)
		h.refused(err, errs.CodeNoSpace)
		var known *errs.Error
		if errors.As(err, &known) && !strings.Contains(known.Message, "has begun") {
			t.Errorf("the answer says %q of a set that is deleted", known.Message)
		}
		_, err = h.svc.DeleteSet(ctx, h.admin, h.sets[1].ID.String(), always)
		h.ok(err)
		meta.broken.Store(false)
		_, err = h.svc.DeleteSet(ctx, h.admin, h.sets[0].ID.String(), always)
		h.ok(err)
		if last := h.listed()[h.files[249].ID]; last != metadata.Deleted {
			t.Errorf("the last resource of the set that was stuck is %s", last)
		}
	})
}
