package maintenance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/internal/nodes"
	"labshelf/repository/internal/rows"
	"labshelf/repository/internal/storage"
)

// PurgeOptions say what to purge.
type PurgeOptions struct {
	// OlderThan is for how long at least a resource has been deleted, a version replaced, or a file
	// not referred to; 0: at all.
	OlderThan time.Duration
	DryRun    bool             // change nothing, and count the same
	Grace     time.Duration    // how long what is removed stays in the trash; 0: not at all
	Now       func() time.Time // the clock; nil: the system's

	By auth.Principal // who asked for it; the zero Principal: an operator

	Labelled func(metadata.Version) // hears of each version with a label that goes, or would go, with its resource; nil: none
}

// PurgeResult counts what was removed, or would be: files of deleted resources, files of versions,
// of which some had a label, blobs that nothing referred to any more, files without a row, and what
// had been in the trash for long enough; and the blobs and files, Recent, that nothing refers to
// and that stay, since it is not known that this has been so for long enough. Two resources with
// one blob count twice as resources.
type PurgeResult struct {
	Resources, ResourceBytes int64
	Versions, VersionBytes   int64
	LabelledVersions         int64
	Blobs, BlobBytes         int64
	Orphans, OrphanBytes     int64
	TrashFiles, TrashBytes   int64
	Recent, RecentBytes      int64
}

// purgeObjects is how many resources one commit turns into tombstones: few enough that no other
// writer notices.
const purgeObjects = 200

// purgePage is how many rows are read in one read transaction.
const purgePage = 500

var errRecent = errors.New("it has not been unreferenced for long enough")

// purgeLasts is how long no other node purges after the one that does is gone.
const purgeLasts = 8 * time.Second

var errPurging error = &errs.Error{Kind: errs.Conflict, Code: errs.CodeBusy, Message: "a purge is under way; try again when it is done"}

