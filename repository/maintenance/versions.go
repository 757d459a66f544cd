package maintenance

import (
	"context"
	"errors"
	"time"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/repository/internal/rows"
	"labshelf/repository/internal/storage"
)

// EraseVersion permanently removes the bytes of a former version, without keeping them in the
// trash. Erasing a version twice is not an error; the blob is then removed again. shared reports
// that the blob is still needed elsewhere, or that another version of the resource has the same
// bytes. EraseVersion checks no permissions.
func (u *Upkeep) EraseVersion(ctx context.Context, of metadata.VersionKey, by auth.Principal) (v metadata.Version, shared bool, err error) {
	ctx, operation := storage.Begin(ctx)
	twin := false
	err = u.stores.Update(ctx, func(tx *metadata.Tx) error {
		if v, err = tx.Versions.Get(of); err == nil {
			twin, err = hasTwin(tx, v)
		}
		if err != nil || v.Removed.Rule == metadata.Erased {
			return err
		}
		r, err := tx.Resources.Get(of.Resource)
		if err != nil {
			return err
		}
		erasure := rows.Change{By: by, Action: audit.VersionErase}
		change, why := rows.CountedVersion(v).Negated(), metadata.Removal{At: tx.Stamp(), Rule: metadata.Erased, By: by.UserID}
		if err := errors.Join(rows.RemoveVersion(tx, erasure, v, why, v.Replaced), rows.CountUsage(tx, r.DataspaceID, why.At.Day(), change)); err != nil {
			return err
		}
		v, err = tx.Versions.Get(of)
		return err
	})
	if err == nil {
		shared, err = u.eraseBlob(ctx, blobs.Blob{Digest: v.Digest, Size: v.Bytes})
	}
	return v, shared || twin, operation.Outcome(u.stores.BlobError(err), "the record of the version")
}

// hasTwin reports whether the resource has another version with the same bytes. Inline bodies need
// this, because they share no blob.
func hasTwin(tx *metadata.Tx, v metadata.Version) (bool, error) {
	r, err := tx.Resources.Get(v.ResourceID)
	if err != nil || r.Digest == v.Digest && r.Body != metadata.Purged {
		return err == nil, err
	}
	for other, err := range tx.Versions.Before(r.VersionKey()) {
		if err != nil || other.Number != v.Number && other.Digest == v.Digest && other.Body != metadata.Purged {
			return err == nil, err
		}
	}
	return false, nil
}

// eraseBlob immediately and permanently removes a blob, unless something refers to it or an upload
// may do so soon.
func (u *Upkeep) eraseBlob(ctx context.Context, b blobs.Blob) (stays bool, err error) {
	p := &purge{Stores: u.stores, files: u.files, now: time.Now, any: true}
	if err := p.removeBlob(ctx, b); err != nil {
		return false, err
	}
	if u.stores.Objects != nil {
		return objectPurge{p}.eraseObjects(ctx, b.Digest)
	}
	_, err = u.stores.Blobs.Stat(ctx, b)
	if !errors.Is(err, blobs.ErrNotFound) {
		return true, errs.Ignore(err, blobs.ErrDamaged)
	}
	return false, u.files.DeleteTrashed(b.Digest)
}

// removal is the reason for removing the bytes of a version.
type removal struct {
	metadata.Removal
	since     metadata.Stamp // since when the bytes are not needed
	dataspace metadata.ID
}

// purgeVersions visits all versions. It runs after the purge of resources: the versions of a
// tombstone, which can no longer be restored, are removed in separate commits.
func (p *purge) purgeVersions(ctx context.Context) error {
	for after := (metadata.VersionKey{}); ; {
		var page []metadata.Version
		var due []metadata.VersionKey
		err := p.Meta.View(ctx, func(tx *metadata.Tx) (err error) {
			page, err = rows.Collect(tx.Versions.All(after), purgePage)
			for _, v := range page {
				gone, err := p.purgeableVersion(tx, v)
				if err != nil {
					return err
				}
				if gone != nil {
					due = append(due, v.Key())
				}
			}
			return err
		})
		if err != nil || len(page) == 0 {
			return err
		}
		after = page[len(page)-1].Key()
		for len(due) > 0 {
			n := min(len(due), purgeObjects)
			if err := p.purgeSomeVersions(ctx, due[:n]); err != nil {
				return err
			}
			due = due[n:]
		}
	}
}

// purgeableVersion returns why to remove the bytes of a version, or nil to keep them. It keeps a
// version whose resource or dataspace is missing; a check reports that.
func (p *purge) purgeableVersion(tx *metadata.Tx, v metadata.Version) (*removal, error) {
	if v.Body == metadata.Purged {
		return nil, nil
	}
	r, err := tx.Resources.Get(v.ResourceID)
	if err != nil {
		return nil, errs.Ignore(err, metadata.ErrNotFound)
	}
	with := &removal{metadata.Removal{Rule: metadata.WithResource}, max(v.Replaced, r.Modified), r.DataspaceID}
	tombstone := r.Body == metadata.Purged
	if !tombstone && p.dry {
		gone, err := p.purgeableResource(tx, r.ID)
		if err != nil {
			return nil, err
		}
		tombstone = gone != nil
	}
	if !tombstone {
		d, err := tx.Dataspaces.Get(r.DataspaceID)
		if err != nil || d.Retention.Keeps(v, r.Version, p.clock()) {
			return nil, errs.Ignore(err, metadata.ErrNotFound)
		}
		with.Removal, with.since = metadata.Removal{Rule: metadata.ByRetention, Kept: d.Retention}, v.Replaced
	}
	if with.since >= p.cutoff {
		return nil, nil
	}
	return with, nil
}

// purgeSomeVersions removes the bytes of the versions that are still purgeable, in one commit.
func (p *purge) purgeSomeVersions(ctx context.Context, keys []metadata.VersionKey) error {
	run := p.UpdateBackground
	if p.dry {
		run = p.View
	}
	var removed []metadata.Version
	err := run(ctx, func(tx *metadata.Tx) error {
		removed = nil
		changes := map[metadata.ID]metadata.Counters{}
		for _, key := range keys {
			v, err := tx.Versions.Get(key)
			if err != nil {
				return err
			}
			gone, err := p.purgeableVersion(tx, v)
			if err != nil {
				return err
			}
			if gone == nil {
				continue
			}
			removed = append(removed, v)
			changes[gone.dataspace] = changes[gone.dataspace].Add(rows.CountedVersion(v).Negated())
			if p.dry {
				continue
			}
			gone.At = tx.Stamp()
			if err := rows.RemoveVersion(tx, p.change(audit.VersionPurge), v, gone.Removal, gone.since); err != nil {
				return err
			}
		}
		return p.countPurged(tx, changes)
	})
	if err == nil {
		p.countVersions(removed)
	}
	return err
}

// countVersions counts removed versions, and passes those with a label to the callback.
func (p *purge) countVersions(removed []metadata.Version) {
	for _, v := range removed {
		p.result.Versions++
		p.result.VersionBytes += v.Bytes
		if v.Label == "" {
			continue
		}
		p.result.LabelledVersions++
		if p.labelled != nil {
			p.labelled(v)
		}
	}
}
