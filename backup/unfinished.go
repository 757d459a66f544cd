package backup

import (
	"errors"
	"os"
	"path/filepath"

	"labshelf/blobs"
)

// unfinishedFile is in a data directory from before the first file that a restoration writes until after its metadata.
const unfinishedFile = "restore.unfinished"

// Unfinished tells whether a folder is what a restoration has left that did not come to its end. Nothing in it is needed: no service has
// ever started on it. A data directory that has lost its metadata is none.
func Unfinished(dataDir string) bool {
	_, begun := os.Lstat(filepath.Join(dataDir, unfinishedFile))
	_, metadata := os.Lstat(filepath.Join(dataDir, metadataFile))
	return begun == nil && errors.Is(metadata, os.ErrNotExist)
}

// beginUnfinished notes on stable storage that a restoration into a folder begins.
func beginUnfinished(dataDir string) error {
	file, err := blobs.OS{}.Create(filepath.Join(dataDir, unfinishedFile))
	if err != nil {
		return err
	}
	_, err = file.Write([]byte("A restoration that has not come to its end. Where there is no " + metadataFile + ", all of this folder can be deleted.\n"))
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return blobs.OS{}.SyncDir(dataDir)
}

// endUnfinished notes that all is there. The metadata are on stable storage.
func endUnfinished(dataDir string) error {
	if err := (blobs.OS{}).Remove(filepath.Join(dataDir, unfinishedFile)); err != nil {
		return err
	}
	return blobs.OS{}.SyncDir(dataDir)
}
