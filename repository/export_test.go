package repository

import (
	"context"
	"sync/atomic"

	"labshelf/auth/admission"
	"labshelf/metadata"
)

// CacheAtMost bounds what is cached of permissions.
func (s *Service) CacheAtMost(rows int) { s.facts.room = rows }

// Cached is how many keys are.
func (s *Service) Cached() int {
	version, err := s.stores.Meta.AccessVersion(context.Background())
	if err != nil {
		panic(err)
	}
	f := s.facts.at(version)
	f.mu.RLock()
	defer f.mu.RUnlock()
	return len(f.callers)
}

// TakeBatch takes the next batch in one container, given by its id.
func (s *Service) TakeBatch(ctx context.Context, container metadata.ID) error {
	return s.cascades.advance(ctx, container)
}

// InlineBytes is how many bytes are inline, as far as uploads know.
func (s *Service) InlineBytes() int64 { return s.inline.Stored() }

// FlushInline makes files of all inline bodies, whatever else goes on.
func (s *Service) FlushInline(ctx context.Context) error {
	return s.inline.Flush(ctx)
}

// ArchiveRoom is how many files all archives under way may have together.
const ArchiveRoom = archiveRoom

// Archived is how many files they have.
func (s *Service) Archived() *atomic.Int64 { return &s.archived }

// Reserved is how many bytes uploads under way have reserved in a dataspace, or for a user.
func (s *Service) Reserved(of metadata.ID) int64 { return s.quotas.Reserved(of) }

// PasswordQueue is where guesses at the passwords of links wait.
func (s *Service) PasswordQueue() *admission.Queue { return s.passwords.queue }
