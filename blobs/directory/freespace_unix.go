//go:build linux || darwin

package directory

import (
	"golang.org/x/sys/unix"

	"labshelf/blobs"
)

// freeSpaceIn returns the free space for this process on the file system of a folder.
func freeSpaceIn(folder string) (blobs.FreeSpace, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(folder, &s); err != nil {
		return blobs.FreeSpace{}, err
	}
	free := blobs.FreeSpace{Bytes: int64(s.Bavail) * int64(s.Bsize), Files: -1}
	if s.Files > 0 { // btrfs and others have no fixed number
		free.Files = int64(s.Ffree)
	}
	return free, nil
}
