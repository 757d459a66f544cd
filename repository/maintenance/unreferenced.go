package maintenance

import (
	"context"
	"errors"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/repository/internal/rows"
)

// unsavedAtMost is how many unreferenced blobs a purge remembers before it records them. Removal
// continues until then, because on a full disk, free space comes first.
const unsavedAtMost = 10_000

// unreferencedSince returns since when a blob is known to be unreferenced, given the present time.
// Records of an earlier epoch count from the beginning of this epoch, because the blob may have had
// references in between that are lost. Since is a stamp, and stamps never go back: after a clock
// that ran ahead, Since may lie years in the future. Only then the clock reading at which this was
// noticed, Seen, counts. Otherwise a clock that is behind for a while would make blobs appear older
// than they are.
func unreferencedSince(u metadata.Unreferenced, epoch metadata.Epoch, now metadata.Stamp) (begin metadata.Stamp, known bool) {
	begin = u.Since
	if begin <= epoch.Base {
		begin = max(begin, epoch.Began)
	}
	if begin <= now {
		return begin, true
	}
	return u.Seen, u.Seen != 0 && u.Seen <= now
}

// clock returns the present time as a stamp. It may be lower than the last stamp of the store.
func (p *purge) clock() metadata.Stamp { return metadata.Stamp(p.now().UnixMicro()) }

// due reports whether a blob has been unreferenced long enough, and whether a usable record of the
// beginning exists.
func (p *purge) due(tx *metadata.Tx, digest blobs.Digest) (due, noted bool, err error) {
	if p.any {
		return true, true, nil
	}
	u, err := tx.Unreferenced.Get(digest)
	if err != nil {
		return false, false, errs.Ignore(err, metadata.ErrNotFound)
	}
	return p.longAgo(tx, u)
}

// longAgo is due for a row that was read.
func (p *purge) longAgo(tx *metadata.Tx, u metadata.Unreferenced) (due, noted bool, err error) {
	epoch, err := tx.Lineage.Epoch()
	begin, known := unreferencedSince(u, epoch, p.clock())
	return known && begin < p.cutoff, known, err
}

// stillDue returns errRecent if the blob is no longer due, because it may have had a reference in
// the meantime. Call it in the transaction that removes the row of the blob.
func (p *purge) stillDue(tx *metadata.Tx, digest blobs.Digest) error {
	due, _, err := p.due(tx, digest)
	if err == nil && !due {
		err = errRecent
	}
	return err
}

// countRecent counts an unreferenced blob that is kept, and records it if necessary.
func (p *purge) countRecent(ctx context.Context, b blobs.Blob, noted bool) error {
	p.result.Recent++
	p.result.RecentBytes += b.Size
	if noted || p.dry {
		return nil
	}
	if p.unsaved = append(p.unsaved, b); len(p.unsaved) < unsavedAtMost {
		return nil
	}
	return p.saveUnreferenced(ctx)
}

// saveUnreferenced records the remembered unreferenced blobs, in bounded commits.
func (p *purge) saveUnreferenced(ctx context.Context) error {
	for len(p.unsaved) > 0 {
		some := p.unsaved[:min(len(p.unsaved), purgeObjects)]
		err := p.UpdateBackground(ctx, func(tx *metadata.Tx) error {
			for _, b := range some {
				if err := p.saveBlob(tx, b); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		p.unsaved = p.unsaved[len(some):]
	}
	return nil
}

// saveBlob records a blob as unreferenced, unless something refers to it by now or another purge or
// scan has recorded it.
func (p *purge) saveBlob(tx *metadata.Tx, b blobs.Blob) error {
	if err := rows.Unreferenced(tx, b.Digest); err != nil {
		return errs.Ignore(err, rows.ErrReferenced)
	}
	u, err := tx.Unreferenced.Get(b.Digest)
	if errors.Is(err, metadata.ErrNotFound) {
		return tx.Unreferenced.Put(metadata.Unreferenced{Digest: b.Digest, Bytes: b.Size, Since: tx.Stamp()})
	}
	if err != nil {
		return err
	}
	if _, noted, err := p.longAgo(tx, u); err != nil || noted {
		return err
	}
	u.Seen = p.clock()
	return tx.Unreferenced.Put(u)
}

// removeStale removes the records of blobs that have a reference or are missing, for instance
// because an operator has deleted them.
func (p *purge) removeStale(ctx context.Context) error {
	for after := (blobs.Digest{}); !p.dry; {
		var page []metadata.Unreferenced
		var stale []blobs.Digest
		err := p.Meta.View(ctx, func(tx *metadata.Tx) (err error) {
			page, err = rows.Collect(tx.Unreferenced.All(after), purgeObjects)
			return err
		})
		if err != nil || len(page) == 0 {
			return err
		}
		after = page[len(page)-1].Digest
		for _, u := range page {
			wrong, err := p.stale(ctx, u.Digest)
			if err != nil {
				return err
			}
			if wrong {
				stale = append(stale, u.Digest)
			}
		}
		if err := p.removeRows(ctx, stale); err != nil || len(page) < purgeObjects {
			return err
		}
	}
	return nil
}

// stale reports whether a blob is referenced or missing. An unreadable blob counts as present.
func (p *purge) stale(ctx context.Context, digest blobs.Digest) (stale bool, err error) {
	err = p.Meta.View(ctx, func(tx *metadata.Tx) error {
		if err := rows.Unreferenced(tx, digest); err != nil {
			return err
		}
		return rows.Orphaned(tx, digest)
	})
	switch {
	case err == nil && p.Objects != nil: // only the row knew where the object is
		return true, nil
	case err == nil:
		_, err := p.Blobs.Stat(ctx, blobs.Blob{Digest: digest})
		return errors.Is(err, blobs.ErrNotFound), nil
	case errors.Is(err, rows.ErrReferenced):
		return true, nil
	}
	return false, errs.Ignore(err, rows.ErrRecorded)
}

// removeRows removes records of unreferenced blobs. If one of the blobs is unreferenced after all,
// its time counts from the next record.
func (p *purge) removeRows(ctx context.Context, digests []blobs.Digest) error {
	if len(digests) == 0 {
		return nil
	}
	return p.UpdateBackground(ctx, func(tx *metadata.Tx) error {
		for _, digest := range digests {
			if err := tx.Unreferenced.Remove(digest); err != nil {
				return err
			}
		}
		return nil
	})
}
