package backup

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"labshelf/metadata"
)

// DefaultKeep is the default number of snapshots to keep.
const DefaultKeep = 7

// expired returns the snapshots that are neither among the last kept ones nor the last one of their
// epoch.
func (c *catalog) expired(kept int) (old []Manifest) {
	type lineage struct {
		metadata.Identity
		metadata.EpochID
	}
	seen := map[lineage]bool{}
	for i, m := range slices.Backward(c.all()) {
		of := lineage{m.Identity, m.Epoch.ID}
		if len(c.all())-i > kept && seen[of] {
			old = append(old, m)
		}
		seen[of] = true
	}
	return old
}

// expire removes the expired snapshots, the manifest first: without its metadata it would describe
// a broken snapshot. It removes no blobs, since other snapshots may need them.
func (d *destination) expire(kept int) (removed []string, err error) {
	removed = []string{}
	for _, m := range d.expired(kept) {
		if err := d.disk.Remove(filepath.Join(d.path, m.earlierName())); err != nil {
			return removed, err
		}
		if err := d.disk.SyncDir(d.path); err != nil {
			return removed, err
		}
		if err := d.disk.Remove(m.metadata(d.path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, err
		}
		removed = append(removed, m.Name())
	}
	d.catalog, err = readCatalog(d.path)
	return removed, err
}
