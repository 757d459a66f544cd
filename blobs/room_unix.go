//go:build linux || darwin

package blobs

import "golang.org/x/sys/unix"

// roomIn returns what the file system that holds a folder has left for this process.
func roomIn(folder string) (Room, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(folder, &s); err != nil {
		return Room{}, err
	}
	room := Room{Bytes: int64(s.Bavail) * int64(s.Bsize), Files: -1}
	if s.Files > 0 { // btrfs and others have no fixed number
		room.Files = int64(s.Ffree)
	}
	return room, nil
}
