package repository

import (
	"context"

	"labshelf/metadata"
	"labshelf/repository/files"
)

// CacheAtMost limits the cache of permissions.
func (s *Service) CacheAtMost(rows int) { s.core.CacheAtMost(rows) }

// Cached returns the number of cached keys.
func (s *Service) Cached() int {
	cached, err := s.core.Cached(context.Background())
	if err != nil {
		panic(err)
	}
	return cached
}

// TakeBatch runs the next batch in the container with this id.
func (s *Service) TakeBatch(ctx context.Context, container metadata.ID) error {
	return s.core.Cascades.Advance(ctx, container)
}

// InlineBytes returns the number of inline bytes that uploads take into account.
func (s *Service) InlineBytes() int64 { return s.core.Inline.Stored() }

// FlushInline flushes all inline bodies to files, even during uploads.
func (s *Service) FlushInline(ctx context.Context) error { return s.core.Inline.Flush(ctx) }

// ArchiveRoom is the default maximum number of files in all open archives.
const ArchiveRoom = files.ArchiveRoom

// Reserved returns the number of bytes that uploads have reserved in a dataspace or for a user.
func (s *Service) Reserved(of metadata.ID) int64 { return s.core.Quotas.Reserved(of) }
