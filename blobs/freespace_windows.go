package blobs

import "golang.org/x/sys/windows"

// freeSpaceIn returns what the file system that holds a folder has left for this process.
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
