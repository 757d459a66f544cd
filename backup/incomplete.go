package backup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"labshelf/blobs/directory"
)

// unfinishedFile exists in a data directory from before the first file of a restoration until after
// its metadata.
const unfinishedFile = "restore.unfinished"

// Incomplete returns an error with advice if a folder is an incomplete restoration. No service has
// ever started on such a folder. A data directory that has lost its metadata does not count.
func Incomplete(dataDir string) error {
	_, begun := os.Lstat(filepath.Join(dataDir, unfinishedFile))
	_, metadata := os.Lstat(filepath.Join(dataDir, metadataFile))
	if begun != nil || !errors.Is(metadata, os.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("%s is an incomplete restoration; nothing in it is needed: delete it, and restore again", dataDir)
}

// beginRestoration durably records that a restoration to a folder begins.
func beginRestoration(dataDir string) error {
	file, err := directory.OS{}.Create(filepath.Join(dataDir, unfinishedFile))
	if err != nil {
		return err
	}
	_, err = file.Write([]byte("This restoration is incomplete. If there is no " + metadataFile + ", all of this folder can be deleted.\n"))
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return directory.OS{}.SyncDir(dataDir)
}

// endRestoration records that it is complete. The metadata must be on stable storage.
func endRestoration(dataDir string) error {
	if err := (directory.OS{}).Remove(filepath.Join(dataDir, unfinishedFile)); err != nil {
		return err
	}
	return directory.OS{}.SyncDir(dataDir)
}
