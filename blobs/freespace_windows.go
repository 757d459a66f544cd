package blobs

import "golang.org/x/sys/windows"

// freeSpaceIn returns the free space for this process on the file system of a folder.
func freeSpaceIn(folder string) (FreeSpace, error) {
	name, err := windows.UTF16PtrFromString(folder)
	if err != nil {
		return FreeSpace{}, err
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return FreeSpace{}, err
	}
	return FreeSpace{Bytes: int64(free), Files: -1}, nil
}
