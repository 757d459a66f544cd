package blobs

import "golang.org/x/sys/windows"

// roomIn returns what the file system that holds a folder has left for this process.
func roomIn(folder string) (Room, error) {
	name, err := windows.UTF16PtrFromString(folder)
	if err != nil {
		return Room{}, err
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return Room{}, err
	}
	return Room{Bytes: int64(free), Files: -1}, nil
}
