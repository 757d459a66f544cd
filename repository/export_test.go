package repository

import (
	"context"

	"labshelf/blobs"
)

// NewHeld is New without anything that runs in the background: steps are taken by TakeStep.
func NewHeld(meta Store, store blobs.Store, config Config) *Service {
	s := New(meta, store, config)
	s.Close()
	return s
}

// TakeStep takes the next step in one container, given by its id.
func (s *Service) TakeStep(ctx context.Context, container ID) error {
	return s.steps.advance(ctx, container)
}