// Purge removes the bytes of what has been deleted for long, with all versions of it, and of the
// versions that the retention of their dataspace does not keep: the records stay, as tombstones,
// and the rows of the versions. Then it removes every blob to which no resource has referred for as
// long, with or without a row, and what has been in the trash for longer than the grace period. A
// blob is unreferenced since the change that took its last reference (a deletion, for what this
// purge makes a tombstone), or since it was first found so, which a purge or a scan writes down:
// file times tell of the upload, and after metadata were put back to an older state files of
// minutes ago have no record. The row of a blob always goes before its file: what an interruption
// leaves is a file too many, which the next purge takes. It works in bounded commits, during all
// other use, and can be ended at any time; the result then tells how far it came. One purge runs at
// a time, another is a Conflict. Where the metadata are damaged, nothing is removed and the error
// wraps ErrRecordDamaged.
func (u *Upkeep) Purge(ctx context.Context, o PurgeOptions) (removed PurgeResult, err error) {
	if !u.purging.TryLock() {
		return PurgeResult{}, errPurging
	}
	defer u.purging.Unlock()
	lease, err := u.stores.Node.Take(ctx, nodes.Wanted{Name: "purge", Lasts: purgeLasts})
	if errors.Is(err, nodes.ErrHeld) {
		return PurgeResult{}, errPurging
	}
	if err != nil {
		return PurgeResult{}, storage.Error(err)
	}
	defer lease.Release()
	ctx = lease.With(ctx)
	if purged := u.config.Purged; purged != nil && !o.DryRun {
		defer func(began time.Time) { purged(removed, time.Since(began), err) }(time.Now())
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	now := o.Now()
	p := &purge{
		Stores: u.stores, files: u.files, dry: o.DryRun, now: o.Now, cutoff: metadata.Stamp(now.Add(-o.OlderThan).UnixMicro()), any: o.OlderThan <= 0,
		before: now.Add(-o.Grace), all: o.Grace <= 0, labelled: o.Labelled,
		by: o.By, older: o.OlderThan, grace: o.Grace,
	}
	if p.all {
		p.before = now.AddDate(1000, 0, 0) // whatever clock the files are dated by
	}
	ctx, operation := storage.Begin(ctx)
	err = u.stores.BlobError(p.run(ctx))
	return p.result, operation.Outcome(err, fmt.Sprintf("%d deleted files, %d versions and %d stored files were removed",
		p.result.Resources, p.result.Versions, p.result.Blobs+p.result.Orphans))
}

// run runs the parts of the purge, one after the other.
func (p *purge) run(ctx context.Context) error {
	for _, part := range []func(context.Context) error{p.inspect, p.log, p.purgeResources, p.purgeVersions, p.sweepBlobs, p.sweepOrphans, p.emptyTrash, p.saveUnreferenced, p.removeStale} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

// inspect refuses metadata that contradict themselves: by an index that is wrong about what needs a
// file, the file would be removed.
func (p *purge) inspect(ctx context.Context) error {
	var found error
	err := p.Meta.Inspect(ctx, func(v metadata.Violation) { found = fmt.Errorf("%w: %v", metadata.ErrRecordDamaged, v) })
	if err == nil && found != nil {
		err = &errs.Error{Kind: errs.Internal, Code: errs.CodeDataDamaged, Message: "the metadata are damaged, as a check tells in full; nothing was removed", Err: found}
	}
	return err
}

// log writes down that the purge begins. What it removes names that entry.
func (p *purge) log(ctx context.Context) error {
	p.began = p.clock()
	if p.dry {
		return nil
	}
	return p.Update(ctx, func(tx *metadata.Tx) (err error) {
		change := rows.Change{By: p.by, Action: audit.PurgeRun}
		change.Values.Change("olderThan", "", p.older.String())
		if p.entry, err = change.Log(tx, 0, audit.Entry{}, audit.Changes{}); err != nil {
			return err
		}
		p.began, err = tx.Lineage.LastStamp()
		return err
	})
}

// change is what the purge does to an object, for the audit log.
func (p *purge) change(action audit.Action) rows.Change {
	return rows.Change{By: p.by, Action: action, Cause: p.entry}
}

// purge is one run of Purge.
type purge struct {
	*storage.Stores
	files  Files // of a folder; nil: nothing is removed from one
	dry    bool
	now    func() time.Time
	cutoff metadata.Stamp // what was deleted, or lost its last reference, before
	any    bool           // also what lost its last reference at this moment
	before time.Time      // what was removed before is deleted for good
	all    bool           // whenever it was removed
	result PurgeResult

	by    auth.Principal
	older time.Duration
	grace time.Duration
	entry uint64         // number of its entry in the audit log; 0 in a dry run
	began metadata.Stamp // of a commit before which it has removed nothing

	labelled func(metadata.Version)          // nil: none
	unsaved  []blobs.Blob                    // unreferenced, and not written down
	rest     func(ctx context.Context) error // between pages; nil: not at all
}

// purgeable tells whether a resource has been deleted for long enough. The last change of what is
// deleted is its deletion.
func (p *purge) purgeable(r metadata.Resource) bool {
	return r.State == metadata.Deleted && r.Body != metadata.Purged && r.Modified < p.cutoff
}

// purgeResources walks through all that was deleted before the cutoff, tombstones of earlier purges
// included.
func (p *purge) purgeResources(ctx context.Context) error {
	within := metadata.ResourceRange{States: paging.Deleted, Order: paging.Oldest, Until: max(p.cutoff, 1)}
	for {
		var page []metadata.Resource
		err := p.Meta.View(ctx, func(tx *metadata.Tx) (err error) {
			page, err = rows.Collect(tx.Resources.Range(within), purgePage)
			return err
		})
		if err != nil || len(page) == 0 {
			return err
		}
		last := page[len(page)-1]
		within.After = paging.Position{Stamp: int64(last.Modified), ID: last.ID}
		var due []metadata.ID
		for _, r := range page {
			if p.purgeable(r) {
				due = append(due, r.ID)
			}
		}
		for len(due) > 0 {
			n := min(len(due), purgeObjects)
			if err := p.purgeSome(ctx, due[:n]); err != nil {
				return err
			}
			due = due[n:]
		}
	}
}

// purgeSome makes tombstones in one commit of what can still be purged then.
func (p *purge) purgeSome(ctx context.Context, ids []metadata.ID) error {
	run := p.UpdateBackground
	if p.dry {
		run = p.View
	}
	var purged metadata.Counters
	err := run(ctx, func(tx *metadata.Tx) error {
		purged = metadata.Counters{}
		changes := map[metadata.ID]metadata.Counters{}
		for _, id := range ids {
			r, err := p.purgeableResource(tx, id)
			if err != nil {
				return err
			}
			if r == nil {
				continue
			}
			after := *r
			after.Body = metadata.Purged
			purged = purged.Add(rows.Counted(*r))
			changes[r.DataspaceID] = changes[r.DataspaceID].Add(rows.Counted(after)).Add(rows.Counted(*r).Negated())
			if p.dry {
				continue
			}
			if err := rows.SaveResource(tx, p.change(audit.ResourcePurge), r, &after); err != nil {
				return err
			}
		}
		return p.countPurged(tx, changes)
	})
	if err == nil {
		p.result.Resources += purged.DeletedFiles
		p.result.ResourceBytes += purged.DeletedBytes
	}
	return err
}

// countPurged brings the counters of dataspaces in line. The day is that of the last entry about
// them. That no row is lost, inspect has seen.
func (p *purge) countPurged(tx *metadata.Tx, changes map[metadata.ID]metadata.Counters) error {
	if p.dry || len(changes) == 0 {
		return nil
	}
	last, err := tx.Lineage.LastStamp()
	if err != nil {
		return err
	}
	for dataspace, change := range changes {
		if change == (metadata.Counters{}) {
			continue
		}
		counters, err := tx.Usage.Get(dataspace)
		if err == nil {
			err = tx.Usage.Put(dataspace, last.Day(), counters.Add(change))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// purgeableResource reads a resource that is to be purged, nil if not: it may have been restored,
// or be about to be by a cascade of its containers. Such a cascade comes first, and then there is
// nothing to purge.
func (p *purge) purgeableResource(tx *metadata.Tx, id metadata.ID) (*metadata.Resource, error) {
	r, err := tx.Resources.Get(id)
	if err != nil || !p.purgeable(r) {
		return nil, err
	}
	for _, container := range []metadata.ID{r.DataspaceID, r.SetID} {
		cascade, err := rows.CascadeOf(tx, container)
		if err != nil || rows.Due(cascade, r.Record) {
			return nil, err
		}
	}
	return &r, nil
}

// emptyTrash deletes what was removed long ago. In a dry run without a grace period, what has been
// counted so far is what would have come into the trash.
func (p *purge) emptyTrash(ctx context.Context) error {
	if p.Objects != nil {
		return p.deleteTrashed(ctx)
	}
	if !p.dry {
		files, size, err := p.files.EmptyTrash(ctx, p.before)
		p.result.TrashFiles, p.result.TrashBytes = int64(files), size
		return err
	}
	if p.all {
		p.result.TrashFiles += p.result.Blobs + p.result.Orphans
		p.result.TrashBytes += p.result.BlobBytes + p.result.OrphanBytes
	}
	return p.files.WalkTrash(ctx, func(_ blobs.Digest, size int64, removed time.Time) error {
		if removed.Before(p.before) {
			p.result.TrashFiles++
			p.result.TrashBytes += size
		}
		return nil
	})
}

// stillUnused makes sure, in the transaction that is to forget a blob, that no resource has come to
// refer to it.
func stillUnused(tx *metadata.Tx, b blobs.Blob) error { return rows.Unreferenced(tx, b.Digest) }
