package index

import (
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// mapFile maps a non-empty file for reading.
func mapFile(f *os.File, size int) ([]byte, error) {
	mapping, err := windows.CreateFileMapping(windows.Handle(f.Fd()), nil, windows.PAGE_READONLY, 0, 0, nil)
	if err != nil {
		return nil, err
	}
	// The view keeps the mapping alive.
	defer func() { _ = windows.CloseHandle(mapping) }()
	address, err := windows.MapViewOfFile(mapping, windows.FILE_MAP_READ, 0, 0, uintptr(size))
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&address))), size), nil
}

// unmapFile undoes mapFile.
func unmapFile(data []byte) error {
	return windows.UnmapViewOfFile(uintptr(unsafe.Pointer(unsafe.SliceData(data))))
}

// syncDir does nothing: Windows cannot sync a directory, and NTFS logs its changes.
func syncDir(string) error { return nil }
