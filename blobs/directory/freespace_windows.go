package directory

import (
	"golang.org/x/sys/windows"

	"labshelf/blobs"
)

// freeSpaceIn returns the free space for this process on the file system of a folder.
func freeSpaceIn(folder string) (blobs.FreeSpace, error) {
	name, err := windows.UTF16PtrFromString(folder)
	if err != nil {
		return blobs.FreeSpace{}, err
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return blobs.FreeSpace{}, err
	}
	return blobs.FreeSpace{Bytes: int64(free), Files: -1}, nil
}
