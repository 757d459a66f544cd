package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"labshelf/bolt"
	"labshelf/metadata"
)

// Explain adds advice to an error of the metadata file in the data directory path: the file does
// not open, or a part that every start needs is damaged.
func Explain(path string, err error) error {
	switch {
	case errors.Is(err, bolt.ErrLocked):
		return fmt.Errorf("the data directory %s is in use by %s; stop that process first, or use another directory with --data: %w",
			path, holder(path), err)
	case errors.Is(err, bolt.ErrTooNew):
		return fmt.Errorf("%w; nothing was changed; start the version of labshelf that wrote the file, or a later one", err)
	case errors.Is(err, metadata.ErrTooOld):
		return fmt.Errorf("%w; nothing was changed; start the version of labshelf that wrote the file", err)
	case errors.Is(err, bolt.ErrNoCopy):
		return fmt.Errorf("%w; nothing was changed; free space in %s for another file as large as %s, and start again", err, path, MetadataFile)
	case errors.Is(err, syscall.ENOMEM):
		return ExplainAddressSpace(err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w; run the command as the user that runs the service and owns %s", err, path)
	case errors.Is(err, bolt.ErrDamaged), errors.Is(err, metadata.ErrRecordDamaged):
		return fmt.Errorf("%w; nothing was changed; make a copy of %s, and restore a backup to another directory with: "+
			"labshelf backup restore BACKUP --data NEWDIR", err, path)
	}
	return err
}

// explainDatabase adds advice to the error of a database that does not open.
func explainDatabase(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, bolt.ErrTooNew):
		return fmt.Errorf("%w; nothing was changed; start the version of labshelf that the other nodes have, or a later one", err)
	case errors.Is(err, metadata.ErrTooOld):
		return fmt.Errorf("%w; nothing was changed; start the version of labshelf that wrote the database", err)
	case errors.Is(err, metadata.ErrRecordDamaged):
		return fmt.Errorf("%w; nothing was changed; restore a backup with \"labshelf backup restore BACKUP --data NEWDIR\", and move it to an empty "+
			"database with \"labshelf migrate\"", err)
	}
	return fmt.Errorf("%w; for details run \"labshelf doctor\"", err)
}

// ExplainAddressSpace adds advice to an error caused by missing address space to map a metadata
// file, or the metadata file of a backup.
func ExplainAddressSpace(err error) error {
	return fmt.Errorf("%w; the address space of this process is limited, and labshelf needs 16 GiB of address space, which uses no memory: "+
		"remove the limit with \"ulimit -v unlimited\" or LimitAS=infinity for systemd, or run labshelf on a machine without it (login nodes of clusters often have it)", err)
}
