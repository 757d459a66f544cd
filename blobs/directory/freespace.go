package directory

import "labshelf/blobs"

// FreeSpace returns the free space of the store's file system. Other programs may use it at any
// moment.
func (d *Store) FreeSpace() (blobs.FreeSpace, error) { return freeSpaceIn(d.tmp) }
