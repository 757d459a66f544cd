package repository

import (
	"context"
	"sync/atomic"

	"labshelf/blobs"
	"labshelf/metadata"
)

// NewHeld is New without anything that runs in the background: steps are taken by TakeStep.
func NewHeld(meta metadata.Store, store blobs.Store, config Config) *Service {
	s := New(meta, store, config)
	s.Close()
	return s
}

// RememberAtMost bounds what is remembered of who may do what.
func (s *Service) RememberAtMost(rows int) { s.facts.room = rows }

// Remembered is how many keys are.
func (s *Service) Remembered() int {
	f := s.facts.at(s.meta.AccessVersion())
	f.mu.RLock()
	defer f.mu.RUnlock()
	return len(f.callers)
}

// TakeStep takes the next step in one container, given by its id.
func (s *Service) TakeStep(ctx context.Context, container metadata.ID) error {
	return s.steps.advance(ctx, container)
}

// HeldBytes is how many bytes are held, as far as uploads know.
func (s *Service) HeldBytes() int64 { return s.hold.bytes.Load() }

// MoveHeld makes files of all held bodies, whatever else goes on.
func (s *Service) MoveHeld(ctx context.Context) error {
	s.mover.patient = 0
	return s.mover.drain(ctx)
}

// ArchiveRoom is how many files all archives under way may have together.
const ArchiveRoom = archiveRoom

// Archived is how many files they have.
func (s *Service) Archived() *atomic.Int64 { return &s.archived }

// Sweep removes the transfers that have expired, and what they left.
func (s *Service) Sweep(ctx context.Context) error { return s.sweep.sweep(ctx) }
