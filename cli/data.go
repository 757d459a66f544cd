package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"labshelf/auth"
	"labshelf/backup"
	"labshelf/blobs"
	"labshelf/bolt"
	"labshelf/metadata"
	"labshelf/metrics"
	"labshelf/repository"
)

// What is in a data directory beside the folders of package blobs and a configuration file.
const (
	metadataFile = "meta.db"
	holderFile   = "server.pid"
	keyFile      = "initial-admin.key"
)

// dataDir is an open data directory. Only one process has it, by the lock on the metadata file.
type dataDir struct {
	path  string // absolute
	meta  *bolt.Store
	blobs *blobs.Dir
}

// openData opens the data directory and makes what is missing of it. Metadata that are older than the files get their new epoch, as
// in a service.
func openData(path string) (*dataDir, error) {
	data, err := openMeasured(path, nil)
	if err != nil {
		return nil, err
	}
	if err := repository.SettleWatermark(context.Background(), data.meta, data.blobs, time.Now()); err != nil {
		return nil, errors.Join(fmt.Errorf("data directory: %w", err), data.close())
	}
	return data, nil
}

// openMeasured is openData for a service that is measured.
func openMeasured(path string, measured *metrics.Metrics) (*dataDir, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := makeDir(path); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	if err := errors.Join(refuseShared(path), refuseOrphans(path)); err != nil {
		return nil, err
	}
	meta, err := bolt.Open(filepath.Join(path, metadataFile), bolt.Options{Watch: measured.Commits()})
	if err != nil {
		return nil, remedy(path, err)
	}
	if err := refuseNoFiles(path, meta); err != nil {
		return nil, errors.Join(err, meta.Close())
	}
	store, err := blobs.OpenDir(path, measured.Disk(blobs.OS{}))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("data directory: %w", err), meta.Close())
	}
	return &dataDir{path: path, meta: meta, blobs: store}, nil
}

func (d *dataDir) close() error { return d.meta.Close() }

// makeDir makes a directory for the owner alone, and those above it, so that they survive a power cut.
func makeDir(path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.IsDir():
		return usageError{fmt.Errorf("%s is a file", path)}
	case err == nil || !errors.Is(err, fs.ErrNotExist):
		return err
	}
	parent := filepath.Dir(path)
	if err := makeDir(parent); err != nil {
		return err
	}
	if err := (blobs.OS{}).Mkdir(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return blobs.OS{}.SyncDir(parent)
}

// refuseShared returns an error where other users of the machine could replace what is in the data directory. (Windows keeps no
// such permissions.)
func refuseShared(path string) error {
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS == "windows" || info.Mode().Perm()&0o022 == 0 {
		return err
	}
	return usageError{fmt.Errorf("the data directory %s: others can write to it (mode %04o); make it yours alone with: chmod 700 %s",
		path, info.Mode().Perm(), path)}
}

// refuseOrphans returns an error where there are files without the metadata that say whose they are: going on would look
// like a first start. The folder is looked at first, since another process that makes both begins with the metadata.
func refuseOrphans(path string) error {
	folder := filepath.Join(path, "blobs")
	if _, err := os.Lstat(folder); err != nil {
		return nil
	}
	metadata := filepath.Join(path, metadataFile)
	if _, err := os.Lstat(metadata); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if backup.Unfinished(path) {
		return fmt.Errorf("%w: %s is what a restoration has left that did not come to its end; nothing in it is needed: delete it, and restore again",
			errNoMetadata, path)
	}
	return fmt.Errorf("%w: there is %s, but not %s; restore a backup to another directory with %q, or take another one with --data",
		errNoMetadata, folder, metadata, program+" backup restore BACKUP --data NEWDIR")
}

// refuseNoFiles returns an error where the metadata name files and the folder that holds all of them is missing: it may be a disk that is
// not mounted, and a service that made the folder anew would say that all is well.
func refuseNoFiles(path string, meta *bolt.Store) error {
	folder, named := filepath.Join(path, "blobs"), false
	if _, err := os.Lstat(folder); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err := meta.View(context.Background(), func(tx *metadata.Tx) error {
		for _, err := range tx.Blobs.All(nil) {
			named = true
			return err
		}
		return nil
	})
	if err != nil || !named {
		return err
	}
	return fmt.Errorf("%w: %s names files, but there is no %s; mount it, or put it back; if it is lost, bring the files back from a backup with: "+
		"%s repair --from BACKUP --data %s", errNoFiles, filepath.Join(path, metadataFile), folder, program, path)
}

