package datadir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"labshelf/auth"
	"labshelf/blobs/directory"
	"labshelf/metadata"
	"labshelf/repository"
)

// Bootstrap creates the sysadmin admin if no users exist. The user gets the chosen key, or, if that
// is "", a new key, which Bootstrap returns and writes to KeyPath. It writes the file first, so
// that an interrupted start cannot leave a user with an unknown key.
func (d *Dir) Bootstrap(ctx context.Context, repo *repository.Service, chosen string) (shown string, err error) {
	users := 0
	err = d.Metadata.View(ctx, func(tx *metadata.Tx) error {
		for _, err := range tx.Users.All(metadata.ID{}) {
			if users++; err != nil {
				return err
			}
			break
		}
		return nil
	})
	if err != nil || users > 0 {
		return "", Explain(d.Path, err)
	}
	if chosen == "" {
		shown = auth.NewKey()
		if err := d.saveKey(shown); err != nil {
			return "", fmt.Errorf("the first key cannot be saved: %w", err)
		}
		chosen = shown
	}
	made, err := repo.Users.Bootstrap(ctx, chosen)
	if err == nil && made == "" && shown != "" { // meanwhile another node has created the user, with its own key
		return "", directory.OS{}.Remove(d.KeyPath())
	}
	return shown, err
}

// KeyPath returns the path of the file with the first key.
func (d *Dir) KeyPath() string { return filepath.Join(d.Path, KeyFile) }

// saveKey writes the key durably to a file that only the owner can read.
func (d *Dir) saveKey(key string) (err error) {
	var disk directory.OS
	fresh := d.KeyPath() + ".new"
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
	if err := disk.Rename(fresh, d.KeyPath()); err != nil {
		return err
	}
	return disk.SyncDir(d.Path)
}

// NewKey makes a key for a user of a stopped service in the data directory path. Errors: the errors
// of Require and OpenMeasured, errs.NotFound.
func NewKey(ctx context.Context, path string, at Stores, user string) (key string, err error) {
	if err := at.Require(path); err != nil {
		return "", err
	}
	data, err := Open(path, at)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, data.Close()) }()
	repo := repository.New(data.Metadata, data.Blobs, repository.Config{})
	defer repo.Close()
	return repo.Users.NewKeyFor(ctx, user)
}
