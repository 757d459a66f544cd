package maintenance

import (
	"context"
	"errors"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/repository/internal/rows"
)

// unsavedAtMost is how many unreferenced blobs a purge remembers before it writes them down. Until
// then it goes on removing: on a full disk, room comes first.
const unsavedAtMost = 10_000

// unreferencedSince returns the moment since which a blob is known to be unreferenced, at a reading
// of the clock. What an earlier epoch has written down counts from the beginning of this one:
// between the two the blob may have had references that are lost. Since is a stamp, and stamps
// never go back: after a clock that ran ahead, Since lies in the future, for years perhaps. Then
// the reading at which that was noticed counts. It does not count otherwise, so that a clock which
// is behind for a while makes no blob older than it is.
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

// clock reads the clock as a stamp, which may not be the next one.
func (p *purge) clock() metadata.Stamp { return metadata.Stamp(p.now().UnixMicro()) }

// due tells whether an unreferenced blob has been so for long enough, and whether the beginning of
// that is written down.
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

// longAgo is due for a row.
func (p *purge) longAgo(tx *metadata.Tx, u metadata.Unreferenced) (due, noted bool, err error) {
	epoch, err := tx.Lineage.Epoch()
	begin, known := unreferencedSince(u, epoch, p.clock())
	return known && begin < p.cutoff, known, err
}

// stillDue returns errRecent where due says so in the transaction that is to forget the blob: it
// may have had a reference meanwhile.
func (p *purge) stillDue(tx *metadata.Tx, digest blobs.Digest) error {
	due, _, err := p.due(tx, digest)
	if err == nil && !due {
		err = errRecent
	}
	return err
}

// countRecent counts an unreferenced blob that stays.
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

// saveUnreferenced writes down which blobs are unreferenced, in bounded commits.
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

// saveBlob writes down that a blob is unreferenced, unless it has come to be needed, or another
// purge or scan has written it down.
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

// removeStale takes out what is written down of blobs that have a reference, or are gone: removed
// by hand, for instance.
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

// stale tells whether a blob is not unreferenced, or not there. What cannot be read may be there.
func (p *purge) stale(ctx context.Context, digest blobs.Digest) (stale bool, err error) {
	err = p.Meta.View(ctx, func(tx *metadata.Tx) error {
		if err := rows.Unreferenced(tx, digest); err != nil {
			return err
		}
		return rows.Orphaned(tx, digest)
	})
	switch {
	case err == nil && p.Objects != nil: // nothing but the row has told where it is
		return true, nil
	case err == nil:
		_, err := p.Blobs.Stat(ctx, blobs.Blob{Digest: digest})
		return errors.Is(err, blobs.ErrNotFound), nil
	case errors.Is(err, rows.ErrReferenced):
		return true, nil
	}
	return false, errs.Ignore(err, rows.ErrRecorded)
}

// removeRows removes rows. Where one of the blobs is unreferenced all the same, that counts from
// the next time it is found so.
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
