package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"labshelf/bolt"
	"labshelf/metadata"
)

// Explain adds to the error of a metadata file that does not open, or in which something that every
// start needs is damaged, in the data directory path, what to do about it.
func Explain(path string, err error) error {
	switch {
	case errors.Is(err, bolt.ErrLocked):
		return fmt.Errorf("the data directory %s is in use by %s; stop that first, or take another directory with --data: %w",
			path, holder(path), err)
	case errors.Is(err, bolt.ErrTooNew):
		return fmt.Errorf("%w; nothing was changed; start the version of labshelf that wrote it, or a later one", err)
	case errors.Is(err, bolt.ErrNoCopy):
		return fmt.Errorf("%w; nothing was changed; make room in %s for another file of the length of %s, and start again", err, path, MetadataFile)
	case errors.Is(err, syscall.ENOMEM):
		return ExplainAddressSpace(err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w; run it as the user that runs the service, to whom %s belongs", err, path)
	case errors.Is(err, bolt.ErrDamaged), errors.Is(err, metadata.ErrRecordDamaged):
		return fmt.Errorf("%w; nothing was changed; keep a copy of %s as it is, and restore a backup to another directory with: "+
			"labshelf backup restore BACKUP --data NEWDIR", err, path)
	}
	return err
}

// explainDatabase adds to the error of a database that does not open what to do about it.
func explainDatabase(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, bolt.ErrTooNew):
		return fmt.Errorf("%w; nothing was changed; start the version of labshelf that the other nodes have, or a later one", err)
	case errors.Is(err, metadata.ErrRecordDamaged):
		return fmt.Errorf("%w; nothing was changed; restore a backup with \"labshelf backup restore BACKUP --data NEWDIR\", and move that to an empty "+
			"database with \"labshelf migrate\"", err)
	}
	return fmt.Errorf("%w; \"labshelf doctor\" says more", err)
}

// ExplainAddressSpace adds to an error what to do where there is no address space to map a metadata
// file, also that of a backup.
func ExplainAddressSpace(err error) error {
	return fmt.Errorf("%w; the address space of this process is limited, and labshelf wants 16 GiB of addresses, which cost no memory: "+
		"lift the limit with \"ulimit -v unlimited\" or LimitAS=infinity for systemd, or run it where it is not limited (the login nodes of clusters often are)", err)
}
