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
	// OlderThan is the minimum time since a resource was deleted, a version replaced, or a file
	// lost its last reference; 0 for no minimum.
	OlderThan time.Duration
	DryRun    bool             // change nothing, only count
	Grace     time.Duration    // how long removed files stay in the trash; 0 deletes them immediately
	Now       func() time.Time // the clock; nil for the system clock

	By auth.Principal // caller of the purge; zero for an operator

	Labelled func(metadata.Version) // called for each labelled version to remove; may be nil
}

// PurgeResult counts what was removed, or would be in a dry run: files of deleted resources, files
// of versions (LabelledVersions of which had a label), unreferenced blobs, files without a row, and
// files deleted from the trash. Recent counts the unreferenced blobs and files that were kept
// because they are not known to have been unreferenced long enough. Two resources with one blob
// count twice as resources.
type PurgeResult struct {
	Resources, ResourceBytes int64
	Versions, VersionBytes   int64
	LabelledVersions         int64
	Blobs, BlobBytes         int64
	Orphans, OrphanBytes     int64
	TrashFiles, TrashBytes   int64
	Recent, RecentBytes      int64
}

// purgeObjects is the maximum number of resources that one commit turns into tombstones. It is
// small enough not to delay other writers noticeably.
const purgeObjects = 200

// purgePage is the number of rows read in one transaction.
const purgePage = 500

var errRecent = errors.New("it has not been unreferenced for long enough")

// purgeLasts is the duration of the lease. After a purging node has crashed, other nodes can purge
// when it has passed.
const purgeLasts = 8 * time.Second

var errPurging error = &errs.Error{Kind: errs.Conflict, Code: errs.CodeBusy, Message: "a purge is running; try again when it is done"}

// Purge removes the bytes of resources deleted long ago, with all their versions, and of versions
// that the retention of their dataspace does not keep. The records of the resources stay as
// tombstones, and the rows of the versions stay, too. Purge then removes every blob, with or
// without a row, that has been unreferenced long enough, and deletes files that have been in the
// trash longer than the grace period.
//
// A blob counts as unreferenced since the change that removed its last reference. For a resource
// that this purge turns into a tombstone, that is the deletion. For other blobs, it is the time at
// which a purge or a scan first recorded them. File times would not do: they show the upload, and
// after a reset of the metadata to an older state, recent files have no record.
//
// Purge always removes the row of a blob before its file, so an interruption leaves only a surplus
// file, which the next purge removes. Purge works in bounded commits alongside all other use, and
// can be cancelled at any time; the result then covers what was done. Only one purge can run at a
// time; another call returns a Conflict. If the metadata are damaged, Purge removes nothing and the
// error wraps ErrRecordDamaged.
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
		p.before = now.AddDate(1000, 0, 0) // all files, whatever clock set their times
	}
	ctx, operation := storage.Begin(ctx)
	err = u.stores.BlobError(p.run(ctx))
	return p.result, operation.Outcome(err, fmt.Sprintf("%d deleted files, %d versions and %d stored files were removed",
		p.result.Resources, p.result.Versions, p.result.Blobs+p.result.Orphans))
}

// run runs the parts of the purge in order.
func (p *purge) run(ctx context.Context) error {
	for _, part := range []func(context.Context) error{p.inspect, p.log, p.purgeResources, p.purgeVersions, p.sweepBlobs, p.sweepOrphans, p.emptyTrash, p.saveUnreferenced, p.removeStale} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

// inspect rejects inconsistent metadata. An index that is wrong about references would cause the
// removal of files that are needed.
func (p *purge) inspect(ctx context.Context) error {
	var found error
	err := p.Meta.Inspect(ctx, func(v metadata.Violation) { found = fmt.Errorf("%w: %v", metadata.ErrRecordDamaged, v) })
	if err == nil && found != nil {
		err = &errs.Error{Kind: errs.Internal, Code: errs.CodeDataDamaged, Message: "the metadata are damaged; nothing was removed; run a check for details", Err: found}
	}
	return err
}

// log records the start of the purge. Entries about removed objects name that entry as their cause.
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

// change returns the change that the purge makes to an object, for the audit log.
func (p *purge) change(action audit.Action) rows.Change {
	return rows.Change{By: p.by, Action: action, Cause: p.entry}
}

// purge is one run of Purge.
type purge struct {
	*storage.Stores
	files  Files // nil if blobs are objects
	dry    bool
	now    func() time.Time
	cutoff metadata.Stamp // purge only what was deleted or lost its last reference before this
	any    bool           // ignore cutoff for unreferenced blobs
	before time.Time      // delete files moved to the trash before this
	all    bool           // empty the whole trash
	result PurgeResult

	by    auth.Principal
	older time.Duration
	grace time.Duration
	entry uint64         // number of the purge's entry in the audit log; 0 in a dry run
	began metadata.Stamp // stamp of a commit before the first removal

	labelled func(metadata.Version)          // may be nil
	unsaved  []blobs.Blob                    // unreferenced blobs that are not recorded yet
	rest     func(ctx context.Context) error // called between pages; may be nil
}

// purgeable reports whether a resource was deleted long enough ago. The last change of a deleted
// resource is its deletion.
func (p *purge) purgeable(r metadata.Resource) bool {
	return r.State == metadata.Deleted && r.Body != metadata.Purged && r.Modified < p.cutoff
}

// purgeResources visits all resources deleted before the cutoff, including the tombstones of
// earlier purges.
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

// purgeSome turns the resources that are still purgeable into tombstones, in one commit.
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

// countPurged updates the counters of dataspaces. The day is the day of the last stamp. It does not
// check for a lost row, because inspect has done so.
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

// purgeableResource reads a resource, and returns nil if it must not be purged. It may have been
// restored, or a cascade of its containers may still be about to change it. Such a cascade has
// precedence.
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

// emptyTrash deletes the files that were removed long ago. In a dry run without a grace period, the
// blobs and orphans counted so far count as files in the trash.
func (p *purge) emptyTrash(ctx context.Context) error {
	if p.Objects != nil {
		return objectPurge{p}.deleteTrashed(ctx)
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

// stillUnused returns an error if something has started to refer to a blob. Call it in the
// transaction that removes the row of the blob.
func stillUnused(tx *metadata.Tx, b blobs.Blob) error { return rows.Unreferenced(tx, b.Digest) }
