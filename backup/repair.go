package backup

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"labshelf/blobs"
	"labshelf/blobs/directory"
	"labshelf/bolt"
	"labshelf/metadata"
)

// Repaired is the result of [Repair].
type Repaired struct {
	Blobs    int64 `json:"blobs"`    // blobs that were read
	Repaired int64 `json:"repaired"` // missing or damaged ones that are complete again
	Left     int64 `json:"left"`     // still missing or damaged ones, which the backup lacks
}

// RepairEvents are called during a repair, one at a time. Each may be nil.
type RepairEvents struct {
	Progress func(what string, done, total int64)
	Repaired func(metadata.Violation) // called for each repaired resource
	Left     func(metadata.Violation) // called for each one that is still damaged
}

// Repair reads every blob of a data directory, and copies missing or damaged ones from the backup
// in the folder from, by digest. It changes nothing else, except that it removes the row of a
// repaired damage. The service must be stopped and cannot start in the meantime. Repair may work
// with a backup that cannot be restored, since it compares each blob with its digest.
//
// Errors: the errors of bolt.Open (damaged metadata are not repaired: the whole backup must be
// restored), blobs.ErrNoSpace.
func Repair(ctx context.Context, dataDir, from string, events RepairEvents) (done Repaired, err error) {
	return repairOn(ctx, dataDir, from, events, directory.OS{})
}

// repairOn is Repair on a file system.
func repairOn(ctx context.Context, dataDir, from string, events RepairEvents, disk directory.FS) (done Repaired, err error) {
	lost, err := directory.OpenReadOnly(from)
	if err != nil {
		return done, err
	}
	meta, err := bolt.Open(filepath.Join(dataDir, metadataFile), bolt.Options{})
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, meta.Close()) }()
	files, err := directory.Open(dataDir, disk)
	if err != nil {
		return done, err
	}
	r := &repairer{meta: meta, files: files, from: lost}
	r.repaired, r.left = Events{Violation: events.Repaired}.serial(), Events{Violation: events.Left, Progress: events.Progress}.serial()
	all, err := measure(ctx, meta)
	if err == nil {
		err = r.readNotes(ctx)
	}
	if err != nil {
		return done, err
	}
	progress := &meter{what: partFiles, events: r.left, total: all.Bytes}
	err = eachBlob(ctx, meta, func(ctx context.Context, blob blobs.Blob) error {
		part := progress.part(blob.Size)
		defer part.end()
		return r.verifyOrRepair(ctx, blob, part)
	})
	if unsynced := r.there.sync(files); unsynced != nil {
		return r.done, errors.Join(err, unsynced)
	}
	return r.done, errors.Join(err, r.removeNotes(ctx))
}

// repairer is one run of Repair.
type repairer struct {
	meta           *bolt.Store
	files, from    *directory.Store
	repaired, left Events

	mu    sync.Mutex
	done  Repaired
	noted map[blobs.Digest]bool // blobs with a row of damage; true: complete (again)
	there trusted
}

func (r *repairer) readNotes(ctx context.Context) error {
	r.noted = map[blobs.Digest]bool{}
	return r.meta.View(ctx, func(tx *metadata.Tx) error {
		for damage, err := range tx.Damages.All(blobs.Digest{}) {
			if err != nil {
				return err
			}
			r.noted[damage.Digest] = false
		}
		return nil
	})
}

// removeNotes removes the rows of damage of complete blobs. It runs after the walk over all blobs,
// since a change may have to wait for read transactions.
func (r *repairer) removeNotes(ctx context.Context) error {
	for digest, sound := range r.noted {
		if !sound {
			continue
		}
		if err := r.meta.Update(ctx, func(tx *metadata.Tx) error { return tx.Damages.Remove(digest) }); err != nil {
			return err
		}
	}
	return nil
}

// verifyOrRepair verifies a blob, and repairs it if necessary.
func (r *repairer) verifyOrRepair(ctx context.Context, blob blobs.Blob, part *portion) error {
	wrong := blobs.Verify(ctx, r.files, blob)
	if wrong == nil {
		r.there.note(blob.Digest)
		r.count(blob, Repaired{Blobs: 1})
		return nil
	}
	if !isLost(wrong) {
		return wrong
	}
	err := take(ctx, r.from, r.files, blob, part)
	if isLost(err) {
		r.count(blob, Repaired{Blobs: 1, Left: 1})
		return report(ctx, r.meta, blob, fmt.Sprintf("%v; in the backup: %v", wrong, err), r.left)
	}
	if err != nil {
		return err
	}
	r.count(blob, Repaired{Blobs: 1, Repaired: 1})
	return report(ctx, r.meta, blob, wrong.Error(), r.repaired)
}

func (r *repairer) count(blob blobs.Blob, one Repaired) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done.Blobs += one.Blobs
	r.done.Repaired += one.Repaired
	r.done.Left += one.Left
	if _, noted := r.noted[blob.Digest]; noted && one.Left == 0 {
		r.noted[blob.Digest] = true
	}
}

func isLost(err error) bool {
	return errors.Is(err, blobs.ErrNotFound) || errors.Is(err, blobs.ErrDamaged)
}
