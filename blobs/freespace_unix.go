//go:build linux || darwin

package blobs

import "golang.org/x/sys/unix"

// freeSpaceIn returns the free space for this process on the file system of a folder.
func freeSpaceIn(folder string) (FreeSpace, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(folder, &s); err != nil {
		return FreeSpace{}, err
	}
	free := FreeSpace{Bytes: int64(s.Bavail) * int64(s.Bsize), Files: -1}
	if s.Files > 0 { // btrfs and others have no fixed number
		free.Files = int64(s.Ffree)
	}
	return free, nil
}
