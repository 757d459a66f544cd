package repository

import (
	"context"

	"labshelf/metadata"
	"labshelf/repository/files"
)

// CacheAtMost bounds what is cached of permissions.
func (s *Service) CacheAtMost(rows int) { s.core.CacheAtMost(rows) }

// Cached is how many keys are.
func (s *Service) Cached() int {
	cached, err := s.core.Cached(context.Background())
	if err != nil {
		panic(err)
	}
	return cached
}

// TakeBatch takes the next batch in one container, given by its id.
func (s *Service) TakeBatch(ctx context.Context, container metadata.ID) error {
	return s.core.Cascades.Advance(ctx, container)
}

// InlineBytes is how many bytes are inline, as far as uploads know.
func (s *Service) InlineBytes() int64 { return s.core.Inline.Stored() }

// FlushInline makes files of all inline bodies, whatever else goes on.
func (s *Service) FlushInline(ctx context.Context) error { return s.core.Inline.Flush(ctx) }

// ArchiveRoom is how many files all archives under way may have together.
const ArchiveRoom = files.ArchiveRoom

// Reserved is how many bytes uploads under way have reserved in a dataspace, or for a user.
func (s *Service) Reserved(of metadata.ID) int64 { return s.core.Quotas.Reserved(of) }
