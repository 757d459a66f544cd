package repositorytest

import (
	"context"
	"sync/atomic"
	"testing"

	"labshelf/blobs"
	"labshelf/blobs/blobstest"
	"labshelf/metadata"
	"labshelf/repository"
)

// aroundUpdate is called instead of a write transaction, which commit runs.
type aroundUpdate func(ctx context.Context, commit func() error) error

// Shared is a metadata store as seen by one of several nodes that share its tables.
type Shared struct {
	metadata.Store
	failing atomic.Pointer[error]
	around  atomic.Pointer[aroundUpdate]
}

// Engine implements metadata.Store.
func (s *Shared) Engine() metadata.Engine {
	e := s.Store.Engine()
	e.Shared = true
	return e
}

// Fail makes every later transaction fail with err, as if the process had been killed or its
// connection broken. Fail(nil) ends this.
func (s *Shared) Fail(err error) { s.failing.Store(&err) }

// AroundUpdates calls fn instead of each write transaction, with its context and a function that
// runs it. AroundUpdates(nil) ends this.
func (s *Shared) AroundUpdates(fn func(ctx context.Context, commit func() error) error) {
	around := aroundUpdate(fn)
	s.around.Store(&around)
}

// BeforeUpdates calls fn before each write transaction, outside it. BeforeUpdates(nil) ends this.
func (s *Shared) BeforeUpdates(fn func()) {
	if fn == nil {
		s.AroundUpdates(nil)
		return
	}
	s.AroundUpdates(func(_ context.Context, commit func() error) error {
		fn()
		return commit()
	})
}

func (s *Shared) failed() error {
	if err := s.failing.Load(); err != nil {
		return *err
	}
	return nil
}

func (s *Shared) updating(ctx context.Context, update func() error) error {
	commit := func() error {
		if err := s.failed(); err != nil {
			return err
		}
		return update()
	}
	if around := s.around.Load(); around != nil && *around != nil {
		return (*around)(ctx, commit)
	}
	return commit()
}

// View implements metadata.Store.
func (s *Shared) View(ctx context.Context, fn func(*metadata.Tx) error) error {
	if err := s.failed(); err != nil {
		return err
	}
	return s.Store.View(ctx, fn)
}

// ViewDurable implements metadata.Store.
func (s *Shared) ViewDurable(ctx context.Context, fn func(*metadata.Tx) error) error {
	if err := s.failed(); err != nil {
		return err
	}
	return s.Store.ViewDurable(ctx, fn)
}

// Update implements metadata.Store.
func (s *Shared) Update(ctx context.Context, fn func(*metadata.Tx) error) error {
	return s.updating(ctx, func() error { return s.Store.Update(ctx, fn) })
}

// UpdateBackground implements metadata.Store.
func (s *Shared) UpdateBackground(ctx context.Context, fn func(*metadata.Tx) error) error {
	return s.updating(ctx, func() error { return s.Store.UpdateBackground(ctx, fn) })
}

// NewNode opens another node of the repository of a world. The caller must close it. meta must not
// be a Shared.
func (w *World) NewNode(meta metadata.Store, files blobs.Store, config repository.Config) (*World, *Shared) {
	shared := &Shared{Store: meta}
	other := *w
	other.Service = repository.New(shared, files, config)
	return &other, shared
}

// NewCluster creates a repository with two nodes over the tables of meta, with files in memory. The
// caller must close both.
func NewCluster(t *testing.T, meta metadata.Store, config repository.Config, counts ...int) (a, b *World, ofA, ofB *Shared) {
	t.Helper()
	files := blobstest.NewMemory()
	ofA = &Shared{Store: meta}
	config.Node = "a"
	a = NewWorld(t, repository.New(ofA, files, config), counts...)
	config.Node = "b"
	b, ofB = a.NewNode(meta, files, config)
	return a, b, ofA, ofB
}