// remedy says what to do about a metadata file that does not open.
func remedy(path string, err error) error {
	switch {
	case errors.Is(err, bolt.ErrLocked):
		return fmt.Errorf("the data directory %s is in use by %s; stop that first, or take another directory with --data: %w",
			path, holder(path), err)
	case errors.Is(err, bolt.ErrTooNew):
		return fmt.Errorf("%w; nothing was changed; start the version of %s that wrote it, or a later one", err, program)
	case errors.Is(err, bolt.ErrNoCopy):
		return fmt.Errorf("%w; nothing was changed; make room in %s for another file of the length of %s, and start again", err, path, metadataFile)
	case errors.Is(err, syscall.ENOMEM):
		return noAddresses(err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w; run it as the user that runs the service, to whom %s belongs", err, path)
	case errors.Is(err, bolt.ErrDamaged):
		return fmt.Errorf("%w; nothing was changed; keep a copy of %s as it is, and restore a backup to another directory with: "+
			"%s backup restore BACKUP --data NEWDIR", err, path, program)
	}
	return err
}

// noAddresses says what to do where a metadata file, also that of a backup, finds no addresses.
func noAddresses(err error) error {
	return fmt.Errorf("%w; the address space of this process is limited, and %s wants 16 GiB of addresses, which cost no memory: "+
		"lift the limit with \"ulimit -v unlimited\" or LimitAS=infinity for systemd, or run it where it is not limited (the login nodes of clusters often are)", err, program)
}

// holder says, as far as is known, who has the data directory.
func holder(path string) string {
	text, err := os.ReadFile(filepath.Join(path, holderFile))
	pid, since, ok := strings.Cut(strings.TrimSpace(string(text)), " ")
	if err != nil || !ok {
		return "another process"
	}
	return fmt.Sprintf("process %s, started at %s (if it is still running)", pid, since)
}

// noteHolder writes down for holder who has the data directory. Nothing but that message depends on it.
func (d *dataDir) noteHolder() error {
	note := fmt.Sprintf("%d %s\n", os.Getpid(), time.Now().UTC().Format(time.RFC3339))
	return os.WriteFile(filepath.Join(d.path, holderFile), []byte(note), 0o600)
}

func (d *dataDir) forgetHolder() error { return os.Remove(filepath.Join(d.path, holderFile)) }

// bootstrap makes the sysadmin admin where there are no users yet, with the chosen key or, if that is "", with a new one,
// which it returns and keeps in a file. The file comes first: a start that is cut short must not leave a user whose key
// nobody has seen.
func (d *dataDir) bootstrap(ctx context.Context, repo *repository.Service, chosen string) (shown string, err error) {
	users := 0
	err = d.meta.View(ctx, func(tx *metadata.Tx) error {
		for _, err := range tx.Users.All(metadata.ID{}) {
			if users++; err != nil {
				return err
			}
			break
		}
		return nil
	})
	if err != nil || users > 0 {
		return "", err
	}
	if chosen == "" {
		shown = auth.NewKey()
		if err := d.keepKey(shown); err != nil {
			return "", fmt.Errorf("the first key cannot be kept: %w", err)
		}
		chosen = shown
	}
	_, err = repo.Bootstrap(ctx, chosen)
	return shown, err
}

// keyPath is where the first key is kept.
func (d *dataDir) keyPath() string { return filepath.Join(d.path, keyFile) }

// keepKey brings the key to stable storage, in a file that only the owner can read.
func (d *dataDir) keepKey(key string) (err error) {
	var disk blobs.OS
	fresh := d.keyPath() + ".new"
	if err := disk.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := disk.Create(fresh)
	if err != nil {
		return err
	}
	_, err = file.Write([]byte(key + "\n"))
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := disk.Rename(fresh, d.keyPath()); err != nil {
		return err
	}
	return disk.SyncDir(d.path)
}
