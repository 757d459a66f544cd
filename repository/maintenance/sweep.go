package maintenance

import (
	"cmp"
	"context"
	"errors"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/repository/internal/rows"
)

// candidate is a blob that was unreferenced in one transaction.
type candidate struct {
	blobs.Blob
	due, noted bool // results of purge.due
}

// sweepBlobs removes every blob with a row that has been unreferenced long enough.
func (p *purge) sweepBlobs(ctx context.Context) error {
	var after blobs.Digest
	for {
		var page []blobs.Blob
		var found []candidate
		err := p.Meta.View(ctx, func(tx *metadata.Tx) (err error) {
			if page, err = rows.Collect(tx.Blobs.All(after), purgePage); err == nil {
				found, err = p.candidates(tx, page)
			}
			return err
		})
		if err != nil || len(page) == 0 {
			return err
		}
		after = page[len(page)-1].Digest
		for _, c := range found {
			if err := p.sweepBlob(ctx, c); err != nil {
				return err
			}
		}
		if err := p.pause(ctx); err != nil || len(page) < purgePage {
			return err
		}
	}
}

// candidates returns the unreferenced blobs among the given ones.
func (p *purge) candidates(tx *metadata.Tx, page []blobs.Blob) (found []candidate, err error) {
	for _, b := range page {
		c := candidate{Blob: b}
		deleted, err := p.unreferred(tx, b)
		if errors.Is(err, rows.ErrReferenced) {
			continue
		}
		if err == nil && deleted != 0 && !p.any {
			c.due, c.noted, err = p.longAgo(tx, metadata.Unreferenced{Since: deleted})
		} else if err == nil {
			c.due, c.noted, err = p.due(tx, b.Digest)
		}
		if err != nil {
			return nil, err
		}
		found = append(found, c)
	}
	return found, nil
}

func (p *purge) sweepBlob(ctx context.Context, c candidate) error {
	if c.due {
		return p.removeBlob(ctx, c.Blob)
	}
	return p.countRecent(ctx, c.Blob, c.noted)
}

// unreferred returns ErrReferenced if a resource refers to the blob that this purge has not purged,
// or in a dry run would not purge. In a dry run, it returns the last deletion of the resources that
// would be purged, or 0.
func (p *purge) unreferred(tx *metadata.Tx, b blobs.Blob) (deleted metadata.Stamp, err error) {
	if !p.dry {
		return 0, rows.Unreferenced(tx, b.Digest)
	}
	if awaited, err := tx.Uploads.Awaited(b.Digest); err != nil || awaited {
		return 0, cmp.Or(err, rows.ErrReferenced)
	}
	for of, err := range tx.Blobs.Refs(b.Digest) {
		var gone metadata.Stamp
		if err == nil {
			gone, err = p.unreferredBy(tx, of)
		}
		if err != nil && !errors.Is(err, metadata.ErrNotFound) { // an entry of a damaged index counts as a reference
			return 0, err
		}
		if gone == 0 {
			return 0, rows.ErrReferenced
		}
		deleted = max(deleted, gone)
	}
	return deleted, nil
}

// unreferredBy returns since when a version, present or former, would not need its file after a
// real purge. It returns 0 if the version would still need it.
func (p *purge) unreferredBy(tx *metadata.Tx, of metadata.VersionKey) (metadata.Stamp, error) {
	r, err := tx.Resources.Get(of.Resource)
	if err != nil {
		return 0, err
	}
	if r.Version == of.Version {
		gone, err := p.purgeableResource(tx, r.ID)
		if gone == nil {
			return 0, err
		}
		return gone.Modified, err
	}
	v, err := tx.Versions.Get(of)
	if err != nil {
		return 0, err
	}
	gone, err := p.purgeableVersion(tx, v)
	if gone == nil {
		return 0, err
	}
	return gone.since, err
}

// removeBlob removes the row and the file of one blob, unless something needs it by now.
func (p *purge) removeBlob(ctx context.Context, b blobs.Blob) error {
	err := p.remove(b, func() error {
		return p.UpdateBackground(ctx, func(tx *metadata.Tx) error {
			if err := stillUnused(tx, b); err != nil {
				return err
			}
			if err := p.stillDue(tx, b.Digest); err != nil {
				return err
			}
			return p.forget(tx, b)
		})
	})
	switch {
	case err == nil, errors.Is(err, blobs.ErrNotFound): // the row is removed in any case
		p.result.Blobs++
		p.result.BlobBytes += b.Size
		if !p.dry {
			p.Verifications.Clear(b.Digest)
		}
		return nil
	case errors.Is(err, blobs.ErrPinned), errors.Is(err, rows.ErrReferenced), errors.Is(err, errRecent):
		return nil // left for the next purge
	}
	return err
}

// forget removes all rows of a blob. Its object goes to the trash.
func (p *purge) forget(tx *metadata.Tx, b blobs.Blob) error {
	if p.Objects != nil {
		if err := rows.TrashObject(tx, b.Digest); err != nil {
			return err
		}
	}
	return errors.Join(tx.Blobs.Remove(b.Digest), tx.Damages.Remove(b.Digest), tx.Unreferenced.Remove(b.Digest))
}

// remove confirms the removal and moves a file to the trash. It does nothing in a dry run. An
// object stays in place until the trash is emptied.
func (p *purge) remove(b blobs.Blob, confirm func() error) error {
	switch {
	case p.dry:
		return nil
	case p.Objects != nil:
		return confirm()
	}
	return p.files.Remove(b.Digest, confirm)
}

// sweepOrphans removes the files without a row that have been unreferenced long enough. They come
// from failed uploads, from interrupted removals, and from records that were lost when the metadata
// were reset to an older state.
func (p *purge) sweepOrphans(ctx context.Context) error {
	if p.Objects != nil {
		return objectPurge{p}.sweepObjects(ctx)
	}
	folder, ok := p.Blobs.(blobs.Walker)
	if !ok {
		return nil
	}
	seen := 0
	return folder.Walk(ctx, func(digest blobs.Digest, size int64) error {
		if seen++; seen%purgePage == 0 {
			if err := p.pause(ctx); err != nil {
				return err
			}
		}
		c := candidate{Blob: blobs.Blob{Digest: digest, Size: size}}
		err := p.Meta.View(ctx, func(tx *metadata.Tx) error {
			err := rows.Orphaned(tx, digest)
			if err == nil {
				c.due, c.noted, err = p.due(tx, digest)
			}
			return err
		})
		if err == nil {
			err = p.sweepOrphan(ctx, c)
		}
		for _, left := range []error{rows.ErrRecorded, rows.ErrReferenced, errRecent, blobs.ErrPinned, blobs.ErrNotFound} {
			err = errs.Ignore(err, left)
		}
		return err
	})
}

func (p *purge) sweepOrphan(ctx context.Context, c candidate) error {
	if !c.due {
		return p.countRecent(ctx, c.Blob, c.noted)
	}
	err := p.remove(c.Blob, func() error {
		return p.UpdateBackground(ctx, func(tx *metadata.Tx) error {
			err := rows.Orphaned(tx, c.Digest)
			if err == nil {
				err = p.stillDue(tx, c.Digest)
			}
			if err != nil {
				return err
			}
			return tx.Unreferenced.Remove(c.Digest)
		})
	})
	if err == nil {
		p.result.Orphans++
		p.result.OrphanBytes += c.Size
	}
	return err
}

// pause calls rest, if set.
func (p *purge) pause(ctx context.Context) error {
	if p.rest == nil {
		return nil
	}
	return p.rest(ctx)
}
