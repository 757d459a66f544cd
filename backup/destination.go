package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"labshelf/auth/errs"
	"labshelf/blobs/directory"
	"labshelf/bolt"
	"labshelf/metadata"
)

// destination is the folder of a backup, which one process at a time writes.
type destination struct {
	path  string
	lock  *os.File
	disk  directory.FS
	files *directory.Store
	catalog
}

// openDestination makes the folder, or opens the backup in it, and removes leftovers of an
// interrupted backup.
func openDestination(path string, disk directory.FS) (*destination, error) {
	if err := errors.Join(refuseInside(path), refuseOthers(path)); err != nil {
		return nil, err
	}
	if err := makeDir(path); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(path, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	d := &destination{path: path, lock: file, disk: disk}
	if err := d.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	return d, nil
}

func (d *destination) open() (err error) {
	if err := lock(d.lock, true); err != nil {
		return err
	}
	if d.catalog, err = readCatalog(d.path); err != nil {
		return err
	}
	if d.missing != nil && !errors.Is(d.missing, errNoManifest) {
		return d.missing // otherwise the files that it named would be removed like leftovers
	}
	if d.files, err = directory.Open(d.path, d.disk); err != nil {
		return err
	}
	return d.clean()
}

// refuseInside returns ErrInside for a folder in a data directory: the service would not start
// again, or would remove foreign files, and the backup would be lost with the disk of the data.
func refuseInside(path string) error {
	at, err := realPath(path)
	if err != nil {
		return err
	}
	for {
		if info, err := os.Stat(filepath.Join(at, metadataFile)); err == nil && info.Mode().IsRegular() {
			return fmt.Errorf("%w: %s is in %s; name a folder outside of it", ErrInside, path, at)
		}
		parent := filepath.Dir(at)
		if parent == at {
			return nil
		}
		at = parent
	}
}

// realPath returns the absolute path without links. The file and its parents might not exist.
func realPath(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		return filepath.Abs(real)
	}
	parent := filepath.Dir(path)
	if !errors.Is(err, fs.ErrNotExist) || parent == path {
		return "", err
	}
	if real, err = realPath(parent); err != nil {
		return "", err
	}
	return filepath.Join(real, filepath.Base(path)), nil
}

// refuseOthers returns ErrOccupied for a folder with other content than a backup.
func refuseOthers(path string) error {
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Name() == lockFile || entry.Name() == manifestFile {
			return nil
		}
	}
	return fmt.Errorf("%w: %s contains files that do not belong to a backup", ErrOccupied, path)
}

// temporary returns the folder of the metadata until their snapshot is complete. It is emptied when
// the destination is opened.
func (d *destination) temporary() string { return filepath.Join(d.path, "tmp", "snapshot") }

// follows returns an error if a snapshot is not a later state of the latest one's repository,
// unless that is allowed. Only the latest snapshot counts, so a reason must be allowed only once.
func (d *destination) follows(m *Manifest, allow Allow) error {
	there := d.all()
	if len(there) == 0 {
		return nil
	}
	latest := there[len(there)-1]
	of := func(kind error) error {
		return fmt.Errorf("%w: the latest snapshot in %s is of repository %s, epoch %s, as of %s; this one is of repository %s, epoch %s, as of %s",
			kind, d.path, latest.Identity, latest.Epoch.ID, latest.Stamp.Time(), m.Identity, m.Epoch.ID, m.Stamp.Time())
	}
	switch {
	case latest.Identity != m.Identity:
		if !allow.OtherRepository {
			return of(ErrOtherRepository)
		}
	case !metadata.Epoch(m.Epoch).Continues(latest.Epoch.ID, latest.Stamp):
		if !allow.OtherEpoch {
			return of(ErrOtherEpoch)
		}
	case latest.Stamp > m.Stamp && !allow.NewerBackup:
		return of(ErrNewerBackup)
	}
	return nil
}

// readLineage sets identity, epoch and head of the audit log in a manifest from the metadata.
func readLineage(ctx context.Context, meta *bolt.Store, m *Manifest) error {
	m.Identity = metadata.IdentityOf(meta.Secret())
	return meta.View(ctx, func(tx *metadata.Tx) error {
		epoch, err := tx.Lineage.Epoch()
		m.Epoch = Epoch(epoch)
		if err != nil {
			return err
		}
		log, err := tx.Audit.State()
		if err != nil || log.Size == 0 { // a damaged log does not prevent a backup
			return errs.Ignore(err, metadata.ErrRecordDamaged)
		}
		head, err := tx.SignHead(meta.Secret(), log.Size)
		m.AuditHead = head.Signed
		return err
	})
}

// inMetadata calls fn with a metadata file, which no process may change in the meantime.
func inMetadata(path string, fn func(*bolt.Store) error) error {
	meta, err := openMetadata(path)
	if err != nil {
		return err
	}
	return errors.Join(fn(meta), meta.Close())
}

// commit makes the filled snapshot the latest one. First the manifest of the previous one is
// written under its own name, then the metadata get their name, then manifest.json is replaced. If
// the process ends in between, all earlier snapshots are complete. The previous one may have a
// second manifest, or metadata may have no manifest; the next run removes these.
func (d *destination) commit(m *Manifest) (err error) {
	if before := d.latest; before != nil && before.Name() != m.Name() {
		if err := before.write(d.disk, d.path, before.earlierName()); err != nil {
			return fmt.Errorf("write the manifest of the previous snapshot: %w", err)
		}
	}
	if err := d.disk.Rename(d.temporary(), m.metadata(d.path)); err != nil {
		return err
	}
	if err := d.disk.SyncDir(d.path); err != nil {
		return err
	}
	if err := m.write(d.disk, d.path, manifestFile); err != nil {
		return fmt.Errorf("write the manifest: %w", err)
	}
	d.catalog, err = readCatalog(d.path)
	return err
}

// clean removes metadata without a manifest.
func (d *destination) clean() error {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name, ok := between(entry.Name(), metaPrefix, metaSuffix)
		if !ok || d.named(name) {
			continue
		}
		if err := d.disk.Remove(filepath.Join(d.path, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}

func (d *destination) close() error { return d.lock.Close() }
